"""Measurement results without a processor: counts of input PHYs, compared with thresholds, are the
bits of a result. Clock domain sys.

A source is an edge counter, which reports its count on request, or a TTL input, whose edges are
counted while its gate is open, with the count reported when it closes. Once all selected sources
have reported a count since the last result, there is a result: bit n is 1 if source n has counted
at least its threshold.

    cycle                0      1
    counter's input.stb  /‾‾‾‾‾\\_______   the last count that was missing
    valid                       /‾‾‾‾‾\\   the result

The sources' own input events go to the RTIO core as usual.
"""

from functools import reduce
from operator import and_

from migen import *

from ..contracts import pulse as facts
from .edge_counter import EdgeCounter
from .ttl import InOut

__all__ = ["SOURCES", "Measurement", "sources_of"]

SOURCES = facts.BRANCH_STATE_BITS
"""Maximum number of sources of a result: one for each of its bits."""
COUNT_BITS = 31


class _GateCount(Module):
    """Counts the edges that a TTL input recorded while its gate was open: `valid` (out) with the `count`
    (out, 31 bits) when it has closed.

    `settled` (out): no gate is open and no count is due.
    """

    def __init__(self, ttl):
        self.valid, self.count = Signal(), Signal(COUNT_BITS)
        self.settled = Signal()

        # # #

        was_open = Signal()
        more = ttl.hit & (self.count != 2**COUNT_BITS - 1)
        self.comb += [self.valid.eq(was_open & ~ttl.gate), self.settled.eq(~self.valid)]
        self.sync += [was_open.eq(ttl.gate), self.count.eq(Mux(ttl.gate, self.count + more, ttl.hit))]


class Measurement(Module):
    """phys: the sources' PHYs. `asked` (in, 4 bits): those that contribute to a result; none: there are no
    results. thresholds: of each. `valid` (out): for one cycle, with the result in `state` (out, 4 bits).
    `settled` (out): no result follows without an input."""

    def __init__(self, phys):
        self.asked = Signal(SOURCES)
        self.thresholds = [Signal(COUNT_BITS, reset=1, name=f"threshold_{n}") for n in range(len(phys))]
        self.valid, self.state = Signal(), Signal(SOURCES)
        self.settled = Signal()

        # # #

        given, bits, settled = Signal(SOURCES), Signal(SOURCES), [~self.valid]
        self.comb += [
            self.valid.eq((self.asked != 0) & ((self.asked & ~given) == 0)),
            self.state.eq(bits & self.asked),
        ]
        for n, (phy, threshold) in enumerate(zip(phys, self.thresholds, strict=True)):
            if isinstance(phy, InOut):
                self.submodules += (counter := _GateCount(phy))
                settled.append(counter.settled)
                valid, count = counter.valid, counter.count
            else:
                valid, count = phy.channel.input.stb, phy.channel.input.data
            self.sync += [
                If(self.valid, given[n].eq(0)),
                If(valid, given[n].eq(1), bits[n].eq(count >= threshold)),
            ]
        self.comb += self.settled.eq(reduce(and_, settled))


def sources_of(context, names):
    """The PHYs whose channel numbers are in the context's parameters of these names, up to the first
    one unset. Raises ValueError."""
    phys = []
    for name in names:
        if context[name] is None:
            break
        kind = EdgeCounter if isinstance(context.phys.get(context[name]), EdgeCounter) else InOut
        phys.append(context.earlier(name, kind, "edge_counter or ttl_inout"))
    return phys
