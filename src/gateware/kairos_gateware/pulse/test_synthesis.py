"""From parameters to samples: phases, sine, full scale. Numbers in the tests' names are those of
the conformance checks.

Expected samples are the equations of the specification in integers, cycle by cycle, without
pipelines.
"""

from dataclasses import dataclass, field

import numpy as np
import pytest

from kairos_gateware.contracts import pulse as facts
from kairos_gateware.testbenches.synthesis import LEVELS, build_synthesis
from kairos_gateware.verilated.lockstep import build_lockstep

from .conftest import BUILD
from .sine import LATENCY as COSINE_LATENCY
from .sine import QUADRANT, Cosine
from .synthesis import LATENCY

PER_CYCLE = 2
TURN = 1 << facts.VALUE_BITS
ONE = 65535 << facts.AMPLITUDE_FRACTION
"""Amplitude 200."""


@pytest.fixture(scope="session")
def channel():
    return build_synthesis(BUILD / "pulse_synthesis", PER_CYCLE)


@pytest.fixture(scope="session")
def cosine():
    """The cosine of each phase."""
    dut = Cosine()
    library = build_lockstep(BUILD / "pulse_sine", dut, {"phase": dut.phase}, {"value": dut.value})
    phases = 4 * QUADRANT
    rows = np.arange(phases + COSINE_LATENCY) % phases
    return library.play(rows.astype(library.inputs))["value"][COSINE_LATENCY:].astype("i8")


@dataclass
class Expected:
    """The equations, for one channel."""

    cosine: np.ndarray
    accumulated: list = field(default_factory=lambda: [0, 0])
    error_phase: int = 0

    def samples(self, row):
        """Samples of a cycle, given a row of inputs."""
        sums = [0] * PER_CYCLE
        for t in range(facts.TONES):
            frequency, amplitude, phase = (int(value) for value in row["values"][3 * t : 3 * t + 3])
            if row["synchronise"] >> t & 1:
                self.accumulated[t] = frequency * int(row["counter"])
            harmonic = int(row["harmonics"][t].astype("u2").view("i2")) if row["feed_forward"] >> t & 1 else 0
            amplitude = (amplitude >> facts.AMPLITUDE_FRACTION ^ 1 << 16) - (1 << 16)
            for n in range(PER_CYCLE):
                turn = self.accumulated[t] + n * frequency + phase + int(row["applied"][t])
                turn += harmonic * (self.error_phase + n * int(row["error"]))
                cosine = int(self.cosine[turn % TURN >> facts.VALUE_BITS - facts.SINE_PHASE_BITS])
                sums[n] += amplitude * cosine + (1 << facts.TONE_SHIFT - 1) >> facts.TONE_SHIFT
            self.accumulated[t] += PER_CYCLE * frequency
        self.error_phase += PER_CYCLE * int(row["error"])
        return [max(-(2**15), min(2**15 - 1, value >> 1)) for value in sums]


def play(channel, rows):
    """Samples of the cycles of `rows`, (cycles, samples of a cycle), and whether one was clamped in
    each cycle."""
    rows = np.concatenate([rows, np.zeros(LATENCY, channel.inputs)])
    out = channel.play(rows)[LATENCY:]
    return out["samples"].astype("i8"), out["limited"]


def blank(channel, cycles):
    """Rows in which everything is 0 except the counter."""
    rows = np.zeros(cycles, channel.inputs)
    rows["counter"] = np.arange(cycles) * PER_CYCLE
    return rows


def set_tone(rows, frequency, amplitude=ONE, tone=0, phase=0):
    rows["values"][:, 3 * tone] = frequency % TURN
    rows["values"][:, 3 * tone + 1] = amplitude % TURN
    rows["values"][:, 3 * tone + 2] = phase % TURN


def test_every_phase_is_within_one_of_its_cosine(cosine):
    angles = 2 * np.pi * (np.arange(len(cosine)) + 0.5) / len(cosine)
    assert np.abs(cosine - np.round((2**17 - 1) * np.cos(angles))).max() <= 1


def test_random_parameters_give_the_expected_samples(channel, cosine):
    rng = np.random.default_rng(1)
    rows = blank(channel, 2000)
    held = rng.integers(0, 60, 2000) != 0  # values change occasionally
    for name in ["values", "applied", "harmonics"]:
        bits = 16 if name == "harmonics" else facts.VALUE_BITS
        rows[name] = rng.integers(0, 1 << bits, rows[name].shape)
    for name in LEVELS:
        rows[name] = rng.integers(0, 4, 2000) & rng.integers(0, 4, 2000)
    for n in np.flatnonzero(held):
        for name in ["values", "applied", "harmonics", "feed_forward"]:
            rows[name][n] = rows[name][n - 1]
    rows["error"] = rng.integers(0, TURN)
    expected = Expected(cosine)
    samples, _ = play(channel, rows)
    assert samples.tolist() == [expected.samples(row) for row in rows]


@pytest.mark.parametrize(
    "frequency, counter, turn",
    [
        (0x3E80000000, 2000, 0x4800000000),
        (0x3E80000000, 2**40 + 2000, 0x4800000000),
        (0xF2B8000000, 2000, 0x3D80000000),
        (0x0050000000, 2_000_000, 0x6800000000),
    ],
)
def test_check_53_to_55_global_phase_follows_the_counter(channel, cosine, frequency, counter, turn):
    rows = blank(channel, 1)
    set_tone(rows, frequency)
    rows["synchronise"], rows["counter"] = 1, counter % TURN
    samples, _ = play(channel, rows)
    shown = cosine[[turn >> 22, (turn + frequency) % TURN >> 22]]
    assert samples[0].tolist() == ((65535 * shown + 2**16 >> 17) >> 1).tolist()


def test_check_56_phase_is_continuous_without_synchronisation(channel, cosine):
    rows = blank(channel, 16)
    set_tone(rows[:12], 0x3E80000000)
    set_tone(rows[12:], 0x0320000000)
    samples, _ = play(channel, rows)
    for cycle, turn in [(12, 0xDC00000000), (15, 0xEEC0000000)]:
        assert samples[cycle, 0] == (65535 * cosine[turn >> 22] + 2**16 >> 17) >> 1


def test_check_57_synchronisation_restores_the_global_phase(channel):
    rng = np.random.default_rng(57)
    whole = blank(channel, 300)
    set_tone(whole, 0x3E80000000)
    whole["synchronise"][0] = 1
    reference, _ = play(channel, whole)
    for _ in range(10):
        first, second = sorted(rng.integers(1, 299, 2))
        rows = whole.copy()
        set_tone(rows[first:second], 0x0320000000)
        rows["synchronise"][[first, second]] = 1
        samples, _ = play(channel, rows)
        assert (samples[second:] == reference[second:]).all()


@pytest.mark.parametrize("cycles", [10**9, 2**39 - 50])
def test_global_phase_is_right_after_many_cycles(channel, cosine, cycles):
    """The counter is loaded: 10^9 cycles after it began, and shortly before it rolls over, a tone
    that synchronises has the phase of one that has always run, and returns to it from another
    frequency."""
    frequency = 0x3E80000001
    rows = blank(channel, 120)
    rows["counter"] = (rows["counter"] + PER_CYCLE * cycles) % TURN
    set_tone(rows, frequency)
    set_tone(rows[30:80], 0x0320000000)
    rows["synchronise"][[0, 30, 80]] = 1
    samples, _ = play(channel, rows)
    turns = [frequency * (PER_CYCLE * cycles + n) % TURN >> facts.VALUE_BITS - 18 for n in range(120 * PER_CYCLE)]
    whole = (65535 * cosine[turns] + 2**16 >> 17 >> 1).reshape(-1, PER_CYCLE)
    assert (samples[:30] == whole[:30]).all() and (samples[80:] == whole[80:]).all()
    assert (samples[30:80] != whole[30:80]).any()


def test_check_58_repeated_synchronisation_is_idempotent(channel):
    rows = blank(channel, 100)
    set_tone(rows, 0x1234567891)
    rows["synchronise"][0] = 1
    once, _ = play(channel, rows)
    rows["synchronise"][::7] = 1
    assert (play(channel, rows)[0] == once).all()


def test_check_59_phase_frame_and_feed_forward_have_equal_effect(channel):
    results = []
    for name in ["phase", "frame", "feed-forward"]:
        rows = blank(channel, 60)
        set_tone(rows, 0x0312345678, phase=0xD000000000 if name == "phase" else 0)
        rows["applied"][:, 0] = 0xD000000000 if name == "frame" else 0
        if name == "feed-forward":  # the error accumulates to 0x1000000000 in 8 cycles, and stays
            rows["error"][:8] = 0x1000000000 // 8 // PER_CYCLE
            rows["harmonics"][:, 0], rows["feed_forward"] = -3 % 2**16, 1
        results.append(play(channel, rows)[0][8:])
    assert (results[0] == results[1]).all() and (results[0] == results[2]).all()


@pytest.mark.parametrize(
    "amplitudes, sample, limited",
    [((200, 0), 32767, 0), ((-200, 0), -32768, 0), ((100, 100), 32767, 0), ((200, 200), 32767, 1)],
)
def test_check_60_amplitudes_beyond_full_scale_are_limited(channel, amplitudes, sample, limited):
    rows = blank(channel, 1)
    for tone, amplitude in enumerate(amplitudes):
        set_tone(rows, 0, int(amplitude / 200 * 65535) << facts.AMPLITUDE_FRACTION, tone)
    samples, too_far = play(channel, rows)
    assert samples[0].tolist() == [sample] * PER_CYCLE
    assert too_far[0] == limited


def test_check_62_tone_has_no_line_above_minus_90_db(channel):
    """A tone near 200 MHz of 819.2 MHz, on a line of the transform: no line above -90 dB of it."""
    cycles = 2**15
    rows = blank(channel, cycles)
    set_tone(rows, 16001 << 40 - 16, ONE // 2)
    samples, _ = play(channel, rows)
    spectrum = np.abs(np.fft.rfft(samples.reshape(-1)))
    assert spectrum.argmax() == 16001
    carrier = spectrum[16001]
    spectrum[16001] = 0
    assert 20 * np.log10(spectrum.max() / carrier) < -90
