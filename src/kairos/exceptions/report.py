"""Uncaught exceptions of kernels: the device's report and its presentation to the user."""

import linecache
import re
from typing import NamedTuple

__all__ = ["CoreException", "DeviceException", "Report", "format_message"]


class DeviceException(NamedTuple):
    """One exception in flight when the kernel ended."""

    name: str
    """Key of the class in the host's string table, ``id:qualified.name``."""
    name_key: int
    message: str
    params: tuple[int, int, int]
    file: str
    line: int
    column: int
    """Zero-based, -1 if unknown."""
    function: str
    message_key: int | None = None
    """Key of the message in the host's string table, if it is one of the host's, in which braces have no
    meaning; others are templates for the parameters."""
    frames: range = range(0)
    """Its part of the backtrace, innermost frame first."""


class Report(NamedTuple):
    """The exceptions, oldest first, and their shared backtrace: (return address, stack pointer)."""

    exceptions: list[DeviceException]
    backtrace: list[tuple[int, int]]


_FIELD = r"(\{\{|\}\})|\{([012])(:#?[0-9]{0,3}[dxX]?)?\}|[{}]"
"""A brace of a message: doubled, a parameter with its format, or alone. The widths are small: the
message comes from the device."""


def format_message(exception: DeviceException) -> str:
    """Return the message with its parameters filled in, or unchanged if it is not a matching format
    string, or came from the host."""
    if exception.message_key is not None:
        return exception.message

    def shown(found) -> str:
        doubled, number, form = found.groups()
        if doubled:
            return doubled[0]
        return format(exception.params[int(number)], (form or "").removeprefix(":"))

    found = list(re.finditer(_FIELD, exception.message))
    if any(brace[0] in "{}" for brace in found):
        return exception.message
    try:
        return re.sub(_FIELD, shown, exception.message)
    except ValueError:
        return exception.message


class CoreException:
    """The device's report, symbolized. ``str()`` gives the device's traceback, most recent call
    first."""

    def __init__(self, report: Report, symbolize):
        self.report = report
        self.traceback = [self._frames(exception, symbolize) for exception in report.exceptions]

    @property
    def newest(self) -> DeviceException:
        """The exception that ended the kernel: the one raised last, while older ones were handled,
        as in Python."""
        return self.report.exceptions[-1]

    @property
    def name(self) -> str:
        return self.newest.name

    @property
    def message(self) -> str:
        return format_message(self.newest)

    def _frames(self, exception, symbolize):
        """(file, line, one-based column or None, function, address or None), innermost first."""
        own = (exception.file, exception.line, exception.column + 1 or None, exception.function, None)
        entries = []
        limit = None
        # Outermost first, the stack pointer decreases; addresses where it does not belong to a
        # frame already shown.
        for address, stack_pointer in (self.report.backtrace[i] for i in reversed(exception.frames)):
            if limit is None or stack_pointer < limit:
                entries.append(address)
                limit = stack_pointer
        frames = [own]
        for address in reversed(entries):
            for frame in symbolize([address]):
                shown = (frame.file, frame.line, frame.column, frame.function, address)
                # A kernel's raise statement is both the exception's own location and its first
                # frame.
                if frames == [own] and shown[:2] == own[:2]:
                    frames = [shown]
                else:
                    frames.append(shown)
        return frames

    def __str__(self):
        lines = ["Core Device Traceback:"]
        for number, (exception, frames) in enumerate(zip(self.report.exceptions, self.traceback, strict=True)):
            if number:
                lines += ["", "During handling of the above exception, another exception occurred:", ""]
            lines.append("Traceback (most recent call first):")
            for file, line, column, function, address in frames:
                place = f'  File "{file}", line {line}'
                place += f", column {column}" if column else ""
                place += f", in {function}" if function else ""
                place += f" (RA=+0x{address:x})" if address is not None else ""
                lines.append(place)
                source = linecache.getline(file, line).strip()
                if source:
                    lines.append(f"    {source}")
            identifier, _, qualified = exception.name.partition(":")
            lines.append(f"{qualified}({identifier}): {format_message(exception)}")
        lines += ["", "End of Core Device Traceback"]
        return "\n".join(lines)
