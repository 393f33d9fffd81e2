"""Python binding of `libkairos_pl.so` (ctypes), and a processing system that drives its ports cycle
by cycle.

For tests and measurements; the emulator has its own binding.
"""

import ctypes
import json
import struct
from collections import deque
from pathlib import Path

from ..contracts.initiator import CREDIT, NUMBER_BITS, POSTED_WORD, REPLY_STATUS, STATUS_SHIFT, Command
from ..contracts.initiator import ENTRY_EVENT as EVENT
from ..contracts.initiator import ENTRY_MORE as MORE
from ..contracts.initiator import INPUT_ENTRY_BYTES as ENTRY_BYTES
from ..contracts.memory import PL_DESCRIPTOR
from ..initiator.reply import INPUT_RINGS_BYTES
from ..rtio.cri import INPUT_OVERFLOW, INPUT_TIMEOUT
from ..rtio.pusher import ENTRIES
from .hp_port import HpPort
from .pl_ports import ABI, FUNCTIONS, MAX_PADS, PlIn, PlOut

__all__ = ["PlIn", "PlOut", "Library", "Ps", "MAX_PADS", "NEVER"]

NUMBERS = (1 << NUMBER_BITS) - 1
NEVER = 2**64 - 1
LATENCY = 20
"""Default latency of a memory read, in cycles."""
ACCEPTED = LATENCY + 4
"""Cycles from a toggle to the core's acceptance of an output."""


class Library:
    """The shared library at `path`. `info`: the parsed JSON of `kairos_pl_info`."""

    def __init__(self, path: Path):
        self.dll = ctypes.CDLL(str(path))
        for name, types in FUNCTIONS.items():
            function = getattr(self.dll, name)
            function.restype, function.argtypes = types
        if self.dll.kairos_pl_abi() != ABI:
            raise OSError(f"{path} has another interface version than {ABI}: build it again")
        self.info = json.loads(self.dll.kairos_pl_info())


class Satellite:
    """An instance of a board without a processor, and the fibres between it and the first link of
    the upstream board.

    `changes`: as of `Ps`, with the times of this board's counter. `plugged`: the fibres are
    connected.
    """

    def __init__(self, library, delay):
        self.library = library
        self.pl = library.dll.kairos_pl_new()
        self.inputs, self.out = PlIn(), PlOut()
        self.delay = delay
        self.plugged = True
        self.changes = []
        self._fibres = deque(), deque()  # (cycle of arrival, word), downstream and upstream
        self._pads = None

    def close(self):
        """Frees the instance."""
        self.library.dll.kairos_pl_free(self.pl)

    def step(self, cycle, upstream_in, upstream_out):
        """One cycle of the satellite; sets the inputs of the upstream board for the same cycle."""
        downstream, upstream = self._fibres
        for out, fibre in [(upstream_out, downstream), (self.out, upstream)]:
            if out.link_tx_valid & 1:
                fibre.append((cycle + self.delay, out.link_tx_word[0]))
            if not self.plugged:
                fibre.clear()
        for inputs, fibre in [(upstream_in, upstream), (self.inputs, downstream)]:
            inputs.link_rx_up = int(self.plugged)
            inputs.link_rx_valid = int(bool(fibre) and fibre[0][0] <= cycle)
            if inputs.link_rx_valid:
                inputs.link_rx_word[0] = fibre.popleft()[1]
        self.library.dll.kairos_pl_cycle(self.pl, ctypes.byref(self.inputs), ctypes.byref(self.out))
        self.inputs.sim_tsc_load = 0
        count = len(self.library.info["pads"])
        pads = list(zip(self.out.pads_o[:count], self.out.pads_oe[:count], strict=True))
        for pad, levels in enumerate(pads):
            if self._pads is None or levels != self._pads[pad]:
                self.changes.append((self.out.sim_tsc, pad, levels))
        self._pads = pads

    def jump(self, upstream, target):
        """Returns how far the counter of the upstream board may be advanced, as far as this board
        allows."""
        under_way = any(self._fibres) or (upstream.link_tx_valid | self.out.link_tx_valid) & 1
        if under_way or not self.out.sim_quiet:
            return 0
        due = self.out.sim_next_due
        return target if due == NEVER else min(target, upstream.sim_tsc + due - self.out.sim_tsc)

    def load(self, cycles):
        """Advances the counter by so many cycles in the next cycle."""
        self.inputs.sim_tsc_load, self.inputs.sim_tsc_value = 1, self.out.sim_tsc + cycles


class Ps:
    """One instance of the PL, with a processing system around it: GP0 accesses, a coherent memory
    on the ACP, and `hp`, one on HP port 0.

    read_latency: cycles from an accepted read address to the first beat (L). visible: cycles from
    the cycle after the last write beat until the write is visible in memory (W). skip: advance the
    counter over quiet times. `changes`: list of (coarse time, pad, (samples, driven)) whenever a
    pad's output changes.

    satellite: the `Library` of a board without a processor behind the first link, whose fibre has
    `delay` cycles (`Satellite`), or None.
    """

    BASE = 0x0070_0000
    RINGS = 0x4_0000
    """Offset of the input rings."""

    def __init__(self, library, read_latency=20, visible=15, skip=False, satellite=None, delay=125):
        self.library = library
        self.pl = library.dll.kairos_pl_new()
        self.inputs = PlIn()
        self.out = PlOut()
        self.read_latency = read_latency
        self.visible = visible
        self.skip = skip
        self.memory = bytearray(self.RINGS + INPUT_RINGS_BYTES)
        struct.pack_into("<I", self.memory, REPLY_STATUS, CREDIT << 1)  # nothing is in flight
        self.pushed = False  # inputs are pushed
        self.consumed = {}  # number of the newest entry by channel
        self._granted = {}  # the same as known to the logic; only channels that have inputs
        self.hp = HpPort(self.inputs, self.out)
        self.cycle = 0  # number of evaluated cycles
        self._skipped = 0
        self.sequence = 0
        self.changes = []
        self.bursts = []  # (cycle, "r" or "w", address - base, beats)
        self.schedule = []  # (coarse time, pad, samples) of input pads, in order of time
        self._next_tsc = 0
        self._names = len(library.info["pads"])
        self._pads = None
        self.satellite = Satellite(satellite, delay) if satellite is not None else None
        self._beats = deque()  # (first cycle, beat data, last)
        self._write_address = deque()
        self._write_beats = []
        self._visible = deque()  # (cycle, offset, bytes)
        self._responses = deque()
        self.inputs.gp0_bready = self.inputs.gp0_rready = 1
        self.inputs.acp_arready = self.inputs.acp_awready = self.inputs.acp_wready = 1

    def close(self):
        """Frees the instance. May be called again."""
        if self.satellite is not None:
            self.satellite.close()
        self.library.dll.kairos_pl_free(self.pl)
        self.pl = None

    def step(self):
        """One clock cycle of everything."""
        i, out, now = self.inputs, self.out, self.cycle + self._skipped
        while self.schedule and self.schedule[0][0] <= self._next_tsc:
            _, pad, samples = self.schedule.pop(0)
            i.pads_i[pad] = samples
        beat = self._beats and self._beats[0][0] <= now
        i.acp_rvalid = bool(beat)
        if beat:
            i.acp_rdata, i.acp_rlast = self._beats[0][1], self._beats[0][2]
        response = self._responses and self._responses[0] <= now
        i.acp_bvalid = bool(response)
        self.hp.before(now)
        if self.satellite is not None:
            self.satellite.step(self.cycle, i, out)
        self.library.dll.kairos_pl_cycle(self.pl, ctypes.byref(i), ctypes.byref(out))
        self._next_tsc = i.sim_tsc_value if i.sim_tsc_load else out.sim_tsc + 1
        i.sim_tsc_load = 0
        self.hp.after(now)
        if beat and out.acp_rready:
            self._beats.popleft()
        if response and out.acp_bready:
            self._responses.popleft()
        if out.acp_arvalid:
            self.bursts.append((self.cycle, "r", out.acp_araddr - self.BASE, out.acp_arlen + 1))
            start = now + self.read_latency
            if self._beats:
                start = max(start, self._beats[-1][0] + 1)
            for n in range(out.acp_arlen + 1):
                (word,) = struct.unpack_from("<Q", self.memory, out.acp_araddr - self.BASE + 8 * n)
                self._beats.append((start + n, word, n == out.acp_arlen))
        if out.acp_awvalid:
            self._write_address.append((out.acp_awaddr - self.BASE, out.acp_awlen + 1))
        if out.acp_wvalid:
            self._write_beats.append(out.acp_wdata)
            if out.acp_wlast:
                address, count = self._write_address.popleft()
                assert count == len(self._write_beats)
                self.bursts.append((self.cycle, "w", address, count))
                data = struct.pack(f"<{count}Q", *self._write_beats)
                self._visible.append((now + 1 + self.visible, address, data))
                self._responses.append(now + 4)
                self._write_beats = []
        pads = bytes(out.pads_o[: self._names]) + bytes(out.pads_oe[: self._names])
        if pads != self._pads:
            self._record(pads)
        self.cycle += 1
        while self._visible and self._visible[0][0] <= now + 1:
            _, address, data = self._visible.popleft()
            self.memory[address : address + len(data)] = data

    def _record(self, pads):
        old, n = self._pads, self._names
        for pad in range(n):
            new = (pads[pad], pads[n + pad])
            if old is None or new != (old[pad], old[n + pad]):
                self.changes.append((self.out.sim_tsc, pad, new))
        self._pads = pads

    def _answer(self):
        """Number of cycles until the next activity on a memory port, or until a write becomes
        visible; None if a burst is incomplete."""
        if self._write_address or not self.hp.whole():
            return None
        times = [queue[0][0] for queue in [self._beats, self.hp.beats, self.hp.responses] if queue]
        times += [*list(self._responses)[:1], *(time - 1 for time, *_ in list(self._visible)[:1])]
        return min(times, default=NEVER) - self.cycle - self._skipped

    def advance(self, until_coarse):
        """Runs until the counter is `until_coarse`, by steps or, with `skip`, by jumps over quiet
        times."""
        while self.out.sim_tsc + 1 < until_coarse:
            if self.skip:
                self._jump(until_coarse - 1)
            self.step()

    def _jump(self, limit):
        """If everything is quiet, makes the next cycle advance the counter as far as allowed."""
        answer = self._answer()
        if answer is None or not self.out.sim_quiet:
            return
        soonest = self.out.sim_tsc + 1 + answer
        target = min([self.out.sim_next_due, limit, soonest] + [entry[0] for entry in self.schedule[:1]])
        if self.satellite is not None:
            target = self.satellite.jump(self.out, target)
        if target > self.out.sim_tsc + 2:
            self.inputs.sim_tsc_load, self.inputs.sim_tsc_value = 1, target
            self._skipped += target - self.out.sim_tsc - 2
            if self.satellite is not None:
                self.satellite.load(target - self.out.sim_tsc)

    def write(self, address, value):
        """GP0 write of a 32-bit register; returns after the write response."""
        i = self.inputs
        i.gp0_awaddr, i.gp0_awsize, i.gp0_awburst, i.gp0_awvalid = address, 2, 1, 1
        i.gp0_wdata, i.gp0_wstrb, i.gp0_wlast, i.gp0_wvalid = value, 0xF, 1, 1
        while True:
            self.step()
            if self.out.gp0_awready:
                i.gp0_awvalid = 0
            if self.out.gp0_wready:
                i.gp0_wvalid = 0
            if self.out.gp0_bvalid:
                return

    def read(self, address):
        """GP0 read of a 32-bit register."""
        i = self.inputs
        i.gp0_araddr, i.gp0_arsize, i.gp0_arburst, i.gp0_arvalid = address, 2, 1, 1
        while True:
            self.step()
            if self.out.gp0_arready:
                i.gp0_arvalid = 0
            if self.out.gp0_rvalid:
                return self.out.gp0_rdata

    def read_descriptor(self):
        """Bytes of the descriptor memory."""
        header = struct.pack("<3I", *[self.read(PL_DESCRIPTOR.start + 4 * n) for n in range(3)])
        (total,) = struct.unpack_from("<I", header, 8)
        return struct.pack(f"<{total // 4}I", *[self.read(PL_DESCRIPTOR.start + 4 * n) for n in range(total // 4)])

    def submit(self, command, target, time, words=()):
        """Writes a request into the next slot and toggles the event line; returns its number.
        command: 0 output, 1 input, 2 posted output."""
        self.sequence = (self.sequence + 1) & NUMBERS
        slot = 128 * (self.sequence % 16)
        first, *rest = words or [0]
        struct.pack_into("<IIqHBB", self.memory, slot, target, first, time, 2 * self.sequence, command, len(words))
        struct.pack_into(f"<{len(rest)}I", self.memory, slot + 20, *rest)
        self.inputs.event_o ^= 1
        return self.sequence

    def status(self):
        """(number of the newest event answered, its status bits) as the CPU sees them."""
        word = self.status_word()
        is_open = word & POSTED_WORD == POSTED_WORD
        return ((word >> 1) - CREDIT) & NUMBERS, 0 if is_open else word >> STATUS_SHIFT & 0xF

    def status_word(self):
        """The whole status word."""
        return struct.unpack_from("<I", self.memory, REPLY_STATUS)[0]

    def wait(self, sequence, limit=100_000):
        """Runs until the reply to `sequence` is visible; returns the status bits. With `skip`,
        jumps over quiet times."""
        self.step()  # the event line has changed: not a cycle to jump in
        for _ in range(limit):
            if self.status()[0] == sequence:
                return self.status()[1]
            if self.skip:
                self._jump(NEVER - 1)
            self.step()
        raise TimeoutError("the kernel initiator does not answer")

    def output(self, channel, time, *words, address=0):
        """An output at `time` machine units; returns its status."""
        return self.wait(self.submit(0, channel << 8 | address, time, words))

    def use_input_rings(self, register):
        """Sets the address of the input rings through the register `initiator_input_ring`, or
        clears them after a reset of RTIO."""
        self.memory[self.RINGS :] = bytes(INPUT_RINGS_BYTES)
        self.pushed = True
        self.consumed, self._granted = {}, {}
        self.write(register, self.BASE + self.RINGS)

    def poll_input(self, channel):
        """The next entry of a channel's input ring, if present: (status, timestamp, data). Room is
        returned as the firmware does it."""
        number = (self.consumed.get(channel, 0) + 1) & 0xFFFF
        timestamp, data, flags, found = self._entry(channel, number)
        if found != number or not flags:
            return None
        self.consumed[channel] = number
        if self._open(channel) >= ENTRIES // 2 and self.status()[0] == self.sequence:
            self._grant(channel, -(2**63))
            for _ in range(4):  # the next toggle must not follow immediately
                self.step()
        return (0, timestamp, data) if flags & EVENT else (INPUT_OVERFLOW, -1, 0)

    def _entry(self, channel, number):
        return struct.unpack_from(
            "<qIHH", self.memory, self.RINGS + (channel * ENTRIES + number % ENTRIES) * ENTRY_BYTES
        )

    def _open(self, channel):
        """Entries consumed that the logic still counts as occupied."""
        return (self.consumed.get(channel, 0) - self._granted.get(channel, 0)) & 0xFFFF

    def progress(self):
        """All input events up to this time have been pushed."""
        return struct.unpack_from("<q", self.memory, 2048)[0]

    def _all_pushed(self, channel):
        """Whether there was always room in the ring, and nothing followed the newest entry."""
        more = self._entry(channel, self.consumed.get(channel, 0))[2] & MORE
        return self.status()[0] == self.sequence and self._open(channel) < ENTRIES and not more

    def _grant(self, channel, timeout):
        self._granted[channel] = self.consumed.get(channel, 0)
        return self.submit(Command.INPUT, channel << 8, timeout, [self._granted[channel]])

    def input(self, channel, timeout):
        """A read; returns (status, timestamp, data)."""
        if not self.pushed:
            status = self.wait(self.submit(Command.INPUT, channel << 8, timeout))
            return status, *struct.unpack_from("<q", self.memory, 2048), *struct.unpack_from("<I", self.memory, 2060)
        while (found := self.poll_input(channel)) is None:
            known = channel in self._granted and timeout != -1 and timeout <= self.progress()
            if known and self._all_pushed(channel):
                return INPUT_TIMEOUT, -1, 0
            if status := self.wait(self._grant(channel, timeout)):
                if status != INPUT_TIMEOUT:
                    del self._granted[channel]
                return status, -1, 0
        return found
