"""A run that has ended is stored and entered into the index, however long the disk is full or the database is away.

What is neither, and would fail again, costs the run its file of datasets, but not its journal or its place in the
index.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ..errors import KairosError
from . import clock, results
from .contents import Contents, contents_of
from .queue import Queue, Submission
from .run import Run, submitted_as, unbegun

__all__ = ["stored"]

logger = logging.getLogger(__name__)

FULL = 5.0
"""Seconds between attempts."""


async def stored(
    run: Run, how: dict, queue: Queue, folder: Path, asked_to_stop: asyncio.Event, write_pending: Callable[[], None]
) -> tuple[dict, Submission | None] | None:
    """Store a run in `folder`, the one of all results, and enter it into the index, again and again
    until that succeeds; returns its record, and its repetition. `how`: its ``status`` and ``error``.
    `write_pending`: writes what else it has brought about, before there is no journal of it any more.
    None if the laboratory is to end meanwhile: the next one stores the run, from its own folder."""
    while True:
        try:
            record = await asyncio.to_thread(_store, run, how, folder)
            write_pending()
            return record, queue.end(run.submission, record)
        except Exception as failure:  # none of them may cost the run, or the end of the laboratory
            ends = asked_to_stop.is_set()
            then = "the next laboratory in this folder tries again" if ends else "it is tried again"
            before, run.problem = run.problem, f"it cannot be stored: {failure}; it is tried again"
            if ends or run.problem != before:  # not each time of a night
                logger.error("run %d cannot be stored: %s; %s", run.rid, failure, then)
            if ends:
                return None
        with suppress(TimeoutError):
            async with asyncio.timeout(FULL):
                await asked_to_stop.wait()


def _store(run: Run, how: dict, folder: Path) -> dict:
    written = contents_of(run.folder / "journal") if run.folder.exists() else Contents()
    if written.damaged:
        logger.error(
            "the journal of run %d is damaged: what it has lost is missing, a copy is kept as .journal", run.rid
        )
    elif not written.begin:
        return {**unbegun(run), **how}
    if not written.begin:
        written.begin = {**submitted_as(run), "started": written.first or clock.now()}
    if written.end is not None:
        how = {name: written.end[name] for name in how}
    try:
        return results.store(run.folder, written, how, folder, written.damaged == 0)[0]
    except (OSError, KairosError):
        raise
    except Exception as error:
        logger.exception("the datasets of run %d cannot be written: its journal is kept as .journal", run.rid)
        lost = f"its datasets could not be written ({type(error).__name__}: {error}); its journal is kept"
        how = {"status": how["status"], "error": "; ".join(filter(None, (how["error"], lost)))}
        return results.store_journal(run.folder, written, how, folder)
