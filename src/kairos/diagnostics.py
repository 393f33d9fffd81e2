"""Diagnostics of a program with their locations, as text for people or in the format of editors.

Positions follow the Language Server Protocol: lines and characters from 0, a character being a
UTF-16 code unit.
"""

from typing import NamedTuple

__all__ = ["MISSING_ATTRIBUTE", "Diagnostic", "Range", "valid"]

ERROR, WARNING = 1, 2
"""Severities, with their numbers in the protocol."""


MISSING_ATTRIBUTE = "missing_attribute"
"""Kind of a diagnostic: an object or type does not have an attribute."""


def valid(text: str) -> str:
    """Return a text as JSON can have it: names of files may have bytes that are none of UTF-8."""
    return text.encode(errors="backslashreplace").decode()


class Range(NamedTuple):
    """A part of a source file."""

    file: str
    start: tuple[int, int]
    """line and character"""
    end: tuple[int, int]

    def lsp(self) -> dict:
        """Return the range as in the protocol."""
        start, end = ({"line": line, "character": character} for line, character in (self.start, self.end))
        return {"start": start, "end": end}


class Message(str):
    """A string that can be called and returns itself: in ARTIQ's compiler it is a method of a
    diagnostic."""

    def __call__(self) -> str:
        return str(self)


class Diagnostic:
    """An error or a warning. Equal diagnostics have the same content and place."""

    def __init__(
        self,
        message: str,
        place: Range | None,
        text: str,
        warning: bool = False,
        note: str = "",
        related: tuple[tuple[Range, str], ...] = (),
        help: tuple[str, ...] = (),
        origin: tuple[str, int] | None = None,
        kind: str = "",
    ) -> None:
        self.message, self.warning, self.related, self.help = Message(message), warning, related, help
        self.place = place
        """None if no source position applies."""
        self.text = text
        """the complete text for people"""
        self.note = note
        """text shown at the place"""
        self.origin = origin
        """file and line of the compiler code that emitted it"""
        self.kind = kind
        """`MISSING_ATTRIBUTE`, or empty: what programs must tell apart without reading the message"""

    def _content(self) -> tuple:
        return self.message, self.place, self.text, self.warning, self.note, self.related, self.help, self.kind

    def __eq__(self, other: object) -> bool:
        return self._content() == other._content() if isinstance(other, Diagnostic) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._content())

    def __repr__(self) -> str:
        return f"<{self.level} {self.text!r}>"

    @property
    def said(self) -> str:
        """What programs show: the message, and what is shown at the place."""
        return valid(": ".join(filter(None, (self.message, self.note))))

    @property
    def level(self) -> str:
        return "warning" if self.warning else "error"

    @property
    def location(self) -> Range | None:
        """Alias of `place`."""
        return self.place

    @property
    def notes(self) -> list["Diagnostic"]:
        """The related places and the advice, as diagnostics without notes."""
        related = [Diagnostic(text, place, text) for place, text in self.related]
        return related + [Diagnostic(advice, None, advice) for advice in self.help]

    def render(self, only_line: bool = False) -> list[str]:
        """Return the lines of the text; with `only_line` only the message and the place."""
        lines = self.text.split("\n")
        return lines[:2] if only_line else lines

    @property
    def severity(self) -> int:
        return WARNING if self.warning else ERROR

    def lsp(self) -> dict:
        """Return a `Diagnostic` of the protocol, with additional keys `file`, `text` (complete) and
        `help` (advice)."""
        start = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
        from pathlib import Path  # imported late: whatever compiles without an error needs none

        related = [
            {"location": {"uri": Path(place.file).absolute().as_uri(), "range": place.lsp()}, "message": valid(text)}
            for place, text in self.related
        ]
        return {
            "file": self.place.file if self.place else None,
            "range": self.place.lsp() if self.place else start,
            "severity": self.severity,
            "source": "kairos",
            "message": self.said,
            "relatedInformation": related,
            "help": list(self.help),
            "text": self.text,
        }
