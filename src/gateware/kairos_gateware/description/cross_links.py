"""Links beside the tree in system descriptions: a board names the destinations of the boards to which it has one.

A board's own description is checked without knowledge of the others; that of the master, from which all destinations
follow, also whether both boards name each other.
"""

from dataclasses import dataclass

from ..contracts.memory import REMOTE_WINDOW, REMOTE_WINDOW_BYTES
from ..contracts.rtio import BOARDS

__all__ = ["Place", "why_not", "why_not_in_tree"]

_LINKS = len(REMOTE_WINDOW) // REMOTE_WINDOW_BYTES
"""Links that a board with remote memory has at most."""


@dataclass(frozen=True)
class Place:
    """A board in the tree. upstream: destination of the board above it, None for the master. crosses: destinations
    that its description names."""

    name: str
    upstream: int | None
    crosses: tuple[int, ...] = ()


def why_not(crosses: list[int], role: str, behind: int) -> str | None:
    """Why a board in this role, with so many links to boards behind it, cannot have links to these; None if it can."""
    if not crosses:
        return None
    if role == "standalone":
        return "only a core device with role 'master' or 'satellite' has any"
    if any(number >= BOARDS for number in crosses):
        return f"destinations are 0 to {BOARDS - 1}"
    if role == "master" and 0 in crosses:
        return "destination 0 is this board"
    if (links := len(crosses) + behind + (role == "satellite")) > _LINKS:
        return f"this board would have {links} links, and one with remote memory has {_LINKS} at most"
    return None


def why_not_in_tree(boards: list[Place]) -> str | None:
    """Why boards cannot be joined as they say, by destination; None if they can."""
    for number, board in enumerate(boards):
        for other in board.crosses:
            text = _why_not_between(boards, number, other)
            if text is not None:
                return text
    return None


def _why_not_between(boards: list[Place], number: int, other: int) -> str | None:
    name = f"{boards[number].name}, destination {number},"
    if other >= len(boards):
        return f"{name} names destination {other}, but the last board is {len(boards) - 1}"
    if other == number:
        return f"{name} names itself"
    if number == boards[other].upstream or other == boards[number].upstream:
        return f"{name} names destination {other}, to which it has a link of the tree"
    if number not in boards[other].crosses:
        return f"{name} names destination {other}, {boards[other].name}, which does not name {number}"
    return None
