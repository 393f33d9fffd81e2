"""For tests: a Phaser's payloads in plain Python, and what its oscillators compute."""

from dataclasses import replace
from math import cos, pi, sin

from migen import *

from ..contracts import phaser as facts
from ..pad import Pad
from .fastino_card import FrameReceiver
from .phaser import Phaser, PhaserPulses, PhaserTones

__all__ = ["PULSE", "Whole", "frames", "shifted", "fields", "header", "pulses", "samples", "sum_of"]

_BOTH = [*facts.SAMPLE, *((f"{name}1", width) for name, width in facts.SAMPLE)]
_SAMPLE_BITS = sum(width for _, width in _BOTH)
PULSE = [*facts.MIQRO, *((f"word{n}", facts.MIQRO_WORD_BITS) for n in range(facts.MIQRO_WORDS))]
"""Fields of a pulse."""


def _split(word, layout):
    found = {}
    for name, width in layout:
        found[name] = word & (1 << width) - 1
        word >>= width
    return found, word


def header(payload):
    """(fields of a payload's header, body)."""
    return _split(payload, facts.FRAME)


def samples(body):
    """[[I and Q of channel 0, of channel 1]] of a body, the latest one first."""
    found = []
    for n in range(facts.SAMPLES):
        values = _split(body >> _SAMPLE_BITS * n, _BOTH)[0].values()
        found.append([value - (value >> 13 << 14) for value in values])
    return found


def pulses(body):
    """[fields of `PULSE`] of both RF channels."""
    return [_split(body >> facts.MIQRO_BITS * n, PULSE)[0] for n in range(facts.CHANNELS)]


def fields(body):
    """An announcement: (RF channel, cycles since the first change, [fields of each oscillator])."""
    head, body = _split(body, [("channel", 1), ("cycles", facts.ANNOUNCED_CYCLES_BITS)])
    found = []
    for _ in range(facts.OSCILLATORS):
        values, body = _split(body, [("phase", facts.ANNOUNCED_PHASE_BITS), ("ftw", 32), *facts.TONE])
        found.append(values)
    return head["channel"], head["cycles"], found


def sum_of(oscillators):
    """I and Q (16 bits) of oscillators: (phase of 32 bits, `pow`, `asf`)."""
    values = []
    for function in (cos, sin):
        turns = [((phase + (pow_ << 16)) % 2**32 / 2**32, asf) for phase, pow_, asf in oscillators]
        total = sum(asf * function(2 * pi * turn) for turn, asf in turns) * (1 - 2**-14)
        values.append(max(-32768, min(32767, round(total))))
    return values


class Whole(Module):
    """All channels of a card; `pads` and `channel` are chosen by the test."""

    def __init__(self, simulated=1, miqro=0):
        lanes = [Pad(f"mosi{i}", "out", 0, True) for i in range(facts.LANES)]
        phaser = Phaser(0, Pad("clk", "out", 0, True), lanes, Pad("miso", "in", 0), miqro)
        self.submodules.phaser = phaser
        self.pads = phaser.pads
        if miqro:
            self.others = [PhaserPulses(1 + c, phaser, c) for c in range(2)]
        else:
            self.others = [
                PhaserTones(1 + n, phaser.words[n // 2][n % 2], phaser.strobes[n // 2][n % 2]) for n in range(4)
            ]
        self.submodules += self.others
        self.comb += phaser.channel.free_running.simulated.eq(simulated)

    def of(self, n):
        """Itself with the channel `n`: 0 the registers."""
        channel = (self.phaser if n == 0 else self.others[n - 1]).channel
        self.channel = replace(channel, settled=self.phaser.channel.settled)
        return self


def frames(record):
    """[(cycle at which it begins, fields of its header, body)]."""
    receiver = FrameReceiver(facts.FRAME_WORDS, facts.FRAME_WORD_BITS, facts.CLOCK_PATTERN, facts.CRC)
    pads = list(zip(*record.outputs[: 1 + facts.LANES], strict=True))
    for index in range(facts.FRAME_CYCLES - 1, len(pads)):
        receiver.feed(index + 1, [samples for samples, _ in pads[index]])
    assert not receiver.errors
    return [(start, *header(payload)) for start, payload in receiver.frames]


def shifted(events):
    # `play` numbers the cycle n + 1 as n
    return {cycle - 1: (*event, 0) if len(event) == 2 else event for cycle, event in events.items()}
