"""Settings of the path from parameters to samples, and samples generated with them. Clock domain
sys.

Each setting takes effect in the cycle after the one in which it arrives: the frequency error and
the harmonics of the feed-forward, the couplings of the crosstalk compensation (stored one by one,
then applied all at once), and the global counter, which otherwise follows time. The frequency error
is the sum of the one set and the one that a `Tracker` has found.
"""

from functools import reduce
from operator import or_

from migen import *

from ..contracts import pulse as facts
from .crosstalk import OFFSETS
from .samples import Samples

__all__ = ["COUNTER", "COUPLE", "COUPLING", "ERROR", "HARMONIC", "Sampled", "Settings"]

ERROR, HARMONIC, COUPLING, COUPLE, COUNTER = range(19, 24)
"""Addresses of their events."""
_DELAY_BITS = facts.CROSSTALK_DELAY_MAX.bit_length()
_DATA_BITS, _KIND_BITS = 47, 3
_EVENT_BITS = 64


def _cut(data, *widths):
    """Fields of a signal, from bit 0 on."""
    parts, at = [], 0
    for width in widths:
        parts.append(data[at : at + width])
        at += width
    return parts


class Settings(Module):
    """at: whether there is an event at an address; data: of the event.

    | Address | Data |
    |---|---|
    | ERROR | frequency error, a frequency's word |
    | HARMONIC | bits 15..0 harmonic, signed; 16 tone; 19..17 channel |
    | COUPLING | bits 17..0 real, 35..18 imaginary part of the factor; 41..36 delay; 43..42 offset; 46..44 channel |
    | COUPLE | delay that means none; all couplings written take effect |
    | COUNTER | the global counter of samples |

    `error` (out, 40 bits), of which `tracked` (out, 40 bits) is the part of a tracker: set to `proposed`
    (in, 40 bits) when there is no event while `update` (in), in a cycle with `taken` (out). `harmonics`:
    of each channel, of each tone; `write` with `real`, `imaginary`, `delay`, `offset`, `channel`; `commit`
    with `zero`; `load` with `value`. `newest` (out, 64 bits): the latest event, for recordings, a changed
    `tracked` included: bits 46..0 its data (of ERROR: the whole `error`), 49..47 its address less ERROR,
    63..50 number of events before it.
    """

    def __init__(self, at, data, channels):
        self.error = Signal(facts.VALUE_BITS)
        self.tracked, self.proposed = Signal(facts.VALUE_BITS), Signal(facts.VALUE_BITS)
        self.update, self.taken = Signal(), Signal()
        self.harmonics = [
            [Signal((facts.HARMONIC_BITS, True), name=f"harmonic_{c}_{t}") for t in range(facts.TONES)]
            for c in range(channels)
        ]
        self.write, self.commit, self.load = at(COUPLING), at(COUPLE), at(COUNTER)
        factor = facts.CROSSTALK_BITS
        parts = _cut(data, factor, factor, _DELAY_BITS, (len(OFFSETS) - 1).bit_length(), 3)
        self.real, self.imaginary, self.delay, self.offset, self.channel = parts
        self.zero, self.value = data[:_DELAY_BITS], data[: facts.VALUE_BITS]

        # # #

        harmonic, tone, channel = _cut(data, facts.HARMONIC_BITS, 1, 3)
        self.newest, count = Signal(_EVENT_BITS), Signal(_EVENT_BITS - _DATA_BITS - _KIND_BITS)
        content = Signal(_DATA_BITS)
        self.comb += content.eq(data)
        addresses = [ERROR, HARMONIC, COUPLING, COUPLE, COUNTER]
        for kind, address in enumerate(addresses[1:], 1):
            event = Cat(content, C(kind, _KIND_BITS), count)
            self.sync += If(at(address), self.newest.eq(event), count.eq(count + 1))
        given, total = Signal(facts.VALUE_BITS), Signal(facts.VALUE_BITS)
        self.comb += [
            self.error.eq(given + self.tracked),
            self.taken.eq(self.update & ~reduce(or_, [at(address) for address in addresses])),
            total.eq(Mux(self.taken, given + self.proposed, data[: facts.VALUE_BITS] + self.tracked)),
        ]
        self.sync += [
            If(at(ERROR), given.eq(data)),
            If(self.taken, self.tracked.eq(self.proposed)),
            If(
                at(ERROR) | self.taken,
                self.newest.eq(Cat(total, C(0, _DATA_BITS + _KIND_BITS - facts.VALUE_BITS), count)),
                count.eq(count + 1),
            ),
        ]
        for c, tones in enumerate(self.harmonics):
            for t, mine in enumerate(tones):
                self.sync += If(at(HARMONIC) & (channel == c) & (tone == t), mine.eq(harmonic))


class Sampled(Module):
    """Samples of some channels with a core's settings. time: in cycles. quadrature: with imaginary parts.
    `outputs`: their `Samples`, with crosstalk compensation if there are several."""

    def __init__(self, channels, settings, time, samples_per_cycle, quadrature=False):
        self.submodules.outputs = outputs = Samples(channels, samples_per_cycle, len(channels) > 1, quadrature)

        # # #

        following, ahead = Signal(facts.VALUE_BITS), Signal(facts.VALUE_BITS)
        self.comb += [
            following.eq((time + 1) * samples_per_cycle),
            outputs.load.eq(1),
            outputs.value.eq(Mux(settings.load, settings.value, following + ahead)),
            outputs.forward.error.eq(settings.error),
            *[
                mine.eq(given)
                for tones, set_ in zip(outputs.harmonics, settings.harmonics, strict=False)
                for mine, given in zip(tones, set_, strict=True)
            ],
        ]
        self.sync += If(settings.load, ahead.eq(settings.value - following))
        if len(channels) > 1:
            crosstalk = outputs.crosstalk
            self.comb += [
                crosstalk.write.eq(settings.write),
                Cat(*crosstalk.factor).eq(Cat(settings.real, settings.imaginary)),
                *[getattr(crosstalk, name).eq(getattr(settings, name)) for name in ["delay", "offset", "channel"]],
                crosstalk.commit.eq(settings.commit),
                crosstalk.zero.eq(settings.zero),
            ]
