"""Detection of a satellite's clock as that of the upstream board, with clocks of any phase and of
other frequencies."""

import pytest
from migen import *

from kairos_gateware.link.line.steady import Steady
from kairos_gateware.testbenches.simulator import run_simulation

PERIOD = 1000
WINDOW = 1000


class Dut(Module):
    def __init__(self):
        self.clock_domains.cd_sys = ClockDomain(reset_less=True)
        self.clock_domains.cd_received = ClockDomain(reset_less=True)
        self.present = Signal(reset=1)
        self.submodules.steady = Steady("received", self.present, WINDOW)


def watch_steady(dut, cycles, absent=()):
    """`steady` in each cycle; the clock is not present in the cycles `absent`."""
    seen = []

    def watch():
        for cycle in range(cycles):
            yield dut.present.eq(cycle not in absent)
            seen.append((yield dut.steady.steady))
            yield

    return seen, watch()


@pytest.mark.parametrize("phase", [0, 1, 250, 499, 500, 999])
def test_synchronous_clocks_are_steady_after_a_window(phase):
    dut = Dut()
    seen, process = watch_steady(dut, 3 * WINDOW)
    run_simulation(dut, {"sys": [process]}, clocks={"sys": (PERIOD, 0), "received": (PERIOD, phase)})
    begin = seen.index(1)
    assert WINDOW <= begin < WINDOW + 16 and all(seen[begin:])


@pytest.mark.parametrize("other", [PERIOD - 4, PERIOD + 4, PERIOD * 2])
def test_clocks_slipping_within_a_window_are_never_steady(other):
    dut = Dut()
    seen, process = watch_steady(dut, 6 * WINDOW)
    run_simulation(dut, {"sys": [process]}, clocks={"sys": (PERIOD, 0), "received": (other, 0)})
    assert not any(seen)


def test_slow_slip_ends_steady_state():
    """One cycle in 500: the third slip after a window began is too much, so it is steady for half a
    window at most."""
    dut = Dut()
    seen, process = watch_steady(dut, 8 * WINDOW)
    run_simulation(dut, {"sys": [process]}, clocks={"sys": (PERIOD, 0), "received": (PERIOD + 2, 0)})
    lengths = [len(run) for run in "".join(map(str, seen)).split("0") if run]
    assert len(lengths) >= 4 and max(lengths) <= 3 * 500 - WINDOW + 16


def test_lost_clock_ends_steady_state():
    dut = Dut()
    gone = range(2 * WINDOW, 2 * WINDOW + 50)
    seen, process = watch_steady(dut, 4 * WINDOW, gone)
    run_simulation(dut, {"sys": [process]}, clocks={"sys": (PERIOD, 0), "received": (PERIOD, 300)})
    assert seen[gone[0] - 1] and not any(seen[gone[0] + 4 : gone[-1] + WINDOW]) and seen[gone[-1] + WINDOW + 16]
