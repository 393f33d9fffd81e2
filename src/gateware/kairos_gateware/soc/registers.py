"""The registers of RTIO core, kernel initiator, DMA, analyzer, monitor/injector and clock.

What they are for, `USES`, stands in src/contracts/registers.toml with their widths; `python -m kairos_gateware.docs`
puts it into docs/gateware/.
"""

from litex.soc.interconnect.csr import CSR, AutoCSR, CSRStatus, CSRStorage
from migen import *

from ..contracts.registers import BLOCKS
from ..rtio.timing import FINE_BITS
from .clock import MEASURED_BITS

__all__ = [
    "AnalyzerRegisters",
    "ClockRegisters",
    "DmaRegisters",
    "InitiatorRegisters",
    "MoninjRegisters",
    "RtioRegisters",
]


def uses(block: str) -> dict[str, str]:
    """What the registers of a block are for, by name."""
    return {name: doc for name, (_, _, doc) in BLOCKS[block].items()}


class RtioRegisters(Module, AutoCSR):
    """`phy_reset` is an output: reset level of the PHYs, 1 after power-up. The core's reset is one cycle; `discard`, if
    there is one, asks for it too."""

    USES = uses("rtio")

    def __init__(self, core, discard=None):
        self.reset = CSR(name="reset")
        self.phy_reset = CSRStorage(reset=1, name="phy_reset")
        self.counter_update = CSR(name="counter_update")
        self.counter = CSRStatus(64, name="counter")
        self.async_error = CSR(3, name="async_error")
        self.collision_channel = CSRStatus(16, name="collision_channel")
        self.busy_channel = CSRStatus(16, name="busy_channel")
        self.sequence_error_channel = CSRStatus(16, name="sequence_error_channel")

        # # #

        errors = [core.collision, core.busy, core.sequence_error]
        channels = [self.collision_channel, self.busy_channel, self.sequence_error_channel]
        reset = self.reset.re & self.reset.r
        self.sync += [
            core.reset.eq(reset if discard is None else reset | discard),
            If(self.counter_update.re, self.counter.status.eq(Cat(C(0, FINE_BITS), core.timebase.coarse))),
        ]
        self.comb += self.async_error.w.eq(Cat(*[e.flag for e in errors]))
        for i, (error, channel) in enumerate(zip(errors, channels, strict=True)):
            self.comb += [
                error.clear.eq(self.async_error.re & self.async_error.r[i]),
                channel.status.eq(error.channel),
            ]


class InitiatorRegisters(Module, AutoCSR):
    """Besides the controls: `lost` counts triggers without a request of the expected number; `error` tells of bus
    errors (bit 0 read, bit 1 write). Writing `clear` zeroes both, and the error in the status word. `input_ring`: only
    if inputs are pushed."""

    USES = uses("initiator")

    def __init__(self, initiator):
        self.enable = CSRStorage(name="enable")
        self.ring = CSRStorage(32, name="ring")
        self.busy = CSRStatus(name="busy")
        self.lost = CSRStatus(16, name="lost")
        self.error = CSRStatus(2, name="error")
        self.clear = CSR(name="clear")
        if initiator.pusher is not None:
            self.input_ring = CSRStorage(32, name="input_ring")

        # # #

        if initiator.pusher is not None:
            self.comb += initiator.input_base.eq(self.input_ring.storage)
        self.comb += [
            initiator.enable.eq(self.enable.storage),
            initiator.base.eq(self.ring.storage),
            initiator.clear.eq(self.clear.re),
            self.busy.status.eq(initiator.busy),
            self.lost.status.eq(initiator.lost),
            self.error.status.eq(initiator.error),
        ]


class DmaRegisters(Module, AutoCSR):
    """`enable`: writing 1 starts, 0 stops; `busy` tells when a playback, or what a stop has left, is over."""

    USES = uses("dma")

    def __init__(self, dma):
        self.enable = CSR(name="enable")
        self.busy = CSRStatus(name="busy")
        self.base = CSRStorage(32, name="base")
        self.time_offset = CSRStorage(64, name="time_offset")
        self.format = CSRStorage(name="format")
        self.error = CSR(4, name="error")
        self.error_channel = CSRStatus(24, name="error_channel")
        self.error_timestamp = CSRStatus(64, name="error_timestamp")
        self.error_address = CSRStatus(8, name="error_address")
        self.events = CSRStatus(32, name="events")

        # # #

        self.comb += [
            dma.start.eq(self.enable.re & self.enable.r),
            dma.stop.eq(self.enable.re & ~self.enable.r),
            self.busy.status.eq(dma.busy),
            dma.base.eq(self.base.storage),
            dma.time_offset.eq(self.time_offset.storage),
            dma.format.eq(self.format.storage),
            self.error.w.eq(dma.error),
            dma.clear.eq(self.error.re),
            self.error_channel.status.eq(dma.error_channel),
            self.error_timestamp.status.eq(dma.error_timestamp),
            self.error_address.status.eq(dma.error_address),
            self.events.status.eq(dma.events),
        ]


class AnalyzerRegisters(Module, AutoCSR):
    """`lossless` makes DMA wait when the analyzer cannot keep up; it is an output of this block."""

    USES = uses("analyzer")

    def __init__(self, analyzer):
        self.enable = CSRStorage(name="enable")
        self.busy = CSRStatus(name="busy")
        self.base = CSRStorage(32, name="base")
        self.last = CSRStorage(32, name="last")
        self.pack = CSRStorage(name="pack")
        self.lossless = CSRStorage(name="lossless")
        self.byte_count = CSRStatus(64, name="byte_count")
        self.message_count = CSRStatus(64, name="message_count")
        self.overflow = CSRStatus(name="overflow")
        self.bus_error = CSRStatus(name="bus_error")

        # # #

        self.comb += [
            analyzer.enable.eq(self.enable.storage),
            self.busy.status.eq(analyzer.busy),
            analyzer.base.eq(self.base.storage),
            analyzer.last.eq(self.last.storage),
            analyzer.pack.eq(self.pack.storage),
            self.byte_count.status.eq(Cat(C(0, 5), analyzer.units)),
            self.message_count.status.eq(analyzer.messages),
            self.overflow.status.eq(analyzer.overflow),
            self.bus_error.status.eq(analyzer.bus_error),
        ]


class MoninjRegisters(Module, AutoCSR):
    """Select, then `update` and read `value`; select, then read or write `inject_value`."""

    USES = uses("moninj")

    def __init__(self, moninj):
        self.channel = CSRStorage(16, name="channel")
        self.probe = CSRStorage(8, name="probe")
        self.update = CSR(name="update")
        self.value = CSRStatus(64, name="value")
        self.inject_channel = CSRStorage(16, name="inject_channel")
        self.inject_override = CSRStorage(8, name="inject_override")
        self.inject_value = CSR(8, name="inject_value")

        # # #

        self.comb += [
            moninj.channel.eq(self.channel.storage),
            moninj.probe.eq(self.probe.storage),
            moninj.update.eq(self.update.re),
            self.value.status.eq(moninj.value),
            moninj.inject_channel.eq(self.inject_channel.storage),
            moninj.override.eq(self.inject_override.storage),
            moninj.write.eq(self.inject_value.re),
            moninj.inject_value.eq(self.inject_value.r),
            self.inject_value.w.eq(moninj.inject_current),
        ]


class ClockRegisters(Module, AutoCSR):
    """Only where a board's synthesiser can make the clock of the logic."""

    USES = uses("clock")

    def __init__(self, control):
        self.select = CSRStorage(name="select")
        self.status = CSRStatus(4, name="status")
        self.lost = CSR(2, name="lost")
        self.synthesiser = CSRStatus(MEASURED_BITS, name="synthesiser")
        self.reference = CSRStatus(MEASURED_BITS, name="reference")

        # # #

        self.comb += [
            control.select.eq(self.select.storage),
            control.switch.eq(self.select.re),
            control.acknowledge.eq(self.lost.re),
            self.status.status.eq(Cat(control.selected, control.switching, control.is_locked, control.hold)),
            self.lost.w.eq(control.lost),
            self.synthesiser.status.eq(control.synthesiser),
            self.reference.status.eq(control.reference),
        ]
