"""Instructions of the kernel core for loops of plain code, compared with clang's code for the same
loops in C."""

import tempfile
from pathlib import Path

from tests.support.device import Device
from tests.support.experiment import experiment
from tests.support.kernels import begin, marks
from tests.support.raw_session import Session
from tests.support.waiting import settled as device_settled

from .drivers import settled

FEW, MANY = 500, 1500
"""Iterations of the two runs compared: their difference excludes setup and teardown."""
METHODS = {"code.primes_instr": "primes", "code.float_loop_instr": "float_loop"}
"""Figure and method of kernels.Code, in the order of their numbers in tests/kernels/code.c."""


def of_clang() -> dict[str, tuple[float, int]]:
    """Return the instructions per iteration, and the result of the longer run, of
    tests/kernels/code.c."""
    found = {}
    with tempfile.TemporaryDirectory() as directory:
        device = Device(Path(directory))
        try:
            for program, name in enumerate(METHODS):
                spent, results = {}, []
                for number in (FEW, FEW, MANY):  # the first run also includes common setup
                    before = device_settled(device)[1]
                    with Session(device) as session:
                        begin(session, "code", number << 1 | program)
                        requests, exception = session.until_end()
                        assert exception is None
                        results = marks(requests)
                    spent[number] = device_settled(device)[1] - before
                found[name] = (spent[MANY] - spent[FEW]) / (MANY - FEW), results[0]
        finally:
            device.close()
    return found


def own() -> dict[str, tuple[float, int]]:
    """As `of_clang`, for kernels.Code, compiled by Kairos."""
    from kairos.emulator import acquire

    emulator, found = acquire("emulator://demo"), {}
    try:
        for name, method in METHODS.items():
            code = experiment("tests/bench/kernels.py", "Code")
            run, spent, result = code.core.precompile(getattr(type(code), method), code), {}, 0
            for code.number in (FEW, FEW, MANY):
                before = settled(emulator.control)
                result = run()
                spent[code.number] = settled(emulator.control) - before
            found[name] = (spent[MANY] - spent[FEW]) / (MANY - FEW), result
            code.core.close()
    finally:
        emulator.stop()
    return found


def code_figures(figures):
    """Loops of plain code, compared with another compiler."""
    ours, theirs = own(), of_clang()
    for name in METHODS:
        (value, result), (baseline, expected) = ours[name], theirs[name]
        if result != expected:
            raise SystemExit(f"{name}: the kernel gives {result}, that in C {expected}")
        source = (
            f"core 1, a pass of {FEW} to {MANY}, divisors checked; baseline: clang -O2 from the same program in C, "
            "where a division by zero is no exception (float_loop with that check: 18)"
        )
        figures.add(name, value, "instr", baseline=round(baseline, 4), source=source)
