"""Numbers and room of the input rings, slot by slot."""

from migen import *

from kairos_gateware.rtio.ledger import ENTRIES, RingLedger
from kairos_gateware.testbenches.simulator import run_simulation


def run(count, process):
    dut = RingLedger(count)
    run_simulation(dut, process(dut))


def take(dut, slot, times):
    yield dut.slot.eq(slot)
    yield dut.take.eq(1)
    for _ in range(times):
        yield
    yield dut.take.eq(0)
    yield


def read_slot(dut, slot):
    """(number of the next entry, room, newest)."""
    yield dut.slot.eq(slot)
    yield dut.asked.eq(slot)
    yield
    return (yield dut.number), (yield dut.room), (yield dut.newest)


def test_each_slot_has_its_own_numbers_and_room():
    def process(dut):
        yield from take(dut, 0, 3)
        yield from take(dut, 2, ENTRIES)
        assert (yield from read_slot(dut, 0)) == (4, 1, 3)
        assert (yield from read_slot(dut, 1)) == (1, 1, 0)
        assert (yield from read_slot(dut, 2)) == (ENTRIES + 1, 0, ENTRIES)
        # The processor has consumed one of them
        yield dut.consumed.eq(1)
        yield dut.grant.eq(1)
        yield
        yield dut.grant.eq(0)
        yield
        assert (yield from read_slot(dut, 2)) == (ENTRIES + 1, 1, ENTRIES)
        yield from take(dut, 2, 1)
        assert (yield from read_slot(dut, 2)) == (ENTRIES + 2, 0, ENTRIES + 1)

    run(3, process)


def test_reset_takes_one_cycle_per_slot():
    for count in (1, 2, 5):

        def process(dut, count=count):
            yield from take(dut, count - 1, 2)
            yield dut.reset.eq(1)
            yield
            yield dut.reset.eq(0)
            yield
            cycles = 0
            while (yield dut.sweeping):
                cycles += 1
                yield
            assert cycles == count
            assert (yield from read_slot(dut, count - 1)) == (1, 1, 0)

        run(count, process)
