"""``kairos boot``: loading a device over the network."""

import sys

from .. import boot as loading
from ..emulator.artifacts import built_firmware
from ..errors import DeviceUnreachable
from ..network import management

__all__ = ["Progress", "boot"]


def boot(args):
    """Load the device of the command line, and start it."""
    program = loading.firmware(args.firmware or built_firmware("runtime.elf"))
    bitstream = loading.gateware(args.gateware) if args.gateware else None
    key = management.read_key(args.key) if args.key else None
    if not args.no_restart:
        _restart(args.device, args.management_port, key)
    progress = Progress(quiet=args.quiet)
    losses = loading.load(
        args.device, program, bitstream, port=args.port, key=key, patience=args.patience, progress=progress
    )
    progress.end()
    lost = f" (connection lost {losses} times)" if losses else ""
    print(f"{args.device} is started{lost}")


def _restart(host: str, port: int, key: bytes | None):
    """Have a running firmware restart into the loader."""
    try:
        with management.Management(host, port, timeout=3, key=key, patience=0) as running:
            running.netboot()
    except management.KeyNotKnown:
        # It is for the loader, then, which says for itself whether it wants one.
        _restart(host, port, None)
    except DeviceUnreachable:
        pass  # no firmware runs: the loader may be waiting


class Progress:
    """One line on a terminal that shows how much of a file is there; nothing elsewhere."""

    WIDTH = 40

    def __init__(self, quiet: bool):
        self._shown = not quiet and sys.stderr.isatty()
        self._name = None

    def __call__(self, name: str, done: int, total: int):
        if not self._shown:
            return
        if self._name not in (None, name):
            self.end()
        self._name = name
        bar = "#" * (self.WIDTH * done // total)
        print(f"\r{name:9} [{bar:{self.WIDTH}}] {done / 1e6:6.2f} of {total / 1e6:.2f} MB", end="", file=sys.stderr)

    def end(self):
        """Leave the line."""
        if self._shown and self._name is not None:
            print(file=sys.stderr)
            self._name = None
