"""Defaults of arguments that are values of parameters: an experiment that has read one while it was built is examined
again when the parameter has changed, so that forms offer its value."""

import asyncio
import hashlib
from collections.abc import Callable

from .. import pyon
from ..controllers.publishing import Publication

__all__ = ["MISSING", "Defaults", "fingerprint"]

DELAY = 1.0
"""Seconds after the first change for which others are awaited: a calibration sets several parameters."""
MISSING, UNKNOWN = "", "?"


def fingerprint(read: Callable[[], object]) -> str:
    """Return what distinguishes the value that `read()` returns from others; `MISSING` if it raises KeyError."""
    try:
        return hashlib.sha256(pyon.encode(read()).encode()).hexdigest()[:16]
    except KeyError:
        return MISSING
    except TypeError:
        return UNKNOWN


class Defaults:
    """Has the defaults of a `repository`'s experiments follow the persistent datasets. `values`: all datasets by key,
    each whether it persists, and its value first; `publication`: tells which change."""

    def __init__(self, repository, values: dict, publication: Publication, in_background: Callable):
        self._repository, self._values, self._in_background = repository, values, in_background
        self._waits = False
        publication.watchers.append(self._watch)

    def fingerprint(self, key: str) -> str:
        """Return the fingerprint of a dataset."""
        return fingerprint(lambda: self._values[key][1])

    def _watch(self, changes):
        if not self._repository.read or self._waits:
            return
        keys = {change["path"][0] if change["path"] else change.get("key") for change in changes}
        touched = [key for key in keys if key in self._repository.read]
        # One that is gone may have been persistent.
        if any(self._values.get(key, (True,))[0] for key in touched):
            self._waits = True
            self._in_background(self._follow())

    async def _follow(self):
        await asyncio.sleep(DELAY)
        self._waits = False
        await self._repository.renew()
