"""Pages of a processing system, shown through a bridge: which accesses arrive there, and a link that is lost."""

import pytest
from migen import *

from kairos_gateware.contracts.remote import PAGE_BYTES, PAGES
from kairos_gateware.testbenches.bridge import BridgedBoards, PortMaster
from kairos_gateware.testbenches.simulator import run_simulation
from kairos_gateware.variant import MASTERS

from .peripherals import PeripheralPages

OKAY, SLAVE, DECODE = 0, 2, 3
FIRST, SECOND = 0xE000_A000, 0xF800_0000
SHOWN = [(FIRST, True), (SECOND, False)]
NOTHING = 0xF00
"""Offset in a page from which on the processing system answers with an error."""


class Registers:
    """The processing system behind the port of a `PeripheralPages`, played by a generator: a read returns the number of
    reads so far above the address. `reads`, `writes`: what has arrived, as (address, bytes, …)."""

    LATENCY = 9

    def __init__(self):
        self.reads, self.writes = [], []

    @passive
    def play(self, port):
        read = write = data = None
        waits = [0, 0]
        yield port.arready.eq(1)
        yield port.awready.eq(1)
        yield port.wready.eq(1)
        while True:
            yield
            if (yield port.arvalid) and (yield port.arready):
                read, waits[0] = (yield port.araddr), self.LATENCY
                self.reads.append((read, 1 << (yield port.arsize)))
            if (yield port.awvalid) and (yield port.awready):
                write = (yield port.awaddr), 1 << (yield port.awsize)
            if (yield port.wvalid) and (yield port.wready):
                data = (yield port.wdata), (yield port.wstrb)
            if write and data:
                self.writes.append((*write, *data))
                answer, write, data, waits[1] = write[0], None, None, self.LATENCY
            for n, (valid, ready) in enumerate([(port.rvalid, port.rready), (port.bvalid, port.bready)]):
                if (yield valid) and (yield ready):
                    waits[n] = 0
                waits[n] = max(waits[n] - 1, 1) if waits[n] else 0
                yield valid.eq(waits[n] == 1)
            if waits[0] == 1:
                yield port.rdata.eq(len(self.reads) << 16 | read & 0xFFFF)
                yield port.rresp.eq(SLAVE if read % PAGE_BYTES >= NOTHING else OKAY)
            if waits[1] == 1:
                yield port.bresp.eq(SLAVE if answer % PAGE_BYTES >= NOTHING else OKAY)


def simulate(play, pages=SHOWN, **options):
    """play: generator function of the boards, their master and the registers, run once the link is up."""
    dut = BridgedBoards(block=lambda: PeripheralPages(pages), **options)
    master, registers = PortMaster(dut.axi), Registers()

    def run():
        while not (yield dut.up):
            yield
        yield from play(dut, master, registers)

    run_simulation(dut, [run(), registers.play(dut.block.port)])


@pytest.mark.parametrize("of", MASTERS)
def test_each_beat_is_an_access_of_its_own_size_at_its_register(of):
    def play(dut, master, registers):
        assert (yield from master.load(0x244)) == [(0x1_A244, OKAY)]
        assert (yield from master.load(PAGE_BYTES + 0x530, 3)) == [
            (n + 2 << 16 | 0x530 + 4 * n, OKAY) for n in range(3)
        ]
        assert (yield from master.load(0x11, size=0)) == [(0x5_A011, OKAY)]
        there = [(SECOND + 0x530 + 4 * n, 4) for n in range(3)]
        assert registers.reads == [(FIRST + 0x244, 4), *there, (FIRST + 0x11, 1)]
        assert (yield from master.store(0x44, 7)) == OKAY
        assert (yield from master.store(0x100, 1, 2, 3)) == OKAY
        assert (yield from master.store(0x205, 0x11AB_1111, strobes=0b0010, size=0)) == OKAY
        assert (yield from master.store(0x20E, 0xCDEF_2222, strobes=0b1100, size=1)) == OKAY
        assert registers.writes == [
            (FIRST + 0x44, 4, 7, 15),
            *[(FIRST + 0x100 + 4 * n, 4, n + 1, 15) for n in range(3)],
            (FIRST + 0x205, 1, 0x11AB_1111, 0b0010),
            (FIRST + 0x20E, 2, 0xCDEF_2222, 0b1100),
        ]

    simulate(play, master=of)


def test_accesses_that_are_not_listed_do_not_reach_the_processing_system():
    def play(dut, master, registers):
        for address in (PAGE_BYTES, 2 * PAGE_BYTES, (PAGES - 1) * PAGE_BYTES):
            assert (yield from master.store(address, 1, 2)) == SLAVE
        assert (yield from master.load(2 * PAGE_BYTES, 3)) == [(0, SLAVE)] * 3
        assert (yield from master.load(PAGES * PAGE_BYTES)) == [(0, DECODE)]
        assert (yield from master.load(0, 2, burst=2)) == [(0, SLAVE)] * 2
        assert (yield from master.store(0, 1, strobes=0)) == OKAY
        assert (registers.reads, registers.writes) == ([], [])
        assert (yield from master.load(0)) == [(0x1_A000, OKAY)]

    simulate(play)


def test_block_without_a_list_shows_no_page():
    def play(dut, master, registers):
        for page in (0, 1, PAGES - 1):
            assert (yield from master.load(page * PAGE_BYTES)) == [(0, SLAVE)]
            assert (yield from master.store(page * PAGE_BYTES, 1)) == SLAVE
        assert (registers.reads, registers.writes) == ([], [])

    simulate(play, pages=[])


def test_errors_of_the_processing_system_end_the_stores_of_a_burst():
    def play(dut, master, registers):
        assert (yield from master.load(NOTHING - 4, 2)) == [(0x1_AEFC, OKAY), (0, SLAVE)]
        assert (yield from master.store(NOTHING - 4, 1, 2, 3)) == SLAVE
        assert [address for address, *_ in registers.writes] == [FIRST + NOTHING - 4, FIRST + NOTHING]
        assert (yield from master.store(0, 5)) == OKAY

    simulate(play)


def test_link_lost_in_a_burst_leaves_the_port_idle_and_the_next_access_is_answered():
    def play(dut, master, registers):
        for after in (4, 9, 14, 19, 24, 40, 55):
            for write in (True, False):
                if write:
                    assert (yield from master.cut(dut, after, master.store(0, 1, 2, 3))) in (OKAY, SLAVE)
                else:
                    got = yield from master.cut(dut, after, master.load(0, 3))
                    assert all(value & 0xFFFF == 0xA000 + 4 * n or answer for n, (value, answer) in enumerate(got))
                count = len(registers.writes)
                assert (yield from master.store(0x40, after)) == OKAY
                # What was under way is completed first
                assert registers.writes[-1] == (FIRST + 0x40, 4, after, 15) and len(registers.writes) <= count + 2
                assert (yield from master.load(0x44)) == [(len(registers.reads) << 16 | 0xA044, OKAY)]
        for _ in range(100):
            yield
        assert (yield dut.block.settled) and (yield dut.far.settled)

    simulate(play, delay=5)
