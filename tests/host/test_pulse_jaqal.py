"""Definitions written for JaqalPaw compile to its words; circuits run as gate sequences."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kairos.errors import UsageError
from kairos.pulse import Core, GateSet, Model, Pulse, PulseError, jaqal

ROOT = Path(__file__).parents[2]
VECTORS = {v["name"][:3]: v for v in json.loads((ROOT / "src/pulse/tests/vectors.json").read_text())["vectors"]}
CLOCK = 409.6e6


@pytest.fixture
def PulseData():
    jaqal.install()
    from jaqalpaw.ir.pulse_data import PulseData

    yield PulseData
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, jaqal.Finder)]
    for name in [name for name in sys.modules if name.split(".")[0] == "jaqalpaw"]:
        del sys.modules[name]


def bodies(words) -> dict[int, list[int]]:
    """Returns the segments of each parameter as numbers, from streaming words."""
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


def test_words_of_pulse_definitions_match_vectors(PulseData):
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


def test_unknown_parameter_or_module_is_reported(PulseData):
    with pytest.raises(PulseError, match="^channel 0, colour: PulseData has no such parameter; it has freq0"):
        PulseData(0, 1e-6, colour=3)
    with pytest.raises(PulseError, match="^channel 2, freq: .* did you mean freq0"):
        PulseData(2, 1e-6, freq=1e6)
    with pytest.raises(PulseError, match="^channel 1: PulseData has 2 values too many"):
        PulseData(1, 1e-6, *[0] * 20)
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
    """The gates of test vector 20."""

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


def test_circuit_plays_as_vector_20():
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


def test_undefined_gate_of_a_circuit_is_rejected():
    pytest.importorskip("jaqalpaq", reason="jaqalpaq, which parses Jaqal, is not installed")
    with pytest.raises(UsageError, match="does not define gate_W"):
        jaqal.circuit("register q[1]\nW q[0]\n", Definition())


FOLDER = Path(__file__).parent / "jaqal"
KNOWN = json.loads((FOLDER / "oracle.json").read_text())


def signed(word, at):
    value = word >> at & (1 << 40) - 1
    return value - (value >> 39 << 40)


@pytest.mark.parametrize("name", KNOWN)
def test_circuit_with_definition_matches_jaqalpaw(name):
    """jaqal/oracle.py documents how the expected segments were generated. Channel 2 has a pause that
    fills up a parallel block."""
    pytest.importorskip("jaqalpaq", reason="jaqalpaq, which parses Jaqal, is not installed")
    gates = jaqal.load(FOLDER / name, Core(gates=0))
    words = [int.from_bytes(word.tobytes(), "little") for word in gates.sequence(channels=255, close=False)]
    assert len(words) <= KNOWN[name]["streamed"]
    for channel in ("0", "1", "2"):
        parameters = KNOWN[name]["segments"][channel]
        found = bodies(word for word in words if word >> 248 + int(channel) & 1)
        for p, expected in parameters.items():
            fields = [
                [w >> 160 & (1 << 40) - 1, w >> 208 & 31, *(signed(w, at) for at in (0, 40, 80, 120)), w >> 200 & 255]
                for w in found[int(p)]
            ]
            assert fields == expected, (channel, p)


def test_pulses_take_positions_and_cycles(PulseData):
    from jaqalpaw.utilities.datatypes import ClockCycles, Spline

    by_place = PulseData(1, ClockCycles(64), 1e6, 90, (0, 50), None, [10])
    named = PulseData(1, 64 / CLOCK, freq0=1e6, phase0=90, amp0=Spline([0, 50]), phase1=10)
    assert streamed(by_place) == streamed(named)


def test_quantities_are_rounded_to_core_steps(PulseData):
    from jaqalpaw.utilities import helper_functions as helper

    assert helper.discretize_frequency(1.0) == pytest.approx(0.9998679161071777, rel=1e-15)
    assert helper.discretize_amplitude(33.3) == pytest.approx(33.29823758297093, rel=1e-15)
    assert helper.discretize_phase(0.25) == pytest.approx(0.25000000016007107, rel=1e-15)
    assert helper.discretize_time(1e-6) == 9.9853515625e-07
    assert helper.to_clock_cycles(1e-6) == 409 and helper.to_real_time(helper.to_clock_cycles(1e-6)) == 409 / CLOCK


class Numbers:
    """Gates identified by their amplitude."""

    def gate_prepare_all(self):
        return [jaqal.PulseData(0, 8 / CLOCK, amp0=1)]

    def gate_measure_all(self):
        return [jaqal.PulseData(0, 8 / CLOCK, amp0=2)]

    def gate_G(self, qubit, number):
        return [jaqal.PulseData(qubit, (8 if number < 50 else 16) / CLOCK, amp0=number)]


def amplitudes(text, results=(), channels=2):
    """Plays a circuit; returns the changes of the channels' amplitudes as (cycle, amplitudes)."""
    pytest.importorskip("jaqalpaq", reason="jaqalpaq, which parses Jaqal, is not installed")
    model = Model(trigger_channels=3)
    words = jaqal.circuit(text, Numbers()).words(close=False)
    for result in results:
        model.result(result)
    played = model.play(words, 120)
    assert not any("outside" in error for error in model.errors())
    rows = [tuple(round(float(played.amplitude(c, 0)[n]), 2) for c in range(channels)) for n in range(120)]
    return [(n, row) for n, row in enumerate(rows) if not n or row != rows[n - 1]]


def test_slightly_different_arguments_are_different_gates():
    pytest.importorskip("jaqalpaq", reason="jaqalpaq, which parses Jaqal, is not installed")
    gates = jaqal.circuit("register q[1]\nG q[0] 10.000001\nG q[0] 10.000002\n", Numbers())
    assert len(gates.gates) == 2


class Changing:
    """Makes another pulse each time."""

    def __init__(self):
        self.calls = 0

    def gate_x(self, qubit):
        self.calls += 1
        return [Pulse(channel=qubit, cycles=8 + self.calls, amp0=[1, 2])]


def test_changing_definitions_are_compared_a_number_of_times_in_proportion(monkeypatch):
    compared, own = [], Pulse.__eq__
    monkeypatch.setattr(Pulse, "__eq__", lambda *both: compared.append(1) or own(*both))
    counts = []
    for gates in (100, 400):
        found = jaqal.circuit("register q[1]\n" + "x q[0]\n" * gates, Changing())
        assert len(found.gates) == gates and f"x(0) #{gates}" in found.gates
        counts.append(len(compared))
        compared.clear()
    assert counts[1] <= 5 * counts[0]


def test_sequential_gates_in_parallel_block_play_in_order():
    played = amplitudes("register q[2]\n< { G q[0] 10 ; G q[1] 20 ; G q[0] 30 } | { } >\nG q[0] 40\n")
    assert played == [(0, (10, 0)), (8, (0, 20)), (16, (30, 0)), (24, (40, 0)), (32, (0, 0))]


def test_subcircuit_is_prepared_measured_and_repeated():
    played = amplitudes("register q[1]\nsubcircuit 2 { G q[0] 10 }\n", channels=1)
    assert [row for _, (row,) in played] == [1, 10, 2, 1, 10, 2, 0]


@pytest.mark.parametrize("result, expected", [(0, [1, 10, 2, 0]), (2, [1, 20, 30, 2, 0])])
def test_jaqal_branch_plays_the_case_of_its_result(result, expected):
    text = "register q[1]\nG q[0] 1\nbranch {\n'00' : { G q[0] 10 }\n'01' : { G q[0] 20 ; G q[0] 30 }\n}\nG q[0] 2\n"
    played = [row for _, (row,) in amplitudes(text, [result], channels=1)]
    assert [row for row in played if row or row is played[-1]] == expected


@pytest.mark.parametrize(
    "body, message",
    [
        ("branch {\n'0' : { G q[0] 10 }\n'00' : { G q[0] 20 }\n}\n", "^a branch has two cases for the result 0$"),
        ("< G q[0] 10 | G q[0] 60 >\n", r"^gate G\(0, 60\), channel 0: gate G\(0, 10\) beside it uses it, too$"),
    ],
)
def test_circuit_that_would_lose_a_gate_is_refused(body, message):
    pytest.importorskip("jaqalpaq", reason="jaqalpaq, which parses Jaqal, is not installed")
    with pytest.raises((UsageError, PulseError), match=message):
        jaqal.circuit("register q[1]\n" + body, Numbers())


def test_circuit_without_definition_is_rejected_in_one_line(tmp_path):
    pytest.importorskip("jaqalpaq", reason="jaqalpaq, which parses Jaqal, is not installed")
    (tmp_path / "a.jaqal").write_text("from nowhere.Ions usepulses *\nregister q[1]\nG q[0]\n")
    with pytest.raises(UsageError, match="from nowhere.Ions usepulses: no such module"):
        jaqal.load(tmp_path / "a.jaqal")
    (tmp_path / "b.jaqal").write_text("register q[1]\nG q[0\n")
    with pytest.raises(UsageError, match="the circuit: "):
        jaqal.load(tmp_path / "b.jaqal")


def test_pulse_command_prints_gates_of_a_circuit(tmp_path):
    pytest.importorskip("jaqalpaq", reason="jaqalpaq, which parses Jaqal, is not installed")
    kairos = Path(sys.executable).with_name("kairos")
    command = [kairos, "pulse", "stats", FOLDER / "rotations.jaqal"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "R(0, 30.25, 0.5)" in done.stdout, done.stdout + done.stderr


def same(one, other) -> bool:
    return (one.sequence() == other.sequence()).all() and (one.programming() == other.programming()).all()


@pytest.mark.parametrize(
    "line, named",
    [
        ("lab.standard", "lab.standard.jaqal_pulses.GatePulses"),
        ("lab.standard.jaqal_pulses", "lab.standard.jaqal_pulses.GatePulses"),
        ("lab.derived", "lab.derived.Shifted"),
        ("lab.contained", "lab.contained.jaqal_pulses.GatePulses"),
        (".lab.neighbour", "lab.neighbour.Neighbour"),
        (".lab.derived.Stronger", "lab.derived.Stronger"),
    ],
)
def test_definition_is_found_by_its_short_name(line, named):
    """A submodule or class jaqal_pulses with GatePulses in it, the class that is derived last, and names
    relative to the circuit's folder, whose modules may import their neighbours."""
    pytest.importorskip("jaqalpaq", reason="jaqalpaq, which parses Jaqal, is not installed")
    # As in a new process, whatever another test has imported.
    for name in [name for name in sys.modules if name.partition(".")[0] in ("lab", FOLDER.name)]:
        del sys.modules[name]
    body = "\nregister q[3]\nLong q[0]\n< Constant q[1] | Long q[2] >\n"
    found = [jaqal.circuit(f"from {name} usepulses *{body}", folder=FOLDER) for name in (line, named)]
    assert same(*found)


def test_relative_names_count_from_the_folder_of_the_circuit():
    pytest.importorskip("jaqalpaq", reason="jaqalpaq, which parses Jaqal, is not installed")
    body = "\nregister q[1]\nConstant q[0]\n"
    expected = jaqal.circuit(f"from lab.derived.Shifted usepulses *{body}", folder=FOLDER)
    for name in (".neighbour", "derived"):
        assert same(jaqal.circuit(f"from {name} usepulses *{body}", folder=FOLDER / "lab"), expected), name


def test_circuits_of_two_folders_have_their_own_definitions(tmp_path):
    """Although the modules have the same name; and a module of this name that is installed stays."""
    pytest.importorskip("jaqalpaq", reason="jaqalpaq, which parses Jaqal, is not installed")
    import numpy

    found = []
    for amplitude in (10, 20, 10):
        (folder := tmp_path / f"numpy{amplitude}").mkdir(exist_ok=True)
        text = "from jaqalpaw.ir.pulse_data import PulseData\n\nclass P:\n    def gate_X(self, ion):\n"
        (folder / "own_gates.py").write_text(f"{text}        return [PulseData(ion, 1e-6, amp0={amplitude})]\n")
        (folder / "a.jaqal").write_text("from own_gates usepulses *\nregister q[1]\nX q[0]\n")
        found.append(jaqal.load(folder / "a.jaqal").gates["X(0)"][0].amp0)
    assert found == [10, 20, 10] and sys.modules["numpy"] is numpy
    (tmp_path / "numpy").mkdir()
    (tmp_path / "numpy" / "own_gates.py").write_text((tmp_path / "numpy20" / "own_gates.py").read_text())
    (tmp_path / "numpy" / "a.jaqal").write_text("from .own_gates usepulses *\nregister q[1]\nX q[0]\n")
    assert jaqal.load(tmp_path / "numpy" / "a.jaqal").gates["X(0)"][0].amp0 == 20
    assert sys.modules["numpy"] is numpy


class Macros(Numbers):
    """Macros of gates that are identified by their amplitudes."""

    def macro_Twice(self, ion, number):
        return [self.gate_G(ion, number), self.gate_G(ion, number + 1)]

    def macro_Nested(self):
        from jaqalpaw.utilities.datatypes import Loop, Parallel, Sequential

        pair = Parallel([self.gate_G(0, 10), Sequential([self.gate_G(1, 20), self.gate_G(1, 30)])])
        return [pair, Loop([self.gate_G(0, 40), [self.gate_G(1, 50)]], repeats=2)]

    def macro_Chosen(self):
        from jaqalpaw.utilities.datatypes import Branch, Case

        return [Branch([Case([self.gate_G(0, 10)], state=0), Case([self.gate_G(0, 20), self.gate_G(0, 30)], state=2)])]

    def macro_Wrong(self):
        return self.gate_G(0, 1)

    def gate_Single(self):
        return self.gate_G(0, 1)[0]

    def gate_Listed(self):
        return [self.gate_G(0, 1)]

    def gate_Number(self):
        return 5


def steps(text):
    """Return the amplitudes of tone 0 and the cycles of the gates of each step."""
    pytest.importorskip("jaqalpaq", reason="jaqalpaq, which parses Jaqal, is not installed")
    gates = jaqal.circuit(text, Macros())
    cycles = gates.core.clock

    def shown(name):
        return [(pulse.channel, pulse.amp0, pulse.length(cycles)) for pulse in gates.gates[name]]

    return [step if hasattr(step, "cases") else [shown(name) for name in step] for step in gates.steps]


@pytest.fixture
def installed(PulseData):
    """Definitions can import JaqalPaw's names."""


@pytest.mark.usefixtures("installed")
def test_macro_of_definitions_plays_its_gates_in_order():
    played = steps("register q[2]\nTwice q[1] 5\n< Twice q[0] 7 | G q[1] 9 >\n")
    assert played[:2] == [[[(1, 5, 8)]], [[(1, 6, 8)]]]
    assert played[2] == [[(0, 7, 8), (0, 8, 8)], [(1, 9, 8), (1, 0.0, 8)]]


@pytest.mark.usefixtures("installed")
def test_macro_may_contain_parallel_gates_and_loops():
    first, *others = steps("register q[2]\nNested\n")
    assert first == [[(0, 10, 8), (0, 0.0, 8)], [(1, 20, 8), (1, 30, 8)]]
    assert others == [[[(0, 40, 8)]], [[(1, 50, 16)]]] * 2


@pytest.mark.usefixtures("installed")
def test_macro_with_a_branch_plays_the_case_of_its_result():
    (branch,) = steps("register q[1]\nChosen\n")
    assert [len(case) for case in branch.cases] == [1, 0, 2]


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    "gate, text",
    [
        ("Wrong", r"macro Wrong\(\)\[0\] returns Pulse instead of a list of PulseData"),
        ("Single", "gate_Single returns Pulse instead of a list of PulseData"),
        ("Listed", "gate_Listed returns a list with list instead of PulseData in it"),
        ("Number", "gate_Number returns int instead of a list of PulseData"),
    ],
)
def test_gate_of_wrong_form_is_reported(gate, text):
    pytest.importorskip("jaqalpaq", reason="jaqalpaq, which parses Jaqal, is not installed")
    with pytest.raises(UsageError, match=text):
        jaqal.circuit(f"register q[1]\n{gate}\n", Macros())


def test_exceptions_of_definitions_have_their_names(PulseData):
    from jaqalpaw.utilities.exceptions import CircuitCompilerException, CollisionException, PulseException

    pytest.importorskip("jaqalpaq", reason="jaqalpaq, which parses Jaqal, is not installed")
    for kind in (CircuitCompilerException, CollisionException, PulseException):
        assert issubclass(kind, Exception)
    with pytest.raises(PulseException, match="an angle of 400"):
        jaqal.circuit("from lab.standard usepulses *\nregister q[1]\nFrame q[0] 400\n", folder=FOLDER)


@pytest.mark.parametrize(
    "gate, message",
    [
        ("Turned q[0] 1", r"Turned\(0, 1\), channel 0, duration: -1e-06 s is no length of time"),
        ("Masked q[0] 7", r"Masked\(0, 7\), channel 0, fwd_frame0_mask: 7 is not a mask of two"),
        ("Masked q[0] 1.5", r"Masked\(0, 1.5\), channel 0, fwd_frame0_mask: 1.5 is not"),
        ("Masked q[0]", r"Masked\(0\): missing a required argument: 'mask'; its definition is gate_Masked\(q, mask\)"),
        ("Masked q[0] 1 2", r"Masked\(0, 1, 2\): too many positional arguments"),
        ("Refused q[1]", r"Refused\(1\): no"),
    ],
)
def test_definition_with_wrong_pulses_names_the_gate(PulseData, gate, message):
    from jaqalpaw.utilities.exceptions import PulseException

    class Wrong:
        def gate_Turned(self, q, turns):
            return [PulseData(q, -turns * 1e-6)]

        def gate_Masked(self, q, mask):
            return [PulseData(q, 1e-6, fwd_frame0_mask=mask)]

        def macro_Refused(self, q):
            raise PulseException("no")

    pytest.importorskip("jaqalpaq", reason="jaqalpaq, which parses Jaqal, is not installed")
    with pytest.raises((PulseError, UsageError), match=f"^gate {message}"):
        jaqal.circuit(f"register q[2]\n{gate}\n", Wrong())


def test_mixed_rotation_at_the_end_marks_every_segment(PulseData):
    turned = streamed(PulseData(0, 60 / CLOCK, framerot0=[10, (0, 20, 5), 7], apply_at_end_mask=1))[6]
    assert len(turned) == 4 and all(word >> 207 & 1 for word in turned)
