"""Round-robin choice of channels."""

from migen import *

from kairos_gateware.rtio.choice import ChannelChoice
from kairos_gateware.testbenches.simulator import run_simulation

COUNT = 4


def turns(readable, cycles, room=lambda slot: True, freed=None):
    """Slots in the order in which they are chosen, each with the cycle; each is served at once.
    readable: bits. freed: (cycle, slot)."""
    dut = ChannelChoice(COUNT)
    seen = []

    def process():
        yield dut.enable.eq(1)
        yield dut.readable.eq(readable)
        for cycle in range(cycles):
            yield dut.freed.eq(freed is not None and freed[0] == cycle)
            yield dut.freed_slot.eq(freed[1] if freed else 0)
            yield
            chosen, slot = (yield dut.chosen), (yield dut.slot)
            if chosen and not (yield dut.move):
                seen.append((cycle, slot))
            yield dut.move.eq(chosen and not (yield dut.move))
            yield dut.room.eq(room(slot))

    run_simulation(dut, process())
    return seen


def test_lanes_with_requests_take_turns():
    assert [slot for _, slot in turns(0b1011, 30)][:7] == [0, 1, 3, 0, 1, 3, 0]


def test_no_lane_is_chosen_without_request():
    assert turns(0, 10) == []


def test_full_lane_is_not_chosen_until_freed():
    seen = turns(0b0111, 60, room=lambda slot: slot != 1, freed=(30, 1))
    early = [slot for cycle, slot in seen if cycle < 30]
    late = [slot for cycle, slot in seen if cycle >= 30]
    assert early.count(1) == 1 and late.count(1) == 1
    assert early.count(0) > 2 < early.count(2)


def test_reset_makes_full_lanes_selectable_again():
    dut = ChannelChoice(COUNT)

    def process():
        yield dut.enable.eq(1)
        yield dut.readable.eq(0b0100)
        while not (yield dut.chosen):
            yield
        yield dut.move.eq(1)
        yield
        yield dut.move.eq(0)
        for _ in range(5):
            yield
        assert not (yield dut.chosen) and not (yield dut.waiting)
        yield dut.reset.eq(1)
        yield
        yield dut.reset.eq(0)
        yield
        yield
        assert (yield dut.chosen) and (yield dut.slot) == 2

    run_simulation(dut, process())
