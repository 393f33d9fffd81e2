"""Which expressions a statement evaluates, how often, and in which order."""

import numpy as np
import pytest

from kairos.language import TInt32, kernel


class Counting:
    def __init__(self, core):
        self.core = core
        self.calls = 0
        self.list = [1, 2, 3]
        self.rows = [[1, 2], [3, 4]]
        self.array = np.array([[1, 2], [3, 4]])
        self.x = 5
        self.text = "a"

    @kernel
    def one(self) -> TInt32:
        self.calls += 1
        return 1

    @kernel
    def me(self):
        self.calls += 1
        return self


STATEMENTS = [
    ("self.list[self.one()] += 10", "self.list[1]", 12),
    ("self.rows[self.one()][0] *= 5", "self.rows[1][0]", 15),
    ("self.array[self.one(), 0] -= 1", "self.array[1, 0]", 2),
    ("self.array[self.one()] += 1", "self.array[1, 1]", 5),
    ("self.list[self.one():] = [7, 8]", "self.list[2]", 8),
    ("self.me().x += 3", "self.x", 8),
    ("self.me().x <<= 2", "self.x", 20),
]


@pytest.mark.parametrize("statement, place, expected", STATEMENTS)
def test_assignment_target_is_evaluated_once(run, core, statement, place, expected):
    assert run(f"{statement}\nreturn {place}, self.calls", holder=Counting(core)) == (expected, 1)


def test_augmented_value_using_target_index_is_evaluated(run):
    assert run("i = 0\na = [1, 2]\na[i] += [10, 20][i]\nself.keep(a)") == ([11, 2],)
