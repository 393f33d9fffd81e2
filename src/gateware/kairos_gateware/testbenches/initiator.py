"""The ring initiator in Migen's simulator, between models of a memory and a core."""

import struct
from collections import deque

from migen import *

from ..contracts.initiator import CREDIT, POSTED_WORD, REPLY, SLOT_BYTES, STATUS_SHIFT, Command
from ..initiator.ring import RingInitiator
from ..rtio.cri import Cri
from .simulator import run_simulation

BASE = 0x0070_0000
OUTPUT, INPUT, POSTED = Command


class Bench:
    """The processor's memory behind the port, and the RTIO core.

    latency: L. visible: W. response: cycles from a burst's last beat to its response. statuses: the
    core's answer to the n-th output (0 beyond). ready(cycle): whether the core accepts an output.
    Inputs are answered `input_delay` cycles after the request. bad_reads, bad_writes: numbers of
    bursts that are answered with a bus error.

    `outputs`: (cycle, channel, address, timestamp, data); `inputs`: (cycle, channel, timeout);
    `reads`, `writes`: (cycle of the address or the last beat, offset, beats); `visible_at`: {number
    of a request: cycle in which its status was seen}.
    """

    def __init__(self, latency=20, visible=15, response=4, statuses=(), ready=lambda cycle: True, input_delay=3,
                 bad_reads=(), bad_writes=(), roomy=1):  # fmt: skip
        self.cri = Cri(512)
        self.dut = RingInitiator(self.cri, C(roomy))
        self.latency, self.visible, self.response = latency, visible, response
        self.statuses, self.ready, self.input_delay = deque(statuses), ready, input_delay
        self.bad_reads, self.bad_writes = bad_reads, bad_writes
        self.memory = bytearray(b"\xa5" * 4096)
        self.memory[REPLY : REPLY + 16] = bytes(8) + (CREDIT << 1).to_bytes(8, "little")
        self.outputs, self.inputs, self.reads, self.writes = [], [], [], []
        self.visible_at = {}
        self.cycle = 0
        self.number = 0

    # The CPU

    def write_request(self, command, target, time, words, number=None):
        """Writes a request into the next slot; the words beyond those of the request are
        unchanged."""
        self.number = (self.number + 1) & 0x7FFF
        slot = SLOT_BYTES * (self.number % 16)
        head = 2 * (self.number if number is None else number) | command << 16 | len(words) << 24
        struct.pack_into("<IIqI", self.memory, slot, target, words[0], time, head)
        struct.pack_into(f"<{len(words) - 1}I", self.memory, slot + 20, *words[1:])

    def toggle(self):
        """Returns the cycle in which the event line has changed."""
        yield self.dut.event_o.eq(~self.dut.event_o)
        return self.cycle + 1

    def submit(self, command, target, time, words=(0,)):
        self.write_request(command, target, time, list(words))
        return (yield from self.toggle())

    def status(self):
        return struct.unpack_from("<II", self.memory, REPLY + 8)

    def answered(self):
        return ((self.status()[0] >> 1) - CREDIT) & 0x7FFF

    def wait(self, number=None):
        """Waits until the answer is visible; returns its status bits."""
        number = self.number if number is None else number
        for _ in range(3000):
            if self.answered() == number:
                word = self.status()[0]
                return 0 if word & POSTED_WORD == POSTED_WORD else word >> STATUS_SHIFT & 0xF
            yield
        raise TimeoutError

    # The memory and the core

    @passive
    def _world(self):
        bus, cri = self.dut.bus, self.cri
        beats, writes, responses, addresses, burst = deque(), deque(), deque(), deque(), []
        answers, pending_input, count = deque(), None, [0, 0]
        yield self.dut.enable.eq(1)
        yield self.dut.base.eq(BASE)
        for line in [bus.arready, bus.awready, bus.wready]:
            yield line.eq(1)
        while True:
            now = self.cycle + 1  # signals set here take effect in this cycle
            beat = beats.popleft() if beats and beats[0][0] <= now else None
            yield bus.rvalid.eq(beat is not None)
            if beat:
                word = int.from_bytes(self.memory[beat[1] : beat[1] + 8], "little")
                yield bus.rdata.eq(word)
                yield bus.rlast.eq(beat[2])
                yield bus.rresp.eq(beat[3])
            response = responses.popleft() if responses and responses[0][0] <= now else None
            yield bus.bvalid.eq(response is not None)
            yield bus.bresp.eq(response[1] if response else 0)
            take = bool(self.ready(now))
            yield cri.output.ready.eq(take)
            yield cri.input.ready.eq(pending_input is None)
            answer = answers.popleft() if answers and answers[0][0] <= now else None
            yield cri.response.done.eq(answer is not None)
            if answer:
                yield cri.response.status.eq(answer[1])
                yield cri.response.timestamp.eq(answer[2])
                yield cri.response.data.eq(answer[3])
            yield
            self.cycle += 1
            if answer and pending_input is not None:
                pending_input = None
            if (yield bus.arvalid):
                offset, length = (yield bus.araddr) - BASE, (yield bus.arlen) + 1
                assert 0 <= offset < REPLY and offset // 4096 == (offset + 8 * length - 1) // 4096
                self.reads.append((self.cycle, offset, length))
                start = max(self.cycle + self.latency, beats[-1][0] + 1 if beats else 0)
                bad = 2 * (count[0] in self.bad_reads)
                beats.extend((start + n, offset + 8 * n, n == length - 1, bad) for n in range(length))
                count[0] += 1
            if (yield bus.awvalid):
                addresses.append(((yield bus.awaddr) - BASE, (yield bus.awlen) + 1))
            if (yield bus.wvalid):
                burst.append((yield bus.wdata))
                if (yield bus.wlast):
                    offset, length = addresses.popleft()
                    assert length == len(burst)
                    self.writes.append((self.cycle, offset, length))
                    writes.append((self.cycle + 1 + self.visible, offset, struct.pack(f"<{length}Q", *burst)))
                    responses.append((self.cycle + self.response, 2 * (count[1] in self.bad_writes)))
                    count[1] += 1
                    burst = []
            if take and (yield cri.output.valid):
                output = cri.output
                event = (yield output.channel), (yield output.address), (yield output.timestamp), (yield output.data)
                self.outputs.append((self.cycle, *event))
                answers.append((self.cycle + 1, self.statuses.popleft() if self.statuses else 0, 0, 0))
            if pending_input is None and (yield cri.input.valid) and (yield cri.input.ready):
                pending_input = (yield cri.input.channel), (yield cri.input.timeout)
                self.inputs.append((self.cycle, *pending_input))
                answers.append((self.cycle + self.input_delay, 0, 1000 + self.cycle, pending_input[0]))
            while writes and writes[0][0] <= self.cycle + 1:
                _, offset, data = writes.popleft()
                self.memory[offset : offset + len(data)] = data
                self.visible_at.setdefault(self.answered(), self.cycle + 1)

    def run(self, cpu):
        """Runs the generator `cpu`, which begins when the initiator is enabled."""

        def late():
            for _ in range(5):
                yield
            yield from cpu

        run_simulation(self.dut, [self._world(), late()])
        return self
