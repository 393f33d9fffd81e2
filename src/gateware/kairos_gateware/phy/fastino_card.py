"""For tests: the other end of a fast link, in plain Python. It uses only the pads, finds the frames
by the clock lane, checks the CRC, and keeps a Fastino's state."""

from dataclasses import dataclass, field

from ..contracts.fastino import FRAME, FRAME_KIND_INTERPOLATOR
from ..pad import SAMPLES
from .fastino import DACS

__all__ = ["FrameReceiver", "FastinoCard"]


@dataclass
class FrameReceiver:
    """`frames`: (cycle of the first bit, payload) of the good ones; `errors`: cycles of those with
    a wrong CRC.

    Words last word_bits from a rising edge of the clock lane; one in which it is high for high - 1
    bits begins a frame.
    """

    words: int = 14
    word_bits: int = 7
    high: int = 4
    polynomial: int = 0x180F
    frames: list = field(default_factory=list)
    errors: list = field(default_factory=list)
    _word: list = field(default_factory=list)
    _frame: list = field(default_factory=list)
    _start: int = 0

    def feed(self, cycle, samples):
        """One cycle of the clock lane and the data lanes: eight samples each."""
        half = SAMPLES // 2
        for first in [0, half]:
            bits = [word >> first & (2**half - 1) for word in samples]
            assert all(bit in (0, 2**half - 1) for bit in bits), "a bit changes within its 4 ns"
            self._bit(cycle, [bit & 1 for bit in bits])

    def _bit(self, cycle, bits):
        if not self._word and not bits[0]:
            return  # no clock
        self._word.append((cycle, bits))
        if len(self._word) < self.word_bits:
            return
        word, self._word = self._word, []
        levels = [bits[0] for _, bits in word]
        count = sum(levels)
        assert levels == [1] * count + [0] * (self.word_bits - count) and self.high - 1 <= count <= self.high
        if count == self.high - 1:
            self._frame, self._start = [], word[0][0]
        self._frame += [bits[1:] for _, bits in word]
        if len(self._frame) == self.words * self.word_bits:
            self._finish()

    def _finish(self):
        stream = [bit for lanes in self._frame for bit in lanes]
        self._frame = []
        width = self.polynomial.bit_length() - 1
        # The remainder of payload and CRC, as one polynomial, is zero
        remainder = 0
        for bit in stream:
            remainder = remainder << 1 | bit
            if remainder >> width:
                remainder ^= self.polynomial
        if remainder:
            self.errors.append(self._start)
        else:
            self.frames.append((self._start, sum(bit << n for n, bit in enumerate(stream[:-width]))))


@dataclass
class FastinoCard:
    """Outputs of the 32 DACs, interpolator settings, configuration and LEDs, as set by the frames.
    `log`: (cycle at which the frame began, mask of the DACs it updated)."""

    outputs: list = field(default_factory=lambda: [0] * DACS)
    interpolators: list = field(default_factory=lambda: [0] * DACS)
    configuration: int = 0
    leds: int = 0
    log: list = field(default_factory=list)
    receiver: FrameReceiver = field(default_factory=FrameReceiver)

    def feed(self, cycle, samples):
        """As of `FrameReceiver`."""
        before = len(self.receiver.frames)
        self.receiver.feed(cycle, samples)
        assert not self.receiver.errors
        for start, payload in self.receiver.frames[before:]:
            self._take(start, payload)

    def _take(self, start, payload):
        fields = {}
        for name, width in FRAME:
            fields[name] = payload & (1 << width) - 1
            payload >>= width
        chosen = [i for i in range(DACS) if fields["mask"] >> i & 1]
        if fields["kind"] == FRAME_KIND_INTERPOLATOR:
            for i in chosen:
                self.interpolators[i] = fields["interpolator"]
        else:
            for i in chosen:
                self.outputs[i] = payload >> 16 * i & 0xFFFF
            self.log.append((start, fields["mask"]))
        self.configuration, self.leds = fields["configuration"], fields["leds"]
