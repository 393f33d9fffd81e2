"""Kernel initiator: the kernel core's RTIO commands, fetched from its cache through the accelerator coherency port.

Buffer layout and protocol: docs/interfaces.md section 5. Time line of a one-word output; L is the port's read
latency from address to first beat, beats follow each other, write channels are ready:

    cycle   0        toggle of EVENTEVENTO at the input
            2        two synchroniser stages later: read address, accepted
            2 + L    beat 0: command, width, sequence number, target
            3 + L    beat 1: event time
            4 + L    beat 2: data; goes into the RTIO core in this cycle
            5 + L    status known; write address and data (one beat) are offered together

so a CPU that sees a write W cycles later and needs C cycles to the next toggle gets one event each L + W + C + 7
cycles. An input is requested at 3 + L (the third beat is not waited for) and answered in two beats from 5 + L on, if
an event is there.

The width is unknown when the first burst is requested, so that burst has the length the last output had (at least 3
beats); what a wider one lacks is fetched by a second burst, requested when beat 0 has arrived. A narrower one's surplus
beats are ignored.

A toggle during a transaction is remembered, and starts the next one when this one is complete; a further one before
that is counted in `lost` (the buffer exists once: its transaction would be a repetition). A bus error ends the
transaction with the status "unreachable", without a command.
"""

from migen import *

from ..rtio.cri import OUTPUT_UNREACHABLE

__all__ = ["AcpMaster", "MemoryInitiator"]

FIRST_BEATS = 3
MAX_WORDS = 16
REPLY_TIMESTAMP = 96
REPLY_STATUS = 104
STATUS_VALID = 1 << 15


class AcpMaster:
    """The signals of a 64-bit AXI3 master that vary; burst type, size, cache and user bits are constants of the port
    wrapper (incrementing, 8 bytes, 0xf, 0x1f). Lengths are beats - 1."""

    def __init__(self):
        self.arvalid, self.arready = Signal(), Signal()
        self.arid, self.araddr, self.arlen = Signal(3), Signal(32), Signal(4)
        self.rvalid, self.rready, self.rlast = Signal(), Signal(), Signal()
        self.rid, self.rdata, self.rresp = Signal(3), Signal(64), Signal(2)
        self.awvalid, self.awready = Signal(), Signal()
        self.awid, self.awaddr, self.awlen = Signal(3), Signal(32), Signal(4)
        self.wvalid, self.wready, self.wlast = Signal(), Signal(), Signal()
        self.wdata, self.wstrb = Signal(64), Signal(8)
        self.bvalid, self.bready = Signal(), Signal()
        self.bid, self.bresp = Signal(3), Signal(2)

    OUTPUTS = "arvalid arid araddr arlen rready awvalid awid awaddr awlen wvalid wlast wdata wstrb bready".split()
    INPUTS = "arready rvalid rlast rid rdata rresp awready wready bvalid bid bresp".split()


class MemoryInitiator(Module):
    """cri: of the RTIO core. event_o: EVENTEVENTO, asynchronous. event_i: EVENTEVENTI, toggles after each transaction.

    Controls: `enable`, `base` (128-byte aligned physical address). State: `busy`; `lost` (16 bits, saturating); `error`
    (sticky; bit 0 read, bit 1 write), cleared by `clear`. `settled` (for time skip): nothing moves but waiting for
    the core.
    """

    def __init__(self, cri):
        self.bus = bus = AcpMaster()
        self.event_o = Signal()
        self.event_i = Signal()
        self.enable = Signal()
        self.base = Signal(32)
        self.busy = Signal()
        self.lost = Signal(16)
        self.error = Signal(2)
        self.clear = Signal()
        self.settled = Signal()

        # # #

        # Trigger
        sync = [Signal(name=f"event_sync_{i}", attr={"async_reg"} if i < 2 else set()) for i in range(3)]
        pending = Signal()
        toggle = Signal()
        start = Signal()
        self.sync += [sync[0].eq(self.event_o), sync[1].eq(sync[0]), sync[2].eq(sync[1])]
        self.comb += [
            toggle.eq((sync[1] ^ sync[2]) & self.enable),
            start.eq((toggle | pending) & ~self.busy & self.enable),
        ]
        self.sync += [
            If(~self.enable, pending.eq(0))
            .Elif(start, pending.eq(toggle & pending))
            .Elif(toggle, pending.eq(1), If(pending & (self.lost != 0xFFFF), self.lost.eq(self.lost + 1))),
            If(self.clear, self.lost.eq(0)),
        ]

        # Request fields
        is_input = Signal()
        words = Signal(8)
        number = Signal(16)
        target = Signal(32)
        time = Signal(64)
        data = Array(Signal(64, name=f"data_{i}") for i in range(MAX_WORDS // 2))
        header = bus.rdata
        header_words = Signal(5)  # 1 to 16: others are taken for the nearest
        header_beats = Signal(4)
        self.comb += [
            If(header[8:16] > MAX_WORDS, header_words.eq(MAX_WORDS))
            .Elif(header[8:16] == 0, header_words.eq(1))
            .Else(header_words.eq(header[8:16])),
            If(header[0:8] == 1, header_beats.eq(2)).Else(header_beats.eq(2 + ((header_words + 1) >> 1))),
        ]

        # Read machine
        first_beats = Signal(4, reset=FIRST_BEATS)
        address_wait = Signal()
        second = Signal()
        reading = Signal()
        beat = Signal(4)  # number of the next beat
        needed = Signal(4)  # beats until the command; known after beat 0
        total = Signal(4)
        got = Signal()
        self.comb += [
            got.eq(bus.rvalid & bus.rready),
            bus.rready.eq(reading),
            bus.arvalid.eq(start | address_wait),
            bus.araddr.eq(self.base),
            bus.arlen.eq(first_beats - 1),
            If(second, bus.araddr.eq(self.base + (first_beats << 3)), bus.arlen.eq(needed - first_beats - 1)),
        ]
        self.sync += [
            If(bus.arvalid, address_wait.eq(~bus.arready)),
            If(bus.arvalid & bus.arready, second.eq(0)),
            If(start, reading.eq(1), beat.eq(0), total.eq(first_beats)),
            If(
                got,
                beat.eq(beat + 1),
                If(
                    beat == 0,
                    is_input.eq(header[0:8] == 1),
                    words.eq(header_words),
                    number.eq(header[16:32]),
                    target.eq(header[32:64]),
                    needed.eq(header_beats),
                    If(header_beats > first_beats, total.eq(header_beats), second.eq(1), address_wait.eq(1)),
                ).Elif(beat == 1, time.eq(bus.rdata)),
                If((beat != 0) & (beat == total - 1), reading.eq(0)),
            ),
        ]

        # Data words: those beyond the width are zero, whatever the buffer holds
        beat_data = Signal(64)
        last_data = Signal()
        self.comb += [
            last_data.eq((beat == needed - 1) & words[0]),
            beat_data.eq(Cat(bus.rdata[:32], Mux(last_data, 0, bus.rdata[32:]))),
        ]
        for i, part in enumerate(data):
            self.sync += [
                If(start, part.eq(0)).Elif(got & (beat == i + 2) & (beat < needed), part.eq(beat_data)),
            ]

        # Command machine: `arrive` in the cycle of the last beat needed, `hold` until the core has taken the command
        arrive = Signal()
        hold = Signal()
        waiting = Signal()  # for the core's answer
        failed = Signal()
        fail_reply = Signal()
        self.comb += [
            arrive.eq(got & (beat != 0) & (beat == needed - 1) & ~failed & (bus.rresp == 0)),
            cri.output.valid.eq((arrive | hold) & ~is_input),
            cri.output.channel.eq(target[8:]),
            cri.output.address.eq(target[:8]),
            cri.output.timestamp.eq(time),
            cri.input.valid.eq((arrive | hold) & is_input),
            cri.input.channel.eq(target[8:]),
            cri.input.timeout.eq(Mux(hold, time, bus.rdata)),
        ]
        width = len(cri.output.data)
        direct = Cat(*[Mux(arrive & (beat == i + 2), beat_data, part) for i, part in enumerate(data)])
        taken = (cri.output.valid & cri.output.ready) | (cri.input.valid & cri.input.ready)
        self.comb += cri.output.data.eq(direct[:width])
        self.sync += [
            If(arrive, hold.eq(1)),
            If(taken, hold.eq(0), waiting.eq(1)),
            If(cri.response.done, waiting.eq(0)),
            fail_reply.eq(got & (beat != 0) & (beat == needed - 1) & (failed | (bus.rresp != 0))),
            If(start, failed.eq(0)).Elif(got & (bus.rresp != 0), failed.eq(1), self.error[0].eq(1)),
            If(bus.bvalid & (bus.bresp != 0), self.error[1].eq(1)),
            If(self.clear, self.error.eq(0)),
        ]

        # Write machine. The address goes with the answer, not ahead: a command may wait for long, and an open write
        # would
        # block the port.
        reply = Signal()
        answered = Signal()  # answer held in registers
        status = Signal(4)
        input_time = Signal(64)
        input_data = Signal(32)
        address_sent = Signal()
        second_beat = Signal()
        writing = Signal()  # transaction not yet answered by a write response
        now_status = Signal(4)
        now_time = Signal(64)
        now_data = Signal(32)
        self.comb += [
            reply.eq((cri.response.done & waiting) | fail_reply),
            now_status.eq(Mux(fail_reply, OUTPUT_UNREACHABLE, cri.response.status)),
            now_time.eq(cri.response.timestamp),
            now_data.eq(Mux(is_input & ~fail_reply, cri.response.data, 0)),
            If(answered, now_status.eq(status), now_time.eq(input_time), now_data.eq(input_data)),
            bus.awvalid.eq((reply | answered) & ~address_sent),
            bus.awaddr.eq(self.base + Mux(is_input, REPLY_TIMESTAMP, REPLY_STATUS)),
            bus.awlen.eq(is_input),
            bus.wvalid.eq((reply | answered) & (address_sent | (bus.awvalid & bus.awready))),
            bus.wstrb.eq(0xFF),
            bus.wlast.eq(~is_input | second_beat),
            If(is_input & ~second_beat, bus.wdata.eq(now_time)).Else(
                bus.wdata.eq(Cat(now_status, C(STATUS_VALID >> 4, 12), number, now_data))
            ),
            bus.bready.eq(1),
        ]
        self.sync += [
            If(start, writing.eq(1), address_sent.eq(0), second_beat.eq(0)),
            If(reply, answered.eq(1), status.eq(now_status), input_time.eq(now_time), input_data.eq(now_data)),
            If(bus.awvalid & bus.awready, address_sent.eq(1)),
            If(bus.wvalid & bus.wready, second_beat.eq(1), If(bus.wlast, answered.eq(0))),
            If(bus.bvalid & bus.bready, writing.eq(0), self.event_i.eq(~self.event_i)),
        ]

        # The transaction ends when all beats have been read and the write has been acknowledged
        finished = Signal()
        self.comb += finished.eq(self.busy & ~reading & ~address_wait & ~writing)
        self.sync += [
            If(start, self.busy.eq(1)).Elif(finished, self.busy.eq(0)),
            If(
                finished,
                first_beats.eq(FIRST_BEATS),
                If(~is_input & (needed > FIRST_BEATS), first_beats.eq(needed)),
            ),
        ]
        idle = ~self.busy & ~pending & ~start
        blocked = self.busy & ~reading & ~address_wait & (waiting | hold) & ~taken & ~cri.response.done
        still = (self.event_o == sync[0]) & (sync[0] == sync[1]) & (sync[1] == sync[2])
        self.comb += self.settled.eq(still & (idle | blocked))
