"""The package `kairos_gateware.contracts`: what the logic needs, as modules like those of the host."""

from pathlib import Path

from .facts import Subject
from .python import module, package

__all__ = ["files"]

SUBJECTS = (
    "analyzer",
    "descriptor",
    "drtio",
    "initiator",
    "memory",
    "pulse",
    "registers",
    "remote",
    "rtio",
    "servo",
    "spi",
)


def files(subjects: dict[str, Subject], root: Path) -> dict[str, str]:
    """The package's modules."""
    folder = "src/gateware/kairos_gateware/contracts"
    made = {f"{folder}/{name}.py": module(subjects[name]) for name in SUBJECTS}
    made[f"{folder}/__init__.py"] = package("Facts that the firmware relies on too.")
    return made
