"""What kernels have at each of their calls of the firmware, recorded by an emulated device for a debugger
(`kairos.compiler.steps` reads it)."""

from pathlib import Path

from .process import Emulator

__all__ = ["record", "recorded"]


def record(device: Emulator, most: int):
    """Record from now on, for the kernels of all boards, in up to so many bytes."""
    device.control.request("record_steps", bytes=most)


def recorded(device: Emulator) -> dict[str, bytes]:
    """Return what was recorded, by the name of the board; a single one has none."""
    found = {}
    for board in device.control.status()["boards"]:
        with device.control.memory_file() as path:
            device.control.request("steps", path=path, board=board)
            found[board] = Path(path).read_bytes()
    return found
