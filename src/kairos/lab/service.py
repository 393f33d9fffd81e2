"""What the commands may call, over the laboratory's own socket; only its user can."""

import asyncio
import logging
from dataclasses import asdict

from sqlalchemy import delete, insert

from .. import pyon
from ..cli.command import suggestion
from ..errors import UsageError
from ..quantities import Quantity
from . import analysis, clock, comparison, history, setting
from .locks import DEVICE
from .logbook import markdown
from .names import names
from .progress import asked_points
from .repository import NO_REVISION
from .run import check_scheduling, check_submission
from .tables import notes, tags

__all__ = ["Service"]

logger = logging.getLogger(__name__)


class Service:
    """The laboratory, for `kairos.labclient`. UsageError for what is impossible."""

    def __init__(self, laboratory, person):
        """`person()`: returns the name of the user who calls."""
        self._lab, self._person = laboratory, person

    # The queue

    async def submit(self, expid, pipeline=None, priority=None, due_date=None, flush=None, **more) -> int:
        """Submit an experiment; returns the number of the run. What is None is as the experiment
        proposes. `more`: `held`, `after`, `repeat`."""
        proposed = self._proposed(expid)
        self._check_texts(expid)
        return await self._lab.scheduler.submit(
            pipeline or proposed.get("pipeline_name") or "main",
            {"log_level": 30, **expid},
            proposed.get("priority", 0) if priority is None else priority,
            due_date,
            proposed.get("flush", False) if flush is None else flush,
            person=self._person(),
            **more,
        )

    def _proposed(self, expid) -> dict:
        """Return the scheduling that an experiment of the repository proposes."""
        return self._lab.repository.entry(expid).get("scheduler_defaults") or {}

    def _check_texts(self, expid):
        """Refuse what an experiment of the repository could not decode when it is built."""
        given = expid.get("arguments") or {}
        for name, (described, *_) in self._lab.repository.arguments(expid).items():
            text = given.get(name)
            if described["ty"] == "PYONValue" and isinstance(text, str):
                try:
                    pyon.decode(text)
                except ValueError as error:
                    raise UsageError(f"argument {name}: {error}") from None

    def queue(self) -> list[dict]:
        """Return the runs in the queue, in the order in which they will run."""
        runs = sorted(self._lab.scheduler.runs.values(), key=lambda run: run.submission.rank, reverse=True)
        repository, reasons = self._lab.repository, self._lab.scheduler.reasons(runs)
        return [
            {
                "rid": run.rid,
                **run.shown(),
                "expid": run.submission.expid,
                "person": run.submission.person,
                "submitted": run.submission.submitted,
                "held": run.submission.held,
                "termination": run.submission.termination,
                "after": run.submission.after,
                "repeat": run.submission.repeat,
                "why": self._why(run, reasons[run.rid]),
                "rehearsal": self._lab.scheduler.rehearsals.results.get(run.rid, {}).get("sentence"),
                "points": self._lab.progress.points(run.rid),
                "asked_points": asked_points(expid := run.submission.expid, repository.arguments(expid)),
            }
            for run in runs
        ]

    def move(self, rid, other, before=True):
        """Place a waiting run before or behind another one."""
        self._lab.scheduler.move(rid, other, before)

    def hold(self, rid, note=""):
        """Hold a run: one that waits does not begin, one that runs pauses when it can."""
        self._lab.scheduler.set_held(rid, note)

    def release(self, rid):
        """Release a run that is held, or that waits for another one that has not succeeded."""
        self._lab.scheduler.set_held(rid, None)

    def asked(self, rid) -> dict:
        """Return the arguments for which a run asks, as those of `experiments`; UsageError if it asks for none."""
        found = self._lab.interactive.asked(rid)
        if found is None:
            self._lab.scheduler.known(rid)
            raise UsageError(f"run {rid} asks for nothing")
        return {key: tuple(more) for key, *more in found["arglist_desc"]}

    def answer(self, rid, values):
        """Give a run the arguments for which it asks; None: refuse."""
        self.asked(rid)
        if values is None:
            self._lab.interactive.cancel(rid)
        else:
            self._lab.interactive.supply(rid, values)

    def _why(self, run, reason: str | None) -> str | None:
        """Return why a run waits; None if it does not. `reason`: of the scheduler."""
        found = self._lab.interactive.asked(run.rid)
        if found is None:
            return run.problem or reason
        names = ", ".join(key for key, *_ in found["arglist_desc"])
        return f"it asks for {names or 'nothing'}: kairos queue answer {run.rid}"

    def edit(self, rid, **values):
        """Change `priority`, `due_date`, `flush`, `pipeline`, `repeat` or `arguments` of a waiting run."""
        run = self._lab.scheduler.waiting(rid)
        unknown = set(values) - {"priority", "due_date", "flush", "pipeline", "repeat", "arguments"}
        if unknown:
            raise UsageError(f"{', '.join(sorted(unknown))} of a run cannot be changed")
        values = check_scheduling(**values)
        if "arguments" in values:
            given = {**(run.submission.expid.get("arguments") or {}), **values.pop("arguments")}
            values["expid"] = {**run.submission.expid, "arguments": given}
        self._lab.scheduler.change(rid, **values)

    def terminate(self, rid, force=False):
        """End a run at its next pause, or by force; UsageError for an unknown one."""
        self._lab.scheduler.known(rid)
        (self._lab.scheduler.delete if force else self._lab.scheduler.request_termination)(rid)

    async def wait(self, rid) -> str:
        """Wait for the end of a run; returns its status."""
        while rid in self._lab.scheduler.runs:
            await self._lab.scheduler.ended_next()
        return self.run(rid)["status"]

    def policy(self, rid) -> str:
        """Return how a run in the queue is rehearsed: ``off``, ``warn`` or ``must``; ``off`` if it is
        not there any more."""
        run = self._lab.scheduler.runs.get(rid)
        return "off" if run is None else self._lab.scheduler.rehearsals.policy(run.submission)

    async def rehearsed(self, rid) -> dict | None:
        """Wait for the rehearsal of a run; returns what was found, see `twin.verdict.described`, and
        the `policy`; None if it is not rehearsed."""
        rehearsals = self._lab.scheduler.rehearsals
        policy = self.policy(rid)
        found = await rehearsals.wait(rid)
        return None if found is None else {"policy": policy, **found}

    async def rehearse(self, expid, bench=None, theory=False) -> dict:
        """Run an experiment, or that of a run with this number, on the twin of the laboratory, without submitting it;
        returns what was found, see `twin.verdict.described`, or `sentence` and `passed` only, and the `directory` to
        which its file is relative, None if to none. `bench`: numbers of the bench file that have other values, by
        name. `theory`: with the curves that the twin has measured, and the `numbers` of the bench file. KeyError if
        `repo_rev` is no commit."""
        rid = expid if isinstance(expid, int) else 0
        if isinstance(expid, int):
            expid = self._lab.scheduler.expid(expid)
        check_submission(expid)
        repository = self._lab.repository
        expid, _ = await repository.resolved({"log_level": 30, **expid})
        async with repository.using(expid) as folder:
            found = await self._lab.scheduler.rehearsals.now(expid, bench or {}, theory, rid=rid)
        return {**found, "directory": folder}

    def locks(self) -> list[dict]:
        """Return the locks: `kind`, `name`, `person`, `note`, `since`, `expires`."""
        return [asdict(lock) for lock in self._lab.locks.active()]

    def lock(self, kind, name, seconds, note=""):
        """Lock a pipeline or a device: runs of others wait. UsageError for a device that is not in the database."""
        if kind == DEVICE and name not in (known := self._lab.device_entries):
            raise UsageError(f"there is no device '{name}'{suggestion(name, known)}")
        self._lab.locks.take(kind, name, float(seconds), self._person(), note)

    def unlock(self, kind, name, force=False):
        """Release a lock; that of somebody else only by force."""
        self._lab.locks.release(kind, name, self._person(), force)

    # Experiments

    async def scan(self, revision=None):
        """Scan the repository."""
        await self._lab.repository.scan_next(revision)

    def experiments(self) -> dict:
        """Return the experiments of the repository, why files could not be examined, and the commit; None for a
        folder."""
        repository = self._lab.repository
        revision = repository.state["cur_rev"]
        return {
            "experiments": repository.experiments,
            "problems": repository.problems(),
            "revision": None if revision == NO_REVISION else revision,
        }

    def rehearsed_experiments(self) -> dict:
        """Return what the twin has found of the experiments of the repository, if `commits` is set: `experiments`, by
        name, see `commits.Commits`; and whether all are `done`."""
        return {"experiments": self._lab.commits.found, "done": self._lab.commits.is_done}

    def described(self, rid) -> tuple[str, dict | None]:
        """Return the class of a run, in the queue or finished, and the arguments that its experiment takes, as
        those of `experiments`; None if they are not known: it is not in the repository any more, or never was."""
        expid = self._lab.scheduler.expid(rid)
        return expid.get("class_name") or "", self._lab.repository.entry(expid).get("arginfo")

    async def examine(self, file) -> dict:
        """Return the requirements of the experiments in a file, by class."""
        return await self._lab.repository.examine(file, False)

    # Values

    def datasets(self) -> dict:
        """Return all datasets, by name: (persist, value, metadata)."""
        return self._lab.datasets.values

    def dataset_texts(self, persistent=False) -> dict[str, str]:
        """Return all datasets, or those that persist, by name: as short texts, because values may be large."""
        return {
            key: Quantity.of(metadata).text(value, True)
            for key, (persist, value, metadata) in self._lab.datasets.values.items()
            if persist or not persistent
        }

    def dataset(self, key) -> tuple | None:
        """Return a dataset, as `datasets` does; None if there is none."""
        return self._lab.datasets.values.get(key)

    def dataset_metadata(self, key) -> dict | None:
        """Return the metadata of a dataset; None if there is none."""
        found = self._lab.datasets.values.get(key)
        return None if found is None else found[2]

    def set_dataset(self, key, value, persist=None, metadata=None):
        """Set a dataset."""
        self._lab.datasets.set(key, value, persist, metadata, person=self._person())

    def delete_dataset(self, key):
        """Delete a dataset."""
        self._lab.datasets.delete(key, person=self._person())

    def parameter_history(self, key, limit=100) -> list[dict]:
        """Return the writes of a persistent dataset, newest first."""
        return self._lab.datasets.history(key, limit)

    def restore_parameter(self, key, number):
        """Set a persistent dataset to the value that it was set to by the write `number`."""
        for row in self._lab.datasets.history(key, None):
            if row["id"] == number and row["value"] is not None:
                value, metadata = pyon.decode(row["value"]), pyon.decode(row["metadata"])
                self._lab.datasets.set(key, value, True, metadata, person=self._person())
                return
        raise UsageError(f"{key} has no value with the number {number}")

    # Calibrations

    def parameters(self) -> list[dict]:
        """Return the states of all parameters: `key`, `state`, `reason`, `calibration`, `validity`,
        `changed`, `confirmed`."""
        return [
            {
                **{name: getattr(each, name) for name in ("key", "state", "reason", "calibration", "validity")},
                "changed": each.written and each.written.changed,
                "confirmed": each.written and each.written.confirmed,
            }
            for each in self._lab.calibrator.states().values()
        ]

    def calibrations(self) -> dict:
        """Return the calibrations in the order in which they need one another: `name`, `sets`,
        `needs`, `checks`; and the problems of their declarations."""
        graph = self._lab.calibrator.graph()
        listed = [
            {
                "name": name,
                "sets": list(graph.calibrations[name].sets),
                "needs": list(graph.calibrations[name].needs),
                "checks": name in graph.checks,
            }
            for name in graph.order
        ]
        return {"calibrations": listed, "problems": graph.problems}

    def calibrate(self, names=(), forced=False) -> int:
        """Calibrate what is stale among the parameters or experiments of these names, and what they
        need; without names everything. Returns the number of the session."""
        return self._lab.calibrator.begin(list(names), bool(forced), self._person()).number

    def session(self, number) -> dict:
        """Return a session of calibrations: its `steps`, and when it has `ended`."""
        return asdict(self._lab.calibrator.session(number))

    async def session_changes(self, number, seen) -> dict:
        """Return a session once it differs from `seen`, what was returned before."""
        while (now := self.session(number)) == seen and now["ended"] is None:
            await self._lab.calibrator.next_change()
        return now

    def stop_calibration(self, number):
        """Stop a session: its run is asked to terminate."""
        self._lab.calibrator.stop(number)

    def proposals(self) -> list[dict]:
        """Return the values that wait for a person."""
        return self._lab.proposals.waiting()

    def decide(self, number, accept, note=""):
        """Accept or reject a value that waits."""
        self._lab.proposals.decide(number, bool(accept), self._person(), note)

    # Alarms and messages

    def alarms(self) -> list[dict]:
        """Return all alarms: `name`, `dataset`, `state`, `since`, `reason`, `person`, `note`, `guidance`."""
        return self._lab.alarms.described()

    def alarm_history(self, limit=100) -> list[dict]:
        """Return what has happened to alarms, newest first."""
        return self._lab.alarms.history(limit)

    def acknowledge(self, name, note=""):
        """Acknowledge an alarm."""
        self._lab.alarms.acknowledge(name, self._person(), note)

    def test_notifications(self):
        """Send an event of the kind ``test``; UsageError if nobody wants it."""
        if not any("test" in each.on for each in self._lab.settings.notify):
            raise UsageError("no recipient of lab.toml gets 'test': add it to 'on' of a [[notify]]")
        self._lab.reporting.events.emit("test", "this is a test")

    # Devices

    async def override(self, device, name, level=None):
        """Override a pin of a core device with a level, or release it. UsageError if that is not
        possible, or somebody else has locked the device."""
        person = self._person()
        if reason := self._lab.locks.blocking("", [device, name], person):
            raise UsageError(reason)
        await self._lab.monitors.of(device).override(name, level)
        done = "released" if level is None else f"overridden with {int(level)}"
        logger.info("%s of %s is %s by %s", name, device, done, person or "somebody")

    async def set_output(self, device, name, values, initialise=False) -> int:
        """Set an output of a card by a run of its own, see `setting`; returns its number, once it has completed.
        UsageError if that is impossible, while another run uses the device, or somebody else has locked it."""
        person = self._person()
        expid = await setting.submission(self._lab, device, name, values, initialise, person)
        return await setting.ended(self._lab, await self.submit(expid), name)

    # Logbook

    def logbook(self, words=(), limit=None) -> list[dict]:
        """Return the entries of the logbook that match all words, newest first; see `Logbook.found`."""
        return self._lab.logbook.found(list(words), limit)

    def write_entry(self, text, rid=None, picture=b"") -> int:
        """Write an entry of the logbook; returns its number."""
        return self._lab.logbook.write(text, self._person(), rid, picture)

    def edit_entry(self, number, version, text):
        """Change the text `version` of an entry; an empty one withdraws it."""
        self._lab.logbook.edit(number, version, text, self._person())

    def export_logbook(self, words=(), since=0.0, until=0.0) -> tuple[str, list[int]]:
        """Return the entries that match as Markdown, and the numbers of those with pictures."""
        entries = self._lab.logbook.found(list(words), since=since, until=until)
        title = f"Logbook of {self._lab.settings.name or self._lab.settings.folder.name}"
        return "".join(markdown(entries, title)), [each["number"] for each in entries if each["has_picture"]]

    def entry_picture(self, number) -> bytes:
        """Return the picture of an entry."""
        return self._lab.logbook.picture(number)

    # Layouts of the page

    def layouts(self) -> list[dict]:
        """Return the newest version of each layout: `name`, `version`, `time`, `person`."""
        return self._lab.layouts.listed()

    def layout(self, name, version=0) -> dict:
        """Return a layout with its `content`, the newest version or an earlier one."""
        return self._lab.layouts.get(name, version)

    def save_layout(self, name, content, version) -> int:
        """Save a layout that was changed since `version`; returns the number of the new version."""
        return self._lab.layouts.save(name, content, version, self._person())

    # Finished runs

    async def runs(self, words=(), limit=None) -> list[dict]:
        """Return the runs that match all words, newest first; see `history.filtered`."""
        return await asyncio.to_thread(history.records, self._lab.database, list(words), limit)

    async def run_details(self, words=(), limit=None) -> list[dict]:
        """Return the same with the `arguments`, `tags` and `numbers` of each run."""
        found = await self.runs(words, limit)
        return await asyncio.to_thread(history.detailed, self._lab.database, found)

    def run(self, rid) -> dict:
        """Return everything that is known of a finished run."""
        return history.shown(self._lab.database, rid)

    async def compare(self, rid, other) -> dict:
        """Return what differs between two finished runs beside what the index has, see `comparison.differences`."""
        return await asyncio.to_thread(comparison.differences, self.run(rid), self.run(other), self._lab.results)

    async def repeat(self, rid, /, **changed) -> int:
        """Submit a finished run again: the same source at the same commit, the same arguments except
        those `changed`; returns the number of the new run."""
        record = self.run(rid)
        expid = pyon.decode(record["expid"])
        expid["arguments"] = {**(expid.get("arguments") or {}), **changed}
        expid.pop("calibration", None)  # it belongs to no session, and does not check first
        return await self.submit(expid, record["pipeline"], record["priority"])

    async def analyze(self, rid) -> int:
        """Submit the analysis of a finished run again, with its own source and data, in a pipeline of
        its own; returns the number of the new run. UsageError if it has no data."""
        record = self.run(rid)
        if not record["results"]:
            raise UsageError(f"run {rid} has no data to analyze")
        expid = pyon.decode(record["expid"])
        expid.pop("calibration", None)
        source = expid.get(analysis.KEY, rid)  # of an analysis: the run itself
        return await self.submit({**expid, analysis.KEY: source, "data": record["results"]}, "analysis")

    def tag(self, rid, tag, remove=False):
        """Give a finished run a tag, or remove it."""
        self.run(rid)
        with self._lab.database.change() as change:
            change.execute(delete(tags).where(tags.c.rid == rid, tags.c.tag == tag))
            if not remove:
                change.execute(insert(tags).values(rid=rid, tag=tag))
        self._lab.note_changed()

    def note(self, rid, text):
        """Add a note to a finished run."""
        self.run(rid)
        with self._lab.database.change() as change:
            change.execute(insert(notes).values(rid=rid, time=clock.now(), person=self._person(), text=text))
        self._lab.note_changed()

    async def reindex(self) -> tuple[int, list[str]]:
        """Rebuild the index from the files of the runs; returns their number, and unreadable files."""
        return await asyncio.to_thread(history.reindex, self._lab.database, self._lab.results)

    # The laboratory

    def names(self, kind, of="") -> list[str]:
        """Return names of a kind, for the completion of command lines."""
        return names(self._lab, kind, of)

    def log(self, count=100) -> list[tuple]:
        """Return the newest records of the log: (level, source, time, text)."""
        records = list(self._lab.log.recent)
        return records[max(0, len(records) - count) :]

    def status(self) -> dict:
        """Return name, folder, addresses and how much there is of what; `runs` is None while the database is away,
        and `problem` says why."""
        try:
            runs, problem = history.count(self._lab.database), None
        except UsageError as error:
            runs, problem = None, str(error)
        return {
            "name": self._lab.settings.name,
            "folder": str(self._lab.settings.folder),
            "results": str(self._lab.results),
            **self._lab.addresses,
            "queue": len(self._lab.scheduler.runs),
            "runs": runs,
            "problem": problem,
        }

    def end(self):
        """End the laboratory. Runs go on, and the next laboratory takes them over."""
        self._lab.end()
