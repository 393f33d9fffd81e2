"""Registers of the pulse core; for their use see src/contracts/registers.toml."""

from litex.soc.interconnect.csr import CSR, AutoCSR, CSRStatus, CSRStorage
from migen import *

from ..contracts import pulse as facts
from ..csr import uses

__all__ = ["PulseRegisters"]


class PulseRegisters(Module, AutoCSR):
    """core: the `Sequencing`; direct: requests to it (`phy.pulse.Direct`). samples_per_cycle, rate: of
    samples, the latter in Hz. stream: of words from memory, a `dma.stream.StreamReader`; asked: requests to
    it by events. `reset` (in): of the core; it ends the stream."""

    USES = uses("pulse")

    def __init__(self, core, direct, samples_per_cycle, rate, stream, asked):
        self.reset = Signal()
        self.config = CSRStatus(32, name="config")
        self.rate = CSRStatus(32, name="rate")
        self.armed = CSRStatus(8, name="armed")
        self.running = CSRStatus(8, name="running")
        self.error = CSR(len(core.errors), name="error")
        self.underrun = CSRStatus(64, name="underrun")
        self.first_channel = CSRStorage(3, name="first_channel")
        self.first_cycle = CSRStatus(64, name="first_cycle")
        self.cycle_update = CSR(name="cycle_update")
        self.cycle = CSRStatus(64, name="cycle")
        self.trigger = CSR(name="trigger")
        self.result = CSR(facts.BRANCH_STATE_BITS, name="result")
        self.stream_enable = CSR(name="stream_enable")
        self.stream_busy = CSRStatus(name="stream_busy")
        self.stream_base = CSRStorage(32, name="stream_base")
        self.stream_error = CSRStatus(name="stream_error")
        self.stream_words = CSRStatus(32, name="stream_words")

        # # #

        sizes = sum(bits << at for bits, at in zip(core.table_bits, [8, 13, 18], strict=True))
        begin = self.stream_enable.re & self.stream_enable.r
        self.comb += [
            direct.trigger.eq(self.trigger.re & self.trigger.r),
            direct.result_valid.eq(self.result.re),
            direct.result.eq(self.result.r),
            If(self.error.re, direct.clear.eq(self.error.r)),
            stream.start.eq(begin | asked.start),
            stream.stop.eq((self.stream_enable.re & ~self.stream_enable.r) | self.reset),
            asked.busy.eq(stream.busy | begin),
            [asked.valid.eq(stream.valid & ~self.reset), asked.word.eq(stream.word), stream.ready.eq(asked.ready)],
            self.config.status.eq(len(core.channels) | samples_per_cycle << 4 | sizes),
            self.rate.status.eq(rate // 100),
            self.armed.status.eq(core.armed),
            self.running.status.eq(core.running),
            self.error.w.eq(core.errors),
            self.underrun.status.eq(Cat(*core.underrun_parameters)),
            Case(
                self.first_channel.storage, {c: self.first_cycle.status.eq(f) for c, f in enumerate(core.first_cycles)}
            ),
            self.stream_busy.status.eq(stream.busy),
            self.stream_error.status.eq(stream.error),
            self.stream_words.status.eq(stream.words),
        ]
        by_event = Signal()
        self.comb += stream.base.eq(Mux(by_event, asked.base, self.stream_base.storage))
        self.sync += [
            If(self.cycle_update.re, self.cycle.status.eq(core.cycle)),
            If(stream.start, by_event.eq(asked.start)),
        ]
