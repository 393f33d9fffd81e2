"""Views that share memory: of a host's array, made on the host or in a kernel. What is stored through one is read
through the others, and afterwards all are as NumPy leaves them."""

import itertools

import numpy as np
import pytest

from kairos.compiler.cache import Cache
from kairos.compiler.embedding import EmbeddingMap
from kairos.language import TArray, TFloat, kernel, kernel_from_string, rpc


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


def column_major():
    whole = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    return {"whole": whole, "a": whole[:, 1], "b": whole.T}


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


def listed():
    array = np.arange(6)
    return {"a": [array[:4], array[2:]], "b": array[2:], "c": (array[:2], array[1:3])}


def several():
    whole = np.arange(12.0)
    return {"whole": whole, "a": whole[0:6], "b": whole[4:10], "c": whole[::3], "grid": whole.reshape(3, 4)}


def large():
    whole = np.arange(2000.0)
    return {"whole": whole, "a": whole[10:1500], "b": whole[1000:]}


HOST = {
    "write one, read the other": (halves, "self.a[2] = 50.0\nself.b[3] = self.b[0] + 1.0"),
    "write the other first": (halves, "self.b[1] = 7.0\nself.a[3] += 1.0"),
    "whole and part": (halves, "self.big[2] = 9.0\nself.a[0] = self.a[2]"),
    "part and whole": (halves, "self.a[3] = 9.0\nself.big[0] = self.big[3] + self.b[1]"),
    "in place": (halves, "self.a += 1.0\nself.b += 1.0"),
    "slices": (halves, "self.a[1:3] = self.b[0:2]\nself.b[2] = self.a[2]"),
    "no base": (without_base, "self.a[2] = 50.0\nself.b[3] = self.b[0] + 1.0"),
    "rows": (rows, "self.a[1] = 10.0\nself.whole[1, 2] = self.whole[0, 1]\nself.b[0] = self.b[2]"),
    "transposed": (transposed, "self.a[2, 1] = 77\nself.b[0] = self.whole[1, 2]\nself.whole[0, 1] = self.a[0, 0] + 1"),
    "column major": (
        column_major,
        "self.a[1] = 77.0\nself.b[0, 0] = self.whole[1, 1]\nself.whole[0, 1] = self.b[1, 1]",
    ),
    "strided": (strided, "self.a[1] = 70\nself.b[0] = self.whole[2] + 1\nself.whole[0] = self.whole[7]"),
    "columns": (columns, "self.a[1] = 50.0\nself.b[0, 1] = self.b[0, 0]\nself.whole[0, 0] = self.b[0, 1]"),
    "same": (same, "self.a[1] = 9\nself.b[2] = self.b[1] + 1"),
    "flags": (flags, "self.a[1] = True\nself.b[1] = self.b[0]"),
    "listed": (listed, "self.a[0][2] = 90\nself.b[1] = self.a[1][0] + 1\nself.c[1][0] = 5\nself.see(self.c[0])"),
    "listed, replaced": (listed, "self.a[0] = self.b[1:3]\nself.a[0][0] = 30\nself.see(self.b)"),
    "read only": (halves, "self.a[0] = self.b[3]"),
    "several": (
        several,
        "self.a[5] = 50.0\nself.b[0] = self.b[1]\nself.grid[1, 1] = 7.0\nself.see(self.b)\nself.c[1] = 3.0",
    ),
    "several, assigned": (
        several,
        "self.a = self.whole[1:4]\nself.b = self.grid[1]\nself.grid[1, 0] = 8.0\nself.see(self.b)",
    ),
    "several, exchanged": (several, "one = self.a\nself.a = self.b\nself.b = one\nself.a[0] = 77.0"),
    "large": (large, "self.a[1000] = 50.0\nself.see(self.b[0:20])\nself.b[0] = 7.0\nself.a = self.whole[5:9]"),
}


def vector():
    return {"a": np.arange(10.0), "b": np.zeros(3)}


def matrix():
    return {"a": np.arange(12.0).reshape(3, 4), "b": np.zeros(4)}


def numbers():
    return {"a": [1, 2, 3, 4, 5, 6], "b": [0, 0, 0]}


def nested():
    row = [1, 2]
    return {"a": [row, [3, 4]], "b": row, "c": [row]}


def texts():
    return {"a": bytearray(b"abcdef"), "b": bytearray(b"xyz")}


WRITE_BOTH = "b[0] = 20.0\nself.see(self.a)\nself.a[3] = 30.0\nself.see(b)"
KERNEL = {
    "slice": (vector, f"b = self.a[2:5]\n{WRITE_BOTH}"),
    "slice with step": (vector, f"b = self.a[1:8:2]\n{WRITE_BOTH}"),
    "slice backwards": (vector, f"b = self.a[::-1]\n{WRITE_BOTH}"),
    "column": (matrix, "b = self.a[:, 1]\nb[0] = 20.0\nself.see(self.a)\nself.a[2, 1] = 30.0\nself.see(b)"),
    "block": (matrix, "b = self.a[1:, 1:3]\nb[0, 0] = 20.0\nself.see(self.a)\nb += 1.0\nself.see(self.a)"),
    "transposed": (matrix, "b = self.a.T\nb[0, 1] = 20.0\nself.see(self.a)\nself.a[2, 1] = 30.0\nself.see(b)"),
    "reshaped": (matrix, "b = self.a.reshape((12,))\nb[0] = 20.0\nself.see(self.a)"),
    "rows": (matrix, "for row in self.a:\n    row[0] = 9.0\nself.see(self.a)"),
    "calls between": (
        vector,
        "b = self.a[2:5]\nb[0] = 2.5\nself.nothing()\nself.see(b)\nself.a[3] = 3.5\nself.nothing()\nself.see(b)",
    ),
    "in place": (vector, "b = self.a[2:5]\nb += 1.0\nself.see(self.a)\nself.a *= 2.0\nself.see(b)"),
    "overlapping copies": (vector, "self.a[1:5] = self.a[0:4]\nself.a[0:4] = self.a[1:5]\nself.a[1:5] += self.a[0:4]"),
    "attribute": (vector, "self.b = self.a[2:5]\nself.b[0] = 20.0\nself.a[3] = 30.0\nself.see(self.b)\nself.b += 1.0"),
    "attribute, again": (vector, "self.b = self.a[2:5]\nself.b = self.b[1:3]\nself.b[0] = 20.0\nself.see(self.a)"),
    "attribute, whole": (vector, "self.b = self.a\nself.b[0] = 20.0\nself.a[3] = 30.0\nself.see(self.b)"),
    "attribute, row": (matrix, "self.b = self.a[1]\nself.b[0] = 20.0\nself.a[1, 3] = 30.0\nself.see(self.b)"),
    "parameter": (vector, "def set(part):\n    part[0] = 5.0\nset(self.a[2:5])\nself.see(self.a)"),
    "in a list": (vector, "parts = [self.a[0:3], self.a[1:4]]\nparts[0][1] = 50.0\nself.see(parts[1])"),
    "in a tuple": (vector, "parts = (self.a[0:3], self.a[1:4])\nparts[0][1] = 50.0\nself.see(parts[1])"),
    "new array": (vector, "x = self.a + 1.0\nb = x[1:4]\nb[0] = 3.0\nself.see(x)\nx[2] = 5.0\nself.see(b)"),
    "copy": (vector, "b = self.a[1:4].copy()\nb[0] = 99.0\nself.see(self.a)"),
    "list": (
        numbers,
        "b = self.a[2:5]\nb[0] = 20\nself.see(self.a)\nself.a[3] = 30\nself.see(b)\nself.a[1:3] = self.a[0:2]",
    ),
    "list alias": (numbers, "b = self.a\nb[0] = 20\nself.b = b\nself.b[1] = 7\nself.see(self.a)"),
    "rows of lists": (
        nested,
        "x = self.a[0]\nx[0] = 9\nself.see(self.b)\nself.c[0][1] = 8\nself.see(self.a)\nself.b = self.a[1]",
    ),
    "rows exchanged": (nested, "x = self.a[0]\nself.a[0] = self.a[1]\nself.a[1] = x\nself.b[0] = 77"),
    "bytearray": (
        texts,
        "b = self.a[2:5]\nb[0] = 65\nself.a[3] = 66\nself.see(b[1] - 0)\nself.b = self.a\nself.b[0] = 67",
    ),
}


class Plain:
    def __init__(self, attributes):
        self.seen = []
        vars(self).update(attributes)

    @rpc
    def see(self, value):
        self.seen.append(np.array(value).tolist())

    @rpc
    def nothing(self):
        pass


class Holder(Plain):
    def __init__(self, core, attributes):
        self.core = core
        super().__init__(attributes)

    @kernel
    def contiguous(self, values: TArray(TFloat)):
        values[0] = 7.0


def parts(name, value):
    """Yield everything in an attribute that may share memory, with its name."""
    if isinstance(value, list | tuple | np.ndarray | bytearray):
        yield name, value
    if isinstance(value, list | tuple):
        for index, element in enumerate(value):
            yield from parts(f"{name}[{index}]", element)


def state(holder):
    """Return the values of the attributes, which of them are the same or share memory, and what was seen."""

    def plain(value):
        if isinstance(value, list | tuple):
            return [plain(each) for each in value]
        return value.tolist() if isinstance(value, np.ndarray) else value

    own = {name: value for name, value in vars(holder).items() if name not in ("core", "seen")}
    found = [part for name, value in own.items() for part in parts(name, value)]
    related = {}
    for (one, x), (two, y) in itertools.combinations(found, 2):
        arrays = isinstance(x, np.ndarray) and isinstance(y, np.ndarray)
        related[one, two] = (x is y, arrays and np.shares_memory(x, y))
    return {name: plain(value) for name, value in own.items()}, related, holder.seen


def as_python_leaves_it(make, body):
    expected = Plain(make())
    exec(body, {"self": expected})
    return state(expected)


@pytest.mark.parametrize("make, body", (HOST | KERNEL).values(), ids=HOST | KERNEL)
def test_views_are_as_numpy_leaves_them(run, capfd, make, body):
    holder = Holder(run.core, make())
    run(body, holder=holder)
    assert state(holder) == as_python_leaves_it(make, body)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("make, body", [HOST["write one, read the other"], HOST["transposed"]], ids=["one", "two"])
def test_views_changed_before_an_exception_are_on_the_host(run, make, body):
    holder = Holder(run.core, make())
    with pytest.raises(ValueError, match="late"):
        run(f"{body}\nraise ValueError('late')", holder=holder)
    assert state(holder) == as_python_leaves_it(make, body)


def test_views_given_as_arguments_share_their_memory(core):
    big = np.arange(8.0)
    change = kernel_from_string(["self", "a", "b"], "a[2] = 5.0\nb[1] = a[2] + b[0]\nreturn b[1]", decorator=kernel)
    assert change(Holder(core, {}), big[0:4], big[1:6:2]) == 6.0
    assert big.tolist() == [0, 1, 5, 6, 4, 5, 6, 7]


def test_read_only_view_of_written_array_raises_only_if_written_to_itself(run):
    holder = Holder(run.core, without_base())
    holder.b.flags.writeable = False
    run("self.a[2] = 50.0\nself.see(self.b)", holder=holder)
    assert holder.seen == [[50, 3, 4, 5]] and holder.b[0] == 50
    with pytest.raises(ValueError, match=r"read-only: a kernel stored in Holder\.b"):
        run("self.b[3] = 9.0\nself.a[0] = 8.0", holder=holder)
    assert holder.a[0] == 8 and holder.b[3] == 5


def test_values_stored_by_the_host_meanwhile_remain(run):
    class Stores(Holder):
        @rpc
        def store(self):
            self.big[3] = 33.0

    holder = Stores(run.core, halves())
    run("self.a[2] = 50.0\nself.store()\nself.b[3] = self.b[0]", holder=holder)
    assert holder.big.tolist() == [0, 1, 50, 33, 4, 50]


@pytest.mark.parametrize("make", [halves, large, strided])
def test_kept_kernel_has_the_current_elements_of_shared_arrays(core, monkeypatch, tmp_path, make):
    monkeypatch.setattr(Cache, "of_user", lambda: Cache(tmp_path))
    add = kernel_from_string(["self"], "self.a[2] += 1\nself.see(self.b)", decorator=kernel)
    for start in (0, 100, 200):
        attributes = make()
        attributes.pop("big", None)
        attributes["a"] += start
        expected = Plain(make() | {})
        expected.a += start
        expected.a[2] += 1
        expected.see(expected.b)
        holder = Holder(core, attributes)
        add(holder)
        assert holder.a.tolist() == expected.a.tolist() and holder.seen == expected.seen
    kept = list(tmp_path.rglob("*.kernel"))
    assert len(kept) == 1 or make is not large


def small():
    array = np.arange(6, dtype="int16")
    return {"a": array[:4], "b": array[2:]}


def two_types():
    array = np.zeros(6, "int64")
    return {"a": array[:4], "b": array[2:].view(float)}


def annotated():
    array = np.arange(12.0)
    return {"a": array[::2], "b": array}


def sparse():
    array = np.arange(100_000.0)
    return {"a": array[::10_000], "b": array[::5_000]}


APART = {
    "elements of another size": (small, "self.a[2] = 9\nself.b[1] = self.b[0] + 1"),
    "two types in one memory": (two_types, "self.a[2] = 9\nself.see(self.b)"),
    "function that requires a contiguous array": (annotated, "self.contiguous(self.a)\nself.see(self.b)"),
    "mostly other elements": (sparse, "self.a[1] = 9.0\nself.see(self.b)"),
}


@pytest.mark.parametrize("make, body", APART.values(), ids=APART)
def test_views_that_are_apart_in_a_kernel_give_a_warning(run, capfd, monkeypatch, make, body):
    """A kernel has these views as arrays of their own. What it does not see of the others is one line."""
    monkeypatch.setattr(EmbeddingMap, "_warned", set())
    for _ in range(2):
        run(body, holder=Holder(run.core, make()))
    assert capfd.readouterr().err == (
        "warning: Holder.a and Holder.b share memory on the host, but a kernel has them as separate arrays: what it "
        "stored in one, it did not see in the other; keep the whole array and slice it in the kernel\n"
    )


def test_views_that_are_apart_give_no_warning_unless_they_are_stored_to(run, capfd):
    run("self.see(self.a[2] + self.b[0])", holder=Holder(run.core, small()))
    run("self.a[0] = self.a[2]", holder=Holder(run.core, small()))
    assert capfd.readouterr().err == ""


def test_views_without_common_elements_are_written_to_each(run):
    array = np.arange(8)
    holder = Holder(run.core, {"a": array[::2], "b": array[1::2]})
    run("self.a[1] = 10\nself.b[1] = 11", holder=holder)
    assert array.tolist() == [0, 1, 10, 11, 4, 5, 6, 7]
