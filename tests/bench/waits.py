"""Waiting times of a user of an emulated device, in seconds of this machine: starting the command,
calls of the host, many kernels, many pin events, and a clock that runs meanwhile."""

import contextlib
import io
import itertools
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from tests.support.experiment import experiment
from tests.support.gateware import database
from tests.support.installed import Installation

from .timing import KAIROS, wall

__all__ = ["PREFIXES", "installed_figures", "waiting_figures"]

PREFIXES = (
    "cli.",
    "run.rpc",
    "run.print",
    "run.kernels",
    "run.array",
    "run.list",
    "emulator.events",
    "emulator.clock_generator",
)

CALLS = 5000
KERNELS = 50
EVENTS = 50_000
MILLION = 1_000_000


def _command_figures(figures):
    with tempfile.TemporaryDirectory() as folder:
        noop = Path(folder, "noop").with_suffix(".py")
        noop.write_text(
            "from artiq.experiment import *\n\n\nclass Noop(EnvExperiment):\n    def run(self):\n        pass\n"
        )
        (Path(folder) / "device_db.py").write_text("device_db = {}\n")
        figures.add("cli.start_s", wall([KAIROS, "--version"], 5, folder), "s", target=0.15, source="kairos --version")
        figures.add(
            "cli.run_noop_s",
            wall([KAIROS, "run", noop], 5, folder),
            "s",
            target=0.4,
            baseline=0.7,
            source="kairos run of an experiment that does nothing; baseline: the reference's runner, 0.6 to 0.8 s",
        )


def installed_figures(figures):
    """Waiting times of a user who has only the wheels."""
    with tempfile.TemporaryDirectory() as folder:
        seconds, said = Installation(Path(folder)).first_run()
        if "sent 3 pulses" not in said:
            raise SystemExit(f"the first run of an installed Kairos has said:\n{said}")
    figures.add(
        "wheel.first_pulse_s",
        seconds,
        "s",
        target=20,
        source="installed from wheels, no toolchain: kairos new blink && kairos run blink.py, with nothing kept",
    )


def _seconds(call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _least(call, between=lambda: None) -> float:
    """Return the seconds of the fastest of three runs: other processes only add to them. between:
    called before each."""
    times = []
    for _ in range(3):
        between()
        times.append(_seconds(call))
    return min(times)


def waiting_figures(figures):
    """One emulated device, driven through the same classes as `kairos run`."""
    from kairos.emulator import acquire
    from kairos.waveform import Recording

    _command_figures(figures)
    device = acquire("emulator://demo")
    try:
        busy = experiment("tests/bench/kernels.py", "Waits")
        busy.calls(10)
        figures.add(
            "run.rpc_calls_per_s",
            CALLS / _least(lambda: busy.calls(CALLS)),
            "calls/s",
            target=5000,
            at_least=True,
            source="synchronous RPCs in a kernel's loop, wall time, best of three",
        )

        with contextlib.redirect_stdout(io.StringIO()) as printed:
            seconds = _least(lambda: busy.prints(CALLS))
        if printed.getvalue().count("\n") != 3 * CALLS:
            raise SystemExit("not all that a kernel has printed has come")
        figures.add(
            "run.print_us",
            1e6 * seconds / CALLS,
            "us",
            target=100,
            source=f"print of a number in a kernel, wall time, of {CALLS} until the kernel's end, best of three",
        )

        def kernels():
            for number in range(KERNELS):
                busy.small(number)

        kernels()
        figures.add(
            "run.kernels_per_s",
            KERNELS / _least(kernels),
            "kernels/s",
            target=100,
            at_least=True,
            source=f"{KERNELS} small kernels in one run, wall time, compilations included, best of three",
        )

        def events():
            busy.pulses(EVENTS // 2)
            device.wait_idle()
            trace = device.control.trace(until=device.recorded_until_ns)
            Recording.from_trace(trace, 0, {}, device.trace_start_ns)

        def clear_trace():
            # As in a separate run: otherwise the host would receive the earlier events again
            device.control.request("trace_clear")

        figures.add(
            "emulator.events_per_s",
            EVENTS / _least(events, clear_trace),
            "events/s",
            target=50_000,
            at_least=True,
            source="pin events of a kernel's loop until the host has them, wall time, best of three",
        )
        _million_figures(figures, busy)
    finally:
        device.stop()
    _clock_figure(figures)


def _million_figures(figures, busy):
    """A million int32 in an attribute: quoted, compiled into the kernel, sent, and one of them
    read."""
    source = "a kernel reads the last of a million int32 in an attribute, compilation included, best of three: "
    last = itertools.count(MILLION)

    def listed():
        # Different values each time, so that the cache does not apply.
        number = next(last)
        busy.numbers = list(range(number - MILLION, number))
        if busy.newest() != number - 1:
            raise SystemExit("a list has not arrived as it was")

    def arrayed():
        number = next(last)
        busy.array = np.arange(number - MILLION, number, dtype=np.int32)
        if busy.newest_of_array() != number - 1:
            raise SystemExit("an array has not arrived as it was")

    for name, call, what in [("list", listed, "a list"), ("array", arrayed, "a NumPy array")]:
        figures.add(f"run.{name}_1e6_s", _least(call), "s", target=0.3, baseline=5.8, source=source + what)


def _clock_figure(figures):
    from kairos.emulator import acquire

    with tempfile.TemporaryDirectory() as folder:
        # The variant with clock generators.
        devices = database("lab", Path(folder))
        device = acquire("emulator://lab")
        busy = experiment("tests/bench/kernels.py", "Clocked", devices)
    try:
        busy.blink()
        without = statistics.median(_seconds(busy.blink) for _ in range(3))
        busy.start(10e6)
        beside = statistics.median(_seconds(busy.blink) for _ in range(3))
    finally:
        device.stop()
    figures.add(
        "emulator.clock_generator_cost",
        beside / without,
        "",
        target=1.1,
        source="wall time of pulses and calls of the host while a clock of 10 MHz runs, over without",
    )
