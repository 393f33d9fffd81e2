"""Facts of the specification about functions and the host, on the emulated device; `facts.py` is their index."""

from collections import namedtuple

import numpy as np
import pytest

from kairos.errors import CompileError
from kairos.exceptions import RPCReturnValueError
from kairos.language import TFloat, TInt32, TInt64, TList, host_only, kernel, portable, rpc

from .holder import Base, program

Pair = namedtuple("Pair", "x y")


@portable
def doubled(x=1, y=2) -> TInt32:
    return 10 * x + y


@portable
def factorial(n) -> TInt32:
    return 1 if n < 2 else n * factorial(n - 1)


@portable
def even(n) -> TInt32:
    return 1 if n == 0 else odd(n - 1)


@portable
def odd(n) -> TInt32:
    return 0 if n == 0 else even(n - 1)


@portable
def first_is_five(numbers):
    numbers[0] = 5


@portable
def rebound(x):
    x = x + 1
    return x


def delay(x):
    """A function with the name of a language function."""
    raise ValueError("the host's delay")


def unannotated():
    return 5


def test_lists_are_shared_and_numbers_are_not(core):
    @kernel
    def run(self):
        numbers = [1, 2]
        first_is_five(numbers)
        x = 3
        self.report(numbers[0], rebound(x), x)

    assert program(core, run) == [5, 4, 3]


def test_defaults_and_keywords_are_passed(core):
    @kernel
    def run(self):
        self.report(doubled(), doubled(3), doubled(y=5), doubled(4, 6))

    assert program(core, run) == [12, 32, 15, 46]


@pytest.mark.parametrize("call", ["doubled(1, x=1)", "factorial()", "doubled(1, q=1)"])
def test_calls_with_wrong_arguments_are_rejected(run, call):
    with pytest.raises(CompileError):
        run(f"doubled = self.doubled\nfactorial = self.factorial\n{call}", doubled=doubled, factorial=factorial)


def test_python_int_as_annotation_is_rejected(core):
    def method(self, x: int):
        pass

    with pytest.raises(CompileError, match="'int' cannot be used as an ARTIQ type. Use numpy's int32 or int64"):

        @kernel
        def run(self):
            self.method(1)

        program(core, run, method=kernel(method))


def test_annotations_of_kernel_types_are_accepted(core):
    @portable
    def f(a: list[np.int32], b: tuple[np.int32, float], c: np.int64, d: bool, e: str, g: "TInt32") -> TInt64:
        return c + g

    @kernel
    def run(self):
        self.report(f([1], (1, 2.0), 3, True, "e", 4))

    assert program(core, run) == [7]


def test_recursive_functions_return_their_result(core):
    @kernel
    def run(self):
        self.report(factorial(5), even(10), odd(10))

    assert program(core, run) == [120, 1, 0]


def test_user_function_named_delay_is_called(core):
    @kernel
    def run(self):
        delay(1.0)
        self.report(1)

    assert program(core, run) == [1]


def test_rpc_without_annotation_returns_none(core):
    @kernel
    def run(self):
        unannotated()

    with pytest.raises(RPCReturnValueError):
        program(core, run)


@pytest.mark.parametrize(("annotation", "value"), [(TInt32, 1.5), (TFloat, 1)])
def test_rpc_result_of_other_type_is_rejected(core, annotation, value):
    def ask(self):
        return value

    ask.__annotations__["return"] = annotation

    @kernel
    def run(self):
        self.ask()

    with pytest.raises(RPCReturnValueError):
        program(core, run, ask=rpc(ask))


def test_keyword_arguments_of_rpc_reach_host(core):
    seen = []

    def ask(self, *args, **kwargs):
        seen.append((args, kwargs))

    @kernel
    def run(self):
        self.ask(1, 2.0, text="three")

    program(core, run, ask=ask)
    assert seen == [((1, 2.0), {"text": "three"})]


def test_print_of_a_kernel_runs_on_host(core, capfd):
    @kernel
    def run(self):
        print(1, 2.5, "x", sep="|", end=";")
        print([1, 2], (True, None))

    program(core, run)
    assert capfd.readouterr().out == "1|2.5|x;[1, 2] (True, None)\n"


def test_changed_attributes_are_written_back(core):
    class Counted(Base):
        def __init__(self, core):
            super().__init__(core)
            self.n, self.seen = 5, []

        def view(self):
            self.seen.append(self.n)

        @kernel
        def run(self):
            self.n += 1
            self.view()

    counted = Counted(core)
    counted.run()
    assert counted.seen == [5], "the host sees the old value while the kernel runs"
    assert counted.n == 6 and type(counted.n) is np.int32


class Own(Exception):
    """A user-defined exception, raised on the host and in kernels."""


class Derived(Own):
    pass


def test_user_exceptions_are_passed_on(core):
    def fail(self, derived):
        raise (Derived if derived else Own)("from the host")

    @kernel
    def caught(self):
        try:
            self.fail(False)
        except Own:
            self.report(1)

    @kernel
    def derived(self):
        try:
            self.fail(True)
        except Own:
            self.report(2)

    @kernel
    def uncaught(self):
        try:
            self.fail(True)
        except LookupError:
            self.report(3)

    assert program(core, caught, fail=fail) == [1]
    assert program(core, derived, fail=fail) == [2]  # as in Python
    with pytest.raises(Derived, match="^from the host$"):
        program(core, uncaught, fail=fail)


def test_precompiled_kernel_keeps_the_values_at_compilation(core):
    class Frozen(Base):
        @kernel
        def run(self) -> TInt32:
            self.number += 1
            return self.number

    frozen = Frozen(core)
    run = core.precompile(Frozen.run, frozen)
    frozen.number = 100
    assert [run(), run(), frozen.number] == [8, 8, 100]


def test_host_only_function_is_rejected(core):
    @kernel
    def run(self):
        self.forbidden()

    with pytest.raises(CompileError, match="cannot be called as an RPC"):
        program(core, run, forbidden=host_only(lambda self: None))


def test_lists_of_objects_are_iterated(core):
    class Part:
        def __init__(self, core, number):
            self.core, self.number = core, number

        @kernel
        def get(self) -> TInt32:
            return self.number

    @kernel
    def run(self):
        for part in self.parts:
            self.report(part.get())
        self.report(self.both[0].get())

    parts = [Part(core, 3), Part(core, 4)]
    assert program(core, run, parts=parts, both=(parts[1], core)) == [3, 4, 4]


def test_object_passed_by_rpc_is_the_same(core):
    @kernel
    def run(self):
        self.report(self)

    holder = type("Holder", (Base,), {"run": run})(core)
    holder.run()
    assert holder.reported[0] is holder


def test_named_tuple_is_indexed_as_tuple(core):
    @kernel
    def run(self):
        self.report(self.pair[0])

    assert program(core, run, pair=Pair(1, 2)) == [1]


def test_cached_values_are_returned_by_kernels(core):
    from kairos.coredevice.cache import CoreCache

    class Manager:
        def get(self, name):
            return core

    @kernel
    def get(self) -> TList(TInt32):
        return self.cache.get("key")

    @kernel
    def run(self):
        self.cache.put("key", [1, 2])
        self.report(self.get())

    assert program(core, run, cache=CoreCache(Manager()), get=get) == [[1, 2]]
