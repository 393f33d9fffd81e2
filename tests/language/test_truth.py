"""Truth values in every context of a kernel: as in Python, or an error where undecidable."""

import decimal
import enum

import numpy as np
import pytest

from kairos.errors import CompileError
from kairos.language import portable

ASKED = """\
count = 0
while {0}:
    count += 1
    break
taken = 0
if {0}:
    taken = 1
elif not {0}:
    taken = 2
return bool({0}), not {0}, count, taken, bool({0} or {0}), bool({0} and {0}), any([{0}]), all([{0}, {0}]), \\
    any({0} for _ in range(2)), sum(1 for _ in range(3) if {0})
"""
"""Every context in which a kernel evaluates a truth value."""


def as_python(value):
    truth = bool(value)
    return (truth, not truth, int(truth), 1 if truth else 2, truth, truth, truth, truth, truth, 3 * truth)


class Mode(enum.IntEnum):
    OFF = 0


HOST = {
    "none": None,
    "member": Mode.OFF,
    "zero": 0,
    "minus": np.int64(-(2**40)),
    "high": np.int64(2**32),
    "small": np.uint8(0),
    "nan": float("nan"),
    "tiny": 1e-320,
    "minus_zero": -0.0,
    "false": np.bool_(False),
    "no_text": "",
    "text": "\0",
    "no_bytes": b"",
    "zero_byte": bytearray(b"\0"),
    "no_tuple": (),
    "nested": ((),),
    "zeros": (0, 0),
    "no_list": [],
    "list": [0],
    "lists": [[1][1:]],
    "no_range": range(4, 4),
    "down": range(4, 0),
    "range": range(4, 0, -1),
    "one_zero": range(1),
}
WRITTEN = ["()", "(0,)", "[0]", "[()]", "''", "'a'[1:]", "b''", "b'a'", "range(0)", "range(1)", "range(2, 9, -1)"]
WRITTEN += ["None", "0.0", "0", "int64(0)", "int64(1) << 40", "bytearray(0)", "list(range(0))", "f''", "str(0)"]


@pytest.mark.parametrize("name", HOST)
def test_host_value_truth_matches_python(run, name):
    assert run(ASKED.format(f"self.{name}"), **{name: HOST[name]}) == as_python(HOST[name])


@pytest.mark.parametrize("text", WRITTEN)
def test_kernel_value_truth_matches_python(run, text):
    assert run(ASKED.format(text)) == as_python(eval(text, {"int64": int}))


def test_iterator_over_empty_list_is_true(run):
    body = "return bool(zip(self.a, self.a)), bool(enumerate(self.a)), not reversed(self.a)"
    assert run(body, a=[1][1:]) == (True, True, False)


def test_empty_operand_of_or_is_false(run):
    assert run("t = () or ()\nreturn len(t), (self.a or [7])[0], self.b and 'no'", a=[], b="") == (0, 7, "")


class Empty:
    def __len__(self):
        return 0


class Off:
    def __init__(self):
        self.level = 0

    @portable
    def __bool__(self):
        return self.level > 0


class Plain:
    def __init__(self):
        self.level = 0


ARRAYS = [np.array([0]), np.array([0, 1]), np.zeros((2, 0)), np.zeros((0, 2)), np.array([[0.0]]), np.array([1.5][1:])]
AS_LENGTH = "this array counts as true if its length is not 0"
"""Text of a warning."""
OF_ARRAYS = """\
taken = 0
if self.a:
    taken = 1
elif not self.a[:]:
    taken = 2
while self.a[::1]:
    taken += 4
    break
return taken, bool(self.a), len(self.a or self.b), len(self.a and self.b)
"""


@pytest.mark.parametrize("value", ARRAYS, ids=lambda value: str(value.tolist()))
def test_array_truth_is_that_of_its_length(run, capfd, value):
    """As in the reference; NumPy uses the truth of a single element."""
    other = np.ones((3,) * value.ndim, dtype=value.dtype)
    length, three = len(value), 3
    expected = (1 + 4 if length else 2, length > 0, length or three, three if length else 0)
    assert run(OF_ARRAYS, a=value, b=other) == expected
    assert capfd.readouterr().err.count(AS_LENGTH) == 6


def test_strict_mode_rejects_array_condition(run, monkeypatch):
    monkeypatch.setattr(run.core, "strict", True)
    with pytest.raises(CompileError, match=f"(?s){AS_LENGTH}.*with --strict"):
        run("if self.a:\n    pass", a=np.array([1]))


EQUAL = """\
found = 0
if self.a == self.b:
    found += 1
while self.a != self.b:
    found += 2
    break
if self.flag and self.a == self.b:
    found += 4
if not self.a == self.b or self.a == self.c:
    found += 8
assert self.a == self.a[:]
return found, 5 if self.a != self.b else 6, bool(self.a == self.b), not self.a != self.b, self.flag and self.a == self.b
"""


@pytest.mark.parametrize("b", [[1, 2], [1, 3], [3, 2], [1], []])
def test_compared_arrays_are_one_condition(run, capfd, b):
    """As in the reference, where comparing arrays yields a single truth value."""
    a, b, c = (np.array(values, dtype=np.int32) for values in ([1, 2], b, [1, 2, 3]))
    same = np.array_equal(a, b)
    expected = (1 + 4 if same else 2 + 8, 6 if same else 5, same, same, same)
    assert run(EQUAL, a=a, b=b, c=c, flag=True) == expected
    assert capfd.readouterr().err.count("arrays are compared as a whole in this condition") == 10


TRUTHS = ["self.t", "self.a > self.a", "(self.a == self.a)[:]", "(self.a == 1.5)"]


@pytest.mark.parametrize("text", TRUTHS)
def test_elementwise_comparison_as_condition_is_rejected(run, text):
    for body in ("if {}:\n    pass", "while {}:\n    pass", "return bool({})", "return not {}", "{} or {}"):
        with pytest.raises(CompileError, match="the truth value of an array is ambiguous(?s:.)*len"):
            run(body.format(text, text), a=np.array([1.5]), t=np.array([True]))


def test_rows_in_any_and_all_are_rejected(run):
    for text in ("any([self.a])", "all(self.a for _ in range(2))"):
        with pytest.raises(CompileError, match="the truth value of an array is ambiguous"):
            run(f"return {text}", a=np.array([1]))


OBJECTS = [(Empty(), "__len__"), (Off(), "__bool__"), ({}, "__len__"), (set(), "__len__")]
OBJECTS += [(decimal.Decimal(0), "__bool__")]


@pytest.mark.parametrize("value, method", OBJECTS, ids=lambda x: type(x).__name__)
def test_object_with_bool_method_is_true_with_warning(run, capfd, value, method):
    """They are true as conditions, as in the reference, which lacks `any`."""
    assert run(OF_OBJECTS, a=value) == (3, True)
    assert capfd.readouterr().err.count("this is always true: ") == 3
    with pytest.raises(CompileError, match=f"has its own {method}, which a kernel does not call implicitly"):
        run("return any([self.a])", a=value)


OF_OBJECTS = """\
taken = 0
if self.a:
    taken += 1
while self.a:
    taken += 2
    break
return taken, bool(self.a)
"""


def test_bool_method_can_be_called(run):
    assert run("if self.a.__bool__():\n    return 1\nreturn 2", a=Off()) == 2


def test_object_without_bool_method_is_true(run):
    assert run(ASKED.format("self.a"), a=Plain()) == as_python(Plain())
