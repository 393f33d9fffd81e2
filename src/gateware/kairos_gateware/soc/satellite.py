"""A satellite as far as it needs no processor: an RTIO core with its PHYs, whose commands come over the link."""

from functools import reduce
from operator import and_

from migen import *

from ..link.rtio_far import FarRtio
from ..phy.kinds import make_phys
from ..rtio.core import LOG_WIDTH, RtioCore
from ..rtio.link import Channel

__all__ = ["Satellite", "data_width"]

LANE_DEPTH = 512
"""Events that a lane holds: as many as its block RAM."""


def _channels(variant):
    """(PHYs by channel number, channels of the core)."""
    phys = {number: ResetInserter()(phy) for number, phy in make_phys(variant.channels).items()}
    numbers = range(len(variant.channels))
    return phys, [phys[n].channel if n in phys else Channel(n, discard=True) for n in numbers]


def data_width(variant) -> int:
    """Bits of the widest event that one of the variant's channels takes, 32 at least."""
    _, channels = _channels(variant)
    return max([LOG_WIDTH] + [channel.output.data_width for channel in channels if channel.output is not None])


class Satellite(Module):
    """variant: of its channels. Raises ValueError if it has what needs a processor.

    `endpoint`, `line_up`: of the link to the master. `pads`: list of `Pad`. `core`. For time skip, simulation only:
    `settled`; `load`, `load_value`: to set the counter.
    """

    def __init__(self, variant, simulation=False):
        for spec in variant.channels:
            if spec.kind == "pulse":
                raise ValueError(f"{spec.name}: a satellite without a processor has no pulse cores")
        if variant.reorder:
            raise ValueError(f"{variant.name}: a satellite has lanes of increasing times (reorder = 0)")
        phys, channels = _channels(variant)
        self.pads = [pad for phy in phys.values() for pad in phy.pads]
        self.submodules += phys.values()
        self.submodules.core = core = RtioCore(
            channels, lanes=variant.lanes, depth=LANE_DEPTH, simulation=simulation, loadable=True
        )
        self.submodules.far = far = FarRtio(core)
        self.endpoint = far.endpoint
        self.line_up = far.line_up

        # # #

        timebase = core.timebase
        self.load, self.load_value = Signal(), Signal.like(timebase.load_value)
        self.comb += [
            timebase.load.eq(far.time_load | self.load),
            timebase.load_value.eq(Mux(self.load, self.load_value, far.time_value)),
            [phy.reset.eq(far.phy_reset) for phy in phys.values()],
        ]
        if simulation:
            self.settled = reduce(and_, [core.settled, far.settled])
