"""Measures every figure and writes build/bench.json: `make bench`; with
`make bench FIGURES="dma. sed."` only those whose names begin so, the others keep what the file has
for them.

Counts and cycles are those of the emulated device and of the gateware, seconds those of this
computer: beside each figure stands how fast it computed just before (`count_1e6_ms`). A figure
that misses its target is printed as missed, not left out.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import traceback

from kairos_gateware.figures.__main__ import BEGINNINGS

from . import (
    arrays,
    boards,
    code,
    computer,
    ends,
    hub,
    hub_streams,
    lab,
    page,
    paths,
    pulse,
    pulse_device,
    pulse_loops,
    rehearsals,
    scope,
    selftests,
    virtual,
    waits,
)
from .timing import KAIROS, ROOT, wall

BLINK = ["run", "examples/blink.py", "--device-db", "examples/device_db.py"]


class Figures:
    """Collects figures, name -> {value, unit, baseline, target, met, source}, limited to names with
    one of `prefixes`."""

    def __init__(self, prefixes=("",)):
        self.all = {}
        self.prefixes = tuple(prefixes)
        self.count_1e6_ms = None
        """Milliseconds in which this computer counted to a million before the present group."""

    def wants(self, beginnings):
        """Return whether any figure whose name begins with one of `beginnings` is to be measured."""
        return any(b.startswith(p) or p.startswith(b) for b in beginnings for p in self.prefixes)

    def add(self, name, value, unit, *, target=None, baseline=None, source, at_least=False, **more):
        """Add a figure. `target` is the maximum value (the minimum with `at_least`; None: only
        reported), `baseline` the value it is compared with."""
        if not name.startswith(self.prefixes):
            return
        value = float(value)  # some come from NumPy
        met = None if target is None else value >= target if at_least else value <= target
        self.all[name] = {
            "value": round(value, 4),
            "unit": unit,
            "baseline": baseline,
            "target": target,
            "met": met,
            "source": source,
            "count_1e6_ms": self.count_1e6_ms,
            **more,
        }
        bounds = [] if target is None else [f"{'at least' if at_least else 'at most'} {target:g}"]
        bounds += [] if baseline is None else [f"baseline {baseline:g}"]
        verdict = {None: "stated", True: "met", False: "MISSED"}[met]
        print(
            f"{name:36} {value:10.6g} {unit:10} {verdict:7}" + (f" ({', '.join(bounds)})" if bounds else ""),
            flush=True,
        )


def user_figures(figures: Figures):
    """Waiting times of a user."""
    if os.environ.get("MAKELEVEL", "0") > "1":
        raise SystemExit("run the benchmark from the top level")
    figures.add("demo.warm_s", wall(["make", "--silent", "demo"]), "s", target=60, source="make demo, everything built")
    figures.add("run.blink_s", wall([KAIROS, *BLINK]), "s", target=2.0, source="kairos run, from process start to exit")


def compile_figures(figures: Figures):
    """First compilations, each in a fresh process."""
    from .compilations import cold_seconds, compile_seconds, median
    from .programs import PROGRAMS

    how = "first compilation in a process, imports excluded"
    figures.add(
        "compile.blink_s",
        median("examples/blink.py", "Blink", KAIROS_CACHE="off"),
        "s",
        target=0.08,
        baseline=0.12,
        source=f"{how}; baseline: reference compiler, 50 statements",
    )
    if any(name.startswith(figures.prefixes) for name in ("compile.import_s", "compile.cold_blink_s")):
        importing, cold = cold_seconds()
        figures.add("compile.import_s", importing, "s", target=0.03, source="import kairos.compiler in a fresh process")
        source = "from the begin of that import to the library of examples/blink.py"
        figures.add("compile.cold_blink_s", cold, "s", target=0.05, source=source)
    wanted = {"compile.cached": (0.010, None, "the slowest of them, found by a second process among what is kept")}
    wanted |= {f"compile.{name}": row[1:] for name, row in PROGRAMS.items()}
    if not any(name.startswith(figures.prefixes) for name in wanted):
        return
    for name, value in compile_seconds().items():
        target, baseline, what = wanted[f"compile.{name}"]
        source = f"{what}: {how}; baseline: reference compiler"
        figures.add(f"compile.{name}", value, "s", target=target, baseline=baseline, source=source)


def testing_figures(figures: Figures):
    """Overhead of a test of an experiment with its own device."""
    from kairos.testing import Bench
    from tests.support.gateware import built

    built("ion")
    spent = []
    for _ in range(7):
        start = time.perf_counter()
        with Bench("examples/ion/device_db.py") as bench:
            bench.device.wait_ready()
        spent.append(time.perf_counter() - start)
    source = "an emulated device with a bench: started, booted, ended"
    figures.add("testing.device_s", statistics.median(spent), "s", target=0.2, source=source)


def device_figures(figures: Figures):
    """Several emulated devices in turn, driven through the same classes as `kairos run`."""
    from kairos.emulator import Emulator, acquire
    from tests.support.experiment import experiment

    from .inputs import input_read_cycles

    boots = []
    for _ in range(5):
        start = time.perf_counter()
        emulator = Emulator("demo")
        emulator.wait_ready()
        boots.append(time.perf_counter() - start)
        emulator.stop()
    figures.add(
        "emulator.boot_s",
        statistics.median(boots),
        "s",
        target=0.7,
        source="process start of the emulator until the firmware stands idle with its network up",
    )

    emulator = acquire("emulator://demo")
    control = emulator.control

    mips, instructions = compute_mips(control)
    figures.add(
        "emulator.mips",
        mips,
        "MIPS",
        target=100,
        at_least=True,
        source=f"both cores, a computing kernel with asynchronous RPCs, {instructions / 1e6:.0f} M instructions",
    )

    waiting = experiment("tests/bench/kernels.py", "WaitOneSecond")
    run = waiting.core.precompile(type(waiting).run, waiting)
    walls = []
    for _ in range(3):
        before, start = control.status(), time.perf_counter()
        run()
        walls.append(time.perf_counter() - start)
        assert control.status()["time_ns"] - before["time_ns"] > 1_000_000_000
    figures.add(
        "emulator.skip_1s_s", statistics.median(walls), "s", target=0.3, source="a kernel that waits 1 s of device time"
    )

    outputs = experiment("tests/bench/kernels.py", "Outputs")
    run = outputs.core.precompile(type(outputs).run, outputs)
    before = control.status()["sev_count"]
    run()
    assert control.status()["sev_count"] - before == 400, "one event for each output"
    cycles = control.submissions()[-400:]
    periods = [b - a for a, b in zip(cycles, cycles[1:], strict=False)]
    source = (
        "PL cycles (8 ns) between outputs of a kernel's loop with ample slack, real kernel code, ACP read latency 20, "
        "write visibility 15, 1 instruction per CPU cycle; baseline: reference initiator, there with a CPU cost of 25"
    )
    # Two names for one measurement: the first target is the reference, the second our aim.
    for name, target in [("initiator.period_cycles", 71), ("initiator.period_posted_cycles", 4)]:
        figures.add(name, statistics.mean(periods), "cycles", target=target, baseline=71, source=source)
    figures.add(
        "initiator.input_read_cycles",
        input_read_cycles(),
        "cycles",
        target=8,
        baseline=71,
        source="PL cycles of a read in a kernel's loop, the event being there; baseline: reference, 46 + C with C = 25",
    )
    emulator.stop()
    pair_figures(figures, mips)


def compute_mips(control, devices="examples/device_db.py"):
    """Return (million instructions per second of all cores of all boards, instructions) of a
    computing kernel."""
    from tests.support.experiment import experiment

    boards = control.status()["boards"]

    def instructions():
        return sum(sum(control.request("status", board=board)["instructions"]) for board in boards)

    compute = experiment("tests/bench/kernels.py", "Compute", devices)
    run = compute.core.precompile(type(compute).run, compute)
    before, start = instructions(), time.perf_counter()
    run()
    seconds = time.perf_counter() - start
    count = instructions() - before
    return count / seconds / 1e6, count


def pair_figures(figures: Figures, alone: float):
    """As `device_figures`, with a satellite whose processors run. alone: MIPS of one board."""
    from kairos.emulator import acquire
    from tests.support.gateware import built

    built("pair", "satellite")
    emulator = acquire("emulator://pair")
    mips, count = compute_mips(emulator.control, "examples/two_boards_device_db.py")
    what = f"the same kernel on the master of emulator://pair, {count / 1e6:.0f} M instructions, its satellite waits"
    figures.add("emulator.pair_mips", mips, "MIPS", baseline=alone, source=f"{what}; baseline: emulator.mips")
    emulator.stop()


DEVICE = ("emulator.boot", "emulator.mips", "emulator.pair_mips", "emulator.skip", "initiator.")

INSTRUCTIONS = {
    # name: (unit, target, baseline, description)
    "rpc.roundtrip_instr": ("instr", 6000, None, "f(int) -> int, both cores, host's part excluded"),
    "rpc.async_instr_per_byte": ("instr/B", 3, 11.1, "64 calls of 64 KiB, both cores; baseline: 69 MiB/s at 800 MHz"),
    "rpc.bytes_d2h_instr_per_byte": ("instr/B", 3, None, "an argument of 1 MiB, both cores"),
    "rpc.list_i32_d2h_instr_per_byte": ("instr/B", 3, None, "a list argument of 1 MiB, both cores"),
    "rpc.list_i32_h2d_instr_per_byte": ("instr/B", 4, None, "a list result of 1 MiB, both cores"),
    "tcp.tx_instr_per_byte": ("instr/B", 0.7, 7.5, "core 0 alone, while it sends 1 MiB of a call; baseline: 102 MiB/s"),
    "tcp.rx_instr_per_byte": ("instr/B", 1.5, 7.1, "core 0, while it receives a library of 4 MiB; baseline: 108 MiB/s"),
    "kernel.start_instr": (
        "instr",
        150_000,
        None,
        "upload of 10 kB to the first instruction of the kernel, both cores",
    ),
    "rtio.output_instr": (
        "instr",
        20,
        None,
        "core 1, one output and delay in a loop of a library that calls both; compiled by Kairos: driver.ttl_on_instr",
    ),
    "image.kernel_bytes": (
        "bytes",
        292 * 1024,
        None,
        "image of core 1, which makes pulses since it is above 280 KiB, and gates in tables since it is above 284",
    ),
    "image.runtime_bytes": (
        "bytes",
        800 * 1024,
        None,
        "image of core 0, with core 1's, links, subkernels, all boards' records, distributed DMA, batches and health",
    ),
}


def counted_figures(figures: Figures):
    """Instructions of the emulated cores, one per cycle, and sizes."""
    from .counting import all_counts, image_sizes

    for name, value in (all_counts() | image_sizes()).items():
        unit, target, baseline, source = INSTRUCTIONS[name]
        figures.add(name, value, unit, target=target, baseline=baseline, source=source)


DRIVERS = {
    # name: (instructions before the drivers were built from parts, description)
    "driver.ttl_on_instr": (36, "TTLOut.on"),
    "driver.ttl_pulse_instr": (69, "TTLOut.pulse of a constant time"),
    "driver.clockgen_set_instr": (85, "TTLClockGen.set of a frequency from the host"),
    "driver.gate_rising_instr": (69, "TTLInOut.gate_rising of a constant time"),
    "driver.count_instr": (50.4, "TTLInOut.count, for each edge"),
    "driver.ad9910_set_instr": (681.65, "AD9910.set of Hz, turns and amplitude from the host"),
    "driver.ad9910_set_mu_instr": (513.5, "AD9910.set_mu"),
    "driver.urukul_cfg_sw_instr": (284.3, "CPLD.cfg_sw, protocol revision 9"),
    "driver.zotino_write_dac_instr": (114, "Zotino.write_dac of volts from the host"),
    "driver.fastino_set_dac_instr": (89, "Fastino.set_dac of volts from the host"),
}


def driver_figures(figures: Figures):
    """Costs of driver methods after inlining by the compiler."""
    from .drivers import driver_counts

    how = "core 1, a call in a kernel's loop, with a delay and the firmware's part; baseline: each method written out"
    for name, value in driver_counts().items():
        baseline, what = DRIVERS[name]
        figures.add(name, value, "instr", target=baseline, baseline=baseline, source=f"{what}: {how}")


def gateware_figures(figures: Figures):
    """Area and depth by yosys, cycles by simulation. In a separate process, since it keeps whole
    designs in memory."""
    command = [sys.executable, "-m", "kairos_gateware.figures", *figures.prefixes]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError("the gateware's figures cannot be measured")
    for name, figure in json.loads(done.stdout).items():
        figures.add(name, **figure)


# (function, prefixes of its figures' names, description, time on two cores)
GROUPS = [
    (computer.computer_figures, computer.PREFIXES, "this computer", "5 s"),
    (counted_figures, tuple(INSTRUCTIONS), "instructions of the firmware", "15 s"),
    (driver_figures, ("driver.",), "instructions of drivers", "10 s"),
    (arrays.array_figures, (*arrays.FUNCTIONS, *arrays.OPERATIONS), "functions and operations on arrays", "20 s"),
    (code.code_figures, ("code.",), "plain code", "10 s"),
    (compile_figures, ("compile.",), "compiler", "3 min"),
    (device_figures, DEVICE, "emulated device", "20 s"),
    (testing_figures, ("testing.",), "experiments under test", "5 s"),
    (virtual.bench_figures, virtual.PREFIXES, "virtual bench", "30 s"),
    (rehearsals.twin_figures, rehearsals.PREFIXES, "rehearsals and sweeps", "40 s"),
    (selftests.selftest_figures, selftests.PREFIXES, "selftest of every card", "20 s"),
    (user_figures, ("demo.", "run.blink"), "the demonstration", "20 s"),
    (waits.waiting_figures, waits.PREFIXES, "what a user of an emulated device waits for", "1 min"),
    (ends.end_figures, ends.PREFIXES, "ends of runs", "1 min"),
    (waits.installed_figures, ("wheel.",), "Kairos installed from wheels", "40 s, three minutes if they are not built"),
    (paths.path_figures, paths.PREFIXES, "paths between processors, memory and logic", "10 s"),
    (hub.hub_figures, hub.PREFIXES, "registers through the hub", "10 s"),
    (hub_streams.hub_stream_figures, hub_streams.PREFIXES, "streams and many clients of the hub", "30 s"),
    (lab.lab_figures, lab.PREFIXES, "the laboratory service", "2 min"),
    (page.page_figures, page.PREFIXES, "the laboratory in a browser", "1 min"),
    (scope.scope_figures, scope.PREFIXES, "pages for a browser", "15 s"),
    (boards.board_figures, boards.PREFIXES, "kernels on two boards", "10 s"),
    (boards.remote_figures, boards.REMOTE_PREFIXES, "memory of other boards", "10 s"),
    (boards.cross_figures, boards.CROSS_PREFIXES, "memory of other boards beside the tree", "15 s"),
    (boards.workload_figures, boards.WORKLOAD_PREFIXES, "workloads in the memory of other boards", "1 min"),
    (pulse_device.device_figures, pulse_device.PREFIXES, "pulse core: emulated device", "30 s"),
    (pulse_loops.loop_figures, pulse_loops.PREFIXES, "pulse core: two boards, and a laser", "1 min"),
    (pulse.pulse_figures, pulse.PREFIXES, "pulse core: model and compiler", "40 s"),
    (
        gateware_figures,
        BEGINNINGS,
        "gateware, most of it synthesis by yosys",
        "4 min, half a minute while the logic is the same",
    ),
]


def keep(figures: Figures, path):
    """Write the figures measured so far; figures that were not requested keep their values in
    `path`."""
    kept = json.loads(path.read_text()) if path.exists() and figures.prefixes != ("",) else {}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(kept | figures.all, indent=2) + "\n")


def measure_all(figures: Figures, groups, path) -> list[str]:
    """Measure each group with requested figures; returns those that failed. A failure does not
    affect other groups."""
    failed = []
    for measure, beginnings, what, seconds in groups:
        if not figures.wants(beginnings):
            continue
        figures.count_1e6_ms = round(computer.count_ms(), 1)
        print(f"== {what} (about {seconds}; Python counts to a million in {figures.count_1e6_ms} ms)", flush=True)
        try:
            measure(figures)
        except SystemExit as error:  # its text describes the failure
            print(error, file=sys.stderr)
            failed.append(what)
        except Exception:
            traceback.print_exc()
            failed.append(what)
        keep(figures, path)
    return failed


def main():
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__.splitlines()[0])
    parser.add_argument("prefix", nargs="*", help="only figures whose names begin so")
    figures = Figures(parser.parse_args().prefix or [""])
    path = ROOT / "build" / "bench.json"
    failed = measure_all(figures, GROUPS, path)
    if not figures.all and not failed:
        raise SystemExit(f"no figure begins with {' or '.join(figures.prefixes)}")
    missed = [name for name, figure in figures.all.items() if figure["met"] is False]
    print(
        f"{len(figures.all)} figures in {path.relative_to(ROOT)}" + (f"; missed: {', '.join(missed)}" if missed else "")
    )
    if failed:
        raise SystemExit(f"not measured, for the errors above: {'; '.join(failed)}")


if __name__ == "__main__":
    main()
