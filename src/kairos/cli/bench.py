"""``kairos bench``: what is wired to the pins of an emulated device, checked and drawn."""

import sys
from pathlib import Path

from ..errors import UsageError

__all__ = ["bench_file", "print_warnings"]

NAME = "bench.toml"


def bench_file(args, host: str) -> str | None:
    """The bench file for a run on the emulated device `host`, or None: ``--bench``, or that beside the device database.

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
