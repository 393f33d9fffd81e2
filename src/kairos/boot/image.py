"""Boot images (`BOOT.BIN`), assembled from a loader, a firmware and a bitstream.

The format itself is written by `src/proto/src/boot_image.rs`.
"""

from .. import _native
from ..contracts.memory import FIRST_STAGE
from ..errors import UsageError
from .files import Elf, gateware

__all__ = ["CHIPS", "OCM", "boards", "boot_image", "check_chip"]

_wire = _native.wire

OCM = len(FIRST_STAGE)
"""Bytes of on-chip memory available to the loader."""


CHIPS = {"zc706": "XC7Z045", "kasli_soc": "XC7Z030", "ebaz4205": "XC7Z010", "redpitaya": "XC7Z010"}
"""The chip of each board."""


def check_chip(bitstream, board: str):
    """Check that the bitstream at this path is for the chip of a board: UsageError. A loader would refuse it, and
    start without gateware."""
    try:
        chip = _wire.chip(gateware(bitstream))
    except ValueError as error:
        raise UsageError(f"{bitstream}: {error}") from None
    if chip != CHIPS.get(board, chip):
        raise UsageError(f"{bitstream} is for the {chip}, and a {board} has the {CHIPS[board]}: choose its --board")


def _loader(path) -> tuple[int, bytes, dict[str, str]]:
    """Return the entry point of the loader at `path`, its bytes from address 0 on, and the boards
    it supports."""
    program = Elf.parse(path)
    load, code = program.flat()
    known = _wire.boards(code)
    if load != FIRST_STAGE.start or len(code) > OCM or known is None:
        raise UsageError(
            f"{path} is not a loader: it needs {len(code)} bytes at {load:#x}, but on-chip memory has {OCM} bytes at 0"
        )
    return program.entry, code, dict(known)


def boards(loader) -> dict[str, str]:
    """Return the names of the boards that the loader at this path supports, the default first; for
    each, the parts of its table that no public source confirms, or an empty string. UsageError if
    the file is no loader.
    """
    return _loader(loader)[2]


def boot_image(loader, firmware, bitstream=None, *, board: str | None = None) -> bytes:
    """Build the image from the files at these paths: loader and firmware (ELF), a bitstream.
    `board`: one of `boards`, by default the first. UsageError if something is unsuitable."""
    start, code, known = _loader(loader)
    if board is not None and board not in known:
        raise UsageError(f"the loader does not support the board '{board}', only {', '.join(known)}")
    code = _wire.choose_board(code, list(known).index(board) if board else 0)
    program = Elf.parse(firmware)
    # Name, whether it is for the PL, load address, entry point, data
    partitions = [("boot.elf", False, 0, start, code)]
    if bitstream is not None:
        partitions.append(("kairos.bit", True, 0, 0, gateware(bitstream)))
    for n, (address, data, _) in enumerate(program.segments):
        if data:
            # The loader starts at the first nonzero entry point; the others are zero.
            entry = program.entry if 0 <= program.entry - address < len(data) else 0
            partitions.append((f"runtime.{n}", False, address, entry, data))
    try:
        return _wire.boot_image(partitions)
    except ValueError as error:
        raise UsageError(f"{firmware} does not fit into a boot image: {error}") from None
