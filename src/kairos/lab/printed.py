"""What a run prints, followed for the log of the laboratory while it comes.

All of it is kept with the run. For the log, of more than can be shown in time the newest is: a run that prints without
end delays neither the laboratory nor the next run.
"""

import os
from pathlib import Path

from ..controllers.logs import Records

__all__ = ["Output", "last_line"]

BLOCK = 256 << 10
"""Bytes that are read at a time."""
BACKLOG = 4 * BLOCK
"""Bytes that may wait; of more, the last block is shown."""
PRINT = "print:"
"""How a record begins that is no message of a logger."""


class Output:
    """The file at `path`, into which a run prints."""

    def __init__(self, path: Path):
        self._path, self._offset = path, 0
        self._records = Records()

    def read(self, ended: bool) -> tuple[list[tuple[int, str]], bool]:
        """Return the next records, as (level, text), and whether there are more. A line that is not complete waits,
        unless the run has `ended`."""
        try:
            with self._path.open("rb") as file:
                found = self._skipped(file, os.fstat(file.fileno()).st_size)
                file.seek(self._offset)
                data = file.read(BLOCK)
        except FileNotFoundError:
            return [], False
        more = len(data) == BLOCK
        end = data.rfind(b"\n") + 1
        if (more and not end) or (ended and not more):
            end = len(data)  # also of a line that is longer than a block
        self._offset += end
        # By its ends only: other characters that Python takes for ends of lines may be part of a message.
        for line in data[:end].decode(errors="replace").removesuffix("\n").split("\n") if end else ():
            found += map(_seen, self._records.add(line.removesuffix("\r")))
        if ended and not more:
            found += self._records.rest()
        return found, more

    def _skipped(self, file, size: int) -> list[tuple[int, str]]:
        """Leave out what is too much; returns the record that says so."""
        if size - self._offset <= BACKLOG:
            return []
        found = list(self._records.rest())
        file.seek(size - BLOCK)
        begins = size - BLOCK + file.read(BLOCK - 1).find(b"\n") + 1
        found += self._records.add(f"... {begins - self._offset:,} bytes are left out here, and kept with the run")
        self._offset = begins
        return found


def _seen(record: tuple[int, str]) -> tuple[int, str]:
    """Return what stands there in the end of a line that was written several times, as progress bars are."""
    level, text = record
    return (level, PRINT + text[len(PRINT) :].rpartition("\r")[2]) if text.startswith(PRINT) else record


def last_line(folder: Path) -> str:
    """Return the last line that a process has printed into its folder."""
    try:
        with (folder / "output").open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - BLOCK))
            lines = file.read().decode(errors="replace").strip().split("\n")
    except FileNotFoundError:
        return ""
    return lines[-1]
