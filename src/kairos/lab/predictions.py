"""Predicted waveforms: after a run has ended, its twin repeats it from its file, into which the waveform goes.

The data are on the disk before that begins, and the file is replaced as a whole. The process gives way to
everything else. What is left to do is kept in a file per run, so that the next laboratory does it.
"""

import asyncio
import json
import logging
from contextlib import suppress
from pathlib import Path

from .. import files, pyon
from ..errors import UsageError
from .analysis import KEY
from .processes import Processes
from .settings import Rehearsing

__all__ = ["Predictions"]

logger = logging.getLogger(__name__)

MORE = 60.0
"""Seconds beyond the allowed ones in which a prediction must end."""
LONGEST = 10
"""Times as long as allowed that a prediction may take in all: only its processor time counts, as it gives way."""
PREDICTED = ("completed", "failed")
"""How a run ends whose waveform is predicted; others were ended by somebody."""


class Predictions:
    """The predictions of a laboratory, one at a time. `folder`: where they are noted, and their processes
    work; `results`: that of all runs."""

    def __init__(self, settings: Rehearsing, processes: Processes, folder: Path, results: Path):
        self._settings, self._processes, self._folder, self._results = settings, processes, folder, results
        self._tasks: dict[int, asyncio.Task] = {}
        self._places = asyncio.Semaphore(1)

    def resume(self):
        """Go on with what an earlier laboratory has left."""
        for path in sorted(self._folder.glob("*.json")):
            try:
                noted = json.loads(path.read_text())
                self._start(noted["rid"], noted)
            except (OSError, ValueError, KeyError, TypeError):
                path.unlink(missing_ok=True)

    def begin(self, record: dict, twin: dict):
        """Predict the waveform of a run that has ended, if there is one. `twin`: of what it consists, see
        `Laboratory.twin`."""
        expid = pyon.decode(record["expid"])
        without_twin = not twin["emulated"] and twin["url"] is None
        is_off = without_twin or not self._settings.predicts(record["pipeline"])
        checked = (expid.get("calibration") or {}).get("check")
        if is_off or checked or KEY in expid or record["status"] not in PREDICTED or not record.get("results"):
            return
        noted = {"rid": record["rid"], "results": record["results"], "twin": twin}
        try:
            self._folder.mkdir(exist_ok=True)
            files.write(self._path(record["rid"]), json.dumps(noted).encode())
        except (OSError, UsageError) as error:
            logger.warning("the waveform of run %d is not predicted: %s", record["rid"], error)
            return
        self._start(record["rid"], noted)

    def _path(self, rid: int) -> Path:
        return self._folder / f"{rid}.json"

    def _start(self, rid: int, noted: dict):
        self._tasks[rid] = asyncio.get_running_loop().create_task(self._predict(rid, noted))

    async def stop(self):
        """End all predictions; the next laboratory begins them again."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _predict(self, rid: int, noted: dict):
        async with self._places:
            begin = {
                "file": str(self._results / noted["results"]),
                "twin": noted["twin"],
                "within_s": self._settings.within_s,
                "longest_s": LONGEST * self._settings.within_s,
            }
            how, data = await self._processes.once(
                "predict", f"prediction {rid}", self._folder / str(rid), begin, begin["longest_s"] + LONGEST * MORE
            )
        if how != "completed":
            logger.warning("the waveform of run %d is not predicted: %s", rid, data)
        with suppress(OSError):
            self._path(rid).unlink()
        self._tasks.pop(rid, None)
