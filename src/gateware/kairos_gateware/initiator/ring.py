"""Kernel initiator: the kernel core's RTIO commands, fetched from a ring in its cache through the accelerator coherency
port.

Ring layout and protocol: docs/interfaces.md section 5. Time line of a one-word output on an idle initiator; L is the
port's read latency from address to first beat, beats follow each other, write channels are ready:

    cycle   0        toggle of EVENTEVENTO at the input
            2        two synchroniser stages later: read address, accepted
            2 + L    beat 0: target, data word 0
            3 + L    beat 1: event time
            4 + L    beat 2: command, width, number; the event goes into the RTIO core in this cycle
            5 + L    status known; write address and data (one beat) are offered together

so a CPU that waits for each status, sees a write W cycles later and needs C cycles to the next toggle, gets one event
each L + W + C + 7 cycles. A CPU that does not wait gets one each 3 cycles (READS = 4 bursts in flight: L + 3 cycles for
four, at L = 20 one each 5.75).

A toggle asks for the next slot to be read. Slots are read ahead, up to READS bursts at once, and their beats kept in a
FIFO when the core does not take them at once: the port is never blocked. Each burst has as many beats as the event
before (at least 3); when one turns out to be too short, the bursts behind it are thrown away, the rest of the event is
read, and then they are read again. A slot whose number is not the expected one is ignored and counted in `lost`.

Status writes are coalesced: there is one whenever there are news and fewer than WRITES are under way.

With a pusher (`rtio/pusher.py`) the input events go out over the same write channel, two beats each, into rings of
their own (section 5 too): address and first beat in the cycle in which the entry is on offer, if the channel is free.
Pushes and statuses take turns while both wait. An answer to an input request follows the entry it tells of on the same
channel.
"""

from migen import *
from migen.genlib.fifo import SyncFIFO

from ..contracts.initiator import ATTENTION, MAX_WORDS, REPLY, SLOT_BYTES, SLOTS, Command
from ..contracts.initiator import INPUT_ENTRY_BYTES as ENTRY_BYTES
from ..contracts.initiator import POSTED_ERROR as ERROR
from ..rtio.cri import OUTPUT_UNREACHABLE
from ..rtio.pusher import ENTRIES, MAX_CHANNELS
from .port import AcpMaster

__all__ = [
    "RingInitiator",
    "SLOTS",
    "SLOT_BYTES",
    "REPLY",
    "POSTED",
    "INPUT",
    "ATTENTION",
    "ERROR",
    "INPUT_RINGS_BYTES",
]

INPUT_RINGS_BYTES = MAX_CHANNELS * ENTRIES * ENTRY_BYTES
_ENTRY_BITS, _RINGS_BITS = log2_int(ENTRIES), log2_int(INPUT_RINGS_BYTES)
FIRST_BEATS = 3
MAX_BEATS = 10
READS = 4
WRITES = 4
BUFFER_BEATS = 64

OUTPUT, INPUT, POSTED = map(int, Command)


class RingInitiator(Module):
    """cri: of the RTIO core. roomy: every lane has room for SLOTS more events (always, if not given).
    pusher: `InputPusher`, if inputs are pushed. event_o: EVENTEVENTO, asynchronous. event_i: EVENTEVENTI, toggles after
    each write.

    Controls: `enable` (0: everything is forgotten, numbers start again at 1; keep it until `busy` is 0), `base` (of the
    ring, aligned to 4096 bytes), `input_base` (of the input rings, aligned to INPUT_RINGS_BYTES; nothing is pushed
    while it is 0). State: `busy`; `lost` (16 bits, saturating); `error` (sticky; bit 0 read, bit 1 write), cleared by
    `clear` together with the error in the status word. `settled` (for time skip): nothing moves but waiting for the
    core. `soon`: an output may be offered in this cycle.
    """

    def __init__(self, cri, roomy=None, pusher=None):
        self.pusher = pusher
        self.bus = bus = AcpMaster()
        self.event_o = Signal()
        self.event_i = Signal()
        self.enable = Signal()
        self.base = Signal(32)
        self.input_base = Signal(32)
        self.busy = Signal()
        self.lost = Signal(16)
        self.error = Signal(2)
        self.clear = Signal()
        self.settled = Signal()
        self.soon = Signal()

        # # #

        roomy = C(1) if roomy is None else roomy

        # Trigger
        sync = [Signal(name=f"event_sync_{i}", attr={"async_reg"} if i < 2 else set()) for i in range(3)]
        toggle = Signal()
        self.sync += [sync[0].eq(self.event_o), sync[1].eq(sync[0]), sync[2].eq(sync[1])]
        self.comb += toggle.eq((sync[1] ^ sync[2]) & self.enable)

        # Fetch
        index = Signal(4)  # of the beat that is received, within the event
        expected = Signal(16, reset=1)  # number of the event that is being received
        fetch = Signal(16, reset=1)  # number of the next slot to be read
        bells = Signal(max=SLOTS * 2)  # toggles for which no read has been requested
        first_beats = Signal(4, reset=FIRST_BEATS)
        arriving = Signal(max=READS + 2)  # bursts requested that have not arrived completely
        reserved = Signal(max=BUFFER_BEATS + 1)  # beats requested that have not been consumed
        flush = Signal()  # the event needs more beats: the reads behind it are in vain
        second = Signal()  # the rest of the event is to be requested
        rest_beats = Signal(4)
        request = Signal()  # a burst is requested in this cycle
        length = Signal(4)
        address_wait = Signal()
        address_hold, length_hold = Signal(32), Signal(4)
        others = Signal(max=SLOTS * 2)
        first = Signal()
        got = Signal()
        consume = Signal()
        self.comb += [
            others.eq(fetch - expected - 1),
            first.eq(
                (toggle | (bells != 0))
                & self.enable
                & ~flush
                & ~second
                & ~address_wait
                & (arriving < READS)
                & (reserved <= BUFFER_BEATS - MAX_BEATS)
            ),
            request.eq(first | (second & ~address_wait)),
            bus.arvalid.eq(request | address_wait),
            length.eq(Mux(second, rest_beats, first_beats)),
            bus.araddr[12:].eq(self.base[12:]),
            If(second, bus.araddr[:12].eq(Cat(C(0, 3), index, expected[:4]))).Else(
                bus.araddr[:12].eq(Cat(C(0, 7), fetch[:4]))
            ),
            bus.arlen.eq(length - 1),
            If(address_wait, bus.araddr.eq(address_hold), bus.arlen.eq(length_hold)),
        ]
        done_burst = Signal()
        self.comb += [got.eq(bus.rvalid & bus.rready), bus.rready.eq(1), done_burst.eq(got & bus.rlast)]
        self.sync += [
            address_wait.eq(bus.arvalid & ~bus.arready),
            If(~address_wait, address_hold.eq(bus.araddr), length_hold.eq(bus.arlen)),
            arriving.eq(arriving + request - done_burst),
            reserved.eq(reserved + Mux(request, length, 0) - consume),
            bells.eq(bells + toggle - first + Mux(flush, others, 0)),
            If(first, fetch.eq(fetch + 1)),
            If(flush, fetch.eq(expected + 1)),
            If(second & ~address_wait, second.eq(0)),
        ]

        # Beats: straight from the bus, or through the FIFO when the receiver could not take them at once
        beat = Signal(66)  # data, last, error
        stored = Signal()  # the FIFO is not empty, from a register
        direct = Signal()
        valid = Signal()
        ready = Signal()
        self.submodules.fifo = fifo = ResetInserter()(SyncFIFO(66, BUFFER_BEATS))
        incoming = Cat(bus.rdata, bus.rlast, bus.rresp != 0)
        self.comb += [
            direct.eq(~stored),
            beat.eq(Mux(direct, incoming, fifo.dout)),
            valid.eq(stored | got),
            consume.eq(valid & ready),
            fifo.din.eq(incoming),
            fifo.we.eq(got & ~(direct & ready)),
            fifo.re.eq(ready),
            fifo.reset.eq(~self.enable),
        ]
        self.sync += stored.eq(self.enable & (fifo.we | (stored & ~(fifo.re & (fifo.level == 1)))))
        word, last, failed_beat = beat[:64], beat[64], beat[65]

        # Receiver
        discard = Signal(max=SLOTS * 2)  # bursts to be thrown away
        surplus = Signal()  # the event is complete, its burst is not
        needed = Signal(4)
        posted, is_input = Signal(), Signal()
        number = Signal(16)
        words = Signal(5)
        target, time = Signal(32), Signal(64)
        data = Array(Signal(64, name=f"data_{i}") for i in range(MAX_WORDS // 2))
        failed = Signal()
        hold = Signal()  # the core has not taken the command
        waiting = Signal()  # for the core's answer
        take = Signal()
        head = Signal()
        now_words = Signal(5)
        now_needed = Signal(4)
        now_input = Signal()
        match = Signal()
        complete = Signal()
        short = Signal()  # beat 2 is the last one
        bad = Signal()
        arrive = Signal()
        mismatch = Signal()
        fail_reply = Signal()
        self.comb += [
            ready.eq(~hold & ~flush & ~(waiting & is_input)),
            take.eq(consume & (discard == 0) & ~surplus),
            head.eq(take & (index == 2)),
            If(word[8:16] > MAX_WORDS, now_words.eq(MAX_WORDS))
            .Elif(word[8:16] == 0, now_words.eq(1))
            .Else(now_words.eq(word[8:16])),
            If(index != 2, now_words.eq(words)),
            now_input.eq(Mux(index == 2, word[:8] == INPUT, is_input)),
            now_needed.eq(needed),
            If(
                index == 2,
                If((now_words <= 2) | now_input, now_needed.eq(3)).Else(now_needed.eq(2 + ((now_words + 1) >> 1))),
            ),
            bad.eq(failed | failed_beat),
            match.eq(bad | (word[16:32] == expected)),
            mismatch.eq(head & ~match),
            complete.eq(take & Mux(index == 2, short, (index > 2) & (index == needed - 1)) & ~mismatch),
            short.eq((word[:8] == INPUT) | (word[8:16] < 3)),
            self.soon.eq(hold | (index >= 2)),
            arrive.eq(complete & ~bad),
        ]
        self.sync += [
            flush.eq(0),
            fail_reply.eq(0),
            If(
                consume,
                If(discard != 0, If(last, discard.eq(discard - 1))).Elif(surplus, surplus.eq(~last)),
            ),
            If(
                take,
                index.eq(index + 1),
                If(index == 0, target.eq(word[:32])).Elif(index == 1, time.eq(word)),
                If(failed_beat, failed.eq(1), self.error[0].eq(1)),
            ),
            If(
                head,
                is_input.eq(now_input),
                posted.eq(word[:8] == POSTED),
                words.eq(now_words),
                needed.eq(now_needed),
            ),
            # The burst ends before the event does
            If(
                take & last & (index >= 2) & ~complete & ~mismatch,
                flush.eq(1),
                second.eq(1),
                rest_beats.eq(now_needed - index - 1),
            ),
            If(flush, discard.eq(others)),
            If(
                complete,
                index.eq(0),
                failed.eq(0),
                surplus.eq(~last),
                number.eq(expected),
                expected.eq(expected + 1),
                hold.eq(~bad),
                fail_reply.eq(bad),
                first_beats.eq(Mux(now_needed > FIRST_BEATS, now_needed, FIRST_BEATS)),
            ),
            If(
                mismatch,
                index.eq(0),
                failed.eq(0),
                fetch.eq(expected),
                discard.eq(others + first + Mux(last, 0, 1)),
                bells.eq(bells + toggle + others),
                If(self.lost != 0xFFFF, self.lost.eq(self.lost + 1)),
            ),
        ]
        # Data words: those beyond the width are zero, whatever the slot holds
        low, high = word[:32], word[32:]
        odd = complete & now_words[0]
        now_data = [Signal(64, name=f"now_data_{i}") for i in range(MAX_WORDS // 2)]
        for i, part in enumerate(data):
            # data word 0 stands in beat 0, word 1 in beat 2, then two in each beat
            if i == 0:
                self.comb += now_data[0].eq(part)
                self.comb += If(head, now_data[0][32:].eq(Mux(now_words == 1, 0, high)))
                self.sync += If(take & (index == 0), part.eq(Cat(high, C(0, 32))))
            else:
                here = take & (index == i + 2)
                self.comb += now_data[i].eq(part)
                self.comb += If(here, now_data[i].eq(Cat(low, Mux(odd, 0, high))))
                self.sync += If(take & (index == 0), part.eq(0))
            self.sync += If(take & (index != 0), part.eq(now_data[i]))

        # Command
        taken = Signal()
        quiet_writer = Signal()  # an input's answer must not meet an earlier status on its way
        width = len(cri.output.data)
        self.comb += [
            cri.output.valid.eq((arrive | hold) & ~now_input & self.enable),
            cri.output.channel.eq(target[8:]),
            cri.output.address.eq(target[:8]),
            cri.output.timestamp.eq(time),
            cri.output.data.eq(Cat(*now_data)[:width]),
            cri.input.valid.eq((arrive | hold) & now_input & self.enable & quiet_writer),
            cri.input.channel.eq(target[8:]),
            cri.input.timeout.eq(time),
            cri.input.number.eq(now_data[0][:16]),
            taken.eq((cri.output.valid & cri.output.ready) | (cri.input.valid & cri.input.ready)),
        ]
        self.sync += [
            If(cri.response.done, waiting.eq(0)),
            If(taken, hold.eq(0), waiting.eq(1)),
        ]

        # Reply. Address and data go together with the news, not ahead: a command may wait for long.
        reply = Signal()
        fresh = Signal()  # news that have not been written
        status_word = Signal(64)
        news_status = Signal(4)
        news = Signal(64)
        frozen = Signal(64)  # the word on offer, which must not change
        reply_time = Signal(64)
        reply_input, kind = Signal(), Signal()
        error_status, error_number = Signal(4), Signal(16)
        attention = Signal()
        writes = Signal(max=WRITES + 2)
        address_open = Signal()  # offered, not accepted
        data_open = Signal()  # address accepted, data not
        started = Signal()
        two = Signal()  # beats to write: timestamp first
        free = Signal()  # nothing is open
        send = Signal()
        push = Signal()  # a pushed entry begins in this cycle
        pushing, pushed = Signal(), Signal()  # a pushed entry has the channel now, or had it in the cycle before
        beat_sent = bus.wvalid & bus.wready
        self.comb += [
            reply.eq(((cri.response.done & waiting) | fail_reply) & self.enable),
            news_status.eq(Mux(fail_reply, OUTPUT_UNREACHABLE, cri.response.status)),
        ]
        failing = Signal()
        self.comb += [
            failing.eq(reply & posted & (news_status != 0)),
            attention.eq(~roomy | failing | (error_status != 0)),
            news.eq(
                Cat(
                    news_status,
                    attention,
                    failing | (error_status != 0),
                    C(0, 10),
                    number,
                    Mux(
                        is_input & (pusher is None),
                        Mux(fail_reply, 0, cri.response.data),
                        Mux(
                            error_status != 0,
                            Cat(error_status, C(0, 12), error_number),
                            Mux(failing, Cat(news_status, C(0, 12), number), 0),
                        ),
                    ),
                )
            ),
            kind.eq(Mux(reply, is_input, reply_input)),
            quiet_writer.eq(~fresh & (free | pushed)),
            free.eq(~address_open & ~data_open),
            send.eq((reply | fresh) & free & ~push & (writes < WRITES)),
            bus.awvalid.eq(send | push | address_open),
            bus.awaddr.eq(Cat(C(0, 3), ~kind, C(REPLY >> 4, 8), self.base[12:])),
            bus.awlen.eq(kind | pushing),
            bus.wvalid.eq(data_open | (bus.awvalid & bus.awready)),
            bus.wstrb.eq(0xFF),
            bus.wlast.eq(~(kind | pushing) | two),
            If(two, bus.wdata.eq(status_word))
            .Elif(started, bus.wdata.eq(frozen))
            .Elif(kind, bus.wdata.eq(Mux(reply, cri.response.timestamp, reply_time)))
            .Else(bus.wdata.eq(Mux(reply, news, status_word))),
            bus.bready.eq(1),
            If(free, pushing.eq(push)).Else(pushing.eq(pushed)),
        ]
        self.sync += pushed.eq(pushing)
        if pusher is not None:
            entry = pusher.push
            self.comb += [
                pusher.enable.eq(self.enable & (self.input_base != 0)),
                # After a push it is the status's turn
                push.eq(entry.valid & free & (writes < WRITES) & ~(pushed & fresh)),
                entry.ready.eq(pushing & beat_sent & two),
                If(
                    pushing,
                    bus.awaddr.eq(
                        Cat(C(0, 4), entry.number[:_ENTRY_BITS], entry.channel, self.input_base[_RINGS_BITS:])
                    ),
                    bus.wdata.eq(entry.timestamp),
                    If(two, bus.wdata.eq(Cat(entry.data, ~entry.lost, entry.lost, entry.more, C(0, 13), entry.number))),
                ),
            ]
        response = Signal()
        self.comb += response.eq(bus.bvalid & bus.bready)
        self.sync += [
            If(
                reply,
                fresh.eq(1),
                reply_input.eq(is_input),
                reply_time.eq(cri.response.timestamp),
                status_word.eq(news),
            ),
            If(
                failing & (error_status == 0),
                error_status.eq(news_status),
                error_number.eq(number),
            ),
            address_open.eq(bus.awvalid & ~bus.awready),
            If(bus.awvalid & bus.awready, data_open.eq(1)),
            If(bus.wvalid & ~started & ~pushing, started.eq(1), fresh.eq(0), frozen.eq(bus.wdata)),
            If(
                beat_sent,
                If((kind | pushing) & ~two, two.eq(1)).Else(two.eq(0), data_open.eq(0), started.eq(0)),
            ),
            writes.eq(writes + (send | push) - response),
            If(response, self.event_i.eq(~self.event_i), If(bus.bresp != 0, self.error[1].eq(1))),
            If(self.clear, self.error.eq(0), self.lost.eq(0), error_status.eq(0)),
            If(
                ~self.enable,
                bells.eq(0),
                fetch.eq(1),
                expected.eq(1),
                first_beats.eq(FIRST_BEATS),
                reserved.eq(0),
                flush.eq(0),
                second.eq(0),
                index.eq(0),
                discard.eq(0),
                surplus.eq(0),
                failed.eq(0),
                hold.eq(0),
                waiting.eq(0),
                fresh.eq(0),
                fail_reply.eq(0),
                error_status.eq(0),
            ),
        ]

        # Rest
        port_rests = Signal()
        resting = Signal()
        blocked = Signal()
        still = (self.event_o == sync[0]) & (sync[0] == sync[1]) & (sync[1] == sync[2])
        stuck = Signal()  # the receiver waits for the core
        self.comb += [
            port_rests.eq(
                (arriving == 0) & ~address_wait & ~bus.awvalid & ~bus.wvalid & (writes == 0) & ~fresh & ~second & ~flush
            ),
            resting.eq(port_rests & ~first & ~valid & ~hold & ~waiting & ~fail_reply),
            stuck.eq((hold & ~taken) | (waiting & is_input & ~cri.response.done)),
            blocked.eq(port_rests & ~first & stuck),
            self.busy.eq(~resting | ~still | (0 if pusher is None else pusher.busy)),
            self.settled.eq(still & (resting | blocked)),
        ]
