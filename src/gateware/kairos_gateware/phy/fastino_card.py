"""For tests: the other end of a fast link, in plain Python. It uses only the pads, finds words by the
clock lane and frames by their markers, checks the CRC, and keeps a Fastino's state."""

from dataclasses import dataclass, field

from ..contracts.fastino import FRAME, FRAME_KIND_INTERPOLATOR
from ..pad import SAMPLES
from .fastino import DACS
from .fastlink import LANES

__all__ = ["FrameReceiver", "FastinoCard", "payload_of"]


def payload_of(frame, words, word_bits, crc_width):
    """The payload of a frame, both integers: without the CRC and the markers."""
    payload = taken = place = 0
    for word in range(words):
        end = LANES * word_bits * (word + 1)
        place += crc_width if word == 0 else int(word <= words // 2 + 1)
        payload |= (frame >> place & (1 << end - place) - 1) << taken
        taken, place = taken + end - place, end
    return payload


@dataclass
class FrameReceiver:
    """`frames`: (cycle of the first bit, payload) of the good ones; `errors`: cycles of those with
    a wrong CRC. `whole`: the frames themselves, as integers."""

    words: int = 14
    word_bits: int = 7
    pattern: int = 0b1100011
    polynomial: int = 0x180F
    frames: list = field(default_factory=list)
    errors: list = field(default_factory=list)
    whole: list = field(default_factory=list)
    _bits: list = field(default_factory=list)
    _words: list = field(default_factory=list)

    def feed(self, cycle, samples):
        """One cycle of the clock lane and the data lanes: eight samples each."""
        half = SAMPLES // 2
        for first in [0, half]:
            bits = [word >> first & (2**half - 1) for word in samples]
            assert all(bit in (0, 2**half - 1) for bit in bits), "a bit changes within its 4 ns"
            self._bit(cycle, [bit & 1 for bit in bits])

    def _bit(self, cycle, bits):
        self._bits = [*self._bits, (cycle, bits)][-self.word_bits :]
        levels = [bits[0] for _, bits in self._bits]
        if levels != [self.pattern >> n & 1 for n in reversed(range(self.word_bits))]:
            return
        word, self._bits = self._bits, []
        self._words = [*self._words, word][-self.words :]
        # The lowest lane at the ends of the words, the last one first
        marks = [word[-1][1][1] for word in reversed(self._words)]
        if len(self._words) == self.words and marks[1 : self.words // 2 + 2] == [1] + [0] * (self.words // 2):
            self._finish()

    def _finish(self):
        start = self._words[0][0][0]
        frame = 0
        for word in self._words:
            for _, bits in word:
                frame = frame << LANES | sum(bit << n for n, bit in enumerate(bits[1:]))
        self._words = []
        width = self.polynomial.bit_length() - 1
        # The frame as a polynomial is a multiple
        remainder = frame
        for place in reversed(range(width, frame.bit_length())):
            if remainder >> place & 1:
                remainder ^= self.polynomial << place - width
        if remainder:
            self.errors.append(start)
        else:
            self.whole.append(frame)
            self.frames.append((start, payload_of(frame, self.words, self.word_bits, width)))


@dataclass
class FastinoCard:
    """Outputs of the 32 DACs, interpolator settings, configuration and LEDs, as set by the frames.
    `log`: (cycle at which the frame began, mask of the DACs it updated)."""

    outputs: list = field(default_factory=lambda: [0] * DACS)
    interpolators: list = field(default_factory=lambda: [0] * DACS)
    configuration: int = 0
    leds: int = 0
    log: list = field(default_factory=list)
    fields: list = field(default_factory=list)
    """Of each frame: the fields of its header, and `words`."""
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
        words = fields["words"] = [payload >> 16 * i & 0xFFFF for i in range(DACS)]
        chosen = [i for i in range(DACS) if fields["mask"] >> i & 1]
        if fields["kind"] == FRAME_KIND_INTERPOLATOR:
            for i in chosen:
                self.interpolators[i] = words[i]
        else:
            for i in chosen:
                self.outputs[i] = words[i]
            self.log.append((start, fields["mask"]))
        self.configuration, self.leds = fields["configuration"], fields["leds"]
        self.fields.append(fields)
