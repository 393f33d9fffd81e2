"""Numbers and folders of runs."""

import re
import time
from pathlib import Path

from .. import pyon

__all__ = ["RIDCounter", "folder_of"]


def folder_of(started: float, results="results") -> Path:
    """Create and return the directory for the files of a run, named by the hour of `started`, in
    seconds of Unix time."""
    folder = Path(results, time.strftime("%Y-%m-%d/%H", time.localtime(started))).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class RIDCounter:
    """Allocates run numbers, continuing from `cache_filename`, or from the highest number that
    begins a file name in `results_dir`."""

    def __init__(self, cache_filename="last_rid.pyon", results_dir="results"):
        self._cache = Path(cache_filename)
        self._last = max(self._kept(), self._found(Path(results_dir)))

    def _kept(self) -> int:
        try:
            return int(pyon.decode(self._cache.read_text()))
        except (OSError, ValueError, TypeError):
            return -1

    @staticmethod
    def _found(results: Path) -> int:
        numbers = (re.match(r"(\d{9})-", path.name) for path in results.glob("*/*/*.h5"))
        return max((int(number[1]) for number in numbers if number), default=-1)

    def get(self) -> int:
        """Allocate the next number."""
        self._last += 1
        new = self._cache.with_name(self._cache.name + ".new")
        new.write_text(pyon.encode(self._last) + "\n")
        new.replace(self._cache)
        return self._last
