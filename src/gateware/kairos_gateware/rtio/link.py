"""Interface between the RTIO core and a PHY, one `Channel` for each channel number."""

from dataclasses import dataclass, field
from typing import NamedTuple

from migen import *

from ..pad import Pad
from .timing import COARSE_BITS, FINE_BITS

__all__ = ["OutputLink", "InputLink", "Wave", "FreeRunning", "Channel"]


class OutputLink:
    """Core to PHY. `stb` is high for one cycle, OUTPUT_LATENCY's last cycle before the pad's: a PHY
    that registers once is exactly on time. The PHY answers `busy` in that cycle if it cannot take
    the event.

    replace: of events with the same address and time the last one counts, silently; otherwise each
    pair of events in one cycle is a collision. (In any case only one event of a cycle is executed,
    the last submitted.)"""

    def __init__(self, data_width, address_width=0, replace=True):
        self.stb = Signal()
        self.data = Signal(data_width)
        self.address = Signal(max(1, address_width))
        self.fine = Signal(FINE_BITS)
        self.busy = Signal()
        self.data_width = data_width
        self.address_width = address_width
        self.replace = replace


class InputLink:
    """PHY to core. `stb` is high INPUT_LATENCY cycles after the cycle in which the pad was sampled."""

    def __init__(self, data_width):
        self.stb = Signal()
        self.data = Signal(data_width)
        self.fine = Signal(FINE_BITS)
        self.data_width = data_width


class Wave(NamedTuple):
    """A square wave on `pad`: the highest bit of `accumulator`, to which `word` is added each
    cycle; at most half of its range, at which the level changes with every cycle."""

    pad: Pad
    accumulator: Signal
    word: Signal


class FreeRunning:
    """For what moves by itself and can be moved on arithmetically, as a PHY: what time skip in simulation needs.

    limit: number of cycles after this one in which the outputs certainly keep their level. stb: the
    counter jumps; the next cycle's state is that of `cycles` cycles later, not of one. simulated: 1
    in simulation builds. Not driven in hardware builds (all are 0). wave: what the output is
    meanwhile, where its edges are no `limit`.
    """

    def __init__(self, wave=None):
        self.wave = wave
        self.simulated = Signal()
        self.limit = Signal(COARSE_BITS)
        self.stb = Signal()
        self.cycles = Signal(COARSE_BITS)

    def skip_with(self, timebase):
        """(statements that connect it to the counter, (whether there is a limit, coarse time of that))."""
        connected = [
            self.simulated.eq(1),
            self.stb.eq(timebase.load),
            self.cycles.eq(timebase.load_value - timebase.coarse),
        ]
        return connected, (~self.limit[-1], timebase.coarse + self.limit)


@dataclass
class Channel:
    """What the core needs to know of a channel. `output is None` and `discard` false: no outputs.

    discard: output events are accepted and thrown away (log channel: only the analyzer sees them).
    settled: nothing moves inside the PHY, so that in simulation time may be skipped. A
    `free_running` one need not be.
    """

    number: int
    output: OutputLink | None = None
    input: InputLink | None = None
    discard: bool = False
    free_running: FreeRunning | None = None
    settled: Signal = field(default_factory=lambda: Signal(reset=1))
