"""Clock phases, measured and shifted, in Migen's simulator with clocks of different phases and
frequencies."""

import pytest
from migen import *
from migen.sim import passive, run_simulation

from kairos_gateware.link.line.phase import PHASE_BITS, RATIO, PhaseMeter, PhaseMover, SampledClocks

PERIOD = 8 * RATIO * 2
"""16 units are 1/64 of a cycle."""
HELPER = PERIOD // RATIO * (RATIO + 1)


class _Clocks(Module):
    """The measured clock is in domain `other`."""

    def __init__(self):
        self.clock_domains.cd_sys = ClockDomain(reset_less=True)
        self.clock_domains.cd_other = ClockDomain(reset_less=True)
        self.clock_domains.cd_helper = ClockDomain(reset_less=True)
        self.submodules.meter = PhaseMeter(ClockSignal("other"), ClockSignal("sys"))
        ticks = Signal()
        self.sync.other += ticks.eq(~ticks)


def measured(phase):
    """phase: delay of `other`, in units of which a cycle has PERIOD."""
    dut, found = _Clocks(), []

    def measure():
        yield dut.meter.start.eq(1)
        yield
        yield dut.meter.start.eq(0)
        yield
        while not (yield dut.meter.done):
            yield
        yield
        found.append((yield dut.meter.value))

    # A phase makes a clock of Migen's simulator earlier
    clocks = {"sys": (PERIOD, 0), "other": (PERIOD, -phase % PERIOD), "helper": (HELPER, 5)}
    run_simulation(dut, measure(), clocks=clocks)
    return found[0] / 2**PHASE_BITS


@pytest.mark.parametrize("eighth", [0, 3, 6, *(pytest.param(n, marks=pytest.mark.long) for n in (1, 2, 4, 5, 7))])
def test_every_clock_phase_is_measured_within_a_sample(eighth):
    """Within one sample, 1/64 of a cycle."""
    phase = PERIOD * eighth // 8 + 3
    found = (measured(phase) - phase / PERIOD + 0.5) % 1 - 0.5
    assert abs(found) <= 1 / RATIO


@pytest.mark.long
def test_phases_of_simulated_clocks_are_measured_in_turn():
    """As between real clocks, one measurement after the other."""
    dut, found = Module(), []
    dut.submodules.clocks = clocks = SampledClocks()
    dut.submodules.meter = meter = PhaseMeter(clocks.clock, clocks.reference, "sys")
    phases = [n * 2**PHASE_BITS // 16 + 5 for n in range(16)]

    def measure():
        for phase in phases:
            yield clocks.later.eq(phase)
            yield clocks.runs.eq(1)
            yield meter.start.eq(1)
            yield
            yield meter.start.eq(0)
            yield
            assert not (yield meter.done)
            while not (yield meter.done):
                yield
            found.append((yield meter.value))
            yield clocks.runs.eq(0)
            for _ in range(RATIO):
                yield

    run_simulation(dut, measure())
    for value, phase in zip(found, phases, strict=True):
        off = (value - phase + 2 ** (PHASE_BITS - 1)) % 2**PHASE_BITS - 2 ** (PHASE_BITS - 1)
        assert abs(off) <= 2**PHASE_BITS // RATIO


def test_clock_is_shifted_step_by_step():
    dut, at = PhaseMover("sys"), [0]

    @passive
    def manager():
        """PSDONE follows PSEN 12 cycles later, and no other PSEN comes in between (UG472)."""
        while True:
            if (yield dut.enable):
                at[0] += 1 if (yield dut.increase) else -1
                for _ in range(11):
                    yield
                    assert not (yield dut.enable)
                yield dut.done.eq(1)
                yield
                yield dut.done.eq(0)
            yield

    def move():
        for steps in (5, -7, 0, 3):
            yield dut.steps.eq(steps)
            for _ in range(8):
                yield
            while not (yield dut.there):
                yield
            assert at[0] == steps
        at[0] = 0
        yield dut.reset.eq(1)
        yield
        yield dut.reset.eq(0)
        for _ in range(8):
            yield
        while not (yield dut.there):
            yield
        assert at[0] == 3

    run_simulation(dut, [move(), manager()])
