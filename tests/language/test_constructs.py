"""The constructs of the language, each in its own program, compared with Python: the emulated device
must produce the same output as Python.

A program is a class with a kernel `run` in a module of `constructs`. Where kernels deliberately
differ from Python, `EXPECTED` of the class is the expected output.
"""

import importlib
import inspect
import pkgutil

import pytest

from kairos.dry_run.timeline import Timeline
from kairos.language.core import _HostRun, set_time_manager

from . import constructs
from .constructs import left
from .constructs.marks import Marks


class Python:
    """Runs kernels in Python."""

    ref_period = 1e-9

    def run(self, function, args, kwargs):
        return function.artiq_embedded.function(*args, **kwargs)


def programs():
    modules = [
        importlib.import_module(f"{constructs.__name__}.{m.name}") for m in pkgutil.iter_modules(constructs.__path__)
    ]
    classes = [
        c
        for module in modules
        for _, c in inspect.getmembers(module, inspect.isclass)
        if c.__module__ == module.__name__
    ]
    return [c for c in classes if issubclass(c, Marks) and hasattr(c, "run")]


def said(program):
    """Returns the marks of the program, and the exception that ended it, if any."""
    try:
        program.run()
    except Exception as error:
        return [*program.trace, (type(error).__name__, str(error))]
    return program.trace


@pytest.mark.parametrize("program", programs(), ids=lambda program: program.__name__)
def test_construct_on_the_device_matches_python(program, core):
    expected = program.EXPECTED if hasattr(program, "EXPECTED") else said(program(Python()))
    assert expected
    assert repr(said(program(core))) == repr(expected)


@pytest.mark.parametrize(
    "program", [p for p in programs() if issubclass(p, left.Timed)], ids=lambda program: program.__name__
)
def test_simulated_kernel_matches_the_device(program):
    before = _HostRun.timeline
    try:
        with Timeline().running():
            assert said(program(Python())) == program.EXPECTED
    finally:
        set_time_manager(before)
