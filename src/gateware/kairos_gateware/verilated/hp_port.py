"""The processing system's side of HP port 0, for `library.Ps`: a memory, not coherent with that on
the ACP."""

import struct
from collections import deque

__all__ = ["HpPort"]


class HpPort:
    """latency: cycles from an accepted read address to the first beat, and from a write's last beat
    to its response; bursts are back to back, reads and writes are independent. `memory` begins at
    BASE; accesses outside are answered with an error. `bursts`: (cycle, "r" or "w", address - BASE,
    beats). In flight: `beats`, each preceded by its cycle, and `responses` likewise."""

    BASE = 0x0E00_0000

    def __init__(self, inputs, out, latency=30, size=1 << 20):
        self.inputs, self.out, self.latency = inputs, out, latency
        self.memory = bytearray(size)
        self.bursts = []
        self.beats = deque()  # (cycle, data, last, response)
        self._addresses = deque()
        self._data = []
        self.responses = deque()  # (cycle, response)
        inputs.hp0_arready = inputs.hp0_awready = inputs.hp0_wready = 1

    def idle(self):
        """Whether nothing is in flight."""
        return self.whole() and not (self.beats or self.responses)

    def whole(self):
        """Whether no burst has been partly accepted."""
        return not (self._addresses or self._data)

    def before(self, cycle):
        """Sets the inputs of this cycle."""
        i = self.inputs
        beat = self.beats and self.beats[0][0] <= cycle
        i.hp0_rvalid = bool(beat)
        if beat:
            _, i.hp0_rdata, i.hp0_rlast, i.hp0_rresp = self.beats[0]
        response = self.responses and self.responses[0][0] <= cycle
        i.hp0_bvalid = bool(response)
        if response:
            i.hp0_bresp = self.responses[0][1]

    def after(self, cycle):
        """Processes the outputs of this cycle."""
        i, out = self.inputs, self.out
        if i.hp0_rvalid and out.hp0_rready:
            self.beats.popleft()
        if i.hp0_bvalid and out.hp0_bready:
            self.responses.popleft()
        if out.hp0_arvalid:
            address, beats = out.hp0_araddr - self.BASE, out.hp0_arlen + 1
            self.bursts.append((cycle, "r", address, beats))
            start = max(cycle + self.latency, self.beats[-1][0] + 1 if self.beats else 0)
            for n in range(beats):
                inside = 0 <= address <= len(self.memory) - 8 * (n + 1)
                word = struct.unpack_from("<Q", self.memory, address + 8 * n)[0] if inside else 0
                self.beats.append((start + n, word, n == beats - 1, 0 if inside else 3))
        if out.hp0_awvalid:
            self._addresses.append((out.hp0_awaddr - self.BASE, out.hp0_awlen + 1))
        if out.hp0_wvalid:
            self._data.append(out.hp0_wdata)
            if out.hp0_wlast:
                address, beats = self._addresses.popleft()
                assert beats == len(self._data)
                self.bursts.append((cycle, "w", address, beats))
                inside = 0 <= address <= len(self.memory) - 8 * beats
                if inside:
                    struct.pack_into(f"<{beats}Q", self.memory, address, *self._data)
                self.responses.append((cycle + self.latency, 0 if inside else 3))
                self._data = []
