"""Texts from devices, plugins and files, made safe for a terminal: the only place that does."""

import logging
import re

__all__ = ["log_plainly", "one_line", "plain", "record_lines"]

_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)
"""Characters that move the cursor, change colours, begin a line, reverse text, or are half a
character; not tabs and ends of lines."""

FURTHER = "\n    "
"""What the second and further lines of a record begin with."""


def _escaped(found) -> str:
    return repr(found[0])[1:-1]


def plain(text: str) -> str:
    """Return a text with its control characters as in Python's source, for instance ``\\x1b``; ends
    of lines and tabs remain."""
    return _CONTROL.sub(_escaped, text)


def one_line(text: str) -> str:
    """As `plain`, with the ends of lines escaped as well: a name cannot pretend to be another line."""
    return plain(text).replace("\n", "\\n").replace("\t", "\\t")


def record_lines(head: str, text: str) -> str:
    """Return a record of a log. The text's further lines are indented: none can pretend to be another record."""
    return f"{one_line(head)}: {plain(text)}".replace("\n", FURTHER)


class _Plain(logging.Formatter):
    def format(self, record):
        return plain(super().format(record)).replace("\n", FURTHER)


def log_plainly(form: str, level: int | None = None):
    """As `logging.basicConfig` with the format `form`, for standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Plain(form))
    logging.basicConfig(level=level, handlers=[handler])
