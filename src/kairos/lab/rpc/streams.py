"""What clients follow: the state now, and then its changes.

A client that is slow is sent the newest state when it has received the previous one.
"""

from collections import deque

from ... import pyon
from .. import clock, history
from ..progress import asked_points
from ..service import Service
from . import devices, fits, runs, submissions
from .applets import Applets
from .calibrations import calibrations
from .changes import MissingChanges, moments
from .curves import Curve
from .protocol import message
from .values import argument

__all__ = ["Streams", "layout"]

PERIOD = 0.05
"""Seconds between two states, unless the client asks for another time."""
SHORTEST = 0.02
FIT_PERIOD = 0.2
"""Seconds between two fits."""
LOG = 100
"""Records of the log that are sent first by default."""
RECORDS = 1000
"""Records of the log that wait for a client."""
ENTRIES, MOST_ENTRIES = 100, 1000
"""Entries of the logbook that are sent by default, and at most."""
MOST_POINTS = 2**63
"""What an absurd scan counts at most."""
SHOWN = 200
"""Characters of an argument in the queue."""


class Streams:
    """The streams of a laboratory. Each method takes the request, and yields responses."""

    def __init__(self, laboratory):
        self._lab = laboratory
        self._service = Service(laboratory, lambda: None)
        self._applets = Applets()
        laboratory.broadcaster.watchers.append(self._applets.take)

    async def applets_follow(self, request):
        async for _ in moments([self._applets.publication], PERIOD):
            yield message("FollowAppletsResponse", applets=self._applets.messages())

    async def experiments_follow(self, request):
        repository = self._lab.repository
        async for _ in moments([repository.published, repository.published_state], PERIOD):
            yield message(
                "FollowExperimentsResponse",
                experiments=[_experiment(name, entry) for name, entry in repository.experiments.items()],
                problems=[
                    message("ExperimentProblem", file=file, text=text) for file, text in repository.problems().items()
                ],
                revision=str(repository.state["cur_rev"]),
                scanning=repository.state["scanning"],
            )

    async def experiments_rehearsed(self, request):
        commits, settings = self._lab.commits, self._lab.settings.rehearsal
        async for _ in moments([commits.publication], PERIOD):
            yield message(
                "FollowRehearsedResponse",
                experiments=[submissions.rehearsed_experiment(name, found) for name, found in commits.found.items()],
                done=commits.is_done,
                enabled=settings.commits,
            )

    async def queue_follow(self, request):
        lab = self._lab
        async for _ in moments([lab.scheduler.publication, lab.interactive.publication], PERIOD):
            runs = sorted(lab.scheduler.runs.values(), key=lambda run: run.submission.rank, reverse=True)
            reasons = lab.scheduler.reasons(runs)
            yield message(
                "FollowQueueResponse",
                runs=[_queued(run, reasons[run.rid], lab) for run in runs],
                questions=[_question(rid, asked) for rid, asked in lab.interactive.publication.struct().items()],
                ended=history.count(lab.database),
                noted=lab.noted,
                locks=[message("Lock", **{**vars(lock), "person": lock.person or ""}) for lock in lab.locks.active()],
            )

    async def queue_rehearse(self, request):
        what = request.rid if request.HasField("rid") else submissions.expid(request)
        yield submissions.rehearsed(await self._service.rehearse(what, dict(request.bench), request.theory))

    async def runs_verify(self, request):
        file = runs.file_of(self._lab, self._service.run(request.rid))
        yield message("VerifyRunResponse")
        yield runs.verified(await self._lab.checks.verify(file))

    async def datasets_follow(self, request):
        datasets = self._lab.datasets
        curve = Curve(datasets.values, request.curve) if request.HasField("curve") else None
        keys = frozenset(request.keys) | (curve.keys if curve else frozenset())
        missing = MissingChanges(datasets.values, keys, datasets.writers)

        def watch(changes):
            missing.note(changes)
            if curve:
                curve.note(changes)

        period = max(request.period_ms / 1000, SHORTEST) if request.period_ms else PERIOD
        first, columns = True, None
        async for _ in moments([datasets.publication], period, watch):
            if curve:
                columns = await curve.take()
                missing.shorten(curve.long(missing.keys))
            changes = missing.all() if first else missing.take()
            if changes or columns or first:
                counted = {"number": datasets.publication.number, "start": datasets.publication.start}
                yield message(
                    "FollowDatasetsResponse", init=first, changes=changes, time=clock.now(), curve=columns, **counted
                )
            first = False
            if curve:
                await curve.rest()

    async def devices_follow(self, request):
        async for response in devices.follow(self._lab):
            yield response

    async def devices_watch(self, request):
        async for states in devices.watch(self._lab.monitors.of(request.device), request.names):
            yield message("WatchChannelsResponse", states=states, time=clock.now())

    async def devices_log(self, request):
        async for init, lines in devices.follow_log(self._lab.monitors.of(request.device)):
            yield message("FollowDeviceLogResponse", init=init, lines=lines)

    async def layouts_follow(self, request):
        layouts = self._lab.layouts
        async for _ in moments([layouts.publication], PERIOD):
            yield message("FollowLayoutsResponse", layouts=[layout(each) for each in layouts.listed()])

    async def logbook_follow(self, request):
        logbook, limit = self._lab.logbook, min(request.limit or ENTRIES, MOST_ENTRIES)
        async for _ in moments([logbook.publication], PERIOD):
            entries = [_entry(each) for each in logbook.found(request.words, limit)]
            yield message("FollowLogbookResponse", entries=entries, total=logbook.count(request.words))

    async def alarms_follow(self, request):
        alarms = self._lab.alarms
        async for _ in moments([alarms.publication], PERIOD):
            yield message("FollowAlarmsResponse", alarms=[_alarm(each) for each in alarms.described()])

    async def calibrations_follow(self, request):
        lab = self._lab
        followed = [
            lab.repository.published,
            lab.datasets.writes,
            lab.proposals.publication,
            lab.calibrator.publication,
            lab.calibrator.aging,
        ]
        async for _ in moments(followed, PERIOD):
            yield calibrations(lab)

    async def fits_declared(self, request):
        async for _ in moments([self._lab.fits.publication], PERIOD):
            yield message("DeclaredFitsResponse", fits=fits.declared(self._lab.fits.declared))

    async def fits_follow(self, request):
        fit, datasets = fits.described(request.fit), self._lab.datasets
        keys = {fit["y"], fit["x"], fit["error"]}
        touched = True

        def watch(changes):
            nonlocal touched
            touched = touched or any((c["path"][0] if c["path"] else c["key"]) in keys for c in changes)

        period = max(request.period_ms / 1000, PERIOD) if request.period_ms else FIT_PERIOD
        async for _ in moments([datasets.publication], period, watch):
            if touched:
                touched = False
                yield message("FollowFitResponse", result=fits.result(await self._lab.fits.now(fit)))

    async def runs_file(self, request):
        async for piece in runs.pieces(runs.file_of(self._lab, self._service.run(request.rid))):
            yield piece

    async def log_follow(self, request):
        log = self._lab.log
        waiting = deque(maxlen=RECORDS)
        waiting.extend([record for record in log.recent if record[0] >= request.level][-(request.newest or LOG) :])

        def watch(records):
            waiting.extend(record for record in records if record[0] >= request.level)

        known = False
        async for _ in moments([log], PERIOD, watch):
            records = [
                message("LogRecord", level=level, source=source, time=moment, text=text)
                for level, source, moment, text in waiting
            ]
            waiting.clear()
            if records or not known:  # also that there is none yet
                known = True
                yield message("FollowLogResponse", records=records)


def _experiment(name, entry):
    defaults = entry.get("scheduler_defaults") or {}
    return message(
        "Experiment",
        name=name,
        file=entry["file"],
        class_name=entry["class_name"],
        arguments=[argument(each, *described) for each, described in (entry.get("arginfo") or {}).items()],
        pipeline=defaults.get("pipeline_name") or "main",
        priority=defaults.get("priority") or 0,
        flush=bool(defaults.get("flush")),
    )


def _queued(run, why, lab):
    submission, scheduler = run.submission, lab.scheduler
    rehearsal, failed = scheduler.rehearsals.shown(run.rid)
    expid = submission.expid
    return message(
        "QueuedRun",
        rid=run.rid,
        class_name=expid.get("class_name") or "",
        file=str(expid.get("file") or ""),
        pipeline=submission.pipeline,
        status=run.status,
        priority=submission.priority,
        due=submission.due_date or 0.0,
        flush=submission.flush,
        why=why or "",
        person=submission.person or "",
        submitted=submission.submitted,
        held=submission.held is not None,
        repeat=submission.repeat,
        arguments={name: pyon.beginning(given, SHOWN) for name, given in (expid.get("arguments") or {}).items()},
        terminating=submission.termination,
        rehearsal=rehearsal,
        rehearsal_failed=failed,
        points=lab.progress.points(run.rid),
        asked_points=min(asked_points(expid, lab.repository.arguments(expid)), MOST_POINTS),
    )


def layout(found):
    """Return a version of a layout."""
    return message("Layout", **{**found, "person": found["person"] or ""})


def _entry(found):
    changed = {"edited": 0.0, "editor": ""} if found["version"] == 1 else {"editor": found["editor"] or ""}
    return message("LogbookEntry", **{**found, "person": found["person"] or "", **changed})


def _alarm(described):
    return message("Alarm", **{name: value or (0.0 if name == "since" else "") for name, value in described.items()})


def _question(rid, asked):
    arguments = [argument(*described) for described in asked["arglist_desc"]]
    return message("Question", rid=rid, title=asked["title"], arguments=arguments)
