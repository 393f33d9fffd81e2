"""Compiled arithmetic, compared with Python."""

import functools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kairos.compiler.tests.jit import compile_body, evaluate

RANGE = {"int32": 2**31, "int64": 2**63}


def wrap(value: int, kind: str) -> int:
    """Return the value modulo 2**width, signed."""
    half = RANGE[kind]
    return (value + half) % (2 * half) - half


@functools.cache
def operation(op: str, left: str, right: str):
    return compile_body(f"a = self.{left}()\nb = self.{right}()\nreturn a {op} b")


def integers(kind: str):
    half = RANGE[kind]
    return st.one_of(st.integers(-half, half - 1), st.integers(-70, 70), st.sampled_from([-half, half - 1]))


EXACT = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
}


@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize("op", EXACT)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_integer_operations_wrap_at_their_width(op, kind, data):
    a, b = data.draw(integers(kind)), data.draw(integers(kind))
    result = operation(op, kind, kind).run(a, b)
    if op in ("//", "%") and b == 0:
        assert result.exception == ("ZeroDivisionError", (0, 0, 0))
    else:
        assert result.value == wrap(EXACT[op](a, b), kind)


@pytest.mark.parametrize("kind", ["int32", "int64"])
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_shifts_by_any_count_match_python(kind, data):
    a, b = data.draw(integers(kind)), data.draw(st.integers(-3, 70))
    left, right = operation("<<", kind, kind).run(a, b), operation(">>", kind, kind).run(a, b)
    if b < 0:
        assert left.exception == right.exception == ("ValueError", (0, 0, 0))
    else:
        assert (left.value, right.value) == (wrap(a << b, kind), a >> b)


moderate = st.one_of(st.just(0.0), st.floats(1e-9, 1e9), st.floats(-1e9, -1e-9))


@settings(max_examples=15, deadline=None)
@given(a=moderate, b=moderate)
def test_float_operations_match_python(a, b):
    for op in ("+", "-", "*", "/", "//", "%"):
        result = operation(op, "float", "float").run(a, b)
        if b == 0 and op in ("/", "//", "%"):
            assert result.exception == ("ZeroDivisionError", (0, 0, 0))
        elif op == "//":
            # The floor of the rounded quotient, which may differ from Python's exact floor by one.
            assert result.value == math.floor(a / b)
        else:
            assert result.value == eval(f"a {op} b")


@settings(max_examples=15, deadline=None)
@given(a=st.one_of(st.floats(), st.integers(-5, 5).map(float)), b=st.one_of(st.floats(), st.integers(-5, 5).map(float)))
def test_comparisons_of_floats_match_python(a, b):
    for op in ("==", "!=", "<", "<=", ">", ">="):
        assert operation(op, "float", "float").run(a, b).value == eval(f"a {op} b")


@settings(max_examples=12, deadline=None)
@given(a=st.integers(-(2**31), 2**31 - 1), b=st.integers(-(2**63), 2**63 - 1))
def test_mixed_widths_are_widened(a, b):
    assert operation("+", "int32", "int64").run(a, b).value == wrap(a + b, "int64")
    assert operation("<", "int32", "int64").run(a, b).value == (a < b)
    assert operation("*", "int32", "float").run(a, 0.5).value == a * 0.5


@settings(max_examples=15, deadline=None)
@given(st.floats(-2e9, 2e9))
def test_conversions_of_floats_match_python(x):
    program = conversions()
    half_away = math.floor(abs(x) + 0.5) * (1 if x >= 0 else -1)
    assert program.run(x).value == (int(x), int(x), half_away, abs(x))


@functools.cache
def conversions():
    return compile_body("x = self.float()\nreturn int(x), int64(x), round(x), abs(x)")


@pytest.mark.parametrize(
    "expression, expected",
    [
        ("int32(2147483647) + 1", -(2**31)),
        ("2147483647 + 1", 2**31),
        ("60 * 1000000000", 60_000_000_000),
        ("2**40", 2**40),
        ("2**100 // 2**90", 1024),
        ("int64(1 << 40)", 2**40),
        ("int64(5) + (1 << 40)", 5 + 2**40),
        ("int32(1 << 31)", -(2**31)),
        ("-9223372036854775808", -(2**63)),
        ("-2147483648", -(2**31)),
        ("~(1 << 40)", ~(1 << 40)),
        ("int64(3)**34", 3**34),
        ("int64(-3)**39", -(3**39)),
        ("int32(3)**int32(20)", 3**20 - 2**32),
        ("int32(-1)**int32(-3)", -1),
        ("int32(2)**int32(31)", -(2**31)),
        ("(1, 2, 3)[-1]", 3),
        ("2147483648", 2**31),
        ("3000000000 + 1", 3000000001),
        ("int32(0x7fffffff) * 2", -2),
        ("0x7fffffff * 2", 2**32 - 2),
        ("int64(0x7fffffff) * 2", 4294967294),
        ("-7 // 2", -4),
        ("7 // -2", -4),
        ("-7 % 2", 1),
        ("7 % -2", -1),
        ("-1 % 8", 7),
        ("-7.5 // 2.0", -4.0),
        ("-7.5 % 2.0", 0.5),
        ("7.5 % -2.0", -0.5),
        ("4 / 2", 2.0),
        ("2**-1", 0),
        ("2.0**-1.0", 0.5),
        ("(-2)**3", -8),
        ("-2**2", -4),
        ("2**3**2", 512),
        ("int32(1) << 31", -(2**31)),
        ("1 << 31", 2**31),
        ("int32(1) << 32", 0),
        ("1 << 32", 2**32),
        ("-1 >> 40", -1),
        ("~5", -6),
        ("int(2.9)", 2),
        ("int(-2.9)", -2),
        ("int()", 0),
        ("int32(3000000000)", -1294967296),
        ("round(2.5)", 3),
        ("round(-0.5)", -1),
        ("min(1, 2)", 1),
        ("max(1.5, 2.5)", 2.5),
        ("1 == 1.0", True),
        ("1 < int64(5)", True),
        ("1 and 2", 2),
        ("0 or 5", 5),
        ("1 < 2 < 3", True),
        ("3 > 2 > 2", False),
        ("1 != 2 != 1", True),
        ("1 < 2 or 1 / 0 > 0", True),
        ("3 if True else 4", 3),
        ("not 0.0", True),
        ("not 'a'", False),
        ("'abc' == 'abc'", True),
        ("'abc' != 'abd'", True),
        ("len('é')", 1),
        ("len(range(0, 5, 2))", 3),
        ("len(range(5, 0))", 0),
        ("range(10)[-1]", 9),
        ("4 in range(10, 0, -2)", True),
        ("5 in range(0, 10, 2)", False),
        ("2 in [1, 2, 3]", True),
        ("4 not in [1, 2, 3]", True),
        ("(1, 2.5, True)[1]", 2.5),
        ("int64(1) << 40", 2**40),
    ],
)
def test_expression_has_documented_value_and_type(expression, expected):
    value = evaluate(f"return {expression}")
    assert value == expected and type(value) is type(expected)


def test_int64_operand_is_never_narrowed():
    assert evaluate("x = 5\nx = x + (int64(1) << 40)\nreturn x") == 2**40 + 5
    assert evaluate("x = int64(5)\ny = x << 33\nreturn y") == 5 << 33
