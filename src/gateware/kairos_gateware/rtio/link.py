"""Interface between the RTIO core and a PHY, one `Channel` for each channel number."""

from dataclasses import dataclass, field

from migen import *

from .timing import FINE_BITS

__all__ = ["OutputLink", "InputLink", "Channel"]


class OutputLink:
    """Core to PHY. `stb` is high for one cycle, OUTPUT_LATENCY's last cycle before the pad's: a PHY that registers
    once is exactly on time. The PHY answers `busy` in that cycle if it cannot take the event."""

    def __init__(self, data_width, address_width=0):
        self.stb = Signal()
        self.data = Signal(data_width)
        self.address = Signal(max(1, address_width))
        self.fine = Signal(FINE_BITS)
        self.busy = Signal()
        self.data_width = data_width
        self.address_width = address_width


class InputLink:
    """PHY to core. `stb` is high INPUT_LATENCY cycles after the cycle in which the pad was sampled."""

    def __init__(self, data_width):
        self.stb = Signal()
        self.data = Signal(data_width)
        self.fine = Signal(FINE_BITS)
        self.data_width = data_width


@dataclass
class Channel:
    """What the core needs to know of a channel. `output is None` and `discard` false: no outputs.

    discard: output events are accepted and thrown away (log channel without a recorder).
    settled: nothing moves inside the PHY, so that in simulation time may be skipped.
    """

    number: int
    output: OutputLink | None = None
    input: InputLink | None = None
    discard: bool = False
    settled: Signal = field(default_factory=lambda: Signal(reset=1))
