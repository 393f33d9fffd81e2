"""Circuits of unusual forms, numbers and definitions: each plays what it says, or is one line that says why not."""

import pytest

from kairos.errors import UsageError
from kairos.pulse import PulseError, jaqal

pytest.importorskip("jaqalpaq", reason="jaqalpaq, which parses Jaqal, is not installed")

DEFINITIONS = """
from jaqalpaw.ir.pulse_data import PulseData
from jaqalpaw.utilities.datatypes import Branch, Case, ClockCycles, Loop


class Pulses:
    made = 0

    def gate_G(self, q, a):
        return [PulseData(q, ClockCycles(400), amp0=a)]

    def gate_Counted(self, q):
        self.made += 1
        yield PulseData(q, ClockCycles(400), amp0=self.made)

    def gate_Twice(self, q):
        return [PulseData(q, ClockCycles(400), 200e6, freq0=100e6)]

    def gate_Broken(self, q):
        return [PulseData(q, 1 / 0)]

    def macro_Repeated(self, q, n):
        yield Loop([self.gate_G(q, 1)], repeats=n)

    def macro_Chosen(self, q, state):
        return [Branch([Case([self.gate_G(q, 1)], state=state)])]

    def macro_Caseless(self, q):
        return [Branch([self.gate_G(q, 1)])]
"""
HEAD = "from pulses usepulses *\nregister q[3]\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "pulses.py").write_text(DEFINITIONS)
    return tmp_path


def played(folder, text, head=HEAD):
    """Return channel and amplitude of the gates of each step."""
    gates = jaqal.circuit(head + text, folder=folder)
    pulses = [[gates.gates[name] for name in step] for step in gates.steps if not hasattr(step, "cases")]
    return [[[(pulse.channel, pulse.amp0) for pulse in gate] for gate in step] for step in pulses]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("loop 2 {\n loop 2 {\n  G q[0] 1\n }\n G q[1] 2\n}\n", [(0, 1), (0, 1), (1, 2)] * 2),
        ("macro F a b { G a b; loop 2 { G a 3 } }\nF q[1] -7.5\n", [(1, -7.5), (1, 3), (1, 3)]),
        ("map a q[2:0:-1]\nmap b a[1]\nG a[0] 1 // no\nG b 2 /* G q[0] 3\n */\n", [(2, 1), (1, 2)]),
        ("G q[0] 1\r\nG q[1] 2;;\r\n", [(0, 1), (1, 2)]),
        ("Counted q[0]\nCounted q[0]\nCounted q[0]\n", [(0, 1), (0, 2), (0, 3)]),
        ("Repeated q[1] 2\nRepeated q[1] 0\n", [(1, 1), (1, 1)]),
        ("loop 0 { G q[0] 1 }\nG q[0] 2\n", [(0, 2)]),
    ],
)
def test_circuit_plays_its_gates_in_order(folder, text, expected):
    assert [gate for step in played(folder, text) for gate in step] == [[pulse] for pulse in expected]


def test_register_with_a_named_size_is_used_and_sliced(folder):
    head = "from pulses usepulses *\n// let n 9\nlet n 2 // two\nregister q[ n ]\nmap a q[1:n]\n"
    assert played(folder, "G q[1] 1\nG a[0] 2\n", head) == [[[(1, 1)]], [[(1, 2)]]]


@pytest.mark.parametrize(
    "text, said",
    [
        ("let n 2.5\nloop n { G q[0] 1 }\n", "loop 2.5: it is repeated a whole number of times"),
        ("loop -1 { G q[0] 1 }\n", "loop -1: it is repeated"),
        ("Repeated q[0] 2.5\n", r"macro Repeated\(0, 2.5\)\[0\]: Loop 2.5: it is repeated"),
        ("loop 100000000 { G q[0] 1 }\n", "loop 100000000: it is repeated"),
        ("Chosen q[0] -1\n", "a case for -1: results are numbers from 0 to 15"),
        ("Chosen q[0] 1.7\n", "a case for 1.7: results"),
        ("Chosen q[0] 16\n", "a case for 16: results"),
        ("branch {\n'11111': { G q[0] 1 }\n}\n", "a case for 31: results"),
        ("Caseless q[0]\n", r"macro Caseless\(0\)\[0\]: a Branch consists of Case, not list"),
        ("Twice q[0]\n", r"gate Twice\(0\), channel 0, freq0: it is given twice, by its position and by its name"),
        ("G q 1\n", r"gate G: q is a register: name one qubit, as q\[0\]"),
        ("map b q[0:2]\nG b 1\n", r"gate G: b is a register: name one qubit, as b\[0\]"),
        ("macro F a b { G a b }\nF q[0]\n", "a macro has fewer arguments than parameters"),
        ("\0", r"the circuit, line 3: no circuit contains '\\x00' here"),
        ("<\n{\n" * 300 + "G q[0] 1\n" + "}\n>\n" * 300, "too many blocks within one another"),
    ],
)
def test_circuit_with_a_wrong_form_is_refused_in_one_line(folder, text, said):
    with pytest.raises((UsageError, PulseError), match=said) as refused:
        jaqal.circuit(HEAD + text, folder=folder)
    assert "\n" not in str(refused.value)


def test_circuit_of_more_gates_than_any_memory_holds_is_refused(folder, monkeypatch):
    monkeypatch.setattr(jaqal, "MOST", 100)
    with pytest.raises(UsageError, match="plays more than 100 gates"):
        jaqal.circuit(f"{HEAD}loop 20 {{\n loop 20 {{\n  G q[0] 1\n }}\n}}\n", folder=folder)


def test_files_of_editors_are_read_and_others_refused(folder):
    path = folder / "c.jaqal"
    path.write_bytes(b"\xef\xbb\xbf" + f"{HEAD}G q[0] 1 // µ\n".encode())
    assert list(jaqal.load(path).gates) == ["G(0, 1)"]
    path.write_bytes(b"// caf\xe9\n")
    with pytest.raises(UsageError, match="c.jaqal is no text in UTF-8: .* at byte 6"):
        jaqal.load(path)


def test_exceptions_of_definitions_name_the_gate_and_their_exit_is_refused(folder):
    with pytest.raises(ZeroDivisionError) as raised:
        jaqal.circuit(f"{HEAD}Broken q[1]\n", folder=folder)
    assert raised.value.__notes__ == ["This is the definition of gate Broken(1)."]
    (folder / "leaving.py").write_text("import sys\nsys.exit(3)\n")
    with pytest.raises(UsageError, match=r"leaving end the program \(exit code 3\)"):
        jaqal.circuit("from leaving usepulses *\nregister q[1]\n", folder=folder)
