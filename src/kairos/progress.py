"""Progress of long operations, shown on terminals after one second."""

import sys
import time

__all__ = ["Progress", "send"]

DELAY_S = 1.0
"""Operations shorter than this show no bar."""

PIECE = 1 << 18
"""Bytes sent between two updates of the bar."""


class Progress:
    """A progress bar for each named operation; shows nothing with `quiet`, or if standard error is
    no terminal.

    Call it with a name, the bytes (or what `unit` says) done and the total; finish with :meth:`end` or use it as a
    context.
    """

    def __init__(self, quiet: bool = False, unit: str = "B"):
        self._unit = unit
        self._shown = not quiet and sys.stderr.isatty()
        self._began: float | None = None
        self._name: str | None = None
        self._bar = None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.end()

    def __call__(self, name: str, done: int, total: int):
        if not self._shown:
            return
        self._began = self._began or time.monotonic()
        if self._name not in (None, name):
            self.end()
        self._name = name
        if self._bar is None:
            if time.monotonic() - self._began < DELAY_S:
                return
            # The import takes a twentieth of a second, negligible where a bar is shown.
            from tqdm import tqdm

            self._bar = tqdm(
                desc=name,
                total=total,
                initial=done,
                unit=self._unit,
                unit_scale=self._unit == "B",
                leave=False,
                file=sys.stderr,
            )
        self._bar.update(done - self._bar.n)

    def end(self):
        """Clear the line."""
        if self._bar is not None:
            self._bar.close()
        self._bar = None


def send(socket, data: bytes, name: str):
    """Send all of `data`, with a bar called `name` if it takes long. Raises the socket's OSError."""
    # In large pieces: an emulated device that finds a message in two is later. What is taken at once has the socket's
    # timeout for itself, so that a slow receiver is not given up.
    sent = socket.send(data) if len(data) <= PIECE else 0
    if sent == len(data):
        return
    with Progress() as progress, memoryview(data) as view:
        while sent < len(data):
            sent += socket.send(view[sent : sent + PIECE])
            progress(name, sent, len(data))
