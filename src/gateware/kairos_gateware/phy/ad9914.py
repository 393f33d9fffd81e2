"""Parallel bus of up to eight AD9914 frequency synthesisers in their 16-bit programming mode. Clock
domain sys.

RTIO address 0x00-0x7f: writes the 16-bit register at that (odd) address of the selected chips.
0x80: frequency update (FUD, the chips' IO_UPDATE) of the selected chips, rising with the cycle of
the event's time. 0x81: bit 0 is the reset pin of all chips, bit n + 1 selects chip n. The bus is
write-only.

An event takes 5 cycles, as the driver assumes; an event during that time is rejected as "busy".
Setup and hold times are those of the data sheet with cycles of 8 ns to spare (address and data 8 ns
before WR falls; WR low and high at least 16 ns).

    cycle (coarse time)   T      T+1    T+2    T+3    T+4    T+5
    a, d                  X valid                            X next
    wr_n                  ‾‾‾‾‾‾‾\\____________/‾‾‾‾‾‾‾‾‾‾‾‾‾‾
    fud (address 0x80)    /‾‾‾‾‾‾‾‾‾‾‾‾\\______________________
"""

from migen import *

from ..contracts.descriptor import ChannelKind
from ..pad import SAMPLES
from ..rtio.link import Channel, OutputLink
from .kind import Context, Figure, Kind, Parameter

__all__ = ["KINDS", "Ad9914Bus", "ADDRESS_UPDATE", "ADDRESS_GPIO"]

ADDRESS_UPDATE = 0x80
ADDRESS_GPIO = 0x81
CYCLES = 5
_FREQUENCY_LOW, _FREQUENCY_HIGH = 0x2D, 0x2F  # halves of profile 0's tuning word, whose bytes are 0x2c to 0x2f


class Ad9914Bus(Module):
    """address: list of 8 pads; data: of 16; write_n, update, reset: pads; select_n: a pad for each
    chip.

    `probes`: tuning word of each chip as of the last update, 32 bits, for the monitor.
    """

    def __init__(self, number, address, data, write_n, update, reset, select_n):
        link = OutputLink(data_width=16, address_width=8, replace=False)
        self.channel = Channel(number, output=link)
        self.pads = [*address, *data, write_n, update, reset, *select_n]
        self.probes = [Signal(32, name=f"frequency_{i}") for i in range(len(select_n))]

        # # #

        chips = len(select_n)
        step = Signal(max=CYCLES)
        active = Signal()
        gpio = Signal(1 + chips)
        bus_address = Signal(8)
        bus_data = Signal(16)
        strobe = Signal(reset=1)  # as on the pin: active low
        fud = Signal()
        writing = Signal()
        frequency = [Signal(32, name=f"next_frequency_{i}") for i in range(chips)]
        self.comb += link.busy.eq(active & (step != CYCLES - 1))
        begin = link.stb & ~link.busy
        self.sync += [
            step.eq(step + 1),
            If(
                active,
                strobe.eq(~(writing & (step < 2))),
                If(step == 1, fud.eq(0)),
                If(step == CYCLES - 1, active.eq(0)),
            ),
            If(
                begin,
                active.eq(1),
                step.eq(0),
                strobe.eq(1),
                writing.eq(~link.address[7]),
                If(
                    link.address == ADDRESS_UPDATE,
                    fud.eq(1),
                    [If(gpio[1 + i], self.probes[i].eq(frequency[i])) for i in range(chips)],
                )
                .Elif(link.address == ADDRESS_GPIO, gpio.eq(link.data))
                .Elif(
                    ~link.address[7],
                    bus_address.eq(link.address),
                    bus_data.eq(link.data),
                    [
                        If(
                            gpio[1 + i],
                            If(link.address == _FREQUENCY_LOW, frequency[i][:16].eq(link.data)),
                            If(link.address == _FREQUENCY_HIGH, frequency[i][16:].eq(link.data)),
                        )
                        for i in range(chips)
                    ],
                ),
            ),
        ]
        self.comb += self.channel.settled.eq(~active)
        levels = [*bus_address, *bus_data, strobe, fud, gpio[0], *(~gpio[1 + i] for i in range(chips))]
        for pad, level in zip(self.pads, levels, strict=True):
            self.comb += [pad.o.eq(Replicate(level, SAMPLES)), pad.oe.eq(1)]


def _make(context):
    address = context.pads([f"a{i}" for i in range(8)])
    data = context.pads([f"d{i}" for i in range(16)])
    select_n = context.pads([f"sel_n{i}" for i in range(context["chips"])])
    return Ad9914Bus(context.number, address, data, *context.pads(["wr_n", "fud", "rst"]), select_n)


KINDS = (
    Kind(
        ChannelKind.AD9914,
        _make,
        pads="`a0`–`a7`, `d0`–`d15`, `wr_n`, `fud`, `rst`, `sel_n0`…",
        parameters=(Parameter("chips", 1, range(1, 9), "an AD9914 bus has 1 to 8 chips"),),
        figures={"ad9914": Figure("one chip", lambda: _make(Context(0, "bus", {"chips": 1}, {})))},
    ),
)
