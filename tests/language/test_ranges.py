"""Loops over ranges and their lengths: same as in Python, up to both limits of the integers."""

import pytest

EXTREMES = [
    "range(0, 0x7fffffff, 0x10000000)",
    "range(0x7ffffff0, 0x7fffffff, 9)",
    "range(0, -0x7fffffff, -0x10000000)",
    "range(-0x7ffffff0, -0x7fffffff, -9)",
    "range(-2000000000, 2000000000, 1000000000)",
    "range(2000000000, -2000000000, -1000000000)",
    "range(-2147483647, 2147483647, 2147483647)",
    "range(5, 2, 3)",
    "range(2, 5, -1)",
    "range(7)",
    "range(-3)",
]
WIDE = [
    (0, 2**63 - 1, 2**60),
    (-(2**63), 2**63 - 1, 2**62),
    (2**63 - 1, -(2**63), -(2**62)),
    (2**63 - 3, 2**63 - 1, 5),
    (-(2**63), -(2**63) + 10, 4),
    (3, -(2**63), -(2**63)),
]


@pytest.mark.parametrize("text", EXTREMES)
def test_loops_up_to_integer_limits_match_python(run, text):
    arguments = list(eval(text.removeprefix("range"), {"range": range}) if "," in text else [eval(text[6:-1])])
    expected = list(eval(text))
    body = """
        found = [0] * 20
        count = 0
        for i in RANGE:
            found[count] = i
            count += 1
        inside = 0
        for i in found[:count]:
            if i in RANGE:
                inside += 1
        self.keep(count, found[:count], len(RANGE), bool(RANGE), list(RANGE), [i for i in RANGE], inside)
    """
    constant = run(body.replace("RANGE", text))
    names = ", ".join(f"self.a[{index}]" for index in range(len(arguments)))
    variable = run(body.replace("RANGE", f"range({names})"), a=arguments)
    for count, looped, length, some, listed, comprehended, inside in (constant, variable):
        assert (count, looped, length, some) == (len(expected), expected, len(expected), bool(expected))
        assert listed == comprehended == expected
        assert inside == len(expected)


@pytest.mark.parametrize("bounds", WIDE)
def test_64_bit_loops_up_to_their_limits_match_python(run, bounds):
    expected = list(range(*bounds))
    body = """
        found = [int64(0)] * 20
        count = 0
        for i in range(self.a[0], self.a[1], self.a[2]):
            found[count] = i
            count += 1
        self.keep(count, found[:count], len(range(self.a[0], self.a[1], self.a[2])))
    """
    assert run(body, a=list(bounds)) == (len(expected), expected, len(expected))


def test_loop_count_is_fixed_at_start(run):
    body = """
        n = 3
        i = seen = 0
        for i in range(n):
            n = 10
            i += 100
            seen += 1
        return seen, i
    """
    assert run(body) == (3, 102)


def test_element_of_long_range_is_exact(run):
    body = "r = range(-2000000000, 2000000000, 1000000000)\nreturn r[3], r[-1], r[self.i]"
    assert run(body, i=1) == (1000000000, 1000000000, -1000000000)


@pytest.mark.parametrize("use", ["for i in r:\n    pass", "len(r)", "list(r)", "3 in r", "r[0]"])
@pytest.mark.parametrize("step", ["0", "self.zero"])
def test_range_with_zero_step_raises_value_error(run, use, step):
    with pytest.raises(ValueError, match=r"range\(\) arg 3 must not be zero"):
        run(f"r = range(0, 5, {step})\n{use}", zero=0)
