"""``kairos emulate``: a persistent emulated device, to which runs, tools and hubs connect."""

import time
from pathlib import Path

from ..contracts import hub, session
from ..devices import DeviceDB
from ..emulator import Emulator, Options
from ..emulator.artifacts import SYSTEMS
from ..errors import CommandLineError, EmulatorError, PortInUse, UsageError
from ..network import analyzer, management, moninj

__all__ = ["emulate"]

PORTS = (management.PORT, session.PORT, analyzer.PORT, moninj.PORT)
PORT_MAX = 65_535


def emulate(args):
    """Start an emulated device, and wait until it ends. EmulatorError if it exits by itself."""
    highest = PORT_MAX - max(PORTS)
    if not 0 <= args.offset <= highest:
        raise CommandLineError(
            f"--offset {args.offset}: give 0 to {highest}; it is added to the ports {PORTS[0]} to {PORTS[-1]}"
        )
    if hub.PORT - args.offset in PORTS:
        raise CommandLineError(f"--offset {args.offset}: one of its ports would be {hub.PORT}, that of the hub; use 20")
    if args.bench is not None and not Path(args.bench).is_file():
        raise UsageError(f"there is no bench file {args.bench}")
    known = {} if args.device_db is None else DeviceDB.load(args.device_db).entries
    forward = {port: port + args.offset for port in PORTS}
    storage = _storage(args.variant, args.storage)
    options = Options(forward=forward, log=args.log, bench=args.bench, entries=known, storage=storage)
    emulator = Emulator(args.variant, options)
    try:
        try:
            emulator.wait_ready()
        except PortInUse as error:
            raise EmulatorError(f"{error}: stop the program that uses it, or choose others with --offset") from None
        host = f"127.0.0.1:{session.PORT + args.offset}" if args.offset else "127.0.0.1"
        print(
            f"{args.variant} is emulated at {host} (the core's host in a device database); Ctrl-C ends it", flush=True
        )
        while emulator.is_alive():
            time.sleep(0.2)
        raise EmulatorError(emulator.failure() or "the emulator ended")
    finally:
        emulator.stop()


def _storage(variant: str, named: str | None) -> str | None:
    """Return the card of the device: the file named, or one that is deleted in the end (empty); None for
    several boards, whose description names their cards. UsageError."""
    if variant not in SYSTEMS and not variant.endswith(".toml"):
        return named or ""
    if named is not None:
        raise UsageError("--storage is for a single board: the description of a system names cards (sd)")
    return None
