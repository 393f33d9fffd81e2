"""Executes calibrations in the order in which they need one another.

A session is what somebody has asked for: some parameters or all, those that are stale or, forced,
even if they are valid. Its steps are runs of the queue, one after the other. It is on the disk after
each step, so that it goes on in the next laboratory.
"""

import asyncio
import inspect
import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass, field

from sqlalchemy import insert, select, update

from .. import pyon
from ..controllers.publishing import Publication
from ..errors import UsageError
from . import clock
from . import graph as graphs
from .database import Database, Unavailable, rows
from .graph import Graph, ParameterState
from .proposals import REJECTED
from .tables import calibrations, runs

__all__ = ["Calibrator", "Session", "Step"]

logger = logging.getLogger(__name__)

WAITS, RUNS, DECIDING = "waits", "runs", "deciding"
DONE, CHECKED, VALID = "done", "checked", "valid"
SKIPPED, FAILED, STOPPED = "skipped", "failed", "stopped"
OPEN = (WAITS, RUNS, DECIDING)
CHECK_INTERVAL = 2.0
"""Seconds between looks at the age of parameters."""
AGAIN = 1.0
"""Seconds between attempts to reach a database that is away."""
KEPT = 20
"""Sessions that are shown, the newest ones."""


@dataclass
class Step:
    """A calibration of a session."""

    name: str
    """Name of the experiment."""
    state: str = WAITS
    """``waits``; ``runs``; ``deciding``: a value waits for a person; ``done``; ``checked``: the values
    were still good; ``valid``: nothing had to be done; ``skipped``, ``failed``, ``stopped``."""
    reason: str = ""
    rid: int | None = None
    attempt: int = 0


@dataclass
class Session:
    """What somebody has asked for."""

    number: int
    person: str | None
    started: float
    forced: bool
    steps: list[Step] = field(default_factory=list)
    ended: float | None = None


class Calibrator:
    """The calibrations of `laboratory`; `publication` changes with the sessions."""

    def __init__(self, laboratory, database: Database):
        self._lab, self._database = laboratory, database
        self.publication = Publication(self.sessions)
        self.aging = Publication(self.states)
        """Changed when a parameter has become stale by its age."""
        self._blind = False
        """Whether the latest look at the ages has failed."""
        self._aged: set[str] = set()
        self._graph: tuple[dict, Graph] | None = None
        """The experiments, and their graph."""
        self._timer: asyncio.TimerHandle | None = None
        self.active: dict[int, Session] = {}
        self._tasks: dict[int, asyncio.Task] = {}
        self._changed = asyncio.Event()

    # What is known

    def graph(self) -> Graph:
        """Return the graph of the experiments in the repository."""
        experiments = self._lab.repository.experiments
        if self._graph is None or self._graph[0] is not experiments:
            self._graph = experiments, Graph(experiments)
        return self._graph[1]

    def states(self, graph: Graph | None = None) -> dict[str, ParameterState]:
        """Return the states of all persistent datasets, and of all parameters of calibrations."""
        graph = graph or self.graph()
        kept = [key for key, (persist, *_) in self._lab.datasets.values.items() if persist]
        return self._states(graph, sorted({*kept, *graph.parameters()}))

    def _states(self, graph: Graph, keys) -> dict[str, ParameterState]:
        datasets = self._lab.datasets
        return graphs.states(graph, keys, datasets.written, datasets.values.__contains__, clock.now())

    def sessions(self) -> list[Session]:
        """Return the newest sessions, the newest first."""
        query = select(calibrations).order_by(calibrations.c.id.desc()).limit(KEPT)
        with self._database.view() as view:
            return [self.active.get(row["id"]) or _session(row) for row in rows(view, query)]

    def session(self, number: int) -> Session:
        """Return a session; UsageError if there is none."""
        if number in self.active:
            return self.active[number]
        with self._database.view() as view:
            found = rows(view, select(calibrations).where(calibrations.c.id == number))
        if not found:
            raise UsageError(f"there is no calibration {number}")
        return _session(found[0])

    async def next_change(self):
        """Wait until a session has changed."""
        self._changed.clear()
        await self._changed.wait()

    # Requests

    def begin(self, names: list[str], forced: bool, person: str | None) -> Session:
        """Calibrate parameters, or experiments, of these names and what they need; without names
        everything. Only what is stale, unless `forced`: then those that are named in any case.
        UsageError for an unknown name."""
        graph = self.graph()
        try:
            chosen = graph.chosen(names)
            named = {graph.named(name) for name in names} if names else set(chosen)
        except LookupError as error:
            known = ", ".join(graph.order) or "none"
            raise UsageError(
                f"no experiment calibrates '{error.args[0]}'; there are {known} ('calibrates' in build declares one)"
            ) from None
        # What is forced is marked as such by an attempt that has not been made.
        steps = [Step(name, attempt=-1 if forced and name in named else 0) for name in chosen]
        started = clock.now()
        with self._database.change() as change:
            values = {"person": person, "started": started, "forced": forced, "steps": _packed(steps)}
            (number,) = change.execute(insert(calibrations).values(**values)).inserted_primary_key
        session = Session(number, person, started, forced, steps)
        self._go(session)
        return session

    def stop(self, number: int):
        """Ask the run of a session to terminate, and begin no further one; UsageError if it has ended."""
        session = self.session(number)
        if session.ended is not None:
            raise UsageError(f"calibration {number} has ended already")
        for step in session.steps:
            if step.state == RUNS and step.rid is not None:
                self._lab.scheduler.request_termination(step.rid)
            if step.state in OPEN:
                step.state, step.reason = STOPPED, "the calibration was stopped"
        self._end(session)
        task = self._tasks.pop(number, None)
        if task is not None:
            task.cancel()

    def resume(self):
        """Go on with the sessions of an earlier laboratory."""
        with self._database.view() as view:
            found = rows(view, select(calibrations).where(calibrations.c.ended.is_(None)))
        for row in found:
            if row["id"] not in self.active:
                self._go(_session(row))

    def watch_ages(self):
        """Look from now on whether parameters become stale by their age. A look that fails, for instance because
        the database does not answer, is reported once and repeated."""
        self._timer = asyncio.get_running_loop().call_later(CHECK_INTERVAL, self.watch_ages)
        try:
            graph = self.graph()
            states = self._states(graph, graph.parameters())
        except Exception as error:
            if not self._blind:
                logger.error("the ages of parameters are not known: %s", str(error) or type(error).__name__)
            self._blind = True
            return
        self._blind = False
        stale = {key for key, state in states.items() if state.state != graphs.VALID}
        if stale != self._aged:
            self._aged = stale
            self.aging.changed([])

    async def close(self):
        """Stop working; the sessions go on in the next laboratory."""
        if self._timer is not None:
            self._timer.cancel()
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # Work

    def _go(self, session: Session):
        self.active[session.number] = session
        self._tasks[session.number] = asyncio.get_running_loop().create_task(self._work(session))
        self._report()

    def _report(self):
        self.publication.changed([])
        self._changed.set()

    def _keep(self, session: Session):
        with self._database.change() as change:
            row = update(calibrations).where(calibrations.c.id == session.number)
            change.execute(row.values(steps=_packed(session.steps), ended=session.ended))
        self._report()

    def _end(self, session: Session):
        session.ended = clock.now()
        self._keep(session)
        self.active.pop(session.number, None)

    async def _work(self, session: Session):
        try:
            for step in session.steps:
                if step.state in OPEN:
                    await self._perform(session, step)
                    await _insist(lambda: self._keep(session))
            await _insist(lambda: self._end(session))
        except asyncio.CancelledError:
            raise
        except Exception as error:
            logger.exception("calibration %d", session.number)
            for step in session.steps:
                if step.state in OPEN:
                    step.state, step.reason = FAILED, f"{type(error).__name__}: {error}"
            await _insist(lambda: self._end(session))
        self._tasks.pop(session.number, None)

    async def _perform(self, session: Session, step: Step):
        """Take a step to its end."""
        graph = self.graph()
        if step.name not in graph.calibrations:
            step.state, step.reason = FAILED, "there is no such calibration any more"
            return
        calibration = graph.calibrations[step.name]
        if step.state == WAITS and not self._is_to_run(graph, session, step):
            return
        while True:
            if step.state == WAITS:
                await self._submit(session, step)
            step.reason = await self._ended(session, step, list(calibration.sets))
            if step.state != FAILED or step.attempt >= calibration.attempts:
                return
            step.state = WAITS

    def _is_to_run(self, graph: Graph, session: Session, step: Step) -> bool:
        """Return whether a step is to be run; if not, what has become of it is noted in the step."""
        states = self.states(graph)
        calibration = graph.calibrations[step.name]
        reasons = [f"{key}: {states[key].reason}" for key in calibration.sets if states[key].state != graphs.VALID]
        if not reasons and step.attempt >= 0:
            step.state = VALID
            return False
        step.reason = "; ".join(reasons)
        ended = next((s.name for s in session.steps if s.state == FAILED and _ends(graph, s.name)), None)
        if ended is not None:
            step.state, step.reason = SKIPPED, f"{ended} has failed, which ends the calibration"
            return False
        for key in calibration.needs:
            if states[key].state == graphs.VALID or key in calibration.sets:
                continue
            setter = graph.setters.get(key)
            if states[key].state == graphs.MISSING or setter is None or not _continues(graph, setter):
                step.state, step.reason = SKIPPED, f"it needs {key}: {states[key].reason}"
                return False
        reason = graphs.unmet(calibration, self._lab.datasets.get)
        if reason is not None:
            step.state, step.reason = SKIPPED, reason
            return False
        return True

    async def _submit(self, session: Session, step: Step):
        graph, forced = self.graph(), step.attempt < 0
        entry = self._lab.repository.experiments[step.name]
        states = self.states(graph)
        known = all(states[key].state != graphs.MISSING for key in graph.calibrations[step.name].sets)
        step.attempt = max(step.attempt, 0) + 1
        expid = {
            "file": entry["file"],
            "class_name": entry["class_name"],
            "arguments": {},
            "repo_rev": None,
            "log_level": logging.WARNING,
            "calibration": {
                "session": session.number,
                # A check that has failed once is not repeated.
                "check": not forced and known and step.attempt == 1 and step.name in graph.checks,
            },
        }
        proposed = entry.get("scheduler_defaults") or {}
        request = f"calibration {session.number} {step.name} {step.attempt}"

        def submit():
            return self._lab.scheduler.submit(
                proposed.get("pipeline_name") or "main",
                expid,
                proposed.get("priority") or 0,
                flush=bool(proposed.get("flush")),
                person=session.person,
                request=request,
            )

        step.rid = await _insist(submit)
        if step.rid is None:
            raise asyncio.CancelledError  # the laboratory ends
        step.state = RUNS
        await _insist(lambda: self._keep(session))

    async def _ended(self, session: Session, step: Step, keys: list[str]) -> str:
        """Wait for the end of a step's run, and for decisions about its values; notes the state, and
        returns the reason of a failure."""
        while step.rid in self._lab.scheduler.runs:
            await self._lab.scheduler.ended_next()
        proposals = self._lab.proposals

        async def found() -> list[dict]:
            return await _insist(lambda: proposals.of_run(step.rid))

        while waiting := [row for row in await found() if row["decision"] is None]:
            if step.state != DECIDING:
                step.state, step.reason = DECIDING, f"{waiting[0]['key']}: {waiting[0]['objection']}"
                await _insist(lambda: self._keep(session))
            await _next_change(proposals.publication)
        written = self._lab.datasets.written
        if all(key in written and written[key].rid == step.rid for key in keys):
            is_set = {row["key"] for row in await found()}
            step.state = DONE if is_set else CHECKED
            return ""
        step.state = FAILED
        return await _insist(lambda: self._failure(step.rid, keys))

    def _failure(self, rid: int, keys: list[str]) -> str:
        rejected = [row["key"] for row in self._lab.proposals.of_run(rid) if row["decision"] == REJECTED]
        if rejected:
            return f"the value of {rejected[-1]} was rejected"
        with self._database.view() as view:
            found = rows(view, select(runs.c.status, runs.c.error).where(runs.c.rid == rid))
        status, error = (found[0]["status"], found[0]["error"]) if found else ("lost", None)
        if status != "completed":
            return f"run {rid}: {error or status}"
        return f"run {rid} has not set {', '.join(keys)}"


async def _insist(call: Callable):
    """Return what a call returns, or what it is waited for, as soon as the database can be reached."""
    is_reported = False
    while True:
        try:
            value = call()
            return await value if inspect.isawaitable(value) else value
        except Unavailable as error:
            if not is_reported:
                logger.error("calibrations wait: %s", error)
            is_reported = True
            await asyncio.sleep(AGAIN)


def _continues(graph: Graph, name: str) -> bool:
    return graph.calibrations[name].on_failure == "continue"


def _ends(graph: Graph, name: str) -> bool:
    return name in graph.calibrations and graph.calibrations[name].on_failure == "end"


async def _next_change(publication: Publication):
    changed = asyncio.Event()

    def watch(_):
        changed.set()

    publication.watchers.append(watch)
    try:
        await changed.wait()
    finally:
        publication.watchers.remove(watch)


def _packed(steps: list[Step]) -> str:
    return pyon.encode([asdict(step) for step in steps])


def _session(row: dict) -> Session:
    steps = [Step(**step) for step in pyon.decode(row["steps"])]
    return Session(row["id"], row["person"], row["started"], row["forced"], steps, row["ended"])
