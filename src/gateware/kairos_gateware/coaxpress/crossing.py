"""Between the logic and the clock of a camera's words."""

from migen import *
from migen.genlib.cdc import BusSynchronizer, MultiReg, PulseSynchronizer

__all__ = ["LOGIC", "Crossing"]

LOGIC = "sys"


class Crossing(Module):
    """domain: clock of the words. If that is the logic's own, nothing is in between. Each method returns the signal on
    the other side: of one of the logic, or with `back`, of one in the domain."""

    def __init__(self, domain):
        self._domain = domain

    def held(self, signal, back=False):
        """One that does not change while it is used."""
        if self._domain == LOGIC:
            return signal
        copy = Signal.like(signal)
        self.specials += MultiReg(signal, copy, LOGIC if back else self._domain)
        return copy

    def pulse(self, signal, back=False):
        """A pulse of a cycle, which arrives after what was `held` from its cycle on."""
        if self._domain == LOGIC:
            return signal
        ends = (self._domain, LOGIC) if back else (LOGIC, self._domain)
        self.submodules += (pulse := PulseSynchronizer(*ends))
        self.comb += pulse.i.eq(signal)
        late = Signal(reset_less=True)
        side = getattr(self.sync, ends[1])
        side += late.eq(pulse.o)
        return late

    def values(self, signals):
        """Of signals in the domain those of one cycle."""
        if self._domain == LOGIC:
            return signals
        copies = [Signal.like(signal) for signal in signals]
        self.submodules += (bus := BusSynchronizer(len(Cat(*signals)), self._domain, LOGIC))
        self.comb += [bus.i.eq(Cat(*signals)), Cat(*copies).eq(bus.o)]
        return copies
