"""The laboratory: puts its parts together, and takes them apart in order."""

import asyncio
import json
import logging
import socket
import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from .. import files
from ..controllers.logs import LogReceiver
from ..controllers.publishing import Broadcaster, Publication, Publisher
from ..controllers.server import Server
from ..controllers.sockets import bound, unix_socket
from ..devices import DeviceDB, whole_text
from ..emulator import fingerprints, is_emulated, variant_of
from ..errors import UsageError
from ..experiment.store import DatasetStore
from ..labfolder import ADDRESS, BROADCAST, NOTIFY, SOCKET, STATE
from ..network import analyzer
from ..runs import RIDCounter
from . import targets
from .calibrator import Calibrator
from .callers import LocalServer, caller
from .checks import Checks
from .claims import Claim
from .commits import Commits, twin_digest
from .controllers import Controllers
from .database import Database
from .defaults import Defaults
from .device import BENCH, Devices
from .device_arguments import with_replaced
from .fits import Fits
from .hub import Hub
from .interactive import InteractiveArguments
from .layouts import Layouts
from .live import LiveDatasets
from .locks import Locks
from .log import Log
from .logbook import Logbook
from .monitors import Monitors
from .predictions import Predictions
from .processes import Processes
from .progress import Progress
from .proposals import Proposals
from .queue import Queue, note_submission
from .rehearsals import Rehearsals
from .reporting import Reporting
from .repository import Repository, source_of
from .run import Run
from .scheduler import Scheduler
from .service import Service
from .settings import Settings

__all__ = ["Laboratory"]

logger = logging.getLogger(__name__)

FORK_SERVER = 10.0
"""Seconds for the fork server to be ready before clients can connect."""


class Laboratory:
    """The laboratory with these settings; `start` it, and `stop` it in the end."""

    def __init__(self, settings: Settings, forked=None):
        self.settings, self._forked = settings, forked
        self.results = settings.path(settings.results)
        self.state = settings.folder / STATE
        self.addresses: dict = {}
        self._claimed: Claim | None = None
        """Descriptor of the lock of its folder."""
        self._ended = asyncio.Event()
        self.noted = 0
        """How often runs that have ended were given tags, notes or fits."""
        self._background: set[asyncio.Task] = set()
        self._servers: list = []
        self._controllers: Controllers | None = None
        self.hub: Hub | None = None

    # Start

    async def start(self):
        """Start everything; returns once clients can connect. UsageError, EmulatorError."""
        self._claimed = Claim(self.settings.folder, self.state)
        files.folder(self.results)
        settings = self.settings
        if settings.hub:
            self.hub = Hub(settings.path(settings.hub), self.state, settings.folder, self._note_addresses)
        self.broadcaster = Broadcaster(settings.pyon)
        self.log = Log(self.broadcaster, self.state / "lab.log")
        logging.getLogger().addHandler(self.log)
        self._load_devices()
        self.database = Database(settings.database or f"sqlite:///{self.state / 'lab.db'}", settings.database_schema)
        name = settings.name or settings.folder.name
        self.database.claim(self._identity(), name, f"{socket.gethostname()}:{settings.folder}")
        store = DatasetStore(settings.path(settings.dataset_db))
        store.check()
        self._claimed.reserve(store.path)
        self.datasets = LiveDatasets(store, self.database)
        self.proposals = Proposals(self.database, self.datasets)
        self.locks = Locks(self.database)
        self.logbook = Logbook(self.database, self.datasets)
        self.layouts = Layouts(self.database)
        self.fits = Fits(self.datasets, self.database, self.results)
        self.interactive = InteractiveArguments()
        self._processes = Processes(self.state / "runs.sock", self._serve, self._forked)
        await self._processes.start()
        self._devices = Devices(self.state, self._device_moved)
        await self._devices.start(settings.path(settings.device_db), self._entries)
        self._device_db = DeviceDB(self._devices.resolved(self._entries), settings.device_db)
        self.device_publication = Publication(lambda: self._device_db.entries)
        self.monitors = Monitors(self._devices, lambda: self._entries, lambda: self.device_entries)
        self.repository = await self._repository()
        self.twin()  # whose parts are read once
        self.progress = Progress(lambda: self.scheduler.publication.changed([]))
        self.scheduler = self._scheduler()
        rehearse = partial(self.scheduler.rehearsals.now, summary=True)
        self.commits = Commits(self.state / "rehearsed.json", rehearse)
        self.predictions = Predictions(
            self.settings.rehearsal, self._processes, self.state / "predictions", self.results
        )
        self.checks = Checks(self._processes, self.state / "checks")
        self.calibrator = Calibrator(self, self.database)
        self.reporting = Reporting(self, settings)
        self.alarms = self.reporting.alarms
        await self.scheduler.start()
        await self.reporting.start()
        self.predictions.resume()
        with suppress(TimeoutError):  # without it, runs begin when it is there
            await asyncio.wait_for(self._processes.ready.wait(), FORK_SERVER)
        await self._listen()
        self.in_background(self._after_scan())
        if self._controllers is not None:
            self.in_background(self._controllers.update(self._entries))

    async def _after_scan(self):
        try:
            await self.repository.scan()
        finally:
            self.calibrator.resume()
            self.calibrator.watch_ages()

    def _identity(self) -> str:
        """Return what distinguishes this laboratory from all others, wherever its folder is moved to."""
        path = self.state / "identity"
        if not path.exists():
            files.write(path, f"{uuid.uuid4()}\n".encode())
        return path.read_text().strip()

    async def _repository(self) -> Repository:
        settings = self.settings
        source = source_of(settings, self.state)
        repository = Repository(
            source,
            self._processes,
            self.state / "examinations",
            self.state / "experiments.pyon",
            settings.folder,
            settings.experiments,
        )
        repository.state["cur_rev"] = await source.current()
        repository.scanned = self._scanned
        defaults = Defaults(repository, self.datasets.values, self.datasets.publication, self.in_background)
        repository.fingerprint = defaults.fingerprint
        return repository

    def _scanned(self, root):
        self.layouts.take(root)
        self._rehearse_changed()

    def _rehearse_changed(self):
        """Rehearse the experiments of the repository that have changed, or all if the twin has, if that is wanted."""
        repository, settings = self.repository, self.settings.rehearsal
        if settings.commits:
            surroundings = twin_digest(self.twin(), self._entries, self.settings.path(settings.interlocks), settings)
            self.commits.begin(
                repository.complete(),
                lambda file: f"{repository.source_hash(file)}:{surroundings}",
                repository.state["cur_rev"],
            )

    def _rehearsals(self) -> Rehearsals:
        return Rehearsals(
            self.settings.rehearsal,
            self._processes,
            self.state / "rehearsals",
            begin=self._begin_rehearsal,
            changed=self._rehearsed,
            failed=lambda rid, why: self.scheduler.hold(rid, f"its rehearsal {why}"),
        )

    def _rehearsed(self, rid: int):
        """Let a run begin, whose rehearsal has ended; one that has begun already gets what the twin has measured."""
        self.scheduler.rehearsed(rid)
        run, theory = self.scheduler.runs.get(rid), self.scheduler.rehearsals.theory.get(rid)
        if theory and run is not None and run.begun and run.process is not None:
            run.process.inform(theory=theory)

    async def _begin_rehearsal(self, expid) -> dict:
        bench = self.settings.path(self.settings.rehearsal.bench)
        interlocks = self.settings.path(self.settings.rehearsal.interlocks)
        return {
            "expid": expid,
            "directory": await self.repository.directory(expid),
            "entries": with_replaced(self._entries, expid),
            "device_db": str(self.settings.path(self.settings.device_db)),
            "bench": str(bench) if bench.exists() else None,
            "interlocks": str(interlocks) if interlocks.exists() else None,
        }

    def _scheduler(self) -> Scheduler:
        numbers = RIDCounter(self.settings.folder / "last_rid.pyon", self.results)
        runs = self.state / "runs"
        runs.mkdir(exist_ok=True)
        return Scheduler(
            Queue(self.database, numbers),
            self._processes,
            self.repository,
            runs,
            self.results,
            self.locks,
            self._rehearsals(),
            take=self._take,
            adopted=self.datasets.adopt,
            write_pending=self.datasets.write_pending,
            printed=self._printed,
            ended=self._run_ended,
            submitted=self._submitted,
            begin=self._begin_run,
        )

    def _take(self, rid: int, records):
        self.progress.take(rid, records)
        self.datasets.take(rid, records)

    def _begin_run(self) -> dict:
        """Return what a run gets beside its submission: device database, sockets of devices, twin (see `twin`)."""
        database = {"device_db": self._device_text, "entries": self._whole_text}
        given = {**database, "devices": self._devices.sockets(), "twin": self.twin()}
        host = DeviceDB(self._entries).arguments("core").get("host")
        if self.settings.rehearsal.inputs and host is not None:
            given["analyzer"] = self._devices.address(host, analyzer.PORT)
        return given

    def twin(self) -> dict:
        """Return of what the twin consists: the `device_db` and the `bench`, as paths, the `url` of its
        emulated device (None: there is none), whether the core device itself is `emulated`, and then the hashes
        of its `parts`."""
        database = self.settings.path(self.settings.device_db)
        host = DeviceDB(self._entries, database).arguments("core").get("host")
        emulated, rehearsal = is_emulated(host), self.settings.rehearsal
        bench = database.with_name(BENCH) if emulated else self.settings.path(rehearsal.bench)
        return {
            "device_db": str(database),
            "bench": str(bench) if bench.exists() else None,
            "url": host if emulated else rehearsal.twin,
            "emulated": emulated,
            "parts": fingerprints(variant_of(host)) if emulated else {},
        }

    async def _listen(self):
        ports, addresses = self.settings.ports, self.settings.addresses
        encryption = self.settings.encryption()
        publisher = Publisher(
            {
                "schedule": self.scheduler.publication,
                "devices": self.device_publication,
                "datasets": self.datasets.publication,
                "interactive_args": self.interactive.publication,
                "explist": self.repository.published,
                "explist_status": self.repository.published_state,
            },
            self.settings.pyon,
        )
        control = Server(self._targets(), self.settings.name, allow_parallel=True)
        service = LocalServer({"lab": Service(self, caller)}, self.settings.name, allow_parallel=True)
        receiver = LogReceiver(self.log.take)
        self._servers = [publisher, control, self.broadcaster, receiver, service]
        for server, port, name in (
            (publisher, ports.notify, "notify"),
            (control, ports.control, "control"),
            (self.broadcaster, ports.broadcast, "broadcast"),
            (receiver, ports.logging, "logging"),
        ):
            for connection in bound(addresses, port, name):
                self.addresses[name] = connection.getsockname()[1]
                await server.serve_on(connection, encryption)
        for own, name in ((publisher, NOTIFY), (self.broadcaster, BROADCAST), (service, SOCKET)):
            await own.serve_on(unix_socket(self.state / name))
        await self._serve_hub()
        if self.settings.controllers:
            await self._start_controllers()
        if self.hub is not None:
            await self.hub.start()
        self.addresses["host"] = "127.0.0.1"
        self._note_addresses()

    def _note_addresses(self):
        """Write where the laboratory listens, once it does; the hub may listen elsewhere when it is started again."""
        if self.hub is not None and self.hub.address is not None:
            self.addresses["hub"] = self.hub.address
        if "host" in self.addresses:
            files.write(self.state / ADDRESS, json.dumps(self.addresses).encode() + b"\n")

    async def _serve_hub(self):
        try:
            # Without the extra `hub` a laboratory is complete, but has no page.
            from .rpc.server import RpcServer
        except ImportError:
            logger.warning("the hub cannot reach the laboratory: install it with pip install 'kairos[hub]'")
            return
        server = RpcServer(self, self.state)
        await server.start()
        self._servers.append(server)

    async def _start_controllers(self):
        def printed(name: str, level: int, text: str):
            self.log.take(f"controller({name})", level, text)

        self._controllers = Controllers(
            self.settings.addresses, self.settings.ports.controllers, printed, self.settings.encryption()
        )
        port = await self._controllers.start()
        if port is not None:
            self.addresses["controllers"] = port

    def _targets(self) -> dict:
        made = {
            "schedule": targets.ScheduleTarget(self.scheduler),
            "dataset_db": targets.DatasetTarget(self.datasets),
            "device_db": targets.DeviceTarget(lambda: self._device_db, self.scan_devices),
            "experiment_db": targets.ExperimentTarget(self.repository, self.in_background),
            "interactive_arg_db": targets.InteractiveTarget(self.interactive),
        }
        # Clients of ARTIQ up to version 7 know them under other names.
        old = {f"master_{name}": target for name, target in made.items() if name != "interactive_arg_db"}
        return {**made, **old, "master_management": targets.ManagementTarget(self.settings.name, self.end)}

    # Events

    def _serve(self, process, number, service, args, kwargs):
        """Answer a question of a run."""
        if service == "scheduler.submit":
            pipeline, expid, priority, due_date, flush = args
            request = f"{process.key}.{number}"
            return self.scheduler.submit(pipeline, expid, priority, due_date, flush, request=request)
        match service.split("."):
            case [
                "scheduler",
                "delete" | "request_termination" | "get_status" | "check_pause" | "check_termination" as m,
            ]:
                return getattr(self.scheduler, m)(*args)
            case ["datasets", "get" | "get_metadata" as method]:
                return self._after_reading(process, getattr(self.datasets, method), *args)
            case ["device_db", "get_device_db"]:
                return self._device_db.entries
            case ["ccb", "issue"]:
                name, *rest = args
                return self.broadcaster.broadcast("ccb", {"service": name, "args": tuple(rest), "kwargs": kwargs})
            case ["interactive", "request"]:
                return self.interactive.request(process.key, *args)
        raise UsageError(f"a laboratory has no service {service}")

    async def _after_reading(self, process, method, *args):
        """Call a method that may depend on what the run has just written."""
        await process.read_on()
        return method(*args)

    def _printed(self, run: Run, level: int, text: str):
        expid = run.submission.expid
        self.log.take(f"worker({run.rid},{expid.get('file', '')})", level, text)

    def _run_ended(self, record: dict):
        self.datasets.ended(record["rid"])
        self.fits.ended(record["rid"])
        self.progress.ended(record["rid"])
        self.reporting.run_ended(record)
        self.predictions.begin(record, self.twin())
        if not self.scheduler.runs:
            self.reporting.queue_empty()
        self.interactive.ended(record["rid"])
        self.repository.keep([run.submission.expid for run in self.scheduler.runs.values()])

    def note_changed(self):
        """Tell those who show runs that have ended that one was given a tag, a note or a fit."""
        self.noted += 1
        self.scheduler.publication.changed([])

    def _submitted(self, submission):
        if self.settings.log_submissions:
            note_submission(self.settings.path(self.settings.log_submissions), submission)

    def _load_devices(self):
        path = self.settings.path(self.settings.device_db)
        self._entries, self._device_text = DeviceDB.load(path).entries, path.read_text(errors="replace")
        self._whole_text = whole_text(self._device_text, self._entries)

    def _device_moved(self, url: str):
        logger.warning("the emulated device %s was started again", url)
        self.reporting.events.emit("device_lost", f"the emulated device {url} was started again", subject=url)
        self._publish_devices()

    @property
    def device_entries(self) -> dict:
        """The device database, with the addresses of emulated devices."""
        return self._device_db.entries

    def scan_devices(self):
        """Read the device database again; UsageError."""
        self._load_devices()
        self._publish_devices()
        self._rehearse_changed()
        if self._controllers is not None:
            self.in_background(self._controllers.update(self._entries))

    def _publish_devices(self):
        before, now = self._device_db.entries, self._devices.resolved(self._entries)
        self._device_db = DeviceDB(now, self.settings.device_db)
        gone = [{"action": "delitem", "path": [], "key": name} for name in before if name not in now]
        new = [
            {"action": "setitem", "path": [], "key": name, "value": entry}
            for name, entry in now.items()
            if before.get(name) != entry
        ]
        self.device_publication.changed(gone + new)

    def in_background(self, coroutine):
        """Execute a coroutine; its errors are logged."""

        async def logged():
            try:
                await coroutine
            except Exception as error:
                logger.error("%s", error)

        task = asyncio.get_running_loop().create_task(logged())
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        task.add_done_callback(lambda _: coroutine.close())  # which has not begun if the task was cancelled before

    # End

    def end(self):
        """Have `wait` return."""
        self._ended.set()

    async def wait(self):
        """Wait until the laboratory is to end."""
        await self._ended.wait()

    async def stop(self) -> list[int]:
        """Stop everything that was started, except runs that have begun; returns their numbers. What
        cannot be stopped as it should, for instance because its file is gone, keeps nothing else
        from it."""
        for task in list(self._background):
            task.cancel()
        scheduler = getattr(self, "scheduler", None)
        for stop in self._stops():
            try:
                done = stop()
                if asyncio.iscoroutine(done):
                    await done
            except Exception as error:
                logger.error("at the end of the laboratory: %s", str(error) or type(error).__name__)
        if hasattr(self, "log"):
            logging.getLogger().removeHandler(self.log)
            self.log.close()
        if self._claimed is not None:
            self._claimed.release()
            self._claimed = None
        runs = [] if scheduler is None else scheduler.runs.values()
        return [run.rid for run in runs if run.begun and run.status != "deleting"]

    def _stops(self) -> list[Callable]:
        """Return what stops each part that was made, in the order of their ends."""
        first = [("commits", "end"), ("calibrator", "close"), ("scheduler", "stop"), ("predictions", "stop")]
        first.append(("reporting", "stop"))
        last = [("_devices", "stop"), ("_processes", "stop"), ("fits", "close"), ("datasets", "close")]
        parts = [(getattr(self, name, None), method) for name, method in first]
        parts += [(server, "stop") for server in (self.hub, *self._servers, self._controllers)]
        parts += [(getattr(self, name, None), method) for name, method in [*last, ("database", "close")]]
        stops = [getattr(part, method) for part, method in parts if part is not None]
        if self._claimed is None:
            return stops  # the address is that of another laboratory in this folder
        return [*stops, lambda: (self.state / ADDRESS).unlink(missing_ok=True)]
