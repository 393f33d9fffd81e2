"""``kairos boot``: loads a device over the network."""

from .. import boot as loading
from ..emulator.artifacts import built_firmware
from ..errors import DeviceUnreachable
from ..network import management
from ..progress import Progress

__all__ = ["boot"]


def boot(args):
    """Load and start the device of the command line."""
    program = loading.firmware(args.firmware or built_firmware("runtime.elf"))
    bitstream = loading.gateware(args.gateware) if args.gateware else None
    key = management.read_key(args.key) if args.key else None
    if not args.no_restart:
        _restart(args.device, args.management_port, key)
    with Progress(quiet=args.quiet) as progress:
        losses = loading.load(
            args.device, program, bitstream, port=args.port, key=key, patience=args.patience, progress=progress
        )
    lost = f" (connection lost {losses} times)" if losses else ""
    print(f"{args.device} started{lost}")


def _restart(host: str, port: int, key: bytes | None):
    """Restart a running firmware into the loader."""
    try:
        with management.Management(host, port, timeout=3, key=key, patience=0) as running:
            running.netboot()
    except management.KeyNotKnown:
        # The key is for the loader, then, which reports itself whether it requires one.
        _restart(host, port, None)
    except DeviceUnreachable:
        pass  # no firmware is running: the loader may be waiting
