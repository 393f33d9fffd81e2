"""Random programs: kernels give the same results on the device as in Python with the language's numbers."""

import contextlib
import importlib.util
import math
import signal
import warnings

import numpy as np
import pytest

from kairos.errors import CompileError

from .generator import Writer, source
from .model import NAMES, plain

KERNEL_HEAD = "import numpy as np\nfrom kairos.experiment import *\nfrom numpy import int32, int64\n\n\n"
PYTHON_HEAD = """\
def rpc(function=None, flags=None):
    return function or (lambda function: function)


"""
TOGETHER = 40
"""Number of programs per kernel."""
RAISED = (ArithmeticError, LookupError, ValueError, RuntimeError)
"""Exceptions with which a program may end."""


@contextlib.contextmanager
def limited(seconds):
    """Limits run time in Python: a loop becomes endless when the statement that ends it is removed."""

    def end(*_):
        raise TimeoutError(f"not done in {seconds} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def all_of(numbers):
    calls = "".join(f"        self.p{number}()\n" for number in numbers)
    return f"\n    @kernel\n    def all(self):\n{calls}"


def marks_in_python(texts, numbers):
    names = dict(NAMES)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        exec(compile(source([*texts, all_of(numbers)], PYTHON_HEAD), "<programs>", "exec"), names)
        return outcome(names["Programs"](None))


def outcome(programs):
    """Returns the marks, the final attributes of the host, and the exception that ended the programs, if any."""
    raised = None
    try:
        programs.all()
    except RAISED as error:
        raised = type(error).__name__
    left = (programs.total, programs.wide, programs.real, programs.slots, programs.grid, programs.guard.entered)
    return [
        *(tuple(plain(value) for value in values) for values in programs.marks),
        ("left", raised, *map(plain, left)),
    ]


def marks_of_kernel(texts, numbers, core, path):
    path.write_text(source([*texts, all_of(numbers)], KERNEL_HEAD))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return outcome(module.Programs(core))


def same(a, b):
    if isinstance(a, float) and isinstance(b, float):
        return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    if isinstance(a, tuple | list) and type(a) is type(b):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


class Comparison:
    """Compares programs on a device with Python."""

    def __init__(self, core, directory):
        self.core, self.directory, self.count = core, directory, 0

    def differs(self, texts, numbers, seconds=120):
        """Returns the first differing mark as (program, in Python, in the kernel), or None."""
        self.count += 1
        with limited(seconds):
            expected = marks_in_python(texts, numbers)
        found = marks_of_kernel(texts, numbers, self.core, self.directory / f"programs_{self.count}.py")
        for a, b in zip(expected, found, strict=False):
            if not same(a, b):
                return a[0], a, b
        return None if len(expected) == len(found) else (numbers[-1], len(expected), len(found))

    def still_differs(self, text, number):
        try:
            return self.differs([text], [number], seconds=2)
        except (CompileError, SyntaxError, NameError, TypeError, AttributeError, TimeoutError):
            return None

    def shrunk(self, text, number):
        """Returns a reduced program: statements are removed as long as the results still differ."""
        smaller = True
        while smaller:
            smaller = False
            lines = text.splitlines()
            for start in range(len(lines) - 1, -1, -1):
                indent = len(lines[start]) - len(lines[start].lstrip())
                if indent < 8:
                    continue
                end = start + 1
                while end < len(lines) and len(lines[end]) - len(lines[end].lstrip()) > indent:
                    end += 1
                for instead in ([], [" " * indent + "pass"]):
                    shorter = "\n".join(lines[:start] + instead + lines[end:]) + "\n"
                    if shorter != text and len(shorter) < len(text) and self.still_differs(shorter, number):
                        text, smaller = shorter, True
                        break
                if smaller:
                    break
        return text

    def check(self, numbers):
        texts = [Writer(number).text() for number in numbers]
        try:
            different = self.differs(texts, numbers)
        except CompileError as error:
            pytest.fail(f"programs {numbers[0]} to {numbers[-1]} are refused:\n{error}", pytrace=False)
        if different:
            number, expected, found = different
            if number == "left":
                number = next(n for n in numbers if self.still_differs(Writer(n).text(), n))
            text = self.shrunk(Writer(number).text(), number)
            pytest.fail(f"seed {number}: Python {expected}, kernel {found}\n{text}", pytrace=False)


@pytest.fixture
def comparison(core, tmp_path):
    return Comparison(core, tmp_path)


DIFFERENT = """
    @kernel
    def p7(self):
        self.mark(7, 1)
        self.mark(7, self.p7_0(int32(0)))

    @kernel
    def p7_0(self, i0: TInt32) -> TInt32:
        i1 = int32(2)
        while i1 > 0:
            i1 -= int32(1)
            if i0 == 0:
                i0 = int32(5)
            i0 = int32(3) // i0
        return len(self.marks)
"""
"""The host's list grows during the run, the kernel's does not: random programs do not read its length."""


def test_shrinking_keeps_the_difference_without_exceptions(comparison):
    assert comparison.differs([DIFFERENT], [7])
    shrunk = comparison.shrunk(DIFFERENT, 7)
    assert "len(self.marks)" in shrunk and "i1" not in shrunk, shrunk
    assert comparison.still_differs(shrunk, 7)


def check_all(comparison, numbers):
    for first in range(numbers.start, numbers.stop, TOGETHER):
        comparison.check(list(range(first, min(first + TOGETHER, numbers.stop))))


@pytest.mark.parametrize("part", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(1, 8))])
def test_random_programs_match_python(comparison, part):
    check_all(comparison, range(250 * part, 250 * (part + 1)))


@pytest.mark.long
@pytest.mark.parametrize("part", range(48))
def test_many_random_programs_match_python(comparison, part):
    check_all(comparison, range(2000 + 1000 * part, 3000 + 1000 * part))
