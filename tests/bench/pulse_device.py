"""The pulse core on the emulated device: latency from a kernel's change to the output, latency of
the start, and speed of the verilated logic."""

import os
from pathlib import Path

from kairos.contracts.pulse import Parameter
from kairos.emulator import acquire, shutdown_all
from kairos.pulse import Recording
from tests.support.experiment import experiment

from .drivers import FEW, MANY, settled

INSTRUCTIONS = {
    "update_number": "a number of a gate",
    "update_shape": "a factor of a shape of three segments",
    "update_spline": "four knots of a spline",
    "update_gate": "all eight numbers of a gate",
}
PREFIXES = ("pulse.update_", "pulse.start_", "sim.pulse_")
URL = "emulator://pulse"


def _least(attempt) -> int:
    """Return the call time of the first successful attempt with increasing lead."""
    for number in range(1000):
        begin = attempt(number)
        if begin >= 0:
            return int(begin)
    raise SystemExit("the pulse core cannot be updated")


def _update_us(updates, gate, count, parameter) -> float:
    """Return the time from the call to the first changed value at the output, with minimum spacing
    of events."""
    begin = _least(lambda n: updates.attempt(gate, count, 20.0 + n % 100, 200 * count + 8 * n))
    times, _ = Recording.of(acquire(URL)).changes(parameter, 0)
    return (times[times > begin][0] - begin) / 1000


def _instructions(updates, method) -> float:
    """Return the instructions of the kernel core per iteration of a loop, without setup and
    teardown."""
    run = updates.core.precompile(getattr(type(updates), method), updates)
    control, spent = acquire(URL).control, {}
    for updates.number in (FEW, FEW, MANY):  # the first run also includes common setup
        before = settled(control)
        run()
        spent[updates.number] = settled(control) - before
    return (spent[MANY] - spent[FEW]) / (MANY - FEW)


def _processor_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def device_figures(figures):
    """Measure the figures; the gateware `pulse` must be built.

    The logic's speed is measured with a kernel call that plays 2000 gates of 200 cycles on both
    channels without a gap and waits for their end, including the sending of events; never with a
    resting core, whose time is skipped.
    """
    updates = experiment("tests/bench/pulse_kernels.py", "Updates", "examples/pulses_device_db.py")
    try:
        updates.load()
        how = "from a kernel's call of `play_changed` to the changed value at the output; device time"
        baseline = "; baseline: the paper, its DMA alone"
        one = _update_us(updates, updates.one, 1, Parameter.A0)
        figures.add("pulse.update_one_parameter_us", one, "us", target=1.0, baseline=1.82, source=how + baseline)
        eight = _update_us(updates, updates.eight, 8, Parameter.A0)
        how = "likewise of `play_all_changed`, all eight parameters of a gate; device time"
        figures.add(
            "pulse.update_gate_us", eight, "us", baseline=8 * 1.82, source=how + "; baseline: the paper, eight DMAs"
        )
        begin = updates.start()
        times, _ = Recording.of(acquire(URL)).changes(Parameter.A0, 0)
        source = "from a trigger's time to a gate's first value, the 4 cycles of rest before it included"
        figures.add("pulse.start_latency_cycles", (times[times > begin][0] - begin) / 8, "cycles", source=source)
        for method, what in INSTRUCTIONS.items():
            source = f"core 1, the words for {what} made and sent, with a delay in a kernel's loop"
            figures.add(f"pulse.{method}_instr", _instructions(updates, method), "instr", source=source)
        emulator = acquire(URL)
        before, spent = emulator.control.status()["pl_cycles"], _processor_s(emulator.pid)
        updates.play_busy()
        cycles = emulator.control.status()["pl_cycles"] - before
        figures.add(
            "sim.pulse_mcycles_per_s",
            cycles / 1e6 / (_processor_s(emulator.pid) - spent),
            "Mcycles/s",
            target=0.5,
            at_least=True,
            source="whole emulated device `pulse` while it plays, by its processor time, both cores and recording "
            "included; 2 channels all of whose engines run splines",
        )
    finally:
        shutdown_all()
