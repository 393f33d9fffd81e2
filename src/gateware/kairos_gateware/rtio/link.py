"""Interface between the RTIO core and a PHY, one `Channel` for each channel number."""

from dataclasses import dataclass, field
from typing import NamedTuple

from migen import *

from ..pad import Pad
from .timing import COARSE_BITS, FINE_BITS

__all__ = ["OutputLink", "InputLink", "Wave", "FreeRunning", "Channel"]


class OutputLink:
    """Core to PHY. Directions as seen by the core.

    `stb` (out) is high for one cycle, the last cycle of OUTPUT_LATENCY before the pad changes: a PHY with
    one register is exactly on time. `busy` (in): high in that cycle if the PHY cannot take the event. Valid
    with `stb`: `data` (out, `data_width` bits) and `address` (out, `max(1, address_width)` bits) of the
    event, and `fine` (out, 3 bits), its time within the cycle.

    replace: of events with the same address and time the last one takes effect, silently; otherwise
    each pair of events in one cycle is a collision. (In any case only one event per cycle is
    executed, the last submitted.)
    """

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
    """PHY to core. Directions as seen by the core.

    `stb` (in) is high INPUT_LATENCY cycles after the cycle in which the pad was sampled. Valid with it:
    `data` (in, `data_width` bits) of the event, and `fine` (in, 3 bits), its time within the cycle.
    """

    def __init__(self, data_width):
        self.stb = Signal()
        self.data = Signal(data_width)
        self.fine = Signal(FINE_BITS)
        self.data_width = data_width


class Wave(NamedTuple):
    """A square wave on `pad`: the highest bit of `accumulator`, which is incremented by `word` each
    cycle; `word` is at most half of the range, at which the level changes in every cycle."""

    pad: Pad
    accumulator: Signal
    word: Signal


class FreeRunning:
    """Time skip, for a PHY whose state advances by itself and can be advanced arithmetically.

    limit: number of cycles after this one in which the outputs certainly keep their level; None if not `limited`:
    nothing on them changes by itself. `stb` (in): the
    counter jumps; the next state is that of `cycles` (in, 61 bits) cycles later, instead of one.
    `simulated` (in): 1 in simulation builds. Not driven in hardware builds (all are 0). wave: the output
    meanwhile, if its edges do not count towards `limit` (out, 61 bits).
    """

    def __init__(self, wave=None, limited=True):
        self.wave = wave
        self.simulated = Signal()
        self.limit = Signal(COARSE_BITS) if limited else None
        self.stb = Signal()
        self.cycles = Signal(COARSE_BITS)

    def skip_with(self, timebase):
        """(statements that connect it to the counter, (whether there is a limit, coarse time of the
        limit), or None without any)."""
        connected = [
            self.simulated.eq(1),
            self.stb.eq(timebase.load),
            self.cycles.eq(timebase.load_value - timebase.coarse),
        ]
        if self.limit is None:
            return connected, None
        return connected, (~self.limit[-1], timebase.coarse + self.limit)


@dataclass
class Channel:
    """A channel as the core sees it. `output is None` and `discard` false: no outputs.

    discard: output events are accepted and dropped (log channel: only the analyzer sees them).
    settled: nothing changes inside the PHY, so that time may be skipped in simulation. Not required
    of a `free_running` one.
    """

    number: int
    output: OutputLink | None = None
    input: InputLink | None = None
    discard: bool = False
    free_running: FreeRunning | None = None
    settled: Signal = field(default_factory=lambda: Signal(reset=1))
