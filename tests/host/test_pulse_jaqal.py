"""Definitions written for JaqalPaw compile to its words; circuits run as gate sequences."""

import json
import sys
from pathlib import Path

import pytest

from kairos.errors import UsageError
from kairos.pulse import Core, GateSet, Model, jaqal

ROOT = Path(__file__).parents[2]
VECTORS = {v["name"][:3]: v for v in json.loads((ROOT / "src/pulse/tests/vectors.json").read_text())["vectors"]}
CLOCK = 409.6e6


@pytest.fixture
def PulseData():
    jaqal.install()
    from jaqalpaw.ir.pulse_data import PulseData

    yield PulseData
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, jaqal._Finder)]
    for name in [name for name in sys.modules if name.split(".")[0] == "jaqalpaw"]:
        del sys.modules[name]


def bodies(words) -> dict[int, list[int]]:
    """Segments of each parameter as numbers, from words that stream them."""
    found: dict[int, list[int]] = {p: [] for p in range(8)}
    for word in words:
        for p in range(8):
            if word >> 216 + p & 1:
                found[p].append(word & (1 << 216) - 1)
    return found


def streamed(pulse):
    words = GateSet({"gate": [pulse]}, core=Core(gates=0)).sequence(["gate"], close=False)
    return bodies(int.from_bytes(word.tobytes(), "little") for word in words)


def reference(name):
    return bodies(int(word, 16) for word in VECTORS[name]["words"])


def test_words_are_those_of_the_vectors(PulseData):
    square = PulseData(2, 1.25e-6, freq0=200e6, amp0=50, phase0=90)
    assert streamed(square) == reference("v03")
    flags = {"waittrig": True, "sync_mask": 3, "enable_mask": 2, "fb_enable_mask": 1, "gpo_mask": 1}
    frames = {
        "rst_frame_mask": 3,
        "apply_at_end_mask": 1,
        "fwd_frame0_mask": 2,
        "inv_frame0_mask": 2,
        "fwd_frame1_mask": 1,
    }
    values = {
        "freq0": 200e6,
        "amp0": 100,
        "freq1": -42.5e6,
        "amp1": 25.5,
        "phase1": -90,
        "framerot0": 45,
        "framerot1": -30,
    }
    assert streamed(PulseData(1, 64 / CLOCK, **values, **flags, **frames)) == reference("v04")
    assert streamed(PulseData(0, 50 / CLOCK, amp0=[10, 20, 30])) == reference("v05")
    assert streamed(PulseData(0, 48 / CLOCK, amp0=(0, 60, 100, 20))) == reference("v06")
    assert streamed(PulseData(3, 50 / CLOCK, freq1=(1e6, 1.5e6, 1.2e6, 0.8e6, 1e6))) == reference("v07")
    assert streamed(PulseData(0, 61 / CLOCK, amp0=[(0, 30, 60, 80), 80, [40, 20]])) == reference("v13")


def test_unknown_names_are_named(PulseData):
    with pytest.raises(TypeError, match="has no colour"):
        PulseData(0, 1e-6, colour=3)
    with pytest.raises(ModuleNotFoundError, match="no counterpart of jaqalpaw.emulator"):
        __import__("jaqalpaw.emulator")


CIRCUIT = """
register q[2]
prepare_all
loop 2 {
X q[0]
Z q[0]
< X q[0] | Y q[1] >
}
measure_all
"""


class Definition:
    """The gates of vector 20."""

    def gate_prepare_all(self):
        return [jaqal.PulseData(c, 16 / CLOCK, waittrig=True, rst_frame_mask=3) for c in range(2)]

    def gate_measure_all(self):
        return [jaqal.PulseData(c, 24 / CLOCK) for c in range(2)]

    def _rotate(self, qubit, phase):
        return [
            jaqal.PulseData(
                qubit, 40 / CLOCK, freq0=200e6, amp0=(0, 80, 0), phase0=phase, sync_mask=1, fwd_frame0_mask=1
            )
        ]

    def gate_X(self, qubit):
        return self._rotate(qubit, 0)

    def gate_Y(self, qubit):
        return self._rotate(qubit, 90)

    def gate_Z(self, qubit):
        return [jaqal.PulseData(qubit, 8 / CLOCK, framerot0=180), jaqal.PulseData(qubit, 3 / CLOCK)]


def test_a_circuit_plays_as_vector_20():
    pytest.importorskip("jaqalpaq", reason="jaqalpaq, which parses Jaqal, is not installed")
    gates = jaqal.circuit(CIRCUIT, Definition())
    words = gates.words(close=False)
    assert len(words) <= len(VECTORS["v20"]["words"])
    model = Model(trigger_channels=3)
    played = model.play(words, 216)
    for channel in ("0", "1"):
        for p, name in enumerate(("f0", "a0", "p0", "f1", "a1", "p1", "z0", "z1")):
            changes = VECTORS["v20"]["trajectory"][channel][name]
            at = [cycle for cycle, _ in changes] + [216]
            for (_, value), start, end in zip(changes, at, at[1:], strict=False):
                expected = (value + (1 << 39)) % (1 << 40) - (1 << 39)
                assert (played.values[int(channel), p, start:end] == expected).all(), (channel, name, start)


def test_a_gate_without_a_definition():
    pytest.importorskip("jaqalpaq", reason="jaqalpaq, which parses Jaqal, is not installed")
    with pytest.raises(UsageError, match="has no gate_W"):
        jaqal.circuit("register q[1]\nW q[0]\n", Definition())
