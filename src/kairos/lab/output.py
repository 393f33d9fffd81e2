"""Standard output and error of a run's process: a file, which the laboratory reads (:mod:`.printed`).

An experiment that prints does not fail because the disk is full: what that does not take is kept in memory, and
written with the next line for which there is room, or at the end of the run.
"""

import errno
import faulthandler
import io
import logging
import os
import signal
import sys
import threading
from pathlib import Path

__all__ = ["redirect", "write_pending"]

KEPT = 1 << 20
"""Bytes that are kept while the disk is full; of more, the newest."""
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class _Descriptor(io.RawIOBase):
    """An open file that may be on a full disk."""

    def __init__(self, number: int):
        self._number = number
        self._writing = threading.RLock()
        self._waiting = bytearray()
        self._lost = 0
        """Bytes that were given up before what waits."""

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._number

    def write(self, data) -> int:
        with self._writing:
            self._waiting += data
            self.write_pending()
            over = len(self._waiting) - KEPT
            if over > 0:
                self._lost += over
                del self._waiting[:over]
        return len(data)

    def write_pending(self):
        """Write what waits, as far as there is room."""
        with self._writing:
            try:
                if self._lost:
                    os.write(self._number, b"\n... %d bytes are lost: the disk was full\n" % self._lost)
                    self._lost = 0
                while self._waiting:
                    del self._waiting[: os.write(self._number, self._waiting)]
            except OSError as error:
                if error.errno not in _FULL:
                    raise


_descriptors: list[_Descriptor] = []


def _opened(number: int) -> io.TextIOWrapper:
    _descriptors.append(_Descriptor(number))
    return io.TextIOWrapper(io.BufferedWriter(_descriptors[-1]), "utf-8", errors="replace", line_buffering=True)


class _Format(logging.Formatter):
    """Lines of a log as :mod:`kairos.controllers.logs` reads them."""

    def format(self, record):
        message = super().format(record)
        lines = message.count("\n") + 1
        return f"{record.levelname}{f'<{lines}>' if lines > 1 else ''}:{record.name}:{message}"


def redirect(output: Path):
    """Send everything that is printed to a file."""
    file = os.open(output, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o644)
    for descriptor in (1, 2):
        os.dup2(file, descriptor)
    os.close(file)
    sys.stdout, sys.stderr = _opened(1), _opened(2)
    faulthandler.register(signal.SIGUSR1, sys.stderr)  # shows where a run is that seems to hang
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Format())
    logging.getLogger().handlers[:] = [handler]


def write_pending():
    """Write what was printed while the disk was full, as far as there is room now."""
    for each in _descriptors:
        each.write_pending()
