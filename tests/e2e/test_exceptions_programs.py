"""Exceptions in kernels compared with Python's: random programs must behave identically in both."""

import importlib.util
import warnings

import pytest

from kairos.coredevice.core import Core

from .programs import source

KERNEL_HEAD = "from kairos.experiment import *\n\n\n"
PYTHON_HEAD = """\
TInt32 = int


def kernel(function):
    return function


def rpc(function=None, flags=None):
    return function or (lambda function: function)


"""
MARKS_MAX = 1000
"""Longer programs are skipped: they add nothing."""


class TooLong(BaseException):
    """A program does not terminate in time."""


class Trace(list):
    def append(self, number):
        if len(self) > MARKS_MAX:
            raise TooLong
        super().append(number)


def module(path, text):
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    result = importlib.util.module_from_spec(spec)
    with warnings.catch_warnings():
        # `return` and `break` in `finally`, which newer Pythons warn about.
        warnings.simplefilter("ignore", SyntaxWarning)
        spec.loader.exec_module(result)
    return result


def python_chain(error):
    """Return the names of an exception and those in whose handlers it was raised, oldest first."""
    names = []
    while error is not None:
        names.append(type(error).__name__)
        error = error.__context__
    return names[::-1]


def device_chain(error):
    report = error.artiq_core_exception.report
    return [exception.name.partition(":")[2].split(".")[-1] for exception in report.exceptions]


def outcome(programs, number, chain):
    """Return a program's behaviour: its marks, then its result or its exceptions."""
    programs.trace[:] = []
    try:
        result = getattr(programs, f"p{number}")()
    except TooLong:
        return None
    except BaseException as error:
        result = chain(error)
    return list(programs.trace), result


def compare(numbers, device, directory):
    """Run the programs of these numbers on both; returns how many were compared."""
    reference = module(directory / "reference.py", source(numbers, PYTHON_HEAD)).Programs(None)
    reference.trace = Trace()
    core = Core(None, f"{device.host}:{device.port}", 1e-9)
    kernels = module(directory / "kernels.py", source(numbers, KERNEL_HEAD)).Programs(core)
    compared = 0
    try:
        for number in numbers:
            expected = outcome(reference, number, python_chain)
            if expected is None:
                continue
            assert outcome(kernels, number, device_chain) == expected, f"program {number}"
            compared += 1
    finally:
        core.close()
    return compared


def test_random_exception_programs_match_python(device, tmp_path):
    assert compare(range(50), device, tmp_path) > 40


@pytest.mark.long
@pytest.mark.parametrize("first", range(100, 1100, 100))
def test_many_random_exception_programs_match_python(device, tmp_path, first):
    assert compare(range(first, first + 100), device, tmp_path) > 80
