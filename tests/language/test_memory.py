"""Memory allocated in a loop iteration is reused by the next one, unless part of it is needed later."""

import numpy as np
import pytest

from kairos.language import TInt32, TList, TStr, kernel, rpc

PASSES = 1_000_000
"""Loop iterations. Each allocates 24 bytes or more; the stack has 32 MiB."""

BODIES = {
    # name: (body of a loop over i, amount added to `total` per iteration)
    "a list": ("a = [i, i + 1, i + 2]\ntotal += a[1] - a[0]", 1),
    "two lists": ("a = [i]\nb = a + [i, 1]\ntotal += b[2]", 1),
    "an array": ("a = self.v + self.v\ntotal += a[2]", 6),
    "a text": ("t = self.t + 'x'\ntotal += len(t)", 3),
    "lists in lists": ("a = [[i], [i + 1]]\ntotal += a[1][0] - a[0][0]", 1),
    "a comprehension": ("a = [k * k for k in self.v]\ntotal += a[2]", 9),
    "a list that is passed on": ("total += self.last([i, 1])", 1),
    "a row": ("a = self.np.array([[i, 1], [1, 2]])\nb = a[0]\ntotal += b[1]", 1),
    "another pass": ("a = [i, 2]\nif i & 1:\n    total += a[1]\n    continue\ntotal += 2", 2),
    "a loop inside": ("for k in range(3):\n    a = [k, 1]\n    if k == 1:\n        total += a[1]\n        break", 1),
    "an exception": ("try:\n    a = [i, 1]\n    total += a[2]\nexcept IndexError:\n    total += 1", 1),
}


class Loops:
    def __init__(self, core):
        self.core, self.np = core, np
        self.v = np.array([1, 2, 3], dtype=np.int32)
        self.t = "ab"
        self.saved, self.base = [0], [0]
        self.passes = 0
        self.kept = None

    @kernel
    def last(self, numbers):
        return numbers[len(numbers) - 1]

    @kernel
    def save(self, numbers):
        self.saved = numbers

    def keep(self, *values):
        self.kept = values


def indented(text):
    return "\n".join("    " + line for line in text.splitlines())


@pytest.mark.parametrize("name", BODIES)
def test_allocating_loop_does_not_exhaust_memory(run, name):
    body, each = BODIES[name]
    holder = Loops(run.core)
    holder.passes = passes = PASSES // 4 if name == "an exception" else PASSES
    text = f"total = int64(0)\nfor i in range(self.passes):\n{indented(body)}\nreturn total"
    assert run(text, holder=holder) == each * passes


def test_allocating_while_loop_does_not_exhaust_memory(run):
    holder = Loops(run.core)
    holder.passes = PASSES
    body = "total, i = 0, 0\nwhile i < self.passes:\n    i += 1\n    a = [i, 1]\n    total += a[1]\nreturn total"
    assert run(body, holder=holder) == PASSES


NEEDED = {
    "in the next pass": (
        "a, total = [0, 0], 0\nfor i in range(9):\n    total += a[1]\n    a = [i, i * i]\n    b = [7, 7]\nreturn total",
        sum(i * i for i in range(8)),
    ),
    "behind the loop": ("a = [0]\nfor i in range(9):\n    a = [i]\n    b = [7, 7]\nc = [5, 5, 5]\nreturn a[0]", 8),
    "behind the loop it left": (
        "a = [0]\nfor i in range(9):\n    a = [i]\n    if i == 4:\n        break\nc = [5, 5, 5, 5]\nreturn a[0]",
        4,
    ),
    "in a text that grows": (
        "t = ''\nfor i in range(5):\n    t = t + 'bc'\n    u = t + 'd'\nreturn t == 'bcbcbcbcbc'",
        True,
    ),
    "in another list": (
        "a, total = [[0], [0]], 0\nfor i in range(2):\n    a[i] = [i + 1]\n    b = [7, 7, 7]\n"
        "c = [5, 5, 5, 5]\nreturn a[0][0], a[1][0]",
        (1, 2),
    ),
    "in another variable": (
        "a = [0]\nfor i in range(4):\n    b = [i]\n    if i == 2:\n        a = b\n    c = [9, 9]\nreturn a[0]",
        2,
    ),
    "in a tuple": (
        "p = ([0], 1)\nfor i in range(4):\n    p = ([i], i)\n    c = [9, 9]\nd = [8, 8, 8]\nreturn p[0][0], p[1]",
        (3, 3),
    ),
    "of the loop around": (
        "total = 0\nfor i in range(3):\n    a = [i]\n    for k in range(3):\n        b = [7]\n        total += a[0]\n"
        "    c = [9, 9]\nreturn total",
        9,
    ),
    "when it was raised": (
        "a, total = [0], 0\nfor i in range(4):\n    try:\n        a = [i, 5]\n        b = a[i]\n"
        "    except IndexError:\n        total += a[1]\n    c = [9, 9]\nreturn total",
        10,
    ),
    "by the alternative": (
        "a = [0]\nfor i in range(4):\n    b = [i, i]\nelse:\n    a = [6, 7]\nc = [8, 8, 8]\nreturn a[1]",
        7,
    ),
}


@pytest.mark.parametrize("where", NEEDED)
def test_objects_used_after_a_loop_are_kept(run, where):
    body, expected = NEEDED[where]
    assert run(body, holder=Loops(run.core)) == expected


def test_objects_stored_by_method_are_kept(run):
    body = "for i in range(4):\n    self.save([i, i])\n    c = [9, 9]\nd = [8, 8, 8]\n"
    # No attribute may hold a list of the kernel when it ends.
    body += "result = self.last(self.saved)\nself.save(self.base)\nreturn result"
    assert run(body, holder=Loops(run.core)) == 3


class Kept:
    """Stores values from the host in attributes: in the entry function, nested calls and loops."""

    def __init__(self, core):
        self.core = core
        self.text, self.numbers, self.lists = "", [0], [[0], [0]]
        self.passes = 100

    @rpc
    def ask(self, n) -> TList(TInt32):
        return [n, n + 1]

    @rpc
    def name(self, n) -> TStr:
        return f"name {n}"

    @kernel
    def update(self, n):
        self.numbers = self.ask(n)
        self.lists[n % 2] = self.ask(10 * n)

    @kernel
    def through(self, n):
        self.update(n)
        return n

    @kernel
    def clobber(self, n):
        a = [n] * 50
        return a[n] + len(self.name(n))

    @kernel
    def run(self):
        total = 0
        for i in range(self.passes):
            self.through(i)
            total += self.clobber(3)
            total += self.numbers[1] - i + self.lists[i % 2][0] - 10 * i
        self.text = self.name(total)
        self.clobber(4)


def test_rpc_results_are_kept_in_attributes(core):
    kept = Kept(core)
    kept.run()
    each = 3 + len("name 3") + 1
    assert (kept.text, kept.numbers, kept.lists) == (f"name {100 * each}", [99, 100], [[980, 981], [990, 991]])
