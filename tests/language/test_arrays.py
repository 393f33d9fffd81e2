"""Arrays and lists whose parts overlap: as if the value was read before anything is written, as NumPy has it."""

import numpy as np
import pytest

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
def test_overlapping_slices(run, statement, kind):
    a = np.arange(1, 9).astype(kind)
    expected = a.copy()
    exec(statement, {"a": expected})
    assert np.array_equal(run(f"a = self.a\n{statement}\nreturn a", a=a), expected)


@pytest.mark.parametrize("statement", MATRICES)
def test_overlapping_rows(run, statement):
    a = np.arange(12.0).reshape(3, 4)
    expected = a.copy()
    exec(statement, {"a": expected})
    assert np.array_equal(run(f"a = self.a\n{statement}\nreturn a", a=a), expected)
