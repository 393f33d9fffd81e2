"""Parts of a board that exist in simulation only: they determine how far time may be advanced, and
which clocks may stop meanwhile."""

from functools import reduce
from operator import and_, or_

from migen import *

from ..rtio.timing import COARSE_BITS
from .resting import ANALYZER, DMA, INPUTS, NETWORK, REGISTERS, Resting

__all__ = ["Simulated"]


class Simulated(Module):
    """soc: `Soc`, otherwise complete.

    `load` (in) and `load_value` (in, 61 bits) set the counter. `settled` (out): nothing changes but time;
    `waits` (out): nothing changes but time and pulse cores, whatever those do; `feeds` (out): segments or
    words move in those. `next_due`: latest coarse time to which the counter may be advanced. `wakes`: which
    parts must be clocked (`Resting`).
    """

    def __init__(self, soc):
        self.load, self.load_value = Signal(), Signal(COARSE_BITS)
        self.settled, self.waits, self.feeds = Signal(), Signal(), Signal()

        # # #

        self._stillness(soc)
        self.submodules.resting = resting = Resting(self._moving(soc))
        self.wakes = resting.wakes
        self._next_due(soc)

    def _stillness(self, soc):
        parts = [soc.core, soc.initiator, soc.dma, soc.analyzer, soc.arbiter, soc.clock_control, soc.traffic]
        still = reduce(and_, [part.settled for part in parts if part is not None] + soc.links.settled(), soc.bus.idle)
        cores = [phy.sequencing for phy in soc.phys.pulses]
        self.comb += [
            self.settled.eq(reduce(and_, [part.settled for part in [*soc.streams, *cores]], still)),
            # A stream that waits for room in a core resumes when the core has room; a wave has
            # edges of its own
            self.waits.eq(
                reduce(and_, [*[s.idle for s in soc.streams], *[wave.word == 0 for wave in soc.core.waves]], still)
            ),
            self.feeds.eq(reduce(or_, [core.feeds for core in cores], 0)),
        ]

    def _moving(self, soc):
        """By domain, whether it receives something or something changes in it."""
        core, bus, analyzer, cri = soc.core, soc.bus, soc.analyzer, soc.cri
        seen = cri.output.valid | cri.output_done | cri.input.valid | cri.input_done | analyzer.bus.bvalid
        if core.pusher is not None:
            seen |= core.pusher.taken
        # Settings and coefficients of Shuttlers and Songbirds are there, too
        changing = [soc.phys.reset | ~phy.channel.settled for phy in soc.phys.waveforms.values()]
        sampled = [phy.channel.output.stb | ~phy.channel.settled for phy in soc.phys.inputs]
        moving = {
            NETWORK: reduce(or_, changing, core.leaving),
            INPUTS: core.entering | reduce(or_, sampled, soc.phys.reset),
            ANALYZER: bus.changing | ~analyzer.settled | seen,
            DMA: bus.changing | soc.dma.busy,
            REGISTERS: ~bus.idle,
        }
        if soc.links.far is not None:
            # The upstream board writes a register: the number that it assigns to this board
            moving[REGISTERS] |= soc.links.far.named
        return moving

    def _next_due(self, soc):
        self.next_due = soc.core.next_due
        connected, permit_end = soc.initiator.permit.free_running.skip_with(soc.core.timebase)
        self.comb += connected
        for flag, time in [permit_end, *(due for near in soc.links.near for due in near.dues)]:
            earlier = Signal.like(soc.core.next_due)
            self.comb += earlier.eq(Mux(flag & (time < self.next_due), time, self.next_due))
            self.next_due = earlier
