"""Phase of a satellite's clock, modelled: the time transfer of the gateware (`link/rtio/time.py`)
run by a model of clocks and fibre.

No hardware has recovered a clock yet: in simulation both boards have the same one. The model, with
its sources:

* The satellite's clock follows the received words: its edges are the master's, delayed by the fibre
  and a constant of both transceivers, assumed to be calibrated. A recovered clock has jitter of
  5 ps rms (assumed).
* A Si5324 cleans it: a loop of second order, of 60 Hz, as its data sheet offers between 4 and 525
  Hz; it adds 0.3 ps rms (data sheet: 290 fs). Its crystal drifts with the board's temperature by
  0.5 ppm/K (assumed).
* The fibre's delay has 38 ps/(km K) (Slavík et al., Sci. Rep. 5, 15447 (2015), for standard fibre);
  temperatures of fibre and boards change by steps, followed with a time constant.
* Each receiver's cycles begin at any bit of the sender's: words and the received clock are earlier
  by so many 1/64 of a cycle; both are known to the near end (`link/line/coding.py`).
* A returning word is sampled in the first cycle of the master's that begins after its arrival, or
  half a cycle later, depending on its phase; the phase is measured to 1/64 of a cycle, and the
  satellite's clock is shifted in steps of 1/448 (`link/line/phase.py`).

The error is the satellite's counter less the master's at the same instant, in ps, with the fraction
of a cycle.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from ..link.line.phase import RATIO, STEPS
from ..link.line.word import WORD_BITS

__all__ = [
    "CYCLE_PS",
    "LENGTHS",
    "Setup",
    "attempts",
    "greatest_drift",
    "greatest_error",
    "phase_errors",
    "share",
    "static_error",
]

CYCLE_PS = 8000.0
_LOOP_HZ, _DAMPING = 60.0, 1.0
_JITTER_PS, _CLEANER_PS = 5.0, 0.3
_FIBRE_PS_PER_M_K = 0.038
_PS_PER_M = 4900.0
_CRYSTAL_PER_K = 0.5e-6
_STEP_S = 2e-3
_FAR_CYCLES = 1
LENGTHS = tuple(200 + 2 * CYCLE_PS / _PS_PER_M / 12 * n for n in range(12))
"""Of fibres, in m."""


@dataclass
class Setup:
    """Length of the fibre in m; time in s at which temperatures change, and by how much (K), of
    fibre and boards; their time constants in s; excess of the return delay, in ps; the bits of
    their cycles at which the near and the far receiver see the other's cycles begin."""

    length: float = 200.0
    steps: tuple = ((60.0, 5.0), (240.0, -10.0), (420.0, 5.0))
    fibre_s: float = 60.0
    board_s: float = 120.0
    asymmetry: float = 0.0
    begins: tuple[int, int] = (0, 0)


def _round_trip(time, jitter=0.0):
    """(R, the measured phase, in cycles) of words that return `time` ps after others left, `jitter`
    ps off: in the first cycle that begins after that, or half a cycle later if they arrive near its
    beginning."""
    cycles = time / CYCLE_PS
    phase = np.floor(cycles % 1 * RATIO) / RATIO
    half = 0.5 if phase < 0.25 or phase >= 0.75 else 0.0
    return int(np.ceil(cycles + jitter / CYCLE_PS + half)) + _FAR_CYCLES, phase, half


def _way(trip, phase, half, begins):
    """(A, steps by which the satellite's clock is then to be later), computed as in
    `link/rtio/time.py`."""
    twice = trip - _FAR_CYCLES - 1 - (half != 0 and phase >= 0.75) + phase + (begins[0] - begins[1]) / WORD_BITS
    found = int(np.floor(twice / 2 + 0.5))
    return found, int(np.floor((found - twice / 2) * STEPS))


def static_error(delay, asymmetry=0.0, begins=(0, 0)):
    """The error in ps once the counter has been set and the clock shifted, for a forward delay of
    `delay` ps. When a vector arrives, the satellite's counter is A more than the master's was when
    it left."""
    back, there = [
        way - begin * CYCLE_PS / WORD_BITS for way, begin in zip((delay + asymmetry, delay), begins, strict=True)
    ]
    found, steps = _way(*_round_trip(there + back), begins)
    return (found - steps / STEPS) * CYCLE_PS - there


def attempts(delay, random, most=100):
    """Number of attempts of the time transfer until its third step finds the round trip of the
    first one, each with the jitter of two recovered clocks; None if all of that many fail."""
    for attempt in range(1, most + 1):
        first, third = [_round_trip(2 * delay, jitter)[0] for jitter in random.normal(0, _JITTER_PS * np.sqrt(2), 2)]
        if first == third:
            return attempt
    return None


def _relaxed(times, steps, constant):
    """Temperature over time: each step is followed exponentially."""
    kelvin = np.zeros_like(times)
    for when, size in steps:
        after = times >= when
        kelvin[after] += size * (1 - np.exp(-(times[after] - when) / constant))
    return kelvin


def _cleaned(phase, drift, random):
    """The loop's output phase: of second order, its input `phase` in ps with the recovered clock's
    jitter; its own crystal drifts by `drift` (relative)."""
    w = 2 * np.pi * _LOOP_HZ
    # Of white noise sampled at each step, only the part that the loop passes: the actual sampling
    # is far more frequent
    noisy = phase + random.normal(0, _JITTER_PS * np.sqrt(_LOOP_HZ * 1e-6), len(phase))
    output, rate = np.empty_like(phase), 0.0
    now = phase[0]
    substeps = 8
    dt = _STEP_S / substeps
    for n, target in enumerate(noisy):
        for _ in range(substeps):
            error = target - now
            rate += w * w * error * dt
            now += (2 * _DAMPING * w * error + rate + drift[n] * 1e12) * dt
        output[n] = now
    return output + random.normal(0, _CLEANER_PS, len(phase))


def phase_errors(setup=None, seconds=600.0, seed=1):
    """(times in s, errors in ps) since the counter was set."""
    setup = setup or Setup()
    random = np.random.default_rng(seed)
    times = np.arange(0, seconds, _STEP_S)
    fibre = _relaxed(times, setup.steps, setup.fibre_s)
    board = _relaxed(times, setup.steps, setup.board_s)
    delay = setup.length * (_PS_PER_M + _FIBRE_PS_PER_M_K * fibre)
    start = static_error(delay[0], setup.asymmetry, setup.begins)
    drift = _CRYSTAL_PER_K * (board - board[0])
    moved = _cleaned(delay, drift, random) - delay[0]
    return times, start - moved


@cache
def _runs():
    """Errors over time of all fibres, with receivers whose begin bits are drawn at random."""
    begins = np.random.default_rng(1).integers(0, WORD_BITS, (len(LENGTHS), 2)).tolist()
    setups = [Setup(length=length, begins=tuple(bits)) for length, bits in zip(LENGTHS, begins, strict=True)]
    return [phase_errors(setup, seed=n)[1] for n, setup in enumerate(setups)]


def greatest_error():
    """Of all runs, in ps."""
    return float(max(np.abs(errors).max() for errors in _runs()))


def greatest_drift():
    """Maximum shift of a satellite's phase after its counter has been set, in ps."""
    return float(max(np.abs(errors - errors[0]).max() for errors in _runs()))


def share(count=10_000, seed=1):
    """Share of fibres of up to 20 km with which the time transfer completes."""
    random = np.random.default_rng(seed)
    delays = random.uniform(0, 20_000 * _PS_PER_M, count)
    return sum(attempts(delay, random) is not None for delay in delays) / count
