"""Statements, functions, objects and time in compiled kernels."""

import numpy
import pytest

from kairos.compiler.tests.jit import Compiled, Experiment, compile_body, evaluate
from kairos.language import (
    TFloat,
    TInt32,
    TInt64,
    TList,
    TStr,
    at_mu,
    delay,
    delay_mu,
    kernel,
    now_mu,
    parallel,
    portable,
    rpc,
    sequential,
    syscall,
)

STEP = 3
NOTHING = numpy.int64(0)
us = 1e-6


def run(method, *inputs, args=()):
    experiment = method.__self__
    return Compiled(method, tuple(args), experiment.core).run(*inputs)


@pytest.mark.parametrize(
    "body, expected",
    [
        ("n = 0\nfor i in range(1, 10, 3):\n    n = n * 10 + i\nreturn n", 147),
        ("n = 0\nfor i in range(10, 0, -3):\n    n = n * 100 + i\nreturn n", 10070401),
        ("n = 0\nfor x in [1, 2, 3]:\n    n = n * 10 + x\nreturn n", 123),
        ("n = 0\nfor i in range(9):\n    if i == 5:\n        break\n    n += i\nelse:\n    n = -1\nreturn n", 10),
        ("n = 0\nfor i in range(3):\n    continue\nelse:\n    n = -1\nreturn n", -1),
        ("n = 5\nwhile n > 0:\n    n -= 2\nelse:\n    n += 10\nreturn n", 9),
        (
            "n = 0\nwhile True:\n    n += 1\n    if n % 2 == 0:\n        continue\n"
            "    if n > 6:\n        break\nreturn n",
            7,
        ),
        ("i = 5\nfor i in [1, 2]:\n    pass\nreturn i", 2),
        ("x = y = 3\nx, y = y + 1, x\nreturn x * 10 + y", 43),
        ("a, (b, c) = 1, (2, 3)\nreturn a + b * 10 + c * 100", 321),
        ("l = [1, 2, 3]\nl[0], l[2] = l[2], l[0]\nl[1] += 5\nreturn l[0] * 100 + l[1] * 10 + l[-1]", 371),
        ("a = [0]\nb = a\nb[0] = 2\nreturn a[0]", 2),
        ("a = [1, 2] * 3\na[0] = 9\nreturn a[2] * 1000 + a[3] * 100 + len(a) * 10 + len(2 * [1])", 1262),
        ("return len([1] * -2) + len([] + [1, 2])", 2),
        ("a = [1, 2] + [3]\nreturn a[0] * 100 + a[1] * 10 + a[2]", 123),
        ("i = 7\na = [i * i + 1 for i in range(4)]\nreturn a[3] * 100 + len(a) * 10 + i", 1047),
        ("a = [x + y for x, y in [(1, 2), (3, 4)]]\nreturn a[0] * 10 + a[1]", 37),
        ("a = [[j * k for k in range(3)] for j in range(2)]\nreturn a[1][2] * 10 + len(a)", 22),
        ("a = list(range(10, 0, -3))\nb = list(a)\nb[0] = 1\nreturn a[0] * 10 + b[0] + len(a) * 1000", 4101),
        ("a = [1, 2, 3, 4, 5][1:4]\nreturn a[0] * 100 + a[2] * 10 + len(a)", 243),
        ("a = [1, 2, 3, 4, 5]\nb = a[::-2]\nreturn b[0] * 100 + b[1] * 10 + b[2]", 531),
        ("a = [1, 2, 3]\nreturn len(a[5:]) * 100 + len(a[-9:9]) * 10 + a[-1:][0]", 33),
        ("a = [[1, 2], [3, 4]]\nreturn a[1][0]", 3),
        ("x = [1]\nfor i in range(3):\n    y = [i]\n    if i == 0:\n        x = y\nreturn x[0]", 0),
        ("if self.bool():\n    y = 1\nelse:\n    y = 2\nreturn y", 2),
        ("x = 1.0\nx += 1\nreturn x", 2.0),
        ("x = 7\nx //= 2\nx **= 2\nx <<= 1\nx |= 1\nreturn x", 19),
        ("try:\n    x = 1\nfinally:\n    y = 2\nreturn x + y", 3),
        (
            "n = 0\nfor i in range(3):\n    try:\n        if i == 1:\n            continue\n"
            "    finally:\n        n += 1\nreturn n",
            3,
        ),
        ("try:\n    return 10\nfinally:\n    return 30", 30),
        ("assert self.bool() == False, 'odd'\nreturn 1", 1),
        ("return self.int32() if self.bool() else 8", 8),
    ],
)
def test_statements_return_the_expected_value(body, expected):
    result = compile_body(body).run(False) if "self." in body else compile_body(body).run()
    assert (result.exception, result.value) == (None, expected)


@pytest.mark.parametrize(
    "body, name, params",
    [
        ("l = [1, 2, 3]\nreturn l[self.int32()]", "IndexError", (3, 3, 0)),
        ("l = [1, 2, 3]\nreturn l[self.int32() - 7]", "IndexError", (-4, 3, 0)),
        ("assert self.int32() == 4, 'no'", "AssertionError", (0, 0, 0)),
        ("raise ValueError('a {0} {1}', 5, int64(self.int32()))", "ValueError", (5, 3, 0)),
        ("raise RuntimeError", "RuntimeError", (0, 0, 0)),
        ("x = 5\nx //= self.int32() - 3\nreturn x", "ZeroDivisionError", (0, 0, 0)),
    ],
)
def test_statement_raises_its_exception_with_parameters(body, name, params):
    assert compile_body(body).run(3).exception == (name, params)


class Counter:
    """A driver-like class."""

    kernel_invariants = {"step"}

    def __init__(self, step):
        self.step = step
        self.total = numpy.int64(0)

    @kernel
    def add(self, times=2, extra=NOTHING):
        self.total += self.step * times + extra

    @portable
    def read(self) -> TInt64:
        return self.total


class Fast(Counter):
    """Inherits the kernels."""


@portable
def factorial(n: TInt32) -> TInt32:
    return 1 if n <= 1 else n * factorial(n - 1)


@syscall(flags={"nowrite"})
def rtio_output(target: TInt32, data: TInt32) -> None:
    raise NotImplementedError


class Objects(Experiment):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.fast = Counter(3), Counter(5), Fast(7)
        self.counters = [self.a, self.b]
        self.numbers = [1, 2, 3]
        self.name = "µ"

    @kernel
    def defaults(self):
        self.a.add()
        self.a.add(1)
        self.b.add(extra=100)
        self.b.add(3, 1000)
        self.fast.add()
        return self.a.read(), self.b.read(), self.fast.read()

    @kernel
    def over_objects(self):
        n = 0
        for counter in self.counters:
            n = n * 10 + counter.step
        return n, self.numbers[STEP - 1], self.name

    @kernel
    def recursion(self):
        return factorial(10)

    @kernel
    def calls_firmware(self):
        rtio_output(5, 1)
        delay(1.5 * us)
        rtio_output(5, 0)

    @kernel
    def arguments(self, x, y=2.0):
        return x, y

    def report(self, n: TInt32, text: TStr, values: TList(TFloat)):
        """Called on the host."""

    @rpc(flags={"async"})
    def note(self, n):
        """Called on the host, without waiting."""

    @kernel
    def calls_host(self):
        self.report(1, "x", [1.0, 2.0])
        self.note((1, True))
        self.note(int_list([7]))
        print("a", 2, sep="-")


@portable
def int_list(values: TList(TInt32)) -> TList(TInt32):
    return values


def test_methods_of_two_objects_use_their_own_attributes():
    assert run(Objects().defaults).value == (9, 1125, 14)


def test_lists_of_objects_and_module_constants_are_compiled():
    assert run(Objects().over_objects).value == (35, 3, "µ")


def test_recursive_method_returns_its_result():
    assert run(Objects().recursion).value == 3628800


def test_firmware_calls_compile_and_delays_are_rounded():
    assert run(Objects().calls_firmware).calls == (("rtio_output", (0, 5, 1)), ("rtio_output", (1500, 5, 0)))


def test_entry_arguments_are_constants_of_their_host_type():
    assert run(Objects().arguments, args=(numpy.int64(2**40),)).value == (2**40, 2.0)


def test_remote_calls_carry_all_argument_types():
    calls = run(Objects().calls_host).calls
    assert calls == (
        ("rpc", ("object", 1, "x", [1.0, 2.0])),
        ("async", ("object", (1, True))),
        ("async", ("object", [7])),
        ("async", ("a", 2, ("sep", "-"))),
    )


class Timeline(Experiment):
    @kernel
    def children(self):
        with parallel:
            delay_mu(5)
            delay_mu(10)
            with sequential:
                delay_mu(3)
                delay_mu(4)

    @kernel
    def compound(self):
        with parallel:
            for _ in range(3):
                delay_mu(1)
            if True:
                delay_mu(2)
                delay_mu(9)

    @kernel
    def backwards(self):
        at_mu(100)
        with parallel:
            delay_mu(-50)

    @kernel
    def nested(self):
        with parallel:
            delay_mu(5)
            with parallel:
                delay_mu(8)
                delay_mu(2)

    @kernel
    def times(self):
        x, y, z = now_mu(), now_mu(), now_mu()
        with parallel:
            x = now_mu()
            with sequential:
                delay_mu(7)
                y = now_mu()
            z = now_mu()
        return x, y, z

    @kernel
    def empty(self):
        delay_mu(2)
        with parallel:
            pass


@pytest.mark.parametrize(
    "name, now", [("children", 10), ("compound", 11), ("backwards", 100), ("nested", 8), ("times", 7), ("empty", 2)]
)
def test_parallel_ends_with_its_last_statement(name, now):
    assert run(getattr(Timeline(), name)).now == now


def test_parallel_statements_run_in_order_from_one_start():
    assert run(Timeline().times).value == (0, 7, 0)


def test_delay_rounds_half_away_from_zero():
    assert evaluate("delay(self.float())\nreturn now_mu()", 2.5e-9) == 3
    assert evaluate("delay(self.float())\nreturn now_mu()", -2.5e-9) == -3


class Manager:
    def __init__(self, core, step):
        self.core = core
        self.step = numpy.int64(step)

    @kernel
    def __enter__(self):
        delay_mu(self.step)
        return self.step

    @kernel
    def __exit__(self, type, value, traceback):
        delay_mu(self.step * 100)

    @kernel
    def again(self, step):
        self.step = step
        return self


class Managed(Experiment):
    def __init__(self):
        super().__init__()
        self.one = Manager(self.core, 1)
        self.two = Manager(self.core, 2)

    @kernel
    def attribute(self):
        with self.one:
            return now_mu()

    @kernel
    def called(self):
        with self.one.again(numpy.int64(3)):
            pass
        return now_mu()

    @kernel
    def several(self):
        with self.one as first, self.two as second:
            return now_mu(), first, second

    @kernel
    def loop(self):
        x = 0
        for i in range(5):
            with self.one:
                if i == 1:
                    continue
                if i == 3:
                    break
                x = i
        return x


@pytest.mark.parametrize(
    "name, value, now",
    [
        ("attribute", 1, 101),
        ("called", 303, 303),
        ("several", (3, 1, 2), 303),
        ("loop", 2, 404),
    ],
)
def test_context_manager_is_entered_and_left(name, value, now):
    result = run(getattr(Managed(), name))
    assert (result.value, result.now) == (value, now)
