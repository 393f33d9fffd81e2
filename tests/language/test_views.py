"""Attributes that are views of one array. A kernel has each as an array of its own, which it is warned of."""

import numpy as np
import pytest

from kairos.compiler.embedding import EmbeddingMap
from kairos.language import rpc


def halves():
    big = np.arange(6.0)
    return {"big": big, "a": big[0:4], "b": big[2:6]}


def without_base():
    found = halves()
    del found["big"]
    return found


def rows():
    whole = np.arange(6.0).reshape(2, 3)
    return {"whole": whole, "a": whole[0], "b": whole[1]}


def transposed():
    whole = np.arange(6).reshape(2, 3)
    return {"whole": whole, "a": whole.T, "b": whole.reshape(6)}


def strided():
    whole = np.arange(8)
    return {"whole": whole, "a": whole[::2], "b": whole[::-1]}


def columns():
    whole = np.arange(12.0).reshape(3, 4)
    return {"a": whole[:, 1], "b": whole[1:, 1:3], "whole": whole}


def same():
    array = np.arange(4)
    return {"a": array, "b": array[:]}


def flags():
    array = np.zeros(4, bool)
    return {"a": array[:3], "b": array[1:]}


def small():
    array = np.arange(6, dtype="int16")
    return {"a": array[:4], "b": array[2:]}


def listed():
    array = np.arange(6)
    return {"a": [array[:4], array[2:]], "b": array[2:]}


CASES = {
    "write one, read the other": (halves, "self.a[2] = 50.0\nself.b[3] = self.b[0] + 1.0"),
    "write the other first": (halves, "self.b[1] = 7.0\nself.a[3] += 1.0"),
    "whole and part": (halves, "self.big[2] = 9.0\nself.a[0] = self.a[2]"),
    "part and whole": (halves, "self.a[3] = 9.0\nself.big[0] = self.big[3] + self.b[1]"),
    "in place": (halves, "self.a += 1.0\nself.b += 1.0"),
    "slices": (halves, "self.a[1:3] = self.b[0:2]\nself.b[2] = self.a[2]"),
    "no base": (without_base, "self.a[2] = 50.0\nself.b[3] = self.b[0] + 1.0"),
    "rows": (rows, "self.a[1] = 10.0\nself.whole[1, 2] = self.whole[0, 1]\nself.b[0] = self.b[2]"),
    "transposed": (transposed, "self.a[2, 1] = 77\nself.b[0] = self.whole[1, 2]\nself.whole[0, 1] = self.a[0, 0] + 1"),
    "strided": (strided, "self.a[1] = 70\nself.b[0] = self.whole[2] + 1\nself.whole[0] = self.whole[7]"),
    "columns": (columns, "self.a[1] = 50.0\nself.b[0, 1] = self.b[0, 0]\nself.whole[0, 0] = self.b[0, 1]"),
    "same": (same, "self.a[1] = 9\nself.b[2] = self.b[1] + 1"),
    "flags": (flags, "self.a[1] = True\nself.b[1] = self.b[0]"),
    "int16": (small, "self.a[2] = 9\nself.b[1] = self.b[0] + 1"),
    "listed": (listed, "self.a[0][2] = 90\nself.b[1] = self.a[1][0] + 1"),
    "read only": (halves, "self.a[0] = self.b[3]"),
}


def state(holder):
    """Return the values of the attributes as lists."""

    def plain(value):
        return [plain(each) for each in value] if isinstance(value, list) else value.tolist()

    return {name: plain(value) for name, value in vars(holder).items() if name not in ("core", "kept")}


class Plain:
    def __init__(self, attributes):
        vars(self).update(attributes)


class Holder(Plain):
    def __init__(self, core, attributes):
        self.core = core
        super().__init__(attributes)

    @rpc
    def keep(self, value):
        self.kept = value


@pytest.mark.parametrize("make, body", CASES.values(), ids=CASES)
def test_views_of_one_array_are_as_numpy_leaves_them_or_reported(run, capfd, monkeypatch, make, body):
    """A kernel has a view as an array of its own. What it does not see of the others is one line."""
    monkeypatch.setattr(EmbeddingMap, "_warned", set())
    expected = Plain(make())
    exec(body, {"self": expected})
    holder = Holder(run.core, make())
    before = dict(vars(holder))
    run(body, holder=holder)
    assert all(vars(holder)[name] is value for name, value in before.items() if name != "kept")
    said = capfd.readouterr().err
    assert state(holder) == state(expected) or "share memory on the host" in said
    assert all(line.startswith("warning: ") for line in said.splitlines())
    assert len(set(said.splitlines())) == len(said.splitlines())


SEPARATE = {
    "only one of them is used": (halves, "self.a[2] = 50.0\nself.a[3] = self.a[2]"),
    "only the whole is used": (rows, "self.whole[0, 1] = 5.0\nself.whole[1] += self.whole[0]"),
    "nothing is stored": (halves, "self.keep(self.a[2] + self.b[0])"),
    "no element in common": (rows, "self.a[1] = 10.0\nself.b[1] = 11.0"),
    "strided without common elements": (
        lambda: {"a": (array := np.arange(8))[::2], "b": array[1::2]},
        "self.a[1] = 10\nself.b[1] = 11",
    ),
    "one array under two names": (
        lambda: {"a": (array := np.arange(4)), "b": array},
        "self.a[1] = 9\nself.b[2] = self.b[1]",
    ),
    "views made in the kernel": (
        lambda: {"big": np.arange(6.0)},
        "a = self.big[0:4]\nb = self.big[2:6]\na[2] = 50.0\nb[3] = b[0] + 1.0",
    ),
}


@pytest.mark.parametrize("make, body", SEPARATE.values(), ids=SEPARATE)
def test_arrays_that_a_kernel_sees_as_numpy_give_no_warning(run, capfd, make, body):
    expected = Plain(make())
    exec(body, {"self": expected, "np": np}) if "keep" not in body else None
    holder = Holder(run.core, make())
    run(body, holder=holder)
    assert state(holder) == state(expected)
    assert capfd.readouterr().err == ""


def test_warning_of_views_names_both_attributes_once(run, capfd, monkeypatch):
    monkeypatch.setattr(EmbeddingMap, "_warned", set())
    holder = Holder(run.core, halves())
    for _ in range(3):
        run("self.a[2] = self.a[2] + self.b[0]", holder=holder)
    assert capfd.readouterr().err == (
        "warning: Holder.a and Holder.b share memory on the host, but a kernel has them as separate arrays: what it "
        "stored in one, it did not see in the other; keep the whole array and slice it in the kernel\n"
    )
