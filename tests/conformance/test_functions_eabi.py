"""The compiler's helpers in the firmware (`__aeabi_*`, memory functions) compute correct results,
with values in core registers (base calling convention). They are compared with Python's exact
arithmetic.
"""

import math
import random
import struct
from fractions import Fraction

import pytest

from tests.support.functions import Functions, assert_close

NAN, INFINITY = math.nan, math.inf


@pytest.fixture
def functions(device):
    functions = Functions(device)
    yield functions
    functions.close()


def single(value: float) -> float:
    """Rounded to binary32."""
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(INFINITY, value)


def divided(x: float, y: float) -> float:
    if y != 0:
        return x / y
    return NAN if x == 0 or math.isnan(x) else math.copysign(INFINITY, x) * math.copysign(1, y)


ARITHMETIC = {"add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "div": divided}
COMPARISONS = {
    "eq": lambda x, y: x == y, "lt": lambda x, y: x < y, "le": lambda x, y: x <= y, "ge": lambda x, y: x >= y,
    "gt": lambda x, y: x > y, "un": lambda x, y: math.isnan(x) or math.isnan(y),
}  # fmt: skip


@pytest.mark.parametrize("size", ["d", "f"])
def test_arithmetic_and_comparisons_of_floats_are_exact(functions, size):
    """The expected doubles are computed by this machine; singles are exact in doubles before the final rounding."""
    rng = random.Random(size)
    some = [0.0, -0.0, 1.0, -1.0, 3.0, INFINITY, -INFINITY, NAN]
    calls = [(x, y) for x in some for y in some]
    calls += [(rng.uniform(-100, 100), rng.uniform(-1, 1) * 10 ** rng.randint(-20, 20)) for _ in range(60)]
    if size == "f":
        calls = [(single(x), single(y)) for x, y in calls]
    for name, reference in ARITHMETIC.items():
        answers = functions.registers(f"__aeabi_{size}{name}", 2 * size, size, calls)
        for (x, y), value in zip(calls, answers, strict=True):
            expected = reference(x, y)
            expected = single(expected) if size == "f" and math.isfinite(expected) else expected
            assert_close("fma", (name, x, y), value, expected)
    for name, reference in COMPARISONS.items():
        answers = functions.registers(f"__aeabi_{size}cmp{name}", 2 * size, "I", calls)
        assert answers == [int(reference(x, y)) for x, y in calls], name


@pytest.mark.parametrize("size", ["d", "f"])
@pytest.mark.parametrize(("suffix", "layout"), [("iz", "i"), ("uiz", "I"), ("lz", "q"), ("ulz", "Q")])
def test_floats_are_converted_to_integers_by_truncation(functions, size, suffix, layout):
    rng = random.Random(suffix)
    bits = 8 * struct.calcsize(layout) - layout.islower()
    values = [0.0, -0.0, 0.99, 1.0, 1.5, 2.0 ** (bits - 1), 2.0**bits * (1 - 2**-24)]
    values += [rng.uniform(0, 2**n) for n in range(1, bits) for _ in range(2)]
    if layout.islower():
        values += [-x for x in values] + [-(2.0**bits)]
    if size == "f":
        values = [single(x) for x in values if single(x) < 2**bits]
    answers = functions.registers(f"__aeabi_{size}2{suffix}", size, layout, [(x,) for x in values])
    assert answers == [math.trunc(x) for x in values]


@pytest.mark.parametrize("size", ["d", "f"])
@pytest.mark.parametrize(("prefix", "layout"), [("i", "i"), ("ui", "I"), ("l", "q"), ("ul", "Q")])
def test_integers_are_converted_to_nearest_floats(functions, size, prefix, layout):
    """Rounded once, to nearest, ties to even."""
    rng = random.Random(prefix)
    bits = 8 * struct.calcsize(layout) - layout.islower()
    values = [0, 1, 2**bits - 1, 2**24 + 1, 2**24 + 3, 2 ** (bits - 1) + 1]
    values += [rng.getrandbits(rng.randint(1, bits)) for _ in range(100)]
    if bits > 54:
        values += [2**53 + 1, 2**53 + 3, 2**54 + 2, (1 << 62) + (1 << 38), (1 << 62) + (1 << 38) + 1]
    if layout.islower():
        values += [-value for value in values] + [-(2**bits)]

    def rounded(value):
        if size == "d":
            return float(value)
        exponent = max(abs(value).bit_length() - 24, 0)
        return math.ldexp(round(Fraction(value, 2**exponent)), exponent)

    answers = functions.registers(f"__aeabi_{prefix}2{size}", layout, size, [(value,) for value in values])
    assert answers == [rounded(value) for value in values]


def test_conversion_of_single_to_double_is_exact(functions):
    values = [0.0, -0.0, 1.5, single(0.1), single(1e-42), single(3e38), INFINITY, -INFINITY]
    assert functions.registers("__aeabi_f2d", "f", "d", [(x,) for x in values]) == values


def integers(rng, layout, count=100):
    """Returns pairs with non-zero second element, edge cases included."""
    bits = 8 * struct.calcsize(layout)
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1)) if layout.islower() else (0, 2**bits)
    edges = [low, low + 1, 0, 1, 2, 3, 10, high // 2, high - 1] + ([-1, -2, -10] if low else [])

    def some():
        value = rng.getrandbits(rng.randint(1, bits - 1))
        return value * rng.choice((1, -1)) if low else value

    pairs = [(x, y) for x in edges for y in edges] + [(some(), some()) for _ in range(count)]
    # The quotient of the most negative number and -1 overflows.
    return [(x, y) for x, y in pairs if y != 0 and (x, y) != (low, -1)]


@pytest.mark.parametrize(
    ("name", "layout", "with_remainder"),
    [("idiv", "i", False), ("idivmod", "i", True), ("uidiv", "I", False), ("uidivmod", "I", True),
     ("ldivmod", "q", True), ("uldivmod", "Q", True)],
)  # fmt: skip
def test_division_truncates_and_returns_the_remainder(functions, name, layout, with_remainder):
    calls = integers(random.Random(name), layout)
    answers = functions.registers(f"__aeabi_{name}", 2 * layout, (1 + with_remainder) * layout, calls)
    for (x, y), answer in zip(calls, answers, strict=True):
        quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        assert answer == ((quotient, x - quotient * y) if with_remainder else quotient), (x, y)


def test_multiplication_and_shifts_wrap_at_64_bits(functions):
    rng = random.Random(1)
    mask = 2**64 - 1
    pairs = [(x & mask, y & mask) for x, y in integers(rng, "q")]
    assert functions.registers("__aeabi_lmul", "QQ", "Q", pairs) == [x * y & mask for x, y in pairs]
    shifts = [(rng.getrandbits(64), n) for n in range(64)]
    assert functions.registers("__aeabi_llsl", "QI", "Q", shifts) == [x << n & mask for x, n in shifts]
    assert functions.registers("__aeabi_llsr", "QI", "Q", shifts) == [x >> n for x, n in shifts]
    signed = [(x - (1 << 64) * (x >> 63), n) for x, n in shifts]
    assert functions.registers("__aeabi_lasr", "qI", "q", signed) == [x >> n for x, n in signed]


# ---- memory

FRESH = bytes(~i & 0xFF for i in range(256))
"""Content of the kernel's buffer before each call."""


@pytest.mark.parametrize("suffix", ["", "4", "8"])
def test_eabi_memory_functions_change_only_their_range(functions, suffix):
    """Including the variants for aligned memory; the EABI form of memset has the value last."""
    step = int(suffix or 1)
    at = functions.buffer_at
    for to, source, length in [(0, 128, 64), (64, 8, 40), (24, 16, 0), (step, 160, 7 * step), (0, 200, 3)]:
        expected = bytearray(FRESH)
        expected[to : to + length] = FRESH[source : source + length]
        for name in ("memcpy", "memmove"):
            functions.registers(f"__aeabi_{name}{suffix}", "III", "", [(at + to, at + source, length)])
            assert functions.memory == expected, (name, to, source, length)
        for name, value in (("memset", 0x1A5), ("memclr", 0)):
            expected[to : to + length] = bytes([value & 0xFF]) * length
            functions.registers(f"__aeabi_{name}{suffix}", "III", "", [(at + to, length, value)])
            filled = bytearray(FRESH)
            filled[to : to + length] = bytes([value & 0xFF]) * length
            assert functions.memory == filled, (name, to, length)
    functions.registers(f"__aeabi_memmove{suffix}", "III", "", [(at + step, at, 100)])
    assert functions.memory == FRESH[:step] + FRESH[:100] + FRESH[100 + step :]


def test_c_memory_functions_return_results_as_libc(functions):
    at = functions.buffer_at
    assert functions.registers("memcpy", "III", "I", [(at + 3, at + 100, 50)]) == [at + 3]
    assert functions.memory == FRESH[:3] + FRESH[100:150] + FRESH[53:]
    assert functions.registers("memmove", "III", "I", [(at + 3, at, 50)]) == [at + 3]
    assert functions.memory == FRESH[:3] + FRESH[:50] + FRESH[53:]
    assert functions.registers("memset", "IiI", "I", [(at + 5, 0x17F, 9)]) == [at + 5]
    assert functions.memory == FRESH[:5] + b"\x7f" * 9 + FRESH[14:]
    # The buffer contains 255 down to 0.
    pairs = [(at, at + 1, 10), (at + 1, at, 10), (at, at, 10), (at, at + 9, 0)]
    signs = [(x > 0) - (x < 0) for x in functions.registers("memcmp", "III", "i", pairs)]
    assert signs == [1, -1, 0, 0]
    assert [x != 0 for x in functions.registers("bcmp", "III", "i", pairs)] == [True, True, False, False]
    assert functions.registers("strlen", "I", "I", [(at,), (at + 250,), (at + 255,)]) == [255, 5, 0]
