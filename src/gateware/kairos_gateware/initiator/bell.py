"""The event line of the processor: each toggle requests that the next slot be read.

    cycle   0   EVENTEVENTO toggles, asynchronously
            2   `toggle`, for one cycle

Clock domain sys. Nothing is reset: the line has no idle level.
"""

from migen import *

__all__ = ["DoorBell"]


class DoorBell(Module):
    """`event` (in): EVENTEVENTO. `toggle` (out): it has toggled. `still` (out): no toggle is in transit
    through the synchroniser."""

    def __init__(self):
        self.event = Signal()
        self.toggle = Signal()
        self.still = Signal()

        # # #

        # The first two stages may be metastable; a change is detected between the second and the
        # third.
        stages = [Signal(name=f"event_sync_{i}", attr={"async_reg"} if i < 2 else set()) for i in range(3)]
        for before, stage in zip([self.event, *stages], stages, strict=False):
            self.sync += stage.eq(before)
        self.comb += [
            self.toggle.eq(stages[1] ^ stages[2]),
            self.still.eq((self.event == stages[0]) & (stages[0] == stages[1]) & (stages[1] == stages[2])),
        ]
