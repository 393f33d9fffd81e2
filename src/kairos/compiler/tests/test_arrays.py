"""NumPy arrays in kernels, compared with NumPy."""

import functools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from kairos.compiler.tests.jit import compile_body, evaluate

KINDS = {"int32": st.integers(-50, 50), "int64": st.integers(-50, 50), "float64": st.floats(-50, 50)}
shapes = arrays.array_shapes(min_dims=1, max_dims=3, max_side=3)


def printed(body, **attributes):
    """Return the argument of the last call of `print`."""
    result = compile_body(body, **attributes).run()
    assert result.exception is None, result.exception
    return result.calls[-1][1][0]


def array_of(shape, kind):
    return arrays.arrays(np.dtype(kind), shape, elements=KINDS[kind])


def same(found, wanted):
    assert found.shape == wanted.shape
    np.testing.assert_array_equal(found, wanted)


@settings(max_examples=12, deadline=None)
@given(st.data())
def test_elementwise_operations_on_arrays_match_numpy(data):
    shape = data.draw(shapes)
    left, right = (data.draw(st.sampled_from(sorted(KINDS))) for _ in "lr")
    a, b = data.draw(array_of(shape, left)), data.draw(array_of(shape, right))
    op = data.draw(st.sampled_from(["+", "-", "*", "/"]))
    number = data.draw(st.sampled_from([2, 2.5]))
    with np.errstate(divide="ignore", invalid="ignore"):
        for text in (f"self.a {op} self.b", f"self.a {op} {number}", f"{number} {op} self.b", "-self.a"):
            wanted = eval(text.replace("self.", ""))
            same(printed(f"print({text})", a=a, b=b), wanted)


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_operations_in_place_match_numpy(data):
    shape = data.draw(shapes)
    kind = data.draw(st.sampled_from(sorted(KINDS)))
    a, b = data.draw(array_of(shape, kind)), data.draw(array_of(shape, kind))
    op = data.draw(st.sampled_from(["+", "-", "*"]))
    found = printed(f"x = self.a\nx {op}= self.b\nx {op}= 3\nprint(self.a)", a=a.copy(), b=b)
    same(found, eval(f"eval('a {op} b') {op} 3"))


@settings(max_examples=10, deadline=None)
@given(st.data())
def test_rows_elements_and_slices_match_numpy(data):
    shape = data.draw(shapes)
    a = data.draw(array_of(shape, "int64"))
    place = tuple(data.draw(st.integers(-length, length - 1)) for length in shape)
    start, stop = (data.draw(st.integers(-4, 4)) for _ in "ab")
    names = {f"i{n}": index for n, index in enumerate(place)}
    index = ", ".join(f"self.{name}" for name in names)
    assert printed(f"print(self.a[{index}])", a=a, **names) == a[place]
    same(printed("print(self.a[self.start:self.stop])", a=a, start=start, stop=stop), a[start:stop])
    chained = "".join(f"[self.{name}]" for name in names)
    changed = a.copy()
    changed[place] += 7
    same(printed(f"self.a{chained} += 7\nprint(self.a)", a=a.copy(), **names), changed)
    if len(shape) > 1:
        same(printed("print(self.a[self.i0])", a=a, **names), a[place[0]])
        changed[0] = changed[place[0]]
        wanted = printed("self.a[0] = self.a[self.i0]\nprint(self.a)", a=changed.copy(), **names)
        same(wanted, changed)


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_products_of_matrices_match_numpy(data):
    m, k, n = (data.draw(st.integers(1, 3)) for _ in "mkn")
    left = (m, k) if data.draw(st.booleans()) else (k,)
    right = (k, n) if data.draw(st.booleans()) else (k,)
    kind = data.draw(st.sampled_from(["int32", "int64"]))
    a, b = data.draw(array_of(left, kind)), data.draw(array_of(right, "int64"))
    same(np.array(printed("print(self.a @ self.b)", a=a, b=b)), np.array(a @ b))
    if len(left) == 2:
        same(printed("print(np.transpose(self.a))", a=a), a.T)


UNARY = ("sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsinh", "exp", "exp2", "expm1", "cbrt", "fabs")
BINARY = ("arctan2", "copysign", "fmax", "fmin", "hypot", "nextafter")


@functools.cache
def function(name, count):
    return compile_body(f"return np.{name}({', '.join(['self.float()'] * count)})")


@settings(max_examples=5, deadline=None)
@given(st.floats(-5, 5), st.floats(-5, 5))
@pytest.mark.parametrize("name", [*UNARY, "floor", "ceil", "trunc", *BINARY])
def test_mathematical_function_matches_numpy(name, x, y):
    inputs = (x, y)[: 1 + (name in BINARY)]
    wanted = getattr(np, name)(*inputs)
    assert math.isclose(function(name, len(inputs)).run(*inputs).value, wanted, rel_tol=1e-14, abs_tol=1e-300)


@pytest.mark.parametrize(
    "body, expected",
    [
        ("return np.sqrt(2.25) + np.log(1.0) + np.arccos(1.0) + np.log2(8.0) + np.log10(100.0)", 6.5),
        ("return np.rint(41.5)", 42.0),
        ("x = np.array([1, 2, 3])\nreturn x[0] * 100 + x[-1] * 10 + len(x)", 133),
        ("x = np.array(range(3))\nreturn x[2]", 2),
        ("x = np.array([[1, 2], [3, 4]], dtype=float)\nreturn x[1, 0] / 2", 1.5),
        ("x = np.array([0.5, 1.5], dtype=np.int64)\nreturn x[1]", 1),
        ("x = np.array([np.array([1, 2]), np.array([3, 4])])\nreturn x[1][1] * 10 + x.shape[0]", 42),
        ("x = np.full((2, 3), 1.5)\nreturn x[1, 2] * len(x) * x.shape[1]", 9.0),
        ("x = np.full(3, 7)\nx[1] = 9\nreturn x[0] * 100 + x[1] * 10 + x[2]", 797),
        ("x = np.array([1, 2])\ny = x\ny[0] = 5\nreturn x[0]", 5),
        ("x = np.array([1, 2, 3, 4])\ny = x[1:3]\ny[0] = 9\nreturn x[1] * 10 + len(y)", 92),
        ("x = np.array([1, 2, 3, 4])\nx[1:3] = np.array([8, 9])\nreturn x[1] * 10 + x[2]", 89),
        ("x = np.array([[1], [2]])\nn = 0\nfor row in x:\n    n = 10 * n + row[0]\nreturn n", 12),
        ("return [2 * v for v in np.array([1, 2])][1]", 4),
        ("return (np.array([1, 2]) == np.array([1, 2])).all()", True),
        ("return [np.array([1, 2])] == [np.array([1, 2, 3])]", False),
        ("return (np.array([[1.0], [2.0]]) != np.array([[1.0], [3.0]])).any()", True),
        ("return 2 in np.array([1, 2]) and not 3 in np.array([1, 2])", True),
        ("return np.array([1.0, 2.0]) @ np.array([3.0, 4.0])", 11.0),
        ("x = np.array([1, int64(1) << 40])\nreturn x[1] + x[0]", (1 << 40) + 1),
        ("n = 0\nif len(np.full(0, 1.0)):\n    n += 1\nif len(np.full(1, 1.0)):\n    n += 2\nreturn n", 2),
        ("x = np.array([3, 1])\nx //= 2\nreturn x[0] * 10 + x[1]", 10),
        ("return (np.array([1.0, -1.0, 0.0]) / 0.0)[0] > 1e300", True),
    ],
)
def test_array_expression_has_expected_value(body, expected):
    assert evaluate(body) == expected


@pytest.mark.parametrize(
    "body, name, params",
    [
        ("return (self.a + np.full(self.int32(), 1.0))[0]", "ValueError", (0, 0, 0)),
        ("return self.a[self.int32()]", "IndexError", (3, 2, 0)),
        ("return self.a @ np.full(self.int32(), 1.0)", "ValueError", (2, 3, 0)),
        ("x = np.array([[1, 2], [3][:self.int32() - 2]])\nreturn x[0, 0]", "ValueError", (2, 1, 0)),
        ("return np.full(self.int32() - 4, 0)[0]", "ValueError", (0, 0, 0)),
        ("return np.full((1 << 19, self.int32()), 0)[0, 0]", "RuntimeError", (3 << 19, 0, 0)),
        ("x = np.full(2, 0.0)\nx[:1] = np.full(self.int32(), 0.0)\nreturn x[0]", "ValueError", (0, 0, 0)),
        ("return np.array([1])[0] // np.array([self.int32() - 3])[0]", "ZeroDivisionError", (0, 0, 0)),
    ],
)
def test_invalid_array_operation_raises_its_exception(body, name, params):
    assert compile_body(body, a=np.zeros(2)).run(3).exception == (name, params)


def test_host_array_used_twice_is_one_object():
    shared = np.zeros(2)
    found = printed("self.a[0] = 1.0\nself.b[1] = 2.0\nprint(self.a)", a=shared, b=shared)
    same(found, np.array([1.0, 2.0]))
