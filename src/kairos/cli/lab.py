"""``kairos lab``: starts the laboratory of a folder, and says how one is that runs."""

import json
import os
import sys
from pathlib import Path

from .. import files
from ..emulator.artifacts import built_database
from ..errors import UsageError
from ..labclient import connect
from .new import filled
from .printed import print_notice

__all__ = ["end", "start", "status"]

DATABASE = "device_db.py"
BENCH = "bench.toml"
ION = "ion"
"""Variant of the emulated device with a virtual ion."""


def start(args):
    """Start the laboratory; returns when it ends. UsageError if the folder does not exist."""
    folder = Path(args.lab or os.environ.get("KAIROS_LAB") or ".").resolve()
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}: 'kairos new --lab NAME' creates one")
    if not ((folder / DATABASE).exists() or (folder / "lab.toml").exists()):
        emulated(folder)
        print_notice(f"there was no {DATABASE}: wrote one for an emulated device with a virtual ion")
    sys.stdout.flush()
    # The service is a program of its own: it imports much that no other command needs.
    os.execv(sys.executable, [sys.executable, "-m", "kairos.lab", str(folder)])


def emulated(folder: Path):
    """Write a device database for an emulated device with a virtual ion, and its bench."""
    files.write(folder / DATABASE, built_database(ION).read_bytes())
    files.write(folder / BENCH, filled(f"{ION}/{BENCH}", {}))


def status(args):
    """Print name, folder, ports and size of the laboratory."""
    known = connect(args.lab).status()
    if args.json:
        print(json.dumps(known))
        return
    ports = ", ".join(f"{name} {known[name]}" for name in ("control", "notify", "broadcast", "logging"))
    print(f"{known['name'] or Path(known['folder']).name}: {known['folder']}")
    print(f"ports: {ports}")
    finished = f", {known['runs']} finished" if known["runs"] is not None else ""
    print(f"{known['queue']} in the queue{finished}")
    if known["problem"]:
        print_notice(f"kairos: {known['problem']}")


def end(args):
    """End the laboratory. Runs go on, and the next one takes them over."""
    connect(args.lab).end()
