"""SPI transfers requested through registers, beside the events of experiments.

    events ──▶ SpiAside ──▶ SpiMaster ──▶ pins
    inputs ◀──    │    ◀──
               registers

Events pass in the same cycle, as if this block were absent. A requested transfer waits until the
master is idle and chip select is released, for at most WAIT_CYCLES; its configuration is set, and
afterwards that of the experiment is restored. Meanwhile the experiment's events for this channel
are rejected as "busy", and received data are not passed to the experiment. No other channel, lane
or counter of the core is affected. Clock domain sys.

    cycle      T        T+1      T+2  ...   T+2+(n+1)*div    +1
    master     config   data     transfer                   config of the experiment
"""

from litex.soc.interconnect.csr import AutoCSR, CSRStatus, CSRStorage
from migen import *
from migen.genlib.fsm import FSM, NextState, NextValue

from ..contracts.spi import CONFIG_ADDRESS, DATA_ADDRESS, SpiFlag
from ..csr import uses
from ..rtio.link import Channel, InputLink, OutputLink

__all__ = ["SpiAside", "SpiRegisters", "WAIT_CYCLES"]

WAIT_CYCLES = 1 << 17
"""1 ms."""


class SpiAside(Module):
    """phy: `SpiMaster`, which this wraps and replaces, with its `pads` and its `channel`.

    `start` (in, one cycle) requests a transfer with `config` and `data` (in, 32 bits), unless `busy` (out);
    `value` (out, 32 bits): the newest input; `refused` (out): the last transfer was not made.
    """

    def __init__(self, phy, wait=WAIT_CYCLES):
        self.submodules.phy = phy
        self.pads = phy.pads
        inner, received = phy.channel.output, phy.channel.input
        events = OutputLink(inner.data_width, inner.address_width, replace=inner.replace)
        inputs = InputLink(received.data_width)
        self.channel = Channel(phy.channel.number, output=events, input=inputs)
        self.start, self.config, self.data = Signal(), Signal(32), Signal(32)
        self.busy, self.refused, self.value = Signal(), Signal(), Signal(32)

        # # #

        kept = Signal(32, reset=int(SpiFlag.OFFLINE))  # the experiment's configuration
        config, data = Signal(32), Signal(32)
        time = Signal(max=wait)
        taken = Signal()  # the master is not available to the experiment
        passes = events.stb & ~taken
        own = {"stb": Signal(), "address": Signal(), "data": Signal(32)}
        self.comb += [
            inner.stb.eq(passes | own["stb"]),
            inner.address.eq(Mux(passes, events.address, own["address"])),
            inner.data.eq(Mux(passes, events.data, own["data"])),
            inner.fine.eq(events.fine),
            events.busy.eq(inner.busy | taken),
            inputs.stb.eq(received.stb & ~taken),
            inputs.data.eq(received.data),
            inputs.fine.eq(received.fine),
            self.channel.settled.eq(phy.channel.settled & ~self.busy & ~self.start),
        ]
        self.sync += [
            If(passes & ~inner.busy & (events.address == CONFIG_ADDRESS), kept.eq(events.data)),
            If(received.stb & taken, self.value.eq(received.data)),
        ]

        def submit(address, word):
            return [own["stb"].eq(1), own["address"].eq(address), own["data"].eq(word)]

        self.submodules.fsm = fsm = FSM(reset_state="IDLE")
        self.comb += self.busy.eq(~fsm.ongoing("IDLE"))
        fsm.act(
            "IDLE",
            NextValue(time, wait - 1),
            If(
                self.start,
                NextValue(config, self.config | int(SpiFlag.END)),
                NextValue(data, self.data),
                NextValue(self.refused, 0),
                NextState("WAIT"),
            ),
        )
        fsm.act(
            "WAIT",
            NextValue(time, time - 1),
            If(
                phy.channel.settled & ~phy.selected & ~events.stb,
                *submit(CONFIG_ADDRESS, config),
                NextState("DATA"),
            ).Elif(time == 0, NextValue(self.refused, 1), NextState("IDLE")),
        )
        fsm.act("DATA", taken.eq(1), *submit(DATA_ADDRESS, data), NextState("BEGUN"))
        fsm.act("BEGUN", taken.eq(1), NextState("TRANSFER"))
        fsm.act("TRANSFER", taken.eq(1), If(phy.channel.settled, NextState("RESTORE")))
        fsm.act("RESTORE", taken.eq(1), *submit(CONFIG_ADDRESS, kept), NextState("IDLE"))


class SpiRegisters(Module, AutoCSR):
    """asides: {channel number: `SpiAside`}. Set `channel` and `config`, write `data`, wait until
    `state` is 0."""

    USES = uses("spi")

    def __init__(self, asides):
        self.channel = CSRStorage(16, name="channel")
        self.config = CSRStorage(32, name="config")
        self.data = CSRStorage(32, name="data")
        self.state = CSRStatus(3, name="state")
        self.value = CSRStatus(32, name="value")

        # # #

        busy, refused, absent = Signal(), Signal(), Signal()
        shown = {"default": absent.eq(1)}
        for number, aside in asides.items():
            self.comb += [
                aside.config.eq(self.config.storage),
                aside.data.eq(self.data.storage),
                aside.start.eq(self.data.re & (self.channel.storage == number)),
            ]
            shown[number] = [
                busy.eq(aside.busy | aside.start),
                refused.eq(aside.refused),
                self.value.status.eq(aside.value),
            ]
        self.comb += [Case(self.channel.storage, shown), self.state.status.eq(Cat(busy, refused, absent))]
