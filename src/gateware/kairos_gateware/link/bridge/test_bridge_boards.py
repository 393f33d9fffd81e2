"""A bridge between two boards: accesses to a block on the other one, errors, interrupts, reset."""

from random import Random

import pytest
from migen import *

from kairos_gateware.contracts.remote import ADDER_IDENTITY, ADDER_NUMBERS
from kairos_gateware.testbenches.bridge import BridgedBoards, PortMaster
from kairos_gateware.testbenches.simulator import run_simulation
from kairos_gateware.variant import MASTERS

OKAY, SLAVE, DECODE = 0, 2, 3
TIMEOUT = 500
COUNT, STATE, START = 4, 8, 12
FIRST, SECOND, SUMS, BEYOND = 0x1000, 0x2000, 0x3000, 0x4000


def simulate(play, **options):
    """play: generator function of the boards and their master, run once the link is up."""
    dut = BridgedBoards(**options)
    master = PortMaster(dut.axi)

    def run():
        while not (yield dut.up):
            yield
        yield from play(dut, master)

    run_simulation(dut, run())


@pytest.mark.parametrize(
    ("packetiser", "delay", "master"),
    [
        ("gearbox", 20, "upstream"),
        ("simple", 1, "upstream"),
        ("gearbox", 1, "downstream"),
        ("simple", 20, "downstream"),
        pytest.param("gearbox", 1, "upstream", marks=pytest.mark.long),
        pytest.param("simple", 20, "upstream", marks=pytest.mark.long),
    ],
)
def test_vectors_stored_across_the_bridge_are_added(packetiser, delay, master):
    random = Random(delay)
    first, second = ([random.getrandbits(32) for _ in range(11)] for _ in range(2))
    expected = [(a + b) % 2**32 for a, b in zip(first, second, strict=True)]

    def play(dut, master):
        assert (yield from master.load(0)) == [(ADDER_IDENTITY, OKAY)]
        for vector, at in [(first, FIRST), (second, SECOND)]:
            assert (yield from master.store(at, *vector[:8])) == OKAY
            for n in range(8, 11):
                assert (yield from master.store(at + 4 * n, vector[n])) == OKAY
        assert (yield from master.store(COUNT, 11)) == OKAY
        assert (yield from master.store(START, 1)) == OKAY
        state = 1
        while state & 1:
            [(state, response)] = yield from master.load(STATE)
            assert response == OKAY
        assert state == 2 and (yield dut.near.levels) == 1
        assert (yield from master.load(SUMS, 11)) == [(total, OKAY) for total in expected]
        assert (yield from master.load(FIRST + 4, 3)) == [(value, OKAY) for value in first[1:4]]
        assert (yield from master.load(COUNT)) == [(11, OKAY)]

    simulate(play, packetiser=packetiser, delay=delay, master=master)


def test_bytes_and_halves_are_stored_in_their_places():
    def play(dut, master):
        assert (yield from master.store(FIRST, 0, 0)) == OKAY
        assert (yield from master.store(FIRST + 5, 0x11AB_1111, strobes=0b0100, size=0)) == OKAY
        assert (yield from master.store(FIRST + 2, 0xCDEF_2222, strobes=0b1100, size=1)) == OKAY
        assert (yield from master.load(FIRST, 2)) == [(0xCDEF_0000, OKAY), (0x00AB_0000, OKAY)]
        assert (yield from master.store(FIRST, 1, 2, 3, burst=0)) == OKAY
        assert (yield from master.load(FIRST, 2)) == [(3, OKAY), (0x00AB_0000, OKAY)]

    simulate(play)


def test_addresses_outside_the_block_and_stores_to_sums_are_errors():
    def play(dut, master):
        for address in (BEYOND, 0x10, 0xFFC, 0x0800_1000):
            assert (yield from master.load(address)) == [(0, DECODE)]
            assert (yield from master.store(address, 1)) == DECODE
        assert (yield from master.store(SUMS, 1)) == SLAVE
        assert (yield from master.load(SUMS + 0xFFC, 2))[1] == (0, DECODE)
        assert (yield from master.load(0x9000_0000)) == [(ADDER_IDENTITY, OKAY)], "in the place of the second link"
        assert (yield from master.store(COUNT, 5000)) == OKAY
        assert (yield from master.load(COUNT)) == [(ADDER_NUMBERS, OKAY)]

    simulate(play)


@pytest.mark.parametrize("of", MASTERS)
def test_accesses_over_a_lost_link_are_slave_errors_and_later_ones_succeed(of):
    def play(dut, master):
        assert (yield from master.store(FIRST, 7)) == OKAY
        yield dut.plugged.eq(0)
        yield
        yield
        assert (yield from master.load(FIRST, 3)) == [(0, SLAVE)] * 3
        assert (yield from master.store(FIRST, 8, 9)) == SLAVE
        yield dut.plugged.eq(1)
        while not (yield dut.up):
            yield
        assert (yield from master.load(FIRST)) == [(7, OKAY)]

    simulate(play, master=of)


@pytest.mark.parametrize(
    "after", [9, *(pytest.param(n, marks=pytest.mark.long) for n in (1, 2, 5, 14, 20, 25, 30, 45, 60))]
)
@pytest.mark.parametrize("write", [True, False])
@pytest.mark.parametrize("of", MASTERS)
def test_link_lost_in_an_access_ends_it_and_the_next_is_answered(of, write, after):
    def play(dut, master):
        assert (yield from master.store(FIRST, *range(1, 9))) == OKAY

        def step():
            yield dut.plugged.eq(master.cycles - begun != after)
            yield

        begun = master.cycles
        master._step = step
        if write:
            assert (yield from master.store(FIRST, *range(1, 9))) in (OKAY, SLAVE)
        else:
            got = yield from master.load(FIRST, 8)
            assert all(answer in (OKAY, SLAVE) for _, answer in got)
            assert all(value == n or answer for n, (value, answer) in enumerate(got, 1))
        while not (yield dut.up) or master.cycles - begun <= after:
            yield from master.step()
        assert (yield from master.load(FIRST, 8)) == [(n, OKAY) for n in range(1, 9)]
        assert (yield from master.store(SECOND, 5)) == OKAY
        for _ in range(100):
            yield from master.step()
        assert (yield dut.near.settled) and (yield dut.far.settled) and (yield dut.block.settled)

    simulate(play, delay=5, master=of)


def test_block_that_hangs_gives_errors_in_bounded_time_until_a_reset():
    def play(dut, master):
        assert (yield from master.store(COUNT, 3)) == OKAY
        yield dut.hangs.eq(1)
        begun = master.cycles
        assert (yield from master.load(FIRST)) == [(0, SLAVE)]
        assert (yield from master.store(FIRST, *range(8))) == SLAVE
        assert master.cycles - begun < 2 * TIMEOUT + 100
        for _ in range(4):
            assert (yield from master.store(FIRST, *range(16))) == SLAVE
        assert (yield dut.near.stuck)
        begun = master.cycles
        assert (yield from master.load(FIRST)) == [(0, SLAVE)]
        assert master.cycles - begun < 10
        yield dut.hangs.eq(0)
        yield dut.near.held.eq(1)
        for _ in range(1000):
            yield
        assert (yield dut.near.far_held) and (yield from master.load(0)) == [(0, SLAVE)]
        yield dut.near.held.eq(0)
        while (yield dut.near.far_held):
            yield
        assert (yield from master.load(COUNT)) == [(0, OKAY)]
        assert (yield from master.store(FIRST, 4, 5)) == OKAY
        assert (yield from master.load(FIRST, 2)) == [(4, OKAY), (5, OKAY)]

    simulate(play, timeout=TIMEOUT)


def test_late_answer_is_not_taken_for_that_of_the_next_access():
    def play(dut, master):
        assert (yield from master.store(FIRST, 1, 2)) == OKAY
        yield dut.hangs.eq(1)
        assert (yield from master.load(FIRST)) == [(0, SLAVE)]
        yield dut.hangs.eq(0)
        assert (yield from master.load(FIRST + 4)) == [(2, OKAY)]

    simulate(play, timeout=TIMEOUT)


@pytest.mark.parametrize("of", MASTERS)
def test_interrupts_cross_in_both_directions_and_end_with_the_link(of):
    def play(dut, master):
        for value in (1, 0x8001, 0):
            yield dut.near.raises.eq(value)
            for _ in range(40):
                yield
            assert (yield dut.far.levels) == value
        yield dut.near.raises.eq(5)
        yield from master.store(START, 1)
        while not (yield dut.near.levels):
            yield
        yield dut.plugged.eq(0)
        for _ in range(3):
            yield
        assert (yield dut.near.levels) == 0 and (yield dut.far.levels) == 0
        yield dut.plugged.eq(1)
        for _ in range(400):
            yield
        assert (yield dut.near.levels) == 1 and (yield dut.far.levels) == 5

    simulate(play, master=of)
