"""The folder of a laboratory is its own: no other laboratory uses it, and no scheduler of one's own."""

import os
from pathlib import Path

from ..errors import UsageError
from ..runs import FolderLock, InUse, claim

__all__ = ["Claim"]


class Claim:
    """Reserves `folder`, with the laboratory's `state` in it, which is made, from now to `release` or the end of this
    process. UsageError if it is in use, or cannot be written."""

    def __init__(self, folder: Path, state: Path):
        try:
            state.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{state} cannot be created: {error.strerror}") from None
        try:
            self._lock = claim(state / "lock")
        except InUse as other:
            raise UsageError(f"a laboratory is running in {folder} already (process {other.process})") from None
        except OSError as error:
            raise UsageError(f"{state / 'lock'} cannot be locked: {error.strerror}") from None
        self._folder = FolderLock(folder)
        try:
            self._folder.acquire()
        except UsageError:
            os.close(self._lock)
            raise

    def release(self):
        """Give the folder up."""
        self._folder.release()
        os.close(self._lock)
