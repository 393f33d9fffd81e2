"""Figures of kernels on two boards: durations of calls between them, of passing values and of
starting playback on the other board, by the RTIO counter."""

import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

PREFIXES = ("subkernel.", "ddma.", "rtio.remote_kernel")
REMOTE_PREFIXES = ("remote.copy_8b", "remote.mailbox", "remote.fetch", "remote.load")
CROSS_PREFIXES = ("remote.cross", "remote.tree")
WORKLOAD_PREFIXES = ("remote.stream", "remote.stencil")
_FIBRE_NS = 1000


def board_figures(figures):
    """Measured on emulator://pair."""
    from kairos.emulator import acquire
    from tests.support.experiment import experiment
    from tests.support.gateware import built

    built("pair", "satellite")
    emulator = acquire("emulator://pair")
    first, later, message = experiment(
        "tests/bench/board_kernels.py", "Calls", "examples/two_boards_device_db.py"
    ).run()
    start, quiet = experiment("tests/bench/board_kernels.py", "Distributed", "examples/two_boards_device_db.py").run()
    experiment("tests/e2e/experiments/remote_posting.py", "InTurn", "examples/two_boards_device_db.py").run()
    # The first output on each channel is not posted
    submitted = emulator.control.submissions()[-396:]
    emulator.stop()
    where = "emulator://pair, fibre of 1 us"
    figures.add(
        "subkernel.first_call_us", first / 1000, "us", source=f"with its library sent to the satellite; {where}"
    )
    figures.add("subkernel.call_us", later / 1000, "us", source=f"an empty subkernel, started and awaited; {where}")
    figures.add("subkernel.message_us", message / 1000, "us", source=f"an int32 there and another back; {where}")
    figures.add(
        "rtio.remote_kernel_event_cycles",
        statistics.mean(b - a for a, b in zip(submitted, submitted[1:], strict=False)),
        "cycles",
        baseline=67,
        source=f"outputs of a kernel on the satellite, none of them waited for; baseline: each waited for; {where}",
    )
    least = "how far ahead a trace has to be started so that the other board is in time, in steps of 1 us"
    figures.add("ddma.start_us", start / 1000, "us", source=f"{least}; {where}")
    figures.add("ddma.start_quiet_us", quiet / 1000, "us", source=f"{least}, after 10 ms of silence; {where}")


@contextmanager
def _emulated(system_text: str, memories: Callable[[Path], str]) -> Iterator[Callable[[str], Any]]:
    """Emulate boards with remote memory; yields a function that runs an experiment of `board_kernels.py` on them, by
    its name. memories: entries of the device database, by the file of the system."""
    from kairos.emulator import shutdown_all
    from tests.support.databases import two_boards
    from tests.support.experiment import experiment

    with TemporaryDirectory() as folder:
        system = Path(folder) / "system.toml"
        database = Path(folder) / "device_db.py"
        system.write_text(system_text)
        database.write_text(two_boards(f"emulator://{system}") + memories(system))
        try:
            yield lambda name: experiment("tests/bench/board_kernels.py", name, str(database)).run()
        finally:
            shutdown_all()


def remote_figures(figures):
    """Measured on the variants `memory` and `store`."""
    from tests.support.boards import MEMORY_PAIR
    from tests.support.databases import REMOTE_MEMORY
    from tests.support.gateware import built

    built("memory", "store")
    with _emulated(MEMORY_PAIR, lambda system: REMOTE_MEMORY) as run:
        arrived, returned = run("Copies")
        message = run("Messages")
        small, large, loads = run("Fetches")
    where = "fastest of 8; emulated boards, fibre of 1 us"
    how = f"a kernel's call of `copy` to the arrival of 8 bytes, as seen by a kernel that polls; {where}; "
    how += "baseline: the paper's base time of a small bulk transfer"
    figures.add("remote.copy_8b_us", arrived / 1000, "us", target=3, baseline=1.9, source=how)
    how = f"the same call to its return, when the arrival has been acknowledged; {where}"
    figures.add("remote.copy_8b_acknowledged_us", returned / 1000, "us", source=how)
    how = "a kernel's call of `store` to the arrival of a word in the mailbox, as seen by a kernel that polls its "
    how += "cached memory, less the fibre; fastest of 8; emulated boards, whose coherent port is an assumption"
    figures.add("remote.mailbox_us", (message - _FIBRE_NS) / 1000, "us", target=1, source=how)
    how = (
        "a kernel's call of `fetch` to its return, when 8 bytes of the other board's memory are in this one's; " + where
    )
    figures.add("remote.fetch_8b_us", small / 1000, "us", source=how)
    how = f"64 KiB by one call of `fetch`; {where}"
    figures.add("remote.fetch_mb_s", 65536e3 / large, "MB/s", source=how)
    how = "1024 words by `read`, a load of 32 bits each; emulated boards, fibre of 1 us; "
    how += "baseline: the paper's remote STREAM"
    figures.add("remote.load_mb_s", 4096e3 / loads, "MB/s", baseline=4.8, source=how)


def cross_figures(figures):
    """Measured on the variants `ring` and `peer`, twice."""
    from tests.support.boards import MEMORY_RING
    from tests.support.databases import memories
    from tests.support.gateware import built

    built("ring", "peer")
    with _emulated(MEMORY_RING, lambda system: memories(system, {"first": 1, "second": 2})) as run:
        taken = run("Across")
    for way, where, times in [
        ("cross", "by the cross link of both", taken[:3]),
        ("tree", "by way of the master", taken[3:]),
    ]:
        how = f"a satellite's kernel to another satellite, {where}; fastest of 8; emulated boards, fibres of 1 us"
        for name, what, time in zip(
            ("store", "copy_8b", "copy_64k"), ("a store", "a copy of 8 bytes", "a copy of 64 KiB"), times, strict=True
        ):
            figures.add(f"remote.{way}_{name}_us", time / 1000, "us", source=f"{what} of {how}")


def workload_figures(figures):
    """Examples of remote memory, whose results NumPy checks; the last on up to eight boards."""
    import os

    from kairos.emulator import shutdown_all
    from tests.support.experiment import experiment
    from tests.support.gateware import built, built_from
    from tests.support.paths import EXAMPLES

    built("memory", "store", "memory_star")
    built_from(*(EXAMPLES / "remote/eight").glob("*.json"))
    database, where = (
        "examples/remote/device_db.py",
        "checked by NumPy; emulated boards, whose processors have no caches",
    )
    try:
        stream = experiment("examples/remote/stream.py", "Stream", database)
        stream.prepare()
        stream.run()
        rates = stream.get_dataset("mb_per_s")
        for way, name, baseline, what in [
            (0, "single", 4.8, "single loads and posted stores; baseline: the paper's copy"),
            (1, "engine", 4.8, "blocks of 1 KiB, fetched and copied back by the engine; baseline: the paper's copy"),
        ]:
            for operation, rate in zip(("copy", "scale", "add", "triad"), rates[way], strict=True):
                source = f"examples/remote/stream.py, fibre of 1 us, {what}; {where}"
                figures.add(f"remote.stream_{operation}_{name}_mb_s", rate, "MB/s", baseline=baseline, source=source)
        for boards, system, name, arguments in [
            (1, "system", "Stencil", ["boards=1"]),
            (2, "system", "Stencil", ["boards=2"]),
            (4, "four_boards", "StencilFour", []),
            (8, "eight_boards", "StencilEight", []),
        ]:
            shutdown_all()
            os.environ["SYSTEM"] = f"{system}.toml"
            stencil = experiment("examples/remote/stencil.py", name, database, *arguments)
            stencil.prepare()
            stencil.run()
            stencil.analyze()
            source = f"examples/remote/stencil.py: a step of 64 x 64 points on {boards} boards; {where}"
            figures.add(f"remote.stencil_{boards}_us", stencil.get_dataset("step_us"), "us", source=source)
    finally:
        os.environ.pop("SYSTEM", None)
        shutdown_all()
