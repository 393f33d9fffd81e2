"""What counts as true, wherever a kernel asks: as in Python, or an error where it cannot tell."""

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
"""Every place where a kernel asks for the truth of a value."""


def as_python(value):
    truth = bool(value)
    return (truth, not truth, int(truth), 1 if truth else 2, truth, truth, truth, truth, truth, 3 * truth)


HOST = {
    "none": None,
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
def test_values_of_the_host(run, name):
    assert run(ASKED.format(f"self.{name}"), **{name: HOST[name]}) == as_python(HOST[name])


@pytest.mark.parametrize("text", WRITTEN)
def test_values_of_the_kernel(run, text):
    assert run(ASKED.format(text)) == as_python(eval(text, {"int64": int}))


def test_what_is_gone_over_is_true(run):
    body = "return bool(zip(self.a, self.a)), bool(enumerate(self.a)), not reversed(self.a)"
    assert run(body, a=[1][1:]) == (True, True, False)


def test_an_operand_of_or_that_is_empty(run):
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


class Mode(enum.IntEnum):
    OFF = 0


class Plain:
    def __init__(self):
        self.level = 0


ARRAYS = [np.array([0]), np.array([0, 1]), np.zeros((2, 0)), np.array([False]), np.array([[1.5]])]


@pytest.mark.parametrize("value", ARRAYS)
def test_arrays_have_none(run, value):
    for text in ("if self.a:\n    pass", "while self.a:\n    pass", "return bool(self.a)", "return not self.a"):
        with pytest.raises(CompileError, match="the truth value of an array is ambiguous(?s:.)*len"):
            run(text, a=value)
    for text in ("self.a[:] and self.a", "any([self.a])", "any(self.a for _ in range(2))"):
        with pytest.raises(CompileError, match="the truth value of an array is ambiguous"):
            run(f"return {text}", a=value)


OBJECTS = [(Empty(), "__len__"), (Off(), "__bool__"), (Mode.OFF, "__bool__"), ({}, "__len__"), (set(), "__len__")]
OBJECTS += [(decimal.Decimal(0), "__bool__")]


@pytest.mark.parametrize("value, method", OBJECTS, ids=lambda x: type(x).__name__)
def test_objects_that_say_themselves(run, value, method):
    for text in ("if self.a:\n    pass", "while not self.a:\n    pass", "return bool(self.a)", "return any([self.a])"):
        with pytest.raises(CompileError, match=f"has a {method} of its own, which a kernel does not ask by itself"):
            run(text, a=value)


def test_what_they_say_can_be_asked(run):
    assert run("if self.a.__bool__():\n    return 1\nreturn 2", a=Off()) == 2


def test_other_objects_are_true(run):
    assert run(ASKED.format("self.a"), a=Plain()) == as_python(Plain())
