"""Values for readers: units, scales, labels."""

import math

import numpy
import pytest

from kairos.quantities import Quantity, label, readable


def test_readable_value_has_plain_numbers():
    assert readable([numpy.float64(0.5), numpy.int32(3), "x"], True) == "[0.5, 3, x]"
    assert readable(numpy.float64(0.25), False) == "0.25" and readable((1,), True) == "(1,)"
    assert readable(list(range(5000)), True) == "[0, 1, 2, 3, ..., 4996, 4997, 4998, 4999] (5,000 elements)"
    assert readable(list(range(10)), False) == str(list(range(10)))
    assert readable({"a": numpy.bool_(True)}, True) == "{'a': True}"
    assert len(readable(numpy.zeros(100000), True)) < 200


class Unprintable:
    def __repr__(self):
        raise ValueError("no text")


def test_unprintable_value_is_named_by_its_type():
    assert readable([1, Unprintable()], True) == "<list, which has no text: ValueError>"


@pytest.mark.parametrize(
    "metadata, value, text",
    [
        ({}, 1.5, "1.5"),
        ({"unit": "us"}, 48.0, "48.0 us"),
        ({"unit": "us", "scale": 1e-6}, 4.78448e-05, "47.8448 us"),
        ({"unit": "us", "scale": 1e-6}, numpy.float64(4.8e-5), "48.0 us"),
        ({"unit": "MHz", "scale": 1e6, "precision": 3}, 1.23456e8, "123.456 MHz"),
        ({"unit": "MHz", "scale": 1e6}, [1e6, 2.5e6], "[1.0, 2.5] MHz"),
        ({"unit": "us", "scale": 1e-6}, numpy.array([[1e-6], [2e-6]]), "[[1.0], [2.0]] us"),
        ({"unit": "us", "scale": 1e-6}, "text", "text us"),
        ({"unit": "us", "scale": 1e-6}, None, "None us"),
        ({"unit": "us", "scale": 1e-6}, math.nan, "nan us"),
        ({"unit": 5, "scale": "x", "precision": -1}, 2, "2"),
        ({"scale": 0}, 2, "2"),
        ({"unit": "V", "scale": numpy.float64(2.0)}, 3, "1.5 V"),
    ],
)
def test_value_is_shown_in_its_unit(metadata, value, text):
    assert Quantity.of(metadata).text(value, brief=False) == text


def test_label_has_name_and_unit_in_one_style():
    assert label("time", "µs") == Quantity("µs").label("time") == "time / µs"
    assert label("count") == "count"


@pytest.mark.parametrize(
    "metadata, given, value",
    [
        ({"unit": "ns", "scale": 1e-9}, 4, 4e-9),
        ({"unit": "us", "scale": numpy.float64(1e-6)}, numpy.float64(2.5), 2.5e-6),
        ({"scale": "x"}, 2, 2),
        ({"scale": 0}, 2.0, 2.0),
        ({}, 7, 7),
    ],
)
def test_number_given_in_its_unit_is_one_in_base_units(metadata, given, value):
    found = Quantity.of(metadata).unscaled(given)
    assert found == value and isinstance(found, type(value))


@pytest.mark.parametrize("given", ["4", True, [1.0], None])
def test_value_in_a_unit_that_is_no_number_is_refused(given):
    with pytest.raises(ValueError, match="a value in a unit is a number"):
        Quantity("ns", 1e-9).unscaled(given)


class Untouched(list):
    """A list of which only elements at its ends may be looked at."""

    def __iter__(self):
        raise AssertionError("every element was looked at")


def test_long_value_is_abbreviated_from_its_ends_alone():
    microseconds = Quantity("us", 1e-6)
    given = Untouched([1e-6 * number for number in range(10_000)])
    expected = "[0.0, 1.0, 2.0, 3.0, ..., 9996.0, 9997.0, 9998.0, 9999.0] (10,000 elements) us"
    assert microseconds.text(given, True) == expected
    assert microseconds.text([[0.0] * 9] * 9, True).count("(9 elements)") == 9
    assert microseconds.text(numpy.arange(2000) * 1e-6, True) == "[0 1 2 ... 1997 1998 1999] us"
    assert microseconds.text(numpy.full(2000, "x"), True) == "['x' 'x' 'x' ... 'x' 'x' 'x'] us"
