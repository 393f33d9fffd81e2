"""A memory on an HP port, for benches in Migen's simulator: reads and writes are independent of
each other.

The timing is the emulator's: the first beat `latency` cycles after the address is accepted, bursts
back to back.
"""

from collections import deque

from migen import *

__all__ = ["HpMemory", "Playback"]


class HpMemory:
    """content: bytearray, at address `base`. `bursts`: (cycle, address, beats) of all reads;
    `writes`: of all writes.

    ready: function of the cycle, whether addresses and write data are accepted then. bad: addresses
    whose beats are answered with an error.
    """

    def __init__(self, content, base=0x0E00_0000, latency=30, ready=lambda cycle: True, bad=()):
        self.content, self.base, self.latency, self.ready, self.bad = content, base, latency, ready, bad
        self.bursts, self.writes = [], []
        self._beats = deque()  # (cycle, address, last)

    def _word(self, address):
        offset = address - self.base
        return int.from_bytes(self.content[offset : offset + 8].ljust(8, b"\xa5"), "little")

    def read(self, bus, cycles):
        """Generator: serves an `HpRead` for that many cycles."""
        for cycle in range(cycles):
            ready = self.ready(cycle)
            yield bus.arready.eq(ready)
            beat = self._beats.popleft() if self._beats and self._beats[0][0] <= cycle else None
            yield bus.rvalid.eq(beat is not None)
            if beat:
                yield bus.rdata.eq(self._word(beat[1]))
                yield bus.rresp.eq(2 if beat[1] in self.bad else 0)
                yield bus.rlast.eq(beat[2])
            yield
            if ready and (yield bus.arvalid):
                address, beats = (yield bus.araddr), (yield bus.arlen) + 1
                assert address % 8 == 0 and address // 4096 == (address + 8 * beats - 1) // 4096
                self.bursts.append((cycle, address, beats))
                start = max(cycle + self.latency, self._beats[-1][0] + 1 if self._beats else 0)
                self._beats.extend((start + n, address + 8 * n, n == beats - 1) for n in range(beats))

    def write(self, bus, cycles):
        """Generator: serves an `HpWrite`; a burst's response follows `latency` cycles after its
        last beat."""
        addresses, responses, data = deque(), deque(), []
        for cycle in range(cycles):
            ready = self.ready(cycle)
            yield bus.awready.eq(ready)
            yield bus.wready.eq(ready)
            respond = bool(responses) and responses[0][0] <= cycle
            yield bus.bvalid.eq(respond)
            if respond:
                yield bus.bresp.eq(responses[0][1])
            yield
            if respond and (yield bus.bready):
                responses.popleft()
            if ready and (yield bus.awvalid):
                address, beats = (yield bus.awaddr), (yield bus.awlen) + 1
                assert address % 8 == 0 and address // 4096 == (address + 8 * beats - 1) // 4096
                addresses.append((address, beats))
            if ready and (yield bus.wvalid):
                data.append((yield bus.wdata))
                if (yield bus.wlast):
                    address, beats = addresses.popleft()
                    assert beats == len(data)
                    for n, word in enumerate(data):
                        offset = address - self.base + 8 * n
                        self.content[offset : offset + 8] = word.to_bytes(8, "little")
                    self.writes.append((cycle, address, beats))
                    responses.append((cycle + self.latency, 2 if address in self.bad else 0))
                    data = []


class Playback:
    """The core's side of a CRI: accepts outputs while `ready(cycle)`, and answers one cycle later.

    status: function from (channel, address, timestamp, data) to the event's status. `events`:
    accepted events, as (cycle, channel, address, timestamp, data).
    """

    def __init__(self, ready=lambda cycle: True, status=lambda *event: 0):
        self.ready, self.status = ready, status
        self.events = []

    def serve(self, cri, cycles):
        for cycle in range(cycles):
            ready = self.ready(cycle)
            yield cri.output.ready.eq(ready)
            yield
            taken = ready and (yield cri.output.valid)
            if taken:
                event = (
                    (yield cri.output.channel),
                    (yield cri.output.address),
                    (yield cri.output.timestamp),
                    (yield cri.output.data),
                )
                self.events.append((cycle, *event))
                yield cri.response.status.eq(self.status(*event))
            yield cri.response.done.eq(int(bool(taken)))
