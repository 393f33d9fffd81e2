"""Assignments between overlapping parts of arrays and lists: the value is read before any write, as in NumPy."""

import math

import numpy as np
import pytest

from kairos.errors import CompileError

STATEMENTS = [
    "a[1:] = a[:-1]",
    "a[:-1] = a[1:]",
    "b = a[1:]\nb += a[:-1]",
    "b = a[:-1]\nb += a[1:]",
    "b = a[1:]\nb -= b",
    "b = a[2:6]\nb *= a[:4]",
    "a[0:4] += a[2:6]",
    "a[2:6] += a[0:4]",
    "a[:] = a",
]
MATRICES = [
    "a[1:] = a[:-1]",
    "a[:-1] = a[1:]",
    "a[1] = a[0]",
    "b = a[1:]\nb += a[:-1]",
    "b = a[:2]\nb += a[1:]",
    "a[1:3] *= a[0:2]",
]


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.float64])
@pytest.mark.parametrize("statement", STATEMENTS)
def test_assignments_to_overlapping_slices_match_numpy(run, statement, kind):
    a = np.arange(1, 9).astype(kind)
    expected = a.copy()
    exec(statement, {"a": expected})
    assert np.array_equal(run(f"a = self.a\n{statement}\nreturn a", a=a), expected)


@pytest.mark.parametrize("statement", MATRICES)
def test_assignments_to_overlapping_rows_match_numpy(run, statement):
    a = np.arange(12.0).reshape(3, 4)
    expected = a.copy()
    exec(statement, {"a": expected})
    assert np.array_equal(run(f"a = self.a\n{statement}\nreturn a", a=a), expected)


LENGTHS = (0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 33)
"""Lengths around the block sizes of vectorised loops."""
OPERATIONS = "a + b", "a - b", "a * b", "a + n", "n - a", "n * a", "-a"


def numbers(kind, count, seed):
    random = np.random.default_rng(seed)
    if kind is np.float64:
        return random.uniform(-1e6, 1e6, count)
    limits = np.iinfo(kind)
    return random.integers(limits.min, limits.max, count, kind, endpoint=True)


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.float64])
def test_operations_on_arrays_of_every_length_match_numpy(run, kind):
    values = {}
    for place, length in enumerate(LENGTHS):
        values[f"a{place}"], values[f"b{place}"] = (numbers(kind, length + 1, 2 * place + k)[1:] for k in (0, 1))
    number = kind(7)
    operations = (*OPERATIONS, "a / n", "a / b") if kind is np.float64 else OPERATIONS
    lines, expected = ["n = self.n"], []
    for place in range(len(LENGTHS)):
        lines += [f"a, b = self.a{place}, self.b{place}"]
        lines += [f"self.keep({operation})" for operation in operations]
        lines += ["c = a + n", "c *= b", "self.keep(c)"]
        a, b = values[f"a{place}"], values[f"b{place}"]
        with np.errstate(all="ignore"):
            expected += [eval(operation, {"a": a, "b": b, "n": number}) for operation in operations]
            expected.append((a + number) * b)
    found = []

    class Keeper:
        def __init__(self, core):
            self.core, self.n = core, number
            vars(self).update(values)

        def keep(self, value):
            found.append(value)

    run("\n".join(lines), holder=Keeper(run.core))
    assert len(found) == len(expected)
    for value, wanted in zip(found, expected, strict=True):
        assert value.dtype == wanted.dtype
        assert np.array_equal(value, wanted)


def product(a, b):
    """Computes the product with the kernel's order of summation, term by term."""
    rows = a.reshape(math.prod(a.shape[:-1]), a.shape[-1])
    columns = b.reshape(b.shape[0], math.prod(b.shape[1:]))
    total = np.zeros((rows.shape[0], columns.shape[1]), a.dtype)
    with np.errstate(over="ignore"):
        for k in range(rows.shape[1]):
            total += rows[:, k : k + 1] * columns[k : k + 1]
    return total.reshape(a.shape[:-1] + b.shape[1:])


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.float64])
@pytest.mark.parametrize(
    "left, right",
    [((n,), (n,)) for n in LENGTHS]
    + [((2, 3), (3, 17)), ((3, 5), (5, 1)), ((1, 9), (9, 8)), ((4, 1), (1, 20)), ((3, 4), (4,)), ((5,), (5, 21))],
)
def test_products_of_arrays_match_numpy(run, kind, left, right):
    a = numbers(kind, np.prod(left), 1).reshape(left)
    b = numbers(kind, np.prod(right), 2).reshape(right)
    found = run("c = self.a @ self.b\nself.keep(c)", a=a, b=b)
    assert np.array_equal(found[0], product(a, b))


REDUCED = ["sum", "mean", "prod", "min", "max", "argmin", "argmax"]


@pytest.mark.parametrize("shape", [(5,), (8,), (100,), (129,), (1000,), (17, 300), (300, 17), (5, 20, 30)])
def test_reductions_match_numpy_bit_for_bit(run, shape):
    a = np.random.default_rng(1).normal(size=shape)
    dims = len(shape)
    calls = [f"a.{name}()" for name in REDUCED]
    calls += [f"np.{name}(a, axis={axis})" for name in ("sum", "mean", "max") for axis in range(-1, dims - 1)]
    kept = run(f"a = self.a\nself.keep({', '.join(calls)})".replace("np.", "self.np."), a=a, np=np)
    for call, value in zip(calls, kept, strict=True):
        assert np.array_equal(value, eval(call, {"a": a, "np": np})), call


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("return not self.a > 1.0", "the truth value of an array is ambiguous"),
        ("x = bool(self.a > 1.0)", "the truth value of an array is ambiguous"),
        ("x = 0.0 < self.a < 1.0", "arrays cannot be compared in a chain"),
        ("x = (self.a > 1.0) + (self.a > 2.0)", "for truth values in arrays"),
        ("x = self.a.sum(axis=1)", "axis 1 is out of bounds for array of dimension 1"),
        ("x = self.a.sum(axis=len(self.a))", "the axis must be a literal number"),
        ("x = self.a.sum(keepdims=True)", "'sum' does not accept argument 'keepdims' in a kernel"),
        ("x = self.a.cumsum()", "does not have an attribute 'cumsum'"),
        ("x = self.a[0, 1:]", "too many indices for array of dimension 1"),
        ("x = self.a\nx = self.a[::2]", "use .copy() on it"),
        ("x = self.a[::2].reshape(1, -1)", "use .copy() first"),
        ("self.a = self.a[::2]", "use .copy() on it"),
    ],
)
def test_invalid_array_operation_is_rejected(run, body, text):
    with pytest.raises(CompileError) as refused:
        run(body, a=np.ones(3))
    assert text in str(refused.value)
