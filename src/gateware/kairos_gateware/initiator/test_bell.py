"""The event line: one pulse for each toggle, two cycles later."""

from migen import *

from kairos_gateware.initiator.bell import DoorBell
from kairos_gateware.testbenches.simulator import run_simulation


def test_each_toggle_is_one_pulse_two_cycles_later():
    dut = DoorBell()
    toggles, seen, rests = {3, 4, 9, 14}, [], []

    def line():
        for cycle in range(20):
            if cycle in toggles:
                yield dut.event.eq(~dut.event)
            yield
            if (yield dut.toggle):
                seen.append(cycle)
            rests.append((yield dut.still))

    run_simulation(dut, line())
    # The line changes at the end of the cycle in which it is written.
    assert seen == [cycle + 2 for cycle in sorted(toggles)]
    assert rests[2] and not any(rests[3:6]) and rests[7] and rests[-1]
