"""Write-back of attributes after a kernel: only changed ones, and in place."""

import numpy as np
import pytest

from kairos.language import kernel, rpc


class Base:
    def __init__(self, core):
        self.core = core
        self.list = [1, 2, 3]
        self.same = self.list
        self.nested = [[1, 2], [3, 4]]
        self.row = self.nested[1]
        self.array = np.arange(6.0).reshape(2, 3)
        self.view = self.array[1]
        self.pair = ([10, 20], 5)
        self.inside = self.pair[0]
        self.read = [0.5, 1.5]
        self.other = [7, 8, 9]
        self.number = 1
        self.wide = [2**40, 1]
        self.flags = [True, False]

    @rpc
    def fill(self):
        self.read[0] = 99.5
        self.list[0] = 50
        self.array[0, 0] = -1.0


@pytest.fixture
def objects(core):
    """Returns an object for a kernel, and the objects that its attributes refer to."""
    made = Base(core)
    return made, dict(vars(made))


def same_objects(made, before, changed=()):
    """Returns whether the attributes are still the same objects, except for those in `changed`."""
    return all(vars(made)[name] is value for name, value in before.items() if name not in changed)


def test_read_only_attributes_are_not_written(run, objects):
    made, before = objects
    run("x = self.list[0] + self.read[1] + self.array[0, 1]\nself.fill()", holder=made)
    assert made.list == [50, 2, 3] and made.read == [99.5, 1.5] and made.array[0, 0] == -1.0
    assert same_objects(made, before)


def test_elements_are_stored_in_place(run, objects):
    made, before = objects
    body = """
        self.list[2] = 30
        self.nested[1][0] = 40
        self.array[1, 2] = 50.0
        self.pair[0][1] = 60
        self.wide[1] = int64(5)
        self.flags[1] = True
        self.fill()
    """
    run(body, holder=made)
    assert made.list == [50, 2, 30] and made.same is made.list
    assert made.nested == [[1, 2], [40, 4]] and made.row is made.nested[1]
    assert made.array.tolist() == [[-1.0, 1.0, 2.0], [3.0, 4.0, 50.0]] and made.view[2] == 50.0
    assert made.pair == ([10, 60], 5) and made.inside is made.pair[0]
    assert made.wide == [2**40, 5] and made.flags == [True, True]
    assert same_objects(made, before)


@pytest.mark.parametrize(
    "statement",
    [
        "a = self.list\na[1] = 5",
        "self.list[1:2] = [5]",
        "for self.list[1] in [4, 5]:\n    pass",
        "self.change(self.list)",
    ],
)
def test_stores_through_aliases_are_written_back(run, core, statement):
    class Changes(Base):
        @kernel
        def change(self, values):
            values[1] = 5

    made = Changes(core)
    run(f"{statement}\nself.fill()", holder=made)
    assert made.list == [50, 5, 3]


def test_row_and_in_place_operations_are_written_back(run, core):
    made = Base(core)
    run("row = self.array[1]\nrow += 1.0\nself.fill()", holder=made)
    assert made.array.tolist() == [[-1.0, 1.0, 2.0], [4.0, 5.0, 6.0]]


def test_unchanged_nan_is_not_written(run, core):
    made = Base(core)
    made.array[0, 0] = np.nan
    made.read[0] = np.nan
    run("self.array[1, 0] = 9.0\nself.read[1] = 2.5\nself.fill()", holder=made)
    assert made.array[0, 0] == -1.0 and made.read == [99.5, 2.5]


def test_replaced_list_is_written_back(run, objects):
    made, before = objects
    run("self.list = self.other\nself.number += 1", holder=made)
    assert made.list == [7, 8, 9] and before["list"] == [1, 2, 3] and made.number == 2
    assert same_objects(made, before, {"list", "number"})


def test_possibly_replaced_list_is_written_back(run, objects):
    made, before = objects
    run("if self.number > 5:\n    self.list = self.other\nself.fill()", holder=made)
    assert made.list == [50, 2, 3] and same_objects(made, before)


def test_list_replaced_by_rpc_is_kept(run, core):
    class Replaces(Base):
        @rpc
        def replace(self):
            self.list = [0]

    made = Replaces(core)
    old = made.list
    run("self.list[1] = 20\nself.replace()\nself.list[2] = 30", holder=made)
    assert made.list == [0] and old == [1, 20, 30]


def test_change_of_zero_sign_is_written_back(run, core):
    made = Base(core)
    made.array[0, 0], made.read[0], made.other = 0.0, 0.0, [0.0]
    run("self.array[0, 0] = -0.0\nself.read[0] = -0.0\nself.other = self.read", holder=made)
    assert np.signbit([made.array[0, 0], made.read[0], made.other[0]]).all()


@pytest.mark.parametrize(
    "dtype, stored, fits",
    [
        *[("int16", 70000, False), ("int8", -129, False), ("uint8", 256, False), ("uint8", -1, False)],
        *[("int16", 32767, True), ("uint32", 4294967295, True), ("uint64", -1, False), ("int32", 70000, True)],
    ],
)
def test_integers_that_an_array_cannot_hold_raise(run, core, dtype, stored, fits):
    made = Base(core)
    made.small, made.count = np.array([1, 2, 3], dtype), 0
    value = f"int64({stored})" if dtype in ("uint32", "uint64") else str(stored)
    body = (
        f"self.small[2] = {value.replace(str(stored), '4')}\nself.small[1] = {value}\nself.count = 7\nself.list[0] = 9"
    )
    if fits:
        run(body, holder=made)
        assert made.small.tolist() == [1, stored, 4]
    else:
        with pytest.raises(OverflowError, match=f"Python integer {stored} out of bounds for {dtype}"):
            run(body, holder=made)
        assert made.small.tolist() == [1, 2, 4], "what fits is kept"
    assert made.small.dtype == dtype and made.count == 7 and made.list == [9, 2, 3]


def test_error_of_one_attribute_costs_no_other(run, core):
    class Strict(Base):
        @property
        def level(self):
            return 3

    made = Strict(core)
    with pytest.raises(AttributeError, match="level"):
        run("self.level = 4\nself.number = 8", holder=made)
    assert made.number == 8
    run("self.number = 9", holder=made)
    assert made.number == 9


def test_exception_of_a_kernel_comes_before_errors_of_attributes(run, core):
    made = Base(core)
    made.small = np.array([1], "int8")
    with pytest.raises(ValueError, match="first"):
        run("self.small[0] = 1000\nself.number = 8\nraise ValueError('first')", holder=made)
    assert made.number == 8 and made.small[0] == 1
