"""Handling of standard output that can no longer be written, because the disk is full or the reader is gone.

A full disk does not affect a run otherwise: its results are kept, and the failure is reported in
one line at its end. Other commands end at once. A closed pipe also ends a command, as usual in
Python, but silently, since nobody would read the message.

Control characters are escaped, since much of what is printed comes from devices and files; only
what an experiment prints is left alone.
"""

import io
import os
import sys
from contextlib import contextmanager

from ..errors import KairosError
from ..terminal_text import plain

__all__ = ["OutputFailed", "print_notice", "printed", "styled"]


class OutputFailed(KairosError):
    """Standard output cannot be written. `error`: the reason."""

    def __init__(self, error: OSError):
        super().__init__(f"the output cannot be written: {error.strerror or error}")
        self.is_reported = not isinstance(error, BrokenPipeError)
        """Whether to report the failure."""


class _Printed(io.RawIOBase):
    """The descriptor of standard output, up to the first failure. Later output is dropped, so that
    no line is missing from the middle, and the remaining work does not fail again."""

    def __init__(self, descriptor: int, goes_on: bool):
        super().__init__()
        self._descriptor = descriptor
        self._goes_on = goes_on
        self.failure: OutputFailed | None = None

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def writable(self) -> bool:
        return True

    def write(self, data) -> int:
        if self.failure is None:
            try:
                return os.write(self._descriptor, data)
            except OSError as error:
                self.failure = OutputFailed(error)
                if not (self._goes_on and self.failure.is_reported):
                    raise self.failure from None
        return len(data)


class _Plain(io.TextIOWrapper):
    """Standard output of a command that prints no text of experiments."""

    def write(self, text: str) -> int:
        super().write(plain(text))
        return len(text)

    def write_styled(self, text: str):
        super().write(text)


def styled(text: str):
    """Print text with control sequences of our own."""
    getattr(sys.stdout, "write_styled", sys.stdout.write)(text)


def print_notice(*lines: str):
    """Print lines for the user to standard error, with colours on a terminal."""
    if sys.stderr is None or not lines:
        return
    text = plain("\n".join(lines))
    if sys.stderr.isatty():
        # Imported late, because most runs do not need it.
        from .colour import coloured

        text = coloured(text)
    print(text, file=sys.stderr, flush=True)


@contextmanager
def printed(goes_on: bool):
    """Context of a command: raises OutputFailed, at once or, if it `goes_on`, at its end. Standard
    output is left alone if it is not the process's own, as in a test."""
    text = sys.stdout
    if text is None:
        # Closed by the parent process: nothing is printed.
        with open(os.devnull, "w") as sys.stdout:
            yield
        return
    if text is not sys.__stdout__:
        yield
        return
    raw = _Printed(text.fileno(), goes_on)
    unbuffered = isinstance(text.buffer, io.RawIOBase)
    sys.stdout = (io.TextIOWrapper if goes_on else _Plain)(
        raw if unbuffered else io.BufferedWriter(raw),  # type: ignore[arg-type]
        encoding=text.encoding,
        errors=text.errors,
        line_buffering=text.line_buffering,
        write_through=unbuffered,
    )
    try:
        yield
        sys.stdout.flush()
    finally:
        try:
            sys.stdout.detach()  # flushes
        except OutputFailed:
            pass  # stored in `raw.failure`
        sys.stdout = text
    if raw.failure is not None:
        raise raw.failure
