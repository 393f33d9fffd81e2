"""The DMA engine: plays a trace of output events into the RTIO core.

    words ─▶ slicer ─▶ assemble ─▶ add time ─▶ CRI          (one register stage each)

Throughput: one event per cycle in the compact format (8-byte records), one per 2.125 cycles in the
recorded format with 32 bits of data; both are limited by 8 bytes per cycle. With read latency L,
the first event of a trace is offered to the core L + 11 cycles after `start`.

An event's status follows one cycle after its acceptance. The next event is held back in that cycle,
so after a failed event nothing more is submitted: the engine stops, and `error_*` describe the
failed event. A trace that cannot be read or is malformed stops it likewise.

`stop` withdraws the event on offer immediately; `busy` falls when the last status and the last
requested word have arrived, at most L + 16 * bursts cycles later. Everything but the error
registers is then as after power-up. Clock domain sys.
"""

from migen import *

from ..rtio.cri import Cri
from .format import COMPACT, MAX_WORDS
from .reader import BurstReader
from .slicer import Slicer

__all__ = ["DmaEngine", "ERROR_UNDERFLOW", "ERROR_UNREACHABLE", "ERROR_BUS", "ERROR_FORMAT"]

ERROR_UNDERFLOW, ERROR_UNREACHABLE, ERROR_BUS, ERROR_FORMAT = 1, 2, 4, 8
_HEADER = 13  # bytes of a recorded event before its data


def _sign_extend(value, width):
    return Cat(value, Replicate(value[-1], width - len(value)))


class _Record(Module):
    """The fields of a record in its first step, whose bytes are `lanes`, in either format.

    `event` (out): it is an event or a bare time step. `end` (out): it is the trace's end. `malformed`
    (out). `channel` (out, 24 bits), `address` (out, 8 bits), `time` (out, 64 bits), `first_data`
    (out, 32 bits): its fields. `more` (out, 4 bits): its further steps. `rest` (out, 8 bits): bytes of
    the record from lane 8 on; not negative if there are further steps.
    """

    def __init__(self, lanes, compact):
        self.event, self.end, self.malformed = Signal(), Signal(), Signal()
        self.channel, self.address, self.time = Signal(24), Signal(8), Signal(64)
        self.first_data, self.more, self.rest = Signal(32), Signal(4), Signal(8)

        # # #

        kind, words, length = lanes[:2], lanes[2:8], lanes[:8]
        low, high, third = lanes[0:64], lanes[64:128], lanes[104:136]
        late_time = Signal()  # the delta is in the second word
        kept = Signal(4)  # bytes of the first data word which belong to the record
        time_low, time_high = Signal(32), Signal(32)
        self.comb += [
            [kept[i].eq(length > _HEADER + i) for i in range(4)],
            self.channel.eq(lanes[8:32]),
            self.time.eq(Cat(time_low, time_high)),
            time_low.eq(Mux(late_time, high[:32], low[32:])),
            If(
                compact,
                self.end.eq(kind == 0),
                self.event.eq(kind != 3),
                self.malformed.eq(
                    ((kind == 2) & ((words == 0) | (words > MAX_WORDS))) | ((kind == 0) & (low[2:] != 0))
                ),
                If(kind == 2, self.more.eq(words >> 1)),
                late_time.eq(kind[1]),
                self.first_data.eq(Mux(kind[1], high[32:], words)),
                time_high.eq(Mux(kind == 3, high[32:], Replicate(time_low[31], 32))),
                self.address.eq(Mux(kind[1], lanes[32:40], lanes[24:32])),
                If(~kind[1], self.channel[16:].eq(0)),
                self.rest.eq((words << 2) - 3),
            ).Else(
                self.end.eq(length == 0),
                self.event.eq(1),
                self.malformed.eq((length <= _HEADER) & (length != 0) | (length > _HEADER + 4 * MAX_WORDS)),
                If(length > _HEADER + 4, self.more.eq((length - (_HEADER + 4) + 7) >> 3)),
                self.first_data.eq(third & Cat(*[Replicate(k, 8) for k in kept])),
                time_high.eq(high[:32]),
                self.address.eq(lanes[96:104]),
                self.rest.eq(length - 16),
            ),
        ]


class _Assembler(Module):
    """Assembles events from the slicer's steps. `valid` (out)/`ready` (in): an event, a bare time step, or
    the trace's `end` (out).

    Latency 1 from an event's last step, one event per cycle. `time` (out, 64 bits): to be added to the
    offset (recorded) or to the previous time (compact).

    `is_event` (out): it is an event, for `channel` (out, 24 bits) and `address` (out, 8 bits) with `data`
    (out, `data_width` bits). At the end, `bus_error`, `malformed` (out): the trace could not be read; it is
    no trace.
    """

    def __init__(self, slicer, data_width):
        self.valid, self.ready = Signal(), Signal()
        self.is_event, self.end = Signal(), Signal()
        self.bus_error, self.malformed = Signal(), Signal()
        self.time = Signal(64)
        self.channel, self.address = Signal(24), Signal(8)
        self.data = Signal(data_width)

        # # #

        step = slicer.source
        compact = slicer.format == COMPACT
        take = Signal()
        self.comb += [step.ready.eq(~self.valid | self.ready), take.eq(step.valid & step.ready)]

        self.submodules.record = record = _Record(step.lanes, compact)
        unread = Signal()  # a read error that matters, unlike one after the end marker
        self.comb += unread.eq(step.first_error | (step.error & ~record.end))

        # Further data: 8 bytes per step; bytes beyond the end of the record (or of the last odd
        # word) are zero
        left = Signal(4)
        rest = Signal(8)  # of the record, from lane 8 on; not negative while steps are left
        part = Signal(8)  # one-hot: which 8 bytes are next
        chunk = Signal(64)
        for i in range(8):
            lane = step.lanes[8 * (9 + i) : 8 * (10 + i)]
            packed = step.lanes[8 * (8 + i) : 8 * (9 + i)]
            self.comb += chunk[8 * i : 8 * i + 8].eq(
                Mux(compact, packed, lane) & Replicate(rest > i + 1, 8),
            )
        data = Signal(32 * MAX_WORDS)
        self.sync += If(
            take,
            If(
                step.start,
                self.is_event.eq(record.event & ~record.end),
                self.end.eq(record.end | record.malformed | unread),
                self.malformed.eq(record.malformed & ~unread),
                self.bus_error.eq(unread),
                self.channel.eq(record.channel),
                self.address.eq(record.address),
                self.time.eq(record.time),
                data.eq(record.first_data),
                left.eq(record.more),
                part.eq(1),
                rest.eq(record.rest),
            ).Else(
                self.bus_error.eq(self.bus_error | step.error),
                self.end.eq(self.end | step.error),
                [
                    If(part[i], data[32 + 64 * i : 96 + 64 * i].eq(chunk[: min(64, 32 * MAX_WORDS - 32 - 64 * i)]))
                    for i in range(8)
                ],
                part.eq(part << 1),
                left.eq(Mux(left == 0, 0, left - 1)),
                rest.eq(rest - 8),
            ),
        )
        self.sync += If(
            take,
            If(step.start, self.valid.eq((record.more == 0) | record.end | record.malformed | unread)).Else(
                # an event's last step is followed by steps in which nothing starts
                self.valid.eq(left == 1)
            ),
        ).Elif(self.ready, self.valid.eq(0))
        self.comb += self.data.eq(data[:data_width])


class _Pipeline(Module):
    """Everything between words and CRI that is in reset while no trace is played.

    `time_offset` (in, 64 bits): of the trace. `valid` (out), `ready` (in): a step of the trace, an event if
    `is_event` (out), the trace's end if `end` (out), there with `bus_error` (out) or `malformed` (out).
    `channel` (out, 24 bits), `address` (out, 8 bits), `timestamp` (out, 64 bits), `data` (out, `data_width`
    bits): of the event. `full` (out): every stage is occupied.
    """

    def __init__(self, data_width):
        self.time_offset = Signal(64)
        self.submodules.slicer = slicer = Slicer()
        self.submodules.assembler = assembler = _Assembler(slicer, data_width)
        self.valid, self.ready = Signal(), Signal()
        self.is_event, self.end = Signal(), Signal()
        self.bus_error, self.malformed = Signal(), Signal()
        self.channel, self.address, self.timestamp = Signal(24), Signal(8), Signal(64)
        self.data = Signal(data_width)
        self.full = Signal()

        # # #

        began = Signal()
        time = Signal(64)
        take = Signal()
        load = Signal()
        spare_valid = Signal()
        fields = ["is_event", "end", "bus_error", "malformed", "channel", "address", "timestamp", "data"]
        stage = Cat(*[getattr(self, name) for name in fields])
        incoming, spare = Signal(len(stage)), Signal(len(stage))
        total = Signal(64)
        # A second stage, so that the core's ready does not have to reach the earlier stages in the
        # same cycle
        self.comb += [
            assembler.ready.eq(~spare_valid),
            take.eq(assembler.valid & assembler.ready),
            load.eq(~self.valid | self.ready),
            total.eq(time + assembler.time),
            incoming.eq(
                Cat(
                    assembler.is_event & ~assembler.end,
                    assembler.end,
                    assembler.bus_error,
                    assembler.malformed,
                    assembler.channel,
                    assembler.address,
                    total,
                    assembler.data,
                )
            ),
            self.full.eq(spare_valid & assembler.valid & slicer.source.valid & slicer.full),
        ]
        something = take & (assembler.is_event | assembler.end)
        self.sync += [
            began.eq(1),
            If(~began, time.eq(self.time_offset)).Elif(take & (slicer.format == COMPACT), time.eq(total)),
            If(load, self.valid.eq(spare_valid | something), stage.eq(Mux(spare_valid, spare, incoming))),
            If(load, spare_valid.eq(0)).Elif(something, spare_valid.eq(1)),
            If(~spare_valid, spare.eq(incoming)),
        ]


class DmaEngine(Module):
    """data_width: of the CRI, at most 512. `bus`: `hp.HpRead`. `cri`: outputs only.

    Controls: `start` (in, pulse; ignored while busy), `stop` (in, pulse). `base` (in, 32 bits): physical
    address of the trace, a multiple of 128; `time_offset` (in, 64 bits): in machine units, modulo 2^64;
    `format` (in): `RECORDED` or `COMPACT`; these three are stable while `busy`. `hold` (in): no event is
    submitted. `clear` (in): the error is cleared.

    State: `busy` (out): a trace is played. `error` (out, 4 bits; `ERROR_*`): until `start` or `clear`, with
    `error_channel` (out, 24 bits), `error_timestamp` (out, 64 bits) and `error_address` (out, 8 bits): the event
    that failed, or the last one before a trace that failed. `events` (out, 32 bits): submitted since the start.
    `settled` (out), for time skip: nothing changes but by the port or the core.
    """

    def __init__(self, data_width, bursts=8):
        self.cri = cri = Cri(data_width)
        self.start, self.stop, self.clear, self.hold = Signal(), Signal(), Signal(), Signal()
        self.base = Signal(32)
        self.time_offset = Signal(64)
        self.format = Signal()
        self.busy = Signal()
        self.error = Signal(4)
        self.error_channel, self.error_timestamp, self.error_address = Signal(24), Signal(64), Signal(8)
        self.events = Signal(32)
        self.settled = Signal()
        self.submodules.reader = reader = BurstReader(bursts)
        self.bus = reader.bus
        self.submodules.pipeline = pipeline = ResetInserter()(_Pipeline(data_width))

        # # #

        play = Signal()  # from start to the end marker
        awaited = Signal()  # the event accepted in the previous cycle has its status now
        refused = Signal()
        accept = Signal()
        self.comb += [
            self.busy.eq(play | awaited | ~reader.idle),
            reader.active.eq(play),
            reader.base.eq(self.base),
            pipeline.reset.eq(~play),
            pipeline.time_offset.eq(self.time_offset),
            pipeline.slicer.format.eq(self.format),
            reader.source.connect(pipeline.slicer.sink),
            refused.eq(awaited & (cri.response.status != 0)),
            cri.output.valid.eq(pipeline.valid & pipeline.is_event & play & ~refused & ~self.hold),
            cri.output.channel.eq(pipeline.channel),
            cri.output.address.eq(pipeline.address),
            cri.output.timestamp.eq(pipeline.timestamp),
            cri.output.data.eq(pipeline.data),
            accept.eq(cri.output.valid & cri.output.ready),
            pipeline.ready.eq(accept),
        ]
        self.sync += [
            If(self.start & ~self.busy, play.eq(1), self.error.eq(0), self.events.eq(0)),
            If(self.clear, self.error.eq(0)),
            awaited.eq(accept),
            If(
                accept,
                self.events.eq(self.events + 1),
                self.error_channel.eq(pipeline.channel),
                self.error_timestamp.eq(pipeline.timestamp),
                self.error_address.eq(pipeline.address),
            ),
            # The core's status bits 2 and 4 are the first two of the error bits
            If(refused, self.error[:2].eq(cri.response.status[1:3])),
            If(
                play & pipeline.valid & pipeline.end & ~refused,
                self.error[2:].eq(Cat(pipeline.bus_error, pipeline.malformed)),
            ),
            If(self.stop | refused | (pipeline.valid & pipeline.end), play.eq(0)),
        ]
        # Waiting for room in the core, and every earlier stage is full: nothing changes
        waiting = play & pipeline.valid & pipeline.is_event & ~accept & ~awaited & ~self.hold
        self.comb += self.settled.eq(~self.busy & ~self.start | (waiting & pipeline.full & reader.settled))
