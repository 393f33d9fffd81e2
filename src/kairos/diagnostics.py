"""Diagnostics of a program with their locations, as text for people or in the format of editors.

Positions are those of the Language Server Protocol: lines and characters from 0, a character being a unit of UTF-16.
"""

from dataclasses import dataclass, field

__all__ = ["Diagnostic", "Range"]

ERROR, WARNING = 1, 2
"""Severities, by their numbers in the protocol."""


@dataclass(frozen=True)
class Range:
    """A part of a source file."""

    file: str
    start: tuple[int, int]
    """line and character"""
    end: tuple[int, int]

    def lsp(self) -> dict:
        """As the protocol has it."""
        start, end = ({"line": line, "character": character} for line, character in (self.start, self.end))
        return {"start": start, "end": end}


class Message(str):
    """A text that may be called, which changes nothing: with ARTIQ's compiler it is a method of a diagnostic."""

    def __call__(self) -> str:
        return str(self)


@dataclass(frozen=True)
class Diagnostic:
    """An error or a warning. Equal ones say the same of the same place."""

    message: str
    place: Range | None
    """None if no source is at fault."""
    text: str
    """all of it, as people read it"""
    warning: bool = False
    note: str = ""
    """what there is to say at the place"""
    related: tuple[tuple[Range, str], ...] = ()
    help: tuple[str, ...] = ()
    origin: tuple[str, int] | None = field(default=None, compare=False)
    """file and line of the compiler that says it"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", Message(self.message))

    @property
    def level(self) -> str:
        return "warning" if self.warning else "error"

    @property
    def location(self) -> Range | None:
        """Another name of `place`."""
        return self.place

    @property
    def notes(self) -> list["Diagnostic"]:
        """What there is to say at further places, and what to do, as diagnostics without notes."""
        related = [Diagnostic(text, place, text) for place, text in self.related]
        return related + [Diagnostic(advice, None, advice) for advice in self.help]

    def render(self, only_line: bool = False) -> list[str]:
        """The lines that people read; with `only_line` the first, which says what is wrong, and the place."""
        lines = self.text.splitlines()
        return lines[:2] if only_line else lines

    @property
    def severity(self) -> int:
        return WARNING if self.warning else ERROR

    def lsp(self) -> dict:
        """A `Diagnostic` of the protocol, and besides the `file`, the whole `text` and what to do, `help`."""
        start = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
        related = [
            {"location": {"uri": place.file, "range": place.lsp()}, "message": text} for place, text in self.related
        ]
        return {
            "file": self.place.file if self.place else None,
            "range": self.place.lsp() if self.place else start,
            "severity": self.severity,
            "source": "kairos",
            "message": ": ".join(filter(None, (self.message, self.note))),
            "relatedInformation": related,
            "help": list(self.help),
            "text": self.text,
        }
