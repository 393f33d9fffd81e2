"""The tracker follows a beat in frequency and phase, equals its equations bit by bit, holds its error when
the beat is lost, and keeps to its limit."""

from fractions import Fraction
from random import Random

import pytest
from migen import *

from kairos_gateware.contracts import pulse as facts
from kairos_gateware.pad import SAMPLES, Pad
from kairos_gateware.phy.edges import EdgeDetector
from kairos_gateware.rtio.link import FreeRunning
from kairos_gateware.testbenches.simulator import run_simulation

from .tracker import Tracker

TURN = 1 << facts.VALUE_BITS
NOMINAL = TURN // 130
"""Of the beat: one period in 130 samples."""


class Bench(Module):
    def __init__(self):
        self.pad = Pad("beat", "inout", 0, True)
        self.submodules.edges = EdgeDetector(self.pad)
        self.skip = FreeRunning()
        self.submodules.tracker = tracker = Tracker(self.edges, self.skip, SAMPLES)
        self.sync += If(tracker.taken, tracker.error.eq(tracker.proposed))
        self.comb += tracker.taken.eq(tracker.update)


def beat(error, cycles, gaps=()):
    """Samples of each cycle of a beat whose frequency exceeds the nominal one by `error` (per sample), in
    words; without edges in the cycles of `gaps`."""
    word = NOMINAL + error
    for cycle in range(cycles):
        phases = [(SAMPLES * cycle + n) * word % TURN for n in range(SAMPLES)]
        yield (
            0
            if any(first <= cycle < last for first, last in gaps)
            else sum((phase < TURN // 2) << n for n, phase in enumerate(phases))
        )


def run(samples, proportional=10, integral=16, limit=TURN // 4000, patience=0):
    """Returns what the tracker shows in each cycle: error, locked, limited, lost, count, phase of the expected
    beat, lacking phase where it is evaluated, otherwise None."""
    dut, shown = Bench(), []
    tracker = dut.tracker

    def bench():
        for signal, value in [
            (tracker.proportional, proportional),
            (tracker.integral, integral),
            (tracker.limit, limit),
            (tracker.patience, patience),
            (tracker.nominal, NOMINAL),
            (tracker.restart, 1),
        ]:
            yield signal.eq(value)
        yield
        yield tracker.restart.eq(0)
        for word in samples:
            yield dut.pad.i.eq(word)
            yield
            names = ["error", "locked", "limited", "lost", "count"]
            now = {}
            for name in names:
                now[name] = yield getattr(tracker, name)
            shown.append(now)

    run_simulation(dut, bench())
    return shown


@pytest.mark.parametrize("error", [NOMINAL // 500, -NOMINAL // 300])
def test_beat_off_its_nominal_frequency_is_tracked_within_half_a_percent_of_the_offset(error):
    shown = run(beat(error, 6000))
    settled = [now["error"] for now in shown[-1500:]]
    mean = Fraction(sum(settled), len(settled))
    assert abs(mean - error) < abs(error) / 200
    assert shown[-1]["locked"] and not shown[-1]["limited"] and not shown[-1]["lost"]
    assert abs(shown[-1]["count"] - 6000 * SAMPLES * (NOMINAL + error) / TURN) < 2


def test_lost_beat_holds_the_integral_and_returning_one_is_tracked_again():
    error = NOMINAL // 500
    shown = run(beat(error, 6500, gaps=[(3000, 4500)]), patience=100)
    during = {now["error"] for now in shown[3200:4500]}
    assert len(during) == 1 and abs(during.pop() - error) < error / 10
    assert not shown[3200]["locked"] and shown[3200]["lost"]
    assert shown[-1]["locked"] and shown[-1]["lost"]


def test_error_keeps_to_its_limit():
    limit = NOMINAL // 1000
    shown = run(beat(NOMINAL // 50, 3000), limit=limit)
    assert max(now["error"] for now in shown) == limit and min(now["error"] for now in shown) >= -limit
    assert shown[-1]["limited"]


def test_controller_equals_its_equations():
    """Edges at random places, as of a beat with noise."""
    random, cycles = Random(5), 1200
    edges = sorted({20 + 17 * n + random.randrange(4) for n in range(64)})
    fine = {edge: random.randrange(SAMPLES) for edge in edges}
    samples = [(0xFF << fine[c] & 0xFF) if c in fine else 0 for c in range(cycles)]
    proportional, integral, limit = 9, 12, TURN // 5000
    shown = run(samples, proportional, integral, limit)

    def signed(word):
        return (word + TURN // 2) % TURN - TURN // 2

    def within(value):
        return max(-limit, min(limit, value))

    # An edge is seen two cycles after its sample; the error it causes is used four cycles after that.
    phase, error, total, first, due = 0, 0, 0, True, {}
    for cycle in range(cycles):
        error = due.get(cycle, error)
        assert shown[cycle]["error"] == error, cycle
        step = NOMINAL + error
        lacking = due.pop(("set", cycle), 0)
        if (edge := cycle - 2) in fine:
            left = signed(-(phase + fine[edge] * step))
            if first:
                first, due["set", cycle + 1] = False, left
            else:
                total = within(total + (left >> integral))
                due[cycle + 5] = within(total + (left >> proportional))
        phase = (phase + SAMPLES * step + lacking) % TURN
