"""``kairos hub``: the hub as a server, and its registers from the command line."""

import hashlib
import json
import os
import secrets
import sys
from pathlib import Path

from ..emulator import artifacts
from ..errors import CommandLineError, UsageError
from .device import entry
from .hub_lab import named, number, open_lab
from .hub_readings import shown
from .printed import print_notice
from .tables import print_aligned

__all__ = [
    "batch",
    "health",
    "log",
    "ls",
    "metrics",
    "pin",
    "plugins",
    "read",
    "reload",
    "serve",
    "token",
    "watch",
    "write",
]

NO_DEVICE = "the hub has no device: [[device]] in hub.toml names one"


def serve(args):
    """Replace this process by the hub of the settings file. UsageError if the program does not
    exist."""
    # Traces have many dependencies, so the usual hub is built without them.
    program = artifacts.hub(bool(args.traces))
    if not Path(args.settings).exists():
        raise UsageError(
            f"{args.settings} does not exist: 'kairos new --hub' creates it for the devices in device_db.py"
        )
    # The interpreter of a plugin is the one that has this package, unless hub.toml says another.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    listen = ["--listen", args.listen] if args.listen else []
    traces = ["--traces", args.traces] if args.traces else []
    os.execv(program, [str(program), args.settings, *listen, *traces, "--log-format", args.log_format])


def ls(args):
    """Print the devices of a hub, or the registers of one, as a table or as JSON."""
    with open_lab(args) as lab:
        if args.device is None:
            _print_devices(lab.devices(), args.json)
            return
        device, _, name = args.device.partition("/")
        _print_registers(_registers(named(lab, device), name), args.json)


def _registers(device, name: str) -> list:
    """Return the registers of a device with that register or block name; all without a name.
    UsageError if none."""
    registers = device.registers
    found = [registers[each] for each in registers if not name or each == name or each.startswith(f"{name}/")]
    if not found:
        block = name.partition("/")[0]
        near = [each for each in registers if each.startswith(f"{block}/")] or dir(registers)
        raise UsageError(f"{device.name} has no register or block '{name}'; it has {', '.join(near)}")
    return found


def read(args):
    """Print the values of registers; those of a device are read in one round trip."""
    with open_lab(args) as lab:
        values = {}
        for device, names in _by_device(lab, args.registers).items():
            found = named(lab, device).read(*names)
            values |= {f"{device}/{name}": value for name, value in zip(names, found, strict=True)}
    if args.json:
        print(json.dumps(values, indent=2))
    else:
        rows = [(name, f"{v}", f"{v:#x}") for name, v in values.items()]
        print_aligned(("register", "value", "hexadecimal"), rows, 1, "none of these registers can be read")


def write(args):
    """Set a register to the number on the command line."""
    value = number(args.value)
    if not 0 <= value < 2**64:
        raise UsageError(f"{value} does not fit into any register: registers have 1 to 64 bits, unsigned")
    device, name = _split(args.register)
    with open_lab(args) as lab:
        named(named(lab, device).registers, name).write(value)


def _channel(path: str) -> tuple[str, str]:
    device, slash, name = path.partition("/")
    if not slash:
        raise CommandLineError(f"'{path}' is not a channel: give DEVICE/CHANNEL, as in zc706/ttl4")
    return device, name


def pin(args):
    """Print the level of a pin, hold it or release it."""
    device, name = _channel(args.pin)
    with open_lab(args) as lab:
        found = named(named(lab, device).pins, name)
        if args.level is None:
            level = found.level()
            print(json.dumps(level) if args.json else int(level))
        elif args.level == "release":
            found.release()
        else:
            found.hold(args.level == "1")


def batch(args):
    """Print the results of the program in a file."""
    try:
        text = Path(args.program).read_text()
    except OSError as error:
        raise UsageError(f"{args.program} cannot be read: {error.strerror}") from None
    with open_lab(args) as lab:
        results = named(lab, args.device).run_json(text)
    if args.json or results:
        print(json.dumps(results) if args.json else "\n".join(f"{word} {word:#x}" for word in results))


def watch(args):
    """Show readings of registers of one device as they arrive."""
    if len({path.partition("/")[0] for path in args.registers}) > 1:
        raise CommandLineError("only one device can be watched at a time")
    with open_lab(args) as lab:
        ((device, names),) = _by_device(lab, args.registers).items()
        shown(names, named(lab, device).watch(*names, period=args.period), args.json)


def health(args):
    """Print the health of the subsystems of devices, as a table or as JSON; exit code 1 if one is
    bad, or a device is unreachable."""
    with open_lab(args) as lab:
        names = [args.device] if args.device is not None else list(lab)
        found = {name: _health(named(lab, name)) for name in names}
    if args.json:
        print(
            json.dumps({name: {part: each._asdict() for part, each in parts.items()} for name, parts in found.items()})
        )
    else:
        rows = [
            (name, part, each.condition, _details(each))
            for name, parts in found.items()
            for part, each in parts.items()
        ]
        print_aligned(("device", "subsystem", "condition", ""), rows, 4, NO_DEVICE)
    return int(any(each.condition == "bad" for parts in found.values() for each in parts.values()))


def _health(device) -> dict:
    # As above: requires gRPC.
    from ..hub import HubError, Subsystem

    try:
        return device.health()
    except HubError as error:
        if error.code != "UNAVAILABLE":
            raise
        return {"device": Subsystem("bad", str(error), {})}


def _details(subsystem) -> str:
    values = (f"{name} {value:g}" for name, value in sorted(subsystem.values.items()))
    return "; ".join(text for text in (subsystem.text, ", ".join(values)) if text)


def log(args):
    """Print the log of a device; JSON as in `kairos device log`."""
    with open_lab(args) as lab:
        for line in named(lab, args.device).log(follow=args.follow):
            print(json.dumps(entry(line)) if args.json else line, flush=args.follow)


def plugins(args):
    """Print the plugins of a hub, as a table or as JSON."""
    with open_lab(args) as lab:
        found = lab.plugins()
    layers = ("", "access", "control")
    if args.json:
        keys = ("name", "running", "error", "starts", "pid", "memory")
        shown = [{key: getattr(each, key) for key in keys} for each in found]
        for each, entry in zip(found, shown, strict=True):
            entry |= {"layer": layers[each.layer], "services": list(each.services)}
        print(json.dumps(shown, indent=2))
        return
    rows = []
    for each in found:
        memory, state = f"{each.memory / 2**20:.0f} MB", "runs" if each.running else f"does not run: {each.error}"
        rows.append((each.name, layers[each.layer], ", ".join(each.services), memory, str(each.starts), state))
    names = ("plugin", "layer", "services", "memory", "starts", "state")
    print_aligned(names, rows, 3, "the hub has no plugin: [[plugin]] in hub.toml starts one")


def reload(args):
    """Restart a plugin, start one that is new in hub.toml, or end one that is no longer there."""
    with open_lab(args) as lab:
        lab.reload(args.plugin)


def metrics(args):
    """Print the hub's Prometheus metrics."""
    with open_lab(args) as lab:
        print(lab.metrics(), end="")


def token(args):
    """Print the entry of hub.toml for a new token, and the token itself on standard error, so that
    it is not redirected to a file. The hub does not need the token itself."""
    made = secrets.token_urlsafe(32)
    digest = hashlib.sha256(made.encode()).hexdigest()
    print_notice(f"the token of {args.name}, displayed only this once: {made}")
    print(f'[[token]]\nname = {json.dumps(args.name)}\nrole = "{args.role}"\nsha256 = "{digest}"')


def _split(path: str, blocks: bool = False) -> tuple[str, str]:
    """Split a path into device and register; with `blocks` a block's name is accepted."""
    device, _, name = path.partition("/")
    if not name or "/" not in (path if blocks else name):
        raise CommandLineError(
            f"'{path}' is not a register: give DEVICE/BLOCK/REGISTER, as listed by 'kairos hub ls DEVICE'"
        )
    return device, name


def _by_device(lab, paths: list[str]) -> dict[str, list[str]]:
    """Group the registers named by paths by device; a block stands for its readable registers."""
    found: dict[str, list[str]] = {}
    for path in paths:
        device, name = _split(path, blocks=True)
        names = found.setdefault(device, [])
        if "/" in name:
            names.append(name)
        else:
            names += [register.name for register in _registers(named(lab, device), name) if register.readable]
    return found


def _print_devices(devices: list, as_json: bool):
    if as_json:
        keys = ("name", "address", "connected", "gateware", "error")
        print(json.dumps([{key: getattr(device, key) for key in keys} for device in devices], indent=2))
        return
    rows = []
    for device in devices:
        state = "answers" if device.connected else f"does not answer: {device.error}"
        where = device.address or "the hub's computer"
        rows.append((device.name, where, device.gateware.replace(";", " "), state))
    print_aligned(("device", "address", "gateware", "state"), rows, 4, NO_DEVICE)


def _print_registers(registers: list, as_json: bool):
    if as_json:
        keys = ("name", "width", "readable", "writable")
        print(json.dumps([{key: getattr(register, key) for key in keys} for register in registers], indent=2))
        return
    rows = []
    for register in registers:
        may = [word for word, may in (("read", register.readable), ("written", register.writable)) if may]
        rows.append((register.name, str(register.width), " and ".join(may) or "used by the firmware alone"))
    print_aligned(("register", "bits", "may be"), rows, 3, "the device has no register")
