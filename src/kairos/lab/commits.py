"""The repository under test: each experiment is rehearsed with its defaults when its file, or one that it imports, has
changed, or the twin, and compared with what was found before."""

import asyncio
import hashlib
import json
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

from .. import __version__, files
from ..cli.provenance import models_of
from ..controllers.publishing import Publication
from ..errors import UsageError
from ..twin.folder import changes
from . import clock

__all__ = ["Commits", "twin_digest"]

logger = logging.getLogger(__name__)


class Commits:
    """What the twin has found of the experiments of a repository, by name, in the file `path`: `passed`, `sentence`,
    the `changes` against the version before, its `revision` and the `time`. `rehearse(expid)`: returns what was found,
    with a `summary` (see `kairos.twin.folder.summary`) unless it was impossible. `publication` changes with them."""

    def __init__(self, path: Path, rehearse: Callable[[dict], Awaitable[dict]]):
        self._path, self._rehearse = path, rehearse
        self.found: dict[str, dict] = _loaded(path)
        self.publication = Publication(lambda: self.found)
        self._task: asyncio.Task | None = None
        self._is_failing = False

    def begin(self, experiments: dict[str, dict], fingerprint: Callable[[str], str], revision: str):
        """Rehearse the experiments of a revision that have changed; what is still to be rehearsed of the one before is
        left out. `fingerprint(file)`: of a file and of all else that decides what is found."""
        self.end()
        todo = {}
        for name, entry in experiments.items():
            of = f"{fingerprint(entry['file'])}:{entry['class_name']}"
            if self.found.get(name, {}).get("of") != of:
                todo[name] = of
        self.found = {name: each for name, each in self.found.items() if name in experiments}
        chosen = {name: experiments[name] for name in todo}
        self._task = asyncio.get_running_loop().create_task(self._all(chosen, todo, revision))
        self._task.add_done_callback(lambda task: self.publication.changed([]))
        self.publication.changed([])

    def end(self):
        """Rehearse no more."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    @property
    def is_done(self) -> bool:
        """Whether nothing is being rehearsed."""
        return self._task is None or self._task.done()

    async def _all(self, experiments: dict[str, dict], of: dict[str, str], revision: str):
        for name, entry in experiments.items():
            lacking = [key for key, (described, *_) in entry["arginfo"].items() if "default" not in described]
            if lacking:
                entry_found = {"passed": True, "sentence": f"is not rehearsed: argument {lacking[0]} has no default"}
            else:
                expid = {
                    "file": entry["file"],
                    "class_name": entry["class_name"],
                    "arguments": {},
                    "repo_rev": revision,
                }
                found = await self._rehearse({"log_level": logging.WARNING, **expid})
                entry_found = found.get("summary") or {"passed": found["passed"], "sentence": found["sentence"]}
            before = self.found.get(name)
            differing = [] if before is None else changes(before, entry_found)
            context = {"changes": differing, "revision": revision, "time": clock.now(), "of": of[name]}
            self.found[name] = {**entry_found, **context}
            self.publication.changed([])
            self._keep()
            level = logging.INFO if entry_found["passed"] else logging.WARNING
            logger.log(level, "experiment %s %s", name, "; ".join([entry_found["sentence"], *differing]))

    def _keep(self):
        try:
            files.write(self._path, json.dumps(self.found, indent=1).encode() + b"\n")
        except UsageError as error:  # it is only rehearsed again by the next laboratory
            if not self._is_failing:
                logger.error("what rehearsals find is not kept: %s", error)
            self._is_failing = True
            return
        self._is_failing = False


def twin_digest(twin: dict, entries: dict, interlocks: Path, settings) -> str:
    """Return a hash of what a rehearsal depends on beside its experiment: what the `twin` consists of (see
    `Laboratory.twin`), the `entries` of the device database, the files of the bench, the rules, the `settings` of
    rehearsals. Not of the datasets that it may read, which change all the time."""
    paths = [interlocks]
    if twin["bench"] is not None:
        bench = Path(twin["bench"])
        paths += [bench, *models_of(bench, _text(bench))]
    said = [
        __version__,
        twin["url"],
        sorted(twin["parts"].items()),
        repr(entries),
        [_text(path) for path in paths],
        [settings.within_s, settings.network_us],
    ]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _loaded(path: Path) -> dict[str, dict]:
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}  # all is rehearsed again
    return found if isinstance(found, dict) else {}
