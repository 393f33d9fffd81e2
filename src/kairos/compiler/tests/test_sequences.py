"""Lists, tuples and strings in kernels, compared with Python."""

import functools
import operator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kairos.compiler.tests.jit import compile_body, evaluate

OPERATORS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
texts = st.text(st.sampled_from("abé日"), max_size=4)
numbers = st.lists(st.integers(-2, 2), max_size=4)
bounds = st.one_of(st.none(), st.integers(-7, 7))


def printed(body, **attributes):
    """Return the arguments of the last call of `print`."""
    result = compile_body(body, **attributes).run()
    assert result.exception is None, result.exception
    return result.calls[-1][1]


def compared(a, b):
    body = "print(" + ", ".join(f"self.a {op} self.b" for op in OPERATORS) + ")"
    assert printed(body, a=a, b=b) == tuple(function(a, b) for function in OPERATORS.values())


@settings(max_examples=15, deadline=None)
@given(numbers, numbers)
def test_comparisons_of_lists_match_python(a, b):
    compared([0, *a], [0, *b])


@settings(max_examples=15, deadline=None)
@given(texts, texts)
def test_comparisons_of_texts_match_python(a, b):
    compared(a, b)


@settings(max_examples=10, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1), texts), min_size=2, max_size=2), st.booleans())
def test_comparisons_of_tuples_match_python(pair, same):
    (a, x), (b, y) = pair
    compared((a, x, [1, a]), (b, x if same else y, [1, b]))


@functools.cache
def slice_body(start, stop, step, place):
    given = [None if bound is None else f"self.{name}" for bound, name in zip((start, stop, step), "abc", strict=True)]
    index = ":".join("" if bound is None else bound for bound in given[: 3 if step is not None else 2])
    return place.replace("INDEX", index)


@settings(max_examples=30, deadline=None)
@given(st.text("abcde", min_size=1, max_size=5), bounds, bounds, st.one_of(st.none(), st.integers(-3, 3).filter(bool)))
def test_slices_of_texts_and_lists_match_python(text, start, stop, step):
    names = {name: bound for name, bound in zip("abc", (start, stop, step), strict=True) if bound is not None}
    where = slice(start, stop, step)
    body = slice_body(start, stop, step, "print(self.text[INDEX], self.numbers[INDEX])")
    numbers = list(range(len(text)))
    assert printed(body, text=text, numbers=numbers, **names) == (text[where], numbers[where])


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 5), bounds, bounds, st.one_of(st.none(), st.integers(-3, 3).filter(bool)), st.integers(0, 5))
def test_assignments_to_slices_match_python(length, start, stop, step, count):
    names = {name: bound for name, bound in zip("abc", (start, stop, step), strict=True) if bound is not None}
    numbers, new = list(range(length)), [10 + i for i in range(count)]
    body = slice_body(start, stop, step, "self.numbers[INDEX] = self.new\nprint(self.numbers)")
    result = compile_body(body, numbers=list(numbers), new=new or [0], **names).run()
    new = new or [0]
    size = len(numbers[start:stop:step])
    if size != len(new):
        assert result.exception == ("ValueError", (len(new), size, 0))
    else:
        numbers[start:stop:step] = new
        assert result.calls[-1][1] == (numbers,)


def test_slice_assigned_from_its_own_list_matches_python():
    body = "x = [1, 2, 3, 4]\nx[::-1] = x\nprint(x)"
    assert printed(body) == ([4, 3, 2, 1],)


@settings(max_examples=10, deadline=None)
@given(texts, texts)
def test_joined_texts_equal_those_of_python(a, b):
    body = "x = self.a + self.b\nfor i in range(2):\n    x += self.b\nprint(x, len(x), x == self.wanted)"
    wanted = a + 3 * b
    assert printed(body, a=a, b=b, wanted=wanted) == (wanted, len(wanted), True)


@pytest.mark.parametrize(
    "body, expected",
    [
        ("[a, b] = [1, 2]\nreturn 10 * a + b", 12),
        ("[a, c] = [[1, 2], [3, 4]]\n[b, d] = c\nreturn b", 3),
        ("x = [3, 4]\n[x[0], x[1]] = [x[1], x[0]]\nreturn 10 * x[0] + x[1]", 43),
        ("t = (1, 2) + (3.0,)\nreturn t[2] + t[0]", 4.0),
        ("a, b, c = (1, 'x') + (2.5,)\nreturn c", 2.5),
        ("return [[1], [2, 3]] == [[1], [2, 3]]", True),
        ("return [[1], [2, 3]] < [[1], [2, 4]]", True),
        ("return [(1, 'b')] > [(1, 'a')]", True),
        ("return (1, 2) in [(0, 1), (1, 2)]", True),
        ("return [1] in [[2], [1]]", True),
        ("x = [1]\ny = [1]\nreturn x == y and not x is y", True),
        ("return 'b' in ['a', 'b']", True),
        ("return [0.0] == [-0.0]", True),
        ("while True:\n    x = 1\n    break\nreturn x", 1),
        ("while True:\n    return 1", 1),
    ],
)
def test_sequence_expression_has_expected_value(body, expected):
    assert evaluate(body) == expected


@pytest.mark.parametrize(
    "body, name, params",
    [
        ("[a, b] = [1, 2, 3][self.int32():]\nreturn a", "ValueError", (2, 0, 0)),
        ("return len('abc'[::self.int32() - 3])", "ValueError", (0, 0, 0)),
    ],
)
def test_invalid_sequence_operation_raises_its_exception(body, name, params):
    assert compile_body(body).run(3).exception == (name, params)
