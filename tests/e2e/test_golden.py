"""Effect of a kernel's pulses on ions on the bench, through compiler, firmware, gateware, DDS and
modulator, compared with closed formulas: populations are compared, without projection noise."""

from pathlib import Path

import numpy as np
import pytest

from kairos.testing import Bench
from tests.support.databases import calibrated
from tests.support.gateware import built
from tests.support.paths import EXAMPLES

EXPERIMENTS = Path(__file__).with_name("experiments") / "golden.py"
RABI = 50e3
MODE, DETUNING, ETA = 2e6, 20e3, 0.05
LIGHT = """
[urukul.urukul0]
mmcx_hz = 125e6

[aom.first]
tone = "urukul0.ch0"
centre_hz = 80e6
bandwidth_hz = 1e9           # all frequencies alike
saturation_dbm = 10.0
delay_ns = 400

[aom.second]
tone = "urukul0.ch1"
centre_hz = 80e6
bandwidth_hz = 1e9
saturation_dbm = 10.0
delay_ns = 400
"""
QUBIT = LIGHT + f"[ion.ion0]\ndrive = {{ light = 'first', rabi_hz = {RABI}, resonance_hz = 80e6 }}\n"
# One loop of the mode in 50 us, in which both ions rotate by a quarter turn together
PAIR = f"""{LIGHT}
[crystal.pair]
ions = 2
mode = {{ hz = {MODE}, eta = {ETA}, states = 10 }}
drive = [
    {{ light = "first", rabi_hz = {DETUNING / (2 * ETA)}, resonance_hz = 80e6 }},
    {{ light = "second", rabi_hz = {DETUNING / (2 * ETA)}, resonance_hz = 80e6 }},
]
"""


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    built("ion")
    return calibrated(EXAMPLES / "ion" / "device_db.py", tmp_path_factory.mktemp("golden"))


def population(detuning, lengths, phases, gap):
    """Return the population of the upper state: the product of rotations in the frame of the light."""

    def turn(rabi, seconds, phase):
        half = np.pi * seconds
        whole = np.hypot(rabi, detuning)
        drive = np.array(
            [[detuning, rabi * np.exp(2j * np.pi * phase)], [rabi * np.exp(-2j * np.pi * phase), -detuning]]
        )
        if whole == 0:
            return np.eye(2)
        return np.cos(half * whole) * np.eye(2) - 1j * np.sin(half * whole) * drive / whole

    state = np.array([1.0, 0.0], complex)
    for length, phase in zip(lengths, phases, strict=True):
        state = turn(0.0, gap * 1e-9, 0.0) @ turn(RABI, length * 1e-9, phase) @ state
    return abs(state[1]) ** 2


QUARTER, HALF = 5_000, 10_000
SEQUENCES = {
    "Rabi": (0.0, [3_000], [0.0]),
    "Rabi, half a turn": (0.0, [HALF], [0.0]),
    "Rabi with detuning": (30e3, [13_000], [0.0]),
    "Ramsey": (7e3, [QUARTER, QUARTER], [0.0, 0.0]),
    "Ramsey with phase": (0.0, [QUARTER, QUARTER], [0.0, 0.15]),
    "Ramsey with both": (-4e3, [QUARTER, QUARTER], [0.0, 0.4]),
    "echo": (3e3, [QUARTER, HALF, QUARTER], [0.0, 0.0, 0.0]),
    "echo with phase": (3e3, [QUARTER, HALF, QUARTER], [0.0, 0.25, 0.1]),
}


def test_pulse_sequences_give_the_calculated_population(database, tmp_path):
    bench_file = tmp_path / "qubit.toml"
    bench_file.write_text(QUBIT)
    for name, (detuning, lengths, phases) in SEQUENCES.items():
        with Bench(database, bench_file) as bench:
            bench.run(EXPERIMENTS, "Pulses", frequency=80e6 + detuning, lengths=lengths, phases=phases, gap=20_000)
            assert bench.warnings == []
            found = bench.part("ion0")["upper_population"]
        assert found == pytest.approx(population(detuning, lengths, phases, 20_000), abs=2e-4), name


def test_echo_sequence_cancels_the_detuning():
    """The physics demonstrated by the sequences above."""
    echoes = [population(hz, [QUARTER, HALF, QUARTER], [0.0, 0.0, 0.0], 20_000) for hz in (0.0, 1e3, 2e3)]
    fringes = [population(hz, [QUARTER, QUARTER], [0.0, 0.0], 40_000) for hz in (0.0, 1e3, 2e3)]
    assert np.ptp(echoes) < 0.02 and np.ptp(fringes) > 0.05


@pytest.mark.parametrize("length, wanted", [(50_000, 0.5), (100_000, 1.0)])
def test_molmer_sorensen_gate_excites_both_ions_equally(database, tmp_path, length, wanted):
    """Starting with both ions in the lower state, one gate makes the Bell state, in which each ion
    is half excited; two gates excite both, and the mode is at rest after each. The deviation is due
    to the carrier.
    """
    bench_file = tmp_path / "pair.toml"
    bench_file.write_text(PAIR)
    with Bench(database, bench_file) as bench:
        tones = [80e6 + sign * (MODE + DETUNING) for sign in (1, -1)]
        bench.run(EXPERIMENTS, "Gate", frequencies=tones, length=length)
        assert bench.warnings == []
        pair = bench.part("pair")
    assert pair["upper_population"] == [pytest.approx(wanted, abs=0.04)] * 2
    assert pair["quanta"] < 0.02
