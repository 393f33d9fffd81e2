"""Numbers in kernels: computed as by Python and NumPy, with the differences listed in docs/compiler.md."""

import math

import numpy as np
import pytest

from kairos.errors import CompileError
from kairos.language import TBool, TInt32, TInt64, TNone, TTuple, kernel, now_mu, portable, syscall


def same(value, expected):
    """Returns whether two values are equal, including the sign of zeros; NaNs are equal to each other."""
    if isinstance(expected, float):
        return math.isnan(value) == math.isnan(expected) and (
            math.isnan(expected) or (value == expected and math.copysign(1, value) == math.copysign(1, expected))
        )
    return value == expected


@pytest.mark.parametrize("a", [-6.0, 6.0, 0.0, -0.0, 5.5, -5.5, math.inf, 1e300, -1e-320])
@pytest.mark.parametrize("b", [3.0, -3.0, math.inf, -math.inf, 1e-300])
def test_float_remainder_has_sign_of_divisor(run, a, b):
    expected = math.nan if math.isinf(a) else a % b
    assert same(run("return self.a % self.b", a=a, b=b), expected)


ZEROS = [
    "-0.0",
    "-(0.0)",
    "-self.zero",
    "0.0 - 0.0",
    "-1 * 0.0",
    "0.0 * -1.0",
    "-(-0.0)",
    "abs(-0.0)",
    "abs(-self.zero)",
]


@pytest.mark.parametrize("text", ZEROS)
def test_sign_of_zero_is_kept_by_operations(run, text):
    expected = eval(text.replace("self.zero", "0.0"))
    assert same(run(f"return {text}", zero=0.0), expected)


def test_sign_of_zero_in_arrays_is_kept(run):
    assert math.copysign(1, run("a = -self.a\nreturn a[0]", a=np.array([0.0]))) == -1


@pytest.mark.parametrize("value", [math.nan, 0.0, -0.0, 1.0, math.inf, 1e-320])
def test_truth_of_floats_matches_python(run, value):
    body = "x = 0\nif self.a:\n    x = 1\nreturn bool(self.a), not self.a, x"
    assert run(body, a=value) == (bool(value), not value, int(bool(value)))


ROUNDED = [2.5, -2.5, 0.5, -0.5, 1.5, 3.5, -0.2, 0.49999999999999994, 4503599627370497.5, math.inf, -0.0, 1e300]


@pytest.mark.parametrize("value", ROUNDED)
def test_rint_rounds_halves_to_even(run, value):
    found = run("return np.rint(self.a)".replace("np", "self.np"), a=value, np=np)
    assert same(found, float(np.rint(value)))


def test_length_of_text_counts_characters(run):
    assert run("return len('µs'), len(self.a), len('日本' + self.a), len('')", a="10 µs") == (2, 5, 7, 0)


def test_slices_of_text_count_characters(run):
    body = "self.keep(self.a[1:3], self.a[::-1], self.a[-2:], self.a[::2], len(self.a[:2]))"
    a = "aµ日c𝄞"
    assert run(body, a=a) == (a[1:3], a[::-1], a[-2:], a[::2], 2)


BOOLEANS = [
    "True + 1", "True + True", "True * 3 - False", "-True", "+True", "~True", "True / 2", "True // 1", "True % 2",
    "True ** 2", "2 ** True", "True << 3", "True + 0.5", "True == 1", "False < 1", "True == 1.0", "int(True)",
    "int32(False)", "int64(True)", "float(True)", "abs(True)", "True & False", "True | False", "True ^ True",
    "True & 3", "min(True, False)", "max(False, True)", "1 if True + True > 1 else 0"
]  # fmt: skip


@pytest.mark.parametrize("text", BOOLEANS)
def test_booleans_behave_as_numbers_in_expressions(run, text):
    expected = eval(text, {"int32": int, "int64": int})
    variable = text.replace("True", "self.yes").replace("False", "self.no")
    for source in (text, variable):
        found = run(f"return {source}", yes=True, no=False)
        assert found == expected and isinstance(found, bool) == isinstance(expected, bool)


def test_booleans_are_added_to_numbers(run):
    body = """
        count = 0
        x = 0.5
        for i in range(10):
            count += i > 6
            x += i == 2
        return count, x
    """
    assert run(body) == (3, 1.5)


class TruthForInteger:
    """Passes bools for integer parameters, in calls of every kind."""

    def __init__(self, core):
        self.core = core
        self.on = True
        self.chosen = [self.argument, self.other]

    @portable
    def argument(self, x=0):
        return x + 5

    @portable
    def other(self, x=1):
        return x * 7

    @portable
    def wide(self, x: TInt64 = True) -> TInt64:
        return x << 40

    @portable
    def narrow(self, n: TInt32, x: TInt32 = False) -> TInt32:
        return (n << 4) + x

    @kernel
    def run(self, x: TInt32, y: TInt64, z=3, t: TTuple([TInt32, TBool]) = (1, True)):
        def inside(v=1):
            return v - 1

        flag = x == 1
        a = (
            self.argument(),
            self.argument(True),
            self.argument(x=self.on),
            self.argument(flag),
            self.argument(not flag),
        )
        b = (self.wide(), self.wide(flag), self.wide(False), self.narrow(flag, True), self.narrow(x=flag, n=2))
        c = (inside(flag), inside(), (lambda v=2: v << 1)(flag), self.chosen[0](flag), self.chosen[1](flag))
        return a, b, c, x << 3, y << 33, z + 1, t


@pytest.mark.parametrize("flag", [True, False, np.True_])
def test_boolean_is_accepted_as_integer(core, flag):
    program = TruthForInteger(core)
    expected = TruthForInteger.run.artiq_embedded.function(program, int(flag), int(flag), int(flag), (1, True))
    found = program.run(flag, flag, flag)
    assert found == expected
    assert repr(found) == repr(program.run(int(flag), int(flag), int(flag)))


@syscall("delay_mu")
def wait(time: TInt64) -> TNone:
    raise NotImplementedError


def test_boolean_is_accepted_by_firmware_function(run):
    body = "t = self.now()\nself.wait(self.on)\nself.wait(time=t < 0)\nself.wait(True)\nreturn self.now() - t"
    assert run(body, on=True, wait=wait, now=now_mu) == 2


CONSTANTS = [
    "60 * 1000000000",
    "2**40",
    "1 << 40",
    "-(1 << 63)",
    "2**63 - 1",
    "3 * 2**62 // 4",
    "(1 << 40) >> 38",
    "7 % 2**40",
]


@pytest.mark.parametrize("text", CONSTANTS)
def test_constants_have_their_exact_value(run, text):
    value = eval(text)
    assert run(f"return {text}, int64({text}), int64(0) + ({text}), {text}") == (value,) * 4


@pytest.mark.parametrize("text", ["2**64", "1 << 64", "-(1 << 63) - 1", "9223372036854775808", "2**200"])
def test_constant_beyond_64_bits_is_rejected(run, text):
    with pytest.raises(CompileError, match="integer literal out of range for a signed 64-bit value"):
        run(f"return {text}")


@pytest.mark.parametrize("base", [3, -3, 1, -1, 0, 2, 7, -2])
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 4, 5, 31, 34, 63, 64, 100, -1, -2])
def test_integer_powers_match_python(run, base, exponent):
    def wrapped(bits):
        value = base**exponent if exponent >= 0 else int(float(base) ** exponent)
        half = 1 << (bits - 1)
        return (value + half) % (2 * half) - half

    body = "return self.a ** self.b, int64(self.a) ** self.b"
    if base == 0 and exponent < 0:
        with pytest.raises(ZeroDivisionError):
            run(body, a=base, b=exponent)
    else:
        assert run(body, a=base, b=exponent) == (wrapped(32), wrapped(64))


def test_int32_of_integer_wraps_and_of_float_saturates(run):
    """`int32()` keeps the low bits of an integer; floats saturate to the range."""
    body = "return int32(self.wide), int32(self.large), int64(self.large), int32(-self.large), int32(self.nan)"
    found = run(body, wide=2**40 + 5, large=1e30, nan=math.nan)
    assert found == (5, 2**31 - 1, 2**63 - 1, -(2**31), 0)


def test_seconds_convert_to_machine_units(run, core):
    """The kernel rounds the quotient before taking its floor; the host's is exact (docs/compiler.md)."""
    body = "return self.core.seconds_to_mu(self.t), self.core.seconds_to_mu(3e-6)"
    assert run(body, t=3e-6) == (3000, 3000)
    assert core.seconds_to_mu(3e-6) == 2999


INFINITE = "(1e308 * 1e308)"
BEYOND = ["1e300", "-1e300", "2147483648.0", "9.3e18", INFINITE, f"-{INFINITE}", f"({INFINITE} - {INFINITE})"]


@pytest.mark.parametrize("text", BEYOND)
@pytest.mark.parametrize("bits", [32, 64])
def test_conversion_out_of_range_saturates(run, text, bits):
    # The first is a constant only for LLVM, which may fold it; the second is not known before the
    # kernel runs.
    value, half = eval(text), 1 << (bits - 1)
    expected = 0 if math.isnan(value) else int(max(-half, min(half - 1, value)))
    body = f"x = 0.5\nreturn int{bits}({text} if True else x), int{bits}(self.value)"
    assert run(body, value=value) == (expected, expected)


ENDS = {
    # bits: the largest and the lowest floats whose integer part, and which rounded, fit
    32: {"int": (2147483647.9999998, -2147483648.9999995), "round": (2147483647.4999998, -2147483648.4999995)},
    64: {name: (9223372036854774784.0, -9223372036854775808.0) for name in ("int", "round")},
}


@pytest.mark.parametrize("function", ["int", "round"])
@pytest.mark.parametrize("bits", [32, 64])
def test_float_that_becomes_no_integer_raises_as_in_python(run, bits, function):
    """`int` and `round` have the right result or raise: Python's integers have no ends, those of kernels do."""
    ends = ENDS[bits][function]
    beyond = [math.nextafter(end, math.copysign(math.inf, end)) for end in ends]
    values = [*ends, 0.0, -0.0, 1.5, -2.5, *beyond, 1e300, -math.inf, math.inf, math.nan, -math.nan]
    body = f"""
found = [int64(0)] * len(self.values)
for place in range(len(found)):
    try:
        found[place] = int64(int{bits}({function}(self.values[place])))
    except OverflowError:
        found[place] = int64(1111)
    except ValueError:
        found[place] = int64(2222)
return found"""
    half = {"int": math.trunc, "round": lambda x: math.trunc(x + math.copysign(0.5, x)) if abs(x) < 1e10 else int(x)}
    fits = [half[function](value) for value in values[: -len(beyond) - 5]]
    assert run(body, values=values) == [*fits, *[1111] * (len(beyond) + 3), 2222, 2222]


def test_large_float_needs_an_integer_of_64_bits(run):
    body = "return int64(round(self.large)), int64(int(self.large)) + int64(1)"
    assert run(body, large=5e9) == (5_000_000_000, 5_000_000_001)
    with pytest.raises(OverflowError, match="use int64"):
        run("return round(self.large)", large=5e9)
    with pytest.raises(OverflowError, match="use int64"):
        run("x = 5e9\nreturn int(x if self.yes else 1.0)", yes=True)
    with pytest.raises(ValueError, match="cannot convert float NaN to integer"):
        run("return round(self.none)", none=math.nan)


@pytest.mark.parametrize("seconds", [math.nan, 1e300, -math.inf])
def test_delay_of_no_time_raises_in_place_of_moving_the_cursor(run, seconds):
    with pytest.raises(ValueError, match="not a number, or too long"):
        run("delay(self.seconds)\nreturn 0", seconds=seconds)
