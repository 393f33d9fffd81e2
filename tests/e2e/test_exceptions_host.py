"""Exceptions that cross between kernel and host, their limits, and their reports to the host."""

import inspect

import pytest
from numpy import int64

from kairos.coredevice.core import Core
from kairos.coredevice.exceptions import DMAError
from kairos.experiment import RTIOUnderflow, TInt32, kernel, rpc


class Lost(Exception):
    """A user-defined exception known to kernels."""


class Unregistered(Exception):
    """A user-defined exception that no kernel names."""


MESSAGES = ["", "plain", "µm ✓ 離子 \U0001f600", "braces {0} {1} {nothing", "{", "two\nlines\tand a tab", "x" * 4096]
HOST_CLASSES = [
    ValueError,
    IndexError,
    KeyError,
    OSError,
    FileNotFoundError,
    AssertionError,
    Lost,
    RTIOUnderflow,
    DMAError,
]


class Stop(BaseException):
    """Not an `Exception`, and known to kernels."""


class UnregisteredStop(BaseException):
    """Not an `Exception`, and not named by a kernel."""


class Crossing:
    def __init__(self, core):
        self.core = core
        self.trace = []
        self.error = None

    @rpc(flags={"async"})
    def mark(self, number):
        self.trace.append(number)

    @rpc
    def ask(self) -> TInt32:
        raise self.error

    @rpc(flags={"async"})
    def report(self):
        raise self.error

    @kernel
    def pass_on(self):
        self.ask()

    @kernel
    def sort(self) -> TInt32:
        try:
            self.ask()
        except IndexError:
            return 1
        except Lost:
            return 2
        except RTIOUnderflow:
            return 3
        except DMAError:
            return 4
        except ValueError:
            return 5
        except Exception:
            return 6
        return 0

    @kernel
    def pass_stops(self, number) -> TInt32:
        try:
            try:
                if number == 0:
                    self.ask()
                if number == 1:
                    raise KeyboardInterrupt("of the kernel")
                if number == 2:
                    raise Stop
                if number == 3:
                    raise Lost
                if number == 4:
                    raise BaseException("of all")
                if number == 5:
                    raise RTIOUnderflow("late")
            except (IndexError, Exception):
                return 1
            except Stop:
                return 2
        except BaseException:
            return 3
        return 0

    @kernel
    def raise_again(self):
        try:
            try:
                self.ask()
            finally:
                self.mark(1)
        except Exception as e:
            self.mark(2)
            raise e

    @kernel
    def twice(self):
        try:
            raise ValueError("of the kernel: {0}", 5)
        except ValueError:
            self.ask()

    @kernel
    def after(self):
        self.report()
        for _ in range(1000):
            self.mark(0)
        self.ask()

    @kernel
    def own(self, n):
        if n == 0:
            raise Lost("gone: {0}, {1}, {2}", 1, -2, 3)
        if n == 1:
            raise Lost("µ ✓ {0}", 7)
        if n == 2:
            raise Lost("no format: {not a field}")
        raise Lost

    @kernel
    def nested(self, n):
        """Raise n simultaneous exceptions in flight."""
        try:
            raise ValueError("number {0}", int64(n))
        except ValueError:
            if n > 1:
                self.nested(n - 1)
            self.mark(n)

    @kernel
    def deep(self, n):
        if n == 0:
            raise Lost("at the bottom")
        self.deep(n - 1)
        self.mark(n)

    @kernel
    def deep_and_caught(self, n):
        for i in range(3):
            try:
                self.deep(n)
            except Lost:
                self.mark(i)
        self.deep(3)


@pytest.fixture
def crossing(device):
    core = Core(None, f"{device.host}:{device.port}", 1e-9)
    yield Crossing(core)
    core.close()


def caught(kernel, *arguments):
    with pytest.raises(Exception) as raised:
        kernel(*arguments)
    return raised.value


@pytest.mark.parametrize("message", MESSAGES)
def test_host_exception_message_reaches_kernel(crossing, message):
    crossing.error = ValueError(message)
    for run in (crossing.pass_on, crossing.raise_again):
        error = caught(run)
        assert type(error) is ValueError and str(error) == message
    assert crossing.trace == [1, 2]


def test_very_long_exception_message_is_truncated_for_kernels(crossing):
    crossing.error = ValueError("é" * 100_000)
    error = caught(crossing.pass_on)
    assert error.artiq_core_exception.message == "é" * 4096 + "... (truncated)"
    assert error is crossing.error and str(error) == "é" * 100_000


def test_exception_raised_by_two_calls_is_caught_again(crossing):
    """That it has the report of the first kernel does not matter to the second."""
    crossing.error = Lost("twice")
    assert caught(crossing.pass_on) is crossing.error
    assert crossing.sort() == 2


@pytest.mark.parametrize("cls", [*HOST_CLASSES, Unregistered])
def test_builtin_exception_class_is_kept_across_rpc(crossing, cls):
    crossing.error = cls("why")
    known = {IndexError: 1, Lost: 2, RTIOUnderflow: 3, DMAError: 4, ValueError: 5}
    assert crossing.sort() == known.get(cls, 6)
    for run in (crossing.pass_on, crossing.raise_again):
        error = caught(run)
        assert type(error) is cls
        assert str(error) == str(cls("why"))


def test_clause_of_exception_lets_interruptions_pass(crossing):
    plain = Crossing.pass_stops.artiq_embedded.function
    for number in range(1, 7):
        assert crossing.pass_stops(number) == plain(crossing, number)
    for cls in (Stop, UnregisteredStop, GeneratorExit, Lost, Unregistered, IndexError, RTIOUnderflow, BaseException):
        crossing.error = cls("why")
        assert crossing.pass_stops(0) == plain(crossing, 0), cls


def test_host_exception_in_handler_is_raised(crossing):
    crossing.error = OSError("and the host")
    error = caught(crossing.twice)
    report = error.artiq_core_exception.report
    assert [(e.name, e.message) for e in report.exceptions] == [
        ("0:ValueError", "of the kernel: {0}"),
        ("0:IOError", "and the host"),  # the firmware's name
    ]
    assert type(error) is OSError and str(error) == "and the host"
    assert "During handling of the above exception" in str(error.artiq_core_exception)


def test_exception_of_asynchronous_rpc_ends_kernel(crossing):
    crossing.error = OSError("nobody waits")
    error = caught(crossing.after)
    assert error is crossing.error
    crossing.error = Lost("the next kernel runs")
    assert crossing.sort() == 2


@pytest.mark.parametrize(
    ("number", "message"), [(0, "gone: 1, -2, 3"), (1, "µ ✓ 7"), (2, "no format: {not a field}"), (3, "Lost")]
)
def test_user_exception_class_is_kept_across_rpc(crossing, number, message):
    error = caught(crossing.own, number)
    assert type(error) is Lost and str(error) == message


def line_of(function, text):
    lines, first = inspect.getsourcelines(function)
    (found,) = [number for number, line in enumerate(lines, first) if text in line]
    return found


def test_traceback_frames_have_their_positions(crossing):
    """File, line, column and function of each frame; the functions are short enough to be inlined."""
    frames = caught(crossing.deep_and_caught, 0).artiq_core_exception.traceback[-1]
    wanted = [
        (Crossing.deep, "raise Lost"),
        *[(Crossing.deep, "self.deep(n - 1)")] * 3,
        (Crossing.deep_and_caught, "self.deep(3)"),
    ]
    assert len(frames) == len(wanted)
    for (file, line, column, function, _), (where, text) in zip(frames, wanted, strict=True):
        assert (file, line) == (__file__, line_of(where, text))
        source = inspect.getsource(where).splitlines()[line - line_of(where, "def ") + 1]
        assert source[column - 1 :].startswith(text.split("(")[0])
        assert function.endswith(f"Crossing.{where.__name__}")


@pytest.mark.parametrize("count", [1, 9, 10])
def test_exceptions_in_handlers_are_chained(crossing, count):
    crossing.nested(count)
    assert crossing.trace == list(range(1, count + 1))


@pytest.mark.parametrize("count", [11, 100])
def test_too_many_nested_exceptions_end_kernel(crossing, count):
    """The eleventh ends the kernel: no handler runs, and all of them are reported."""
    error = caught(crossing.nested, count)
    report = error.artiq_core_exception.report
    assert [e.message for e in report.exceptions] == ["number {0}"] * 10 + ["too many nested exceptions"]
    assert [e.params[0] for e in report.exceptions[:10]] == list(range(count, count - 10, -1))
    assert report.exceptions[-1].name == "0:RuntimeError"
    assert crossing.trace == []
    crossing.nested(10)


@pytest.mark.parametrize("depth", [100, 127, 128, 129, 1000])
def test_long_backtrace_is_truncated_to_its_innermost_frames(crossing, depth):
    """The innermost 128 are reported; catching needs none of them."""
    error = caught(crossing.deep, depth)
    frames = error.artiq_core_exception.report.backtrace
    assert len(frames) == min(depth + 4, 128)
    pointers = [stack_pointer for _, stack_pointer in frames]
    assert pointers == sorted(pointers)

    crossing.trace.clear()
    error = caught(crossing.deep_and_caught, depth)
    assert crossing.trace == [0, 1, 2]
    # Two raising functions of the library, four times `deep`, this kernel, the entry: no frames of
    # what was caught.
    assert len(error.artiq_core_exception.report.backtrace) == 8
