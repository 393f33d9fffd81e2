"""Pages of a board's memory, shown through a bridge: where words arrive, rights, and a link that is lost."""

from migen import *

from kairos_gateware.contracts.remote import PAGE_BYTES, PAGES
from kairos_gateware.testbenches.bridge import BridgedBoards, PortMaster
from kairos_gateware.testbenches.simulator import run_simulation

from .pages import MemoryPages

OKAY, SLAVE, DECODE = 0, 2, 3
READ, READ_WRITE = 1, 3
TOP = 0x0FE0_0000
"""Where the board's memory begins; a reading beyond `SIZE` is an error."""
SIZE = 4 * PAGE_BYTES


class Memory64:
    """The memory behind the port of a `MemoryPages`: `bytes`, played by a generator."""

    LATENCY = 12

    def __init__(self):
        self.bytes = bytearray(SIZE)
        self.reads, self.writes = [], []

    @passive
    def play(self, read, write):
        beats, waits, burst, answer = [], 0, None, 0
        yield read.arready.eq(1)
        yield write.awready.eq(1)
        yield write.wready.eq(1)
        while True:
            yield
            if (yield read.arvalid) and (yield read.arready):
                at, length = (yield read.araddr) - TOP, (yield read.arlen) + 1
                self.reads.append((at, length))
                beats, waits = [at + 8 * n for n in range(length)], self.LATENCY
            if (yield write.awvalid) and (yield write.awready):
                burst = (yield write.awaddr) - TOP
                self.writes.append((burst, (yield write.awlen) + 1))
            if (yield write.wvalid) and (yield write.wready):
                data, strobes = (yield write.wdata).to_bytes(8, "little"), (yield write.wstrb)
                for n in range(8):
                    if strobes >> n & 1:
                        self.bytes[burst + n] = data[n]
                burst += 8
                answer = self.LATENCY if (yield write.wlast) else 0
            answer = max(answer - 1, 0) if answer != 1 or (yield write.bready) else 1
            yield write.bvalid.eq(answer == 1)
            waits = max(waits - 1, 0)
            now = beats.pop(0) if beats and not waits else None
            yield read.rvalid.eq(now is not None)
            yield read.rlast.eq(now is not None and not beats)
            if now is not None:
                inside = 0 <= now < SIZE
                yield read.rresp.eq(0 if inside else SLAVE)
                yield read.rdata.eq(int.from_bytes(self.bytes[now : now + 8], "little") if inside else 0)


def simulate(play):
    """play: generator function of the boards, their master and the memory, run once the link is up."""
    dut = BridgedBoards(block=MemoryPages)
    master, memory = PortMaster(dut.axi), Memory64()

    def show(page, there, rights=READ_WRITE):
        yield dut.block.entry.eq((TOP + there * PAGE_BYTES) | page << 2 | rights)
        yield dut.block.sets.eq(1)
        yield
        yield dut.block.sets.eq(0)
        yield

    def run():
        while not (yield dut.up):
            yield
        yield from play(dut, master, memory, show)

    run_simulation(dut, [run(), memory.play(dut.block.read, dut.block.write)])


def test_scattered_pages_are_one_range_of_bytes_halves_and_words():
    def play(dut, master, memory, show):
        yield from show(0, 2)
        yield from show(1, 0)
        end = PAGE_BYTES - 8
        assert (yield from master.store(end, 1, 2)) == OKAY
        assert (yield from master.store(PAGE_BYTES, 3, 4, 5)) == OKAY
        assert (yield from master.load(end, 2)) == [(1, OKAY), (2, OKAY)]
        assert (yield from master.load(PAGE_BYTES + 4, 2)) == [(4, OKAY), (5, OKAY)]
        assert memory.bytes[3 * PAGE_BYTES - 8 :][:8] == bytes([1, 0, 0, 0, 2, 0, 0, 0])
        assert memory.bytes[:12] == bytes([3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0])
        # 16 beats from the upper half of a word: nine words at the port
        values = [0x0101_0101 * n for n in range(16)]
        assert (yield from master.store(20, *values)) == OKAY
        assert (yield from master.load(20, 16)) == [(value, OKAY) for value in values]
        assert memory.writes[-1] == memory.reads[-1] == (2 * PAGE_BYTES + 16, 9)
        assert (yield from master.store(21, 0x11AB_1111, strobes=0b0100 >> 1, size=0)) == OKAY
        assert (yield from master.store(26, 0xCDEF_2222, strobes=0b1100, size=1)) == OKAY
        assert (yield from master.load(20, 2)) == [(0x1100, OKAY), (0xCDEF_0101, OKAY)]

    simulate(play)


def test_accesses_without_rights_are_errors_that_do_not_reach_memory():
    def play(dut, master, memory, show):
        yield from show(3, 1, READ)
        yield from show(PAGES - 1, 9)
        memory.bytes[PAGE_BYTES] = 7
        at = 3 * PAGE_BYTES
        assert (yield from master.load(at)) == [(7, OKAY)]
        for address in (at, 2 * PAGE_BYTES, 4 * PAGE_BYTES):
            assert (yield from master.store(address, 1, 2, 3)) == SLAVE
        assert (yield from master.load(0, 3)) == [(0, SLAVE)] * 3
        assert (yield from master.load(PAGES * PAGE_BYTES, 2)) == [(0, DECODE)] * 2
        assert (yield from master.store(PAGES * PAGE_BYTES, 1)) == DECODE
        assert (yield from master.load(at, 2, burst=2)) == [(0, SLAVE)] * 2
        assert (memory.reads, memory.writes) == ([(PAGE_BYTES, 1)], [])
        # Allowed, but there is no memory
        assert (yield from master.load((PAGES - 1) * PAGE_BYTES)) == [(0, SLAVE)]
        yield from show(3, 1)
        assert (yield from master.store(at, 8)) == OKAY
        yield from show(3, 1, 0)
        assert (yield from master.load(at)) == [(0, SLAVE)]
        assert memory.bytes[PAGE_BYTES] == 8

    simulate(play)


def test_link_lost_in_a_burst_leaves_port_and_next_burst_complete():
    def play(dut, master, memory, show):
        yield from show(0, 0)
        for after in (6, 14, 22, 26, 30, 38, 46):
            for write in (True, False):
                assert (yield from master.store(0, *range(1, 9))) == OKAY
                if write:
                    assert (yield from master.cut(dut, after, master.store(0, *range(1, 9)))) in (OKAY, SLAVE)
                else:
                    got = yield from master.cut(dut, after, master.load(0, 8))
                    assert all(value == n or answer for n, (value, answer) in enumerate(got, 1))
                assert (yield from master.load(0, 8)) == [(n, OKAY) for n in range(1, 9)]
        for _ in range(100):
            yield
        assert (yield dut.block.settled)
        assert all(length == 4 for _, length in memory.reads + memory.writes)

    simulate(play)
