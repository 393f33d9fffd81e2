"""``kairos bench``: what is wired to the pins of an emulated device, checked and drawn; and what a run has of it."""

import json
import subprocess
import sys
from pathlib import Path

from ..devices import DeviceDB
from ..emulator import artifacts, is_emulated, variant_of
from ..errors import UsageError
from .bench_plot import write_plot
from .outputs import check_picture

__all__ = ["bench_file", "check", "draw", "print_warnings"]

NAME = "bench.toml"


def check(args):
    """Print the parts of the bench that the command line `args` names, and what they are wired to. UsageError."""
    plan = _plan(args)
    for part in plan["parts"]:
        name = part["name"]
        before = ", ".join(_end(wire["from"], wire["label"]) for wire in plan["wires"] if wire["to"] == name)
        behind = ", ".join(_end(wire["to"], wire["label"]) for wire in plan["wires"] if wire["from"] == name)
        print(f"{name}: {part['kind']}; from {before or 'nothing'}; to {behind or 'nothing'}")


def _end(name: str, label: str) -> str:
    return f"{name} ({label})" if label else name


def draw(args):
    """Draw the bench that the command line `args` names. UsageError."""
    check_picture("--output", args.output)
    plan = _plan(args)
    try:
        write_plot(args.output, plan)
    except OSError as error:
        raise UsageError(f"{args.output} cannot be written: {error.strerror}") from None
    print(f"wrote {args.output}")


def _plan(args) -> dict:
    """Parts and wires, as the emulator says them (`docs/interfaces.md` section 7)."""
    path = Path(args.file) if args.file else Path(args.device_db).parent / NAME
    if not path.is_file():
        raise UsageError(f"there is no bench file {path}")
    host = DeviceDB.load(args.device_db).arguments("core").get("host")
    if not is_emulated(host):
        raise UsageError(f"the core device of {args.device_db} is not an emulated one, which alone have benches")
    program, what = artifacts.command(variant_of(host))
    command = [program, *what, "--bench", path, "--plan"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise UsageError(done.stderr.strip().removeprefix("kairos-emulator: "))
    return json.loads(done.stdout)


def bench_file(args) -> str | None:
    """The bench file of a run on an emulated device, or None: ``--bench``, or that beside the device database.

    UsageError if it is not there.
    """
    if args.no_bench:
        return None
    if args.bench is not None:
        if not Path(args.bench).is_file():
            raise UsageError(f"there is no bench file {args.bench}")
        return args.bench
    beside = Path(args.device_db).parent / NAME
    return str(beside) if beside.is_file() else None


def print_warnings(device):
    """Tell what the parts of the bench complained about, if the device has one."""
    if device.bench is None:
        return
    for at_ns, text in device.control.request("bench")["warnings"]:
        print(f"bench: at {at_ns / 1e6:.6f} ms: {text}", file=sys.stderr)
