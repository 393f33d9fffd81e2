"""The registers of RTIO core, kernel initiator, DMA, analyzer, monitor/injector and clock.

`USES` of a class says what its registers are for; `python -m kairos_gateware.docs` puts it into docs/gateware/.
"""

from litex.soc.interconnect.csr import CSR, AutoCSR, CSRStatus, CSRStorage
from migen import *

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


class RtioRegisters(Module, AutoCSR):
    """`phy_reset` is an output: reset level of the PHYs, 1 after power-up. The core's reset is one cycle; `discard`, if
    there is one, asks for it too."""

    USES = {
        "reset": "write 1: reset of the RTIO core, one pulse; FIFOs and pending states cleared, PHY states kept",
        "phy_reset": "held level; 1 after power-up, the firmware clears it at boot",
        "counter_update": "write: latch the counter",
        "counter": "latched counter in machine units (low fine bits 0)",
        "async_error": "bit 0 collision, 1 busy, 2 sequence error; write 1 to clear",
        "collision_channel": "channel of the first collision since its flag was cleared",
        "busy_channel": "channel of the first busy error since its flag was cleared",
        "sequence_error_channel": "channel of the first sequence error since its flag was cleared",
    }

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

    USES = {
        "enable": "0: `sev` is ignored, requests under way are forgotten, numbers start again at 1; nothing more is "
        "pushed, what was stays. To be 1 only after `initiator_busy` was 0",
        "ring": "physical address of the ring, aligned to 4096",
        "input_ring": "only where inputs are pushed: physical address of the input rings, aligned to 262144; while it "
        "is 0 nothing is pushed. To be changed only while the initiator is disabled and not busy",
        "busy": "a request, an answer or a pushed event is under way, or input rings are being reset",
        "lost": "triggers without a request of the expected number; saturates",
        "error": "bus errors of the initiator so far: bit 0 read, bit 1 write",
        "clear": "write: zero the two above, and the error in the status word",
    }

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

    USES = {
        "enable": "write 1: play; write 0: stop. Not readable; see `dma_busy`",
        "busy": "a trace is played, or what was requested for it is still coming",
        "base": "physical address of the trace; the low 7 bits are ignored",
        "time_offset": "added to the trace's times, modulo 2^64",
        "format": "0 recorded, 1 compact",
        "error": "1 underflow, 2 unreachable, 4 bus error, 8 malformed trace; any write, and a start, clear it",
        "error_channel": "channel of the event that failed; with errors 4 and 8: of the last event before",
        "error_timestamp": "timestamp of that event",
        "error_address": "RTIO address of that event",
        "events": "events submitted since the start, the failed one included",
    }

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

    USES = {
        "enable": "0 → 1: record from the ring's begin, counters and errors cleared (only while not busy). "
        "1 → 0: append 'stopped'",
        "busy": "enabled, or not everything is in memory yet",
        "base": "physical address of the ring's first byte",
        "last": "physical address of any byte of the ring's last 32",
        "pack": "pairs are permitted",
        "lossless": "DMA waits when the analyzer cannot keep up",
        "byte_count": "bytes written to the ring since recording began",
        "message_count": "messages in them",
        "overflow": "messages were lost",
        "bus_error": "a write was refused",
    }

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

    USES = {
        "channel": "channel selected for the monitor",
        "probe": "probe selected for the monitor",
        "update": "write: latch the selected probe",
        "value": "latched probe",
        "inject_channel": "channel selected for the injector",
        "inject_override": "override selected for the injector",
        "inject_value": "the selected override; 0 if it does not exist",
    }

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

    USES = {
        "select": "write 0: run from the processing system's clock, 1: from the synthesiser's; also if that failed "
        "before. Accesses are answered late meanwhile",
        "status": "bit 0 the synthesiser's clock is used, 1 being changed, 2 locked to the clock that is used, 3 PHYs "
        "are in reset: being changed, or lost",
        "lost": "bit 0: the synthesiser's clock was lost, or could not be locked to, and the other one was taken; "
        "write: acknowledge, PHYs leave reset",
        "synthesiser": "frequency of the synthesiser's clock in 477 Hz, exactly 4/2^20 of the processing system's "
        "clock; 0: none",
        "reference": "frequency of the external clock, likewise",
    }

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
