"""The virtual bench: shots on its ion, the cost of idle chips, and settings of an AD9910 through
its model."""

import inspect
import sys
import time

from kairos.compat import install

from .timing import ROOT

__all__ = ["PREFIXES", "bench_figures"]

PREFIXES = ("emulator.rabi_shots_per_s", "emulator.bench_overhead", "bench.", "dds.")
ION = ROOT / "examples" / "ion"
SETS = 2000
PUBLISHED_US = 2.35
"""Published time of one call of `set`, of an early port of ARTIQ to Zynq."""


def seconds(call, times=5):
    """Return the minimum duration of several runs."""
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        spent.append(time.perf_counter() - start)
    return min(spent)


def bench_figures(figures):
    from kairos.testing import Bench
    from tests.support.gateware import built

    install()
    sys.path.insert(0, str(ION))
    from .virtual_kernels import Shots

    built("ion")
    with Bench(ION / "device_db.py") as bench:
        made = bench.run(Shots)
        if figures.wants(PREFIXES[:1]):
            made.turns(10)
            figures.add(
                "emulator.rabi_shots_per_s",
                400 / (seconds(lambda: made.turns(400)) - seconds(lambda: made.turns(0))),
                "1/s",
                target=1000,
                at_least=True,
                source="shots of 250 us on the two-level ion, by one kernel; wall time less that of an empty call",
            )
        if figures.wants(("bench.", "dds.")):
            settings(figures, made)
    if figures.wants(PREFIXES[1:2]):
        overhead(figures, Shots)


def settings(figures, made):
    """Measure the shortest pause without an underflow between settings, by bisection: all longer
    ones work too."""
    made.sets(10, 1000)
    low, high = -1, 4096
    while high - low > 8:
        middle = (low + high) // 2
        low, high = (low, middle) if made.sets(SETS, max(middle, 0)) > 0 else (middle, high)
    pause = 0 if high < 8 else high
    taken = made.sets(SETS, pause)
    figures.add(
        "dds.set_rate",
        SETS / (taken * 1e-9),
        "1/s",
        target=1e6 / PUBLISHED_US,
        at_least=True,
        baseline=round(1e6 / PUBLISHED_US),
        source=f"AD9910.set of Hz, turns and amplitude, {SETS} one behind the other without underflow, by device time",
    )
    wall = seconds(lambda: made.sets(SETS, pause)) - seconds(lambda: made.sets(0, pause))
    source = "the same by wall time, through the models of card and chip"
    figures.add("bench.ad9910_sets_per_s", SETS / wall, "1/s", source=source)


def overhead(figures, kernels):
    """Eight idle models: the logic of an Urukul, its four synthesisers, three cables."""
    from kairos import emulator
    from kairos.cli.experiments import Experiment
    from kairos.devices import DeviceDB

    cables = "".join(f'[loopback.l{n}]\nfrom = "ttl{5 + n}"\nto = "ttl{1 + n}"\n' for n in range(3))
    file = ROOT / "build" / "bench-idle.toml"
    file.write_text(cables)
    devices = [("without", emulator.Options(open_pins=True)), ("with", emulator.Options(bench=str(file)))]
    spent = {name: [] for name, _ in devices}
    # Alternately: this machine's speed varies within a minute by more than the measured difference.
    for name, options in devices * 4:
        database = DeviceDB.load(ION / "device_db.py")
        device = emulator.acquire("emulator://ion", options)
        try:
            made = Experiment(inspect.getfile(kernels), "Shots", [], database, cls=kernels).instance
            made.blinks(10)
            spent[name].append(seconds(lambda made=made: made.blinks(20_000), 3))
        finally:
            device.stop()
    figures.add(
        "emulator.bench_overhead",
        min(spent["with"]) / min(spent["without"]),
        "ratio",
        target=1.1,
        source="20,000 pulses with an Urukul, its four AD9910 and three cables at the pins, over open pins; the least "
        "of twelve runs of each, in turns",
    )
