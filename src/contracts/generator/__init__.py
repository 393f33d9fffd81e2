"""From facts to files: each module makes the files of one language. A new one is added to `MAKERS`."""

from pathlib import Path

from . import (
    c_header,
    cards,
    chips_gateware,
    chips_pages,
    chips_python,
    chips_rust,
    gateware,
    pages,
    pl_library,
    python,
    rust,
)
from .facts import Subject

__all__ = ["MAKERS", "outputs"]

MAKERS = (
    *(rust.files, python.files, gateware.files, c_header.files, pages.files),
    *(chips_gateware.files, chips_python.files, chips_rust.files, chips_pages.files),
    *(pl_library.files, cards.files),
)


def outputs(subjects: dict[str, Subject], root: Path) -> dict[str, str]:
    """Text of every generated file, by its path below `root`."""
    files: dict[str, str] = {}
    for make in MAKERS:
        made = make(subjects, root)
        assert not files.keys() & made.keys(), "two makers write the same file"
        files |= made
    return files
