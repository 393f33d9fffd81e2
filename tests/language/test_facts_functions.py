"""Facts of the specification that need their own functions, classes or modules, on the emulated
device; `facts.py` is their index."""

import numpy as np
import pytest

import kairos.language as aq
from kairos.errors import CompileError
from kairos.language import TFloat, TInt32, TInt64, TList, kernel, kernel_from_string, portable, rpc

from .holder import Base, program


@portable
def anything(x):
    return x


@portable
def wants_float(x: TFloat):
    return x


@portable
def wants_int64(x: TInt64):
    return x << 40


def test_break_outside_loop_is_rejected():
    """Rejected by Python before the compiler sees it."""
    with pytest.raises(SyntaxError, match="'break' outside loop"):
        kernel_from_string(["self"], "break")
    with pytest.raises(SyntaxError, match="'break' outside loop"):
        kernel_from_string(["self"], "while True:\n    def inner():\n        break\n    inner()")


def test_new_objects_are_returned_by_functions(core):
    """The reference rejects this, except for string literals."""

    @portable
    def arrays(n):
        return np.array([n, 2]), np.full(3, 1.5), np.transpose(np.array([[n, 4]]))

    @portable
    def lists(n):
        made = [n, n + 1]
        return made

    @portable
    def text(a):
        return a + "y"

    @portable
    def literal():
        return "abc"

    @kernel
    def run(self):
        a, b, c = arrays(1)
        first, second = lists(1), lists(10)
        self.report(a[0], b[2], c[1, 0], first[1], second[1], text(text("x")), literal())

    assert program(core, run) == [1, 1.5, 4, 2, 11, "xyy", "abc"]


def test_storing_new_object_in_attribute_is_rejected(core):
    @portable
    def lists(n):
        return [n, n + 1]

    @kernel
    def run(self):
        self.kept = lists(1)

    with pytest.raises(CompileError, match="the assigned value does not outlive the assignment target"):
        program(core, run, kept=[0])


def test_argument_rebound_to_local_value_is_rejected(core):
    @portable
    def rebound(x):
        y = [7, 8]
        x = y
        return x[1]

    @kernel
    def run(self):
        self.report(rebound([1, 2]))

    with pytest.raises(CompileError, match="the assigned value does not outlive the assignment target"):
        program(core, run)


def test_rpc_results_are_stored_in_attributes(core):
    def numbers(self, first) -> TList(TInt32):
        return [first, first + 1]

    @portable
    def asked(self, first):
        return self.numbers(first)

    @kernel
    def run(self):
        self.kept = self.numbers(1)
        other, another = self.numbers(20), self.asked(30)
        self.asked(40)
        self.report(self.kept[1], other[1], another[1])

    assert program(core, run, kept=[0], numbers=rpc(numbers), asked=asked) == [2, 21, 31]


def test_function_called_with_two_types_is_rejected(core):
    @kernel
    def run(self):
        self.report(anything(1), anything("a"))

    with pytest.raises(CompileError, match="cannot unify"):
        program(core, run)


def test_inherited_method_is_compiled_per_class(core):
    class Above:
        def __init__(self, core, x):
            self.core, self.x = core, x

        @kernel
        def twice(self):
            return self.x + self.x

    class Left(Above):
        pass

    class Right(Above):
        pass

    @kernel
    def run(self):
        self.report(self.left.twice(), self.right.twice(), self.one.twice(), self.other.twice())

    made = dict(left=Left(core, 1), right=Right(core, 1.5), one=Above(core, 2), other=Above(core, 2.5))
    assert program(core, run, **made) == [2, 3.0, 4, 5.0]


def test_arguments_of_other_type_are_rejected(core):
    @kernel
    def literal(self):
        self.report(wants_int64(1))

    assert program(core, literal) == [1 << 40]

    @kernel
    def integer(self):
        wants_float(1)

    with pytest.raises(CompileError, match="cannot unify float with numpy.int"):
        program(core, integer)

    @kernel
    def narrow(self):
        wants_int64(self.n)

    with pytest.raises(CompileError, match="cannot unify numpy.int64 with numpy.int32"):
        program(core, narrow, n=np.int32(2))


def test_asynchronous_rpc_returning_a_value_is_rejected(core):
    @kernel
    def run(self):
        self.ask()

    def ask(self) -> TInt32:
        return 1

    with pytest.raises(CompileError, match="functions that return a value cannot be defined as async RPCs"):
        program(core, run, ask=rpc(flags={"async"})(ask))


def test_except_clause_catches_several_classes(core):
    """The reference rejects this."""

    @kernel
    def run(self):
        for i in range(2):
            try:
                if i == 0:
                    raise IndexError("index")
                raise ValueError("value")
            except (IndexError, ValueError):
                self.report(i)

    assert program(core, run) == [0, 1]


def test_closure_variables_are_available_in_kernels(core):
    """The reference sees only the closure cells."""
    number = 6

    @portable
    def factor(x):
        return number * x

    @kernel
    def run(self):
        self.report(number, factor(number))

    assert program(core, run) == [6, 36]


def test_with_statement_takes_several_managers(core):
    """Each is exited, the last one first; the reference exits the last one twice."""

    class Manager(Base):
        @kernel
        def __enter__(self):
            self.report_all(self.number)

        @kernel
        def __exit__(self, a, b, c):
            self.report_all(-self.number)

    reported = []
    managers = [
        type("Manager", (Manager,), {"report_all": rpc(lambda self, n: reported.append(n))})(core) for _ in range(2)
    ]
    managers[1].number = 8

    @kernel
    def run(self):
        with self.a, self.b:
            self.report(0)

    assert program(core, run, a=managers[0], b=managers[1]) == [0]
    assert reported == [7, 8, -8, -7]


def test_value_of_a_manager_is_bound(core):
    """The reference cannot compile this."""

    class Manager(Base):
        @kernel
        def __enter__(self):
            return self.number + 1

        @kernel
        def __exit__(self, a, b, c):
            pass

    @kernel
    def run(self):
        with self.manager as given:
            self.report(given)

    assert program(core, run, manager=Manager(core)) == [8]


@aq.portable
def portable_by_module(x):
    return x + 1


def test_decorators_qualified_by_module_are_recognised(core):
    """Including `portable`, which the reference cannot compile in this form."""

    @aq.kernel
    def run(self):
        self.report(portable_by_module(1))

    assert program(core, run) == [2]


def test_result_elements_are_indexed_before_types_are_known(core):
    @portable
    def arrays(a):
        return a, a

    @kernel
    def run(self):
        a, b = arrays(np.array([[1, 2]]))
        self.report(a[0, 1], b[0, 0])

    assert program(core, run) == [2, 1]
