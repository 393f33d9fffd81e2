"""``kairos bench``: checks and draws the wiring of an emulated device's pins; also provides it to runs."""

import json
import subprocess
from pathlib import Path

from .. import emulator as emulation
from ..devices import DeviceDB, devices_on
from ..emulator import artifacts
from ..emulator.bench_warnings import bench_warnings
from ..emulator.cards import doubled, lacking
from ..emulator.process import SAYS, wiring
from ..errors import UsageError
from .bench_plot import write_plot
from .outputs import check_picture
from .printed import print_notice

__all__ = ["bench_file", "check", "draw", "plan_of", "print_warnings"]

NAME = "bench.toml"


def check(args):
    """Print the parts of the bench named by the command line `args`, with their connections, then
    devices without a model, and chips that several devices drive. UsageError."""
    database = DeviceDB.load(args.device_db)
    plan = _plan(args, database)
    for part in plan["parts"]:
        name = part["name"]
        before = [(wire["from"], wire["label"]) for wire in plan["wires"] if wire["to"] == name]
        behind = [(wire["to"], wire["label"]) for wire in plan["wires"] if wire["from"] == name]
        if args.json:
            fields = {"name": name, "kind": part["kind"], "device": part["device"], "from": before, "to": behind}
            print(json.dumps(fields))
            continue
        before, behind = (", ".join(_end(*wire) for wire in wires) for wires in (before, behind))
        kind = part["kind"] if part["device"] is None else f"{part['kind']} of {part['device']}"
        print(f"{name}: {kind}; from {before or 'nothing'}; to {behind or 'nothing'}")
    for name, driver in lacking(database.entries).items():
        if args.json:
            print(json.dumps({"name": name, "kind": None, "device": driver}))
        else:
            print(f"{name}: there is no model for {driver}: its pins are unconnected")
    for text in [] if args.json else doubled(database.entries):
        print(text)
    if not (plan["parts"] or lacking(database.entries) or args.json):
        print(f"nothing is connected to the pins, and no device in {args.device_db} needs it")


def _end(name: str, label: str) -> str:
    return f"{name} ({label})" if label else name


def draw(args):
    """Draw the bench named by the command line `args`. UsageError."""
    check_picture("--output", args.output)
    plan = _plan(args, DeviceDB.load(args.device_db))
    write_plot(args.output, plan)
    print(f"wrote {args.output}")


def _plan(args, database: DeviceDB) -> dict:
    """Return parts and wires of the bench that the command line names."""
    host = database.arguments("core").get("host")
    if not emulation.is_emulated(host):
        raise UsageError(f"the core device of {args.device_db} is not emulated; only emulated devices have a bench")
    return plan_of(database, _beside(args, args.file))


def plan_of(database: DeviceDB, bench: str | None) -> dict:
    """Return parts and wires of an emulated device, with the bench file `bench` or only its cards, in the
    emulator's format (`docs/interfaces.md` section 7). UsageError."""
    host = database.arguments("core").get("host")
    program, what = artifacts.command(emulation.variant_of(host))
    options = emulation.Options(bench=bench, entries=devices_on(database.entries, host))
    command = [program, *what, *wiring(options), "--plan"]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, env=emulation.environment(), capture_output=True, text=True
    )
    if done.returncode:
        raise UsageError(done.stderr.strip().removeprefix(SAYS))
    return json.loads(done.stdout)


def bench_file(args) -> str | None:
    """Return the bench file of a run on an emulated device: ``--bench``, or the one next to the
    device database, or None.

    UsageError if it does not exist.
    """
    return None if args.no_bench else _beside(args, args.bench)


def _beside(args, file: str | None) -> str | None:
    if file is not None:
        if not Path(file).is_file():
            raise UsageError(f"there is no bench file {file}")
        return file
    beside = Path(args.device_db).parent / NAME
    return str(beside) if beside.is_file() else None


def print_warnings(device, database: DeviceDB):
    """Print the warnings of the bench's parts, if the device has a bench."""
    if not device.has_bench:
        return
    state = device.control.request("bench")
    found = bench_warnings(device, state, database.channel_names(), database.channels_of("TTLInOut"))
    for at_ns, text, chain in [*state["warnings"], *state["unfinished"], *found]:
        print_notice(f"bench: at {at_ns / 1e6:.6f} ms{_line(device, chain)}: {text}")


def _line(device, chain) -> str:
    """Return the user's line behind the latest access to a part, from a chain of addresses
    (`docs/interfaces.md`)."""
    frames = chain and device.kernels.frames(*chain)
    return f", {Path(frames[0].file).name}:{frames[0].line}" if frames else ""
