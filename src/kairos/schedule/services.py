"""What a run's process offers to its experiment on behalf of whoever has started it: scheduler, commands to user
interfaces, device database; and the examination of a file.

Each takes `ask(service, *args, **kwargs)`, which calls a service by name and returns its result.
"""

from collections.abc import Callable

from ..cli.experiments import import_file
from ..cli.report import user_code
from ..devices import DeviceDB
from ..experiment.environment import is_public_experiment
from ..experiment.examination import ExamineDatasetMgr, ExamineDeviceMgr, TraceArgumentManager
from ..language.core import TerminationRequested

__all__ = ["AskedCommands", "AskedDeviceDB", "AskedScheduler", "examined"]


class AskedScheduler:
    """The device ``scheduler`` of this run."""

    def __init__(self, ask: Callable, pause: Callable[[], bool], rid, pipeline_name, expid, priority):
        """`pause`: yields to other runs; returns whether this one should terminate."""
        self._ask, self._pause = ask, pause
        self.rid, self.pipeline_name, self.expid, self.priority = rid, pipeline_name, expid, priority

    def submit(self, pipeline_name=None, expid=None, priority=None, due_date=None, flush=False) -> int:
        """Submit an experiment, by default with this run's settings; returns the number of the new
        run."""
        own = self.pipeline_name, self.expid, self.priority
        given = (pipeline_name, expid, priority)
        chosen = [mine if value is None else value for value, mine in zip(given, own, strict=True)]
        return self._ask("scheduler.submit", *chosen, due_date, flush)

    def delete(self, rid):
        """Stop a run immediately."""
        return self._ask("scheduler.delete", rid)

    def request_termination(self, rid):
        """Request the termination of a run."""
        return self._ask("scheduler.request_termination", rid)

    def get_status(self) -> dict:
        """Return all runs, by number."""
        return self._ask("scheduler.get_status")

    def check_pause(self, rid=None) -> bool:
        """Return whether a run, this one by default, should pause or terminate."""
        return self._ask("scheduler.check_pause", self.rid if rid is None else rid)

    def check_termination(self, rid=None) -> bool:
        """Return whether a run, this one by default, should terminate."""
        return self._ask("scheduler.check_termination", self.rid if rid is None else rid)

    def pause(self):
        """Let waiting runs of higher priority go first; TerminationRequested if this run should
        terminate."""
        if self.check_pause() and self._pause():
            raise TerminationRequested


class AskedCommands:
    """The device ``ccb``."""

    def __init__(self, ask: Callable):
        self._ask = ask

    def issue(self, service, *args, **kwargs):
        """Broadcast a command to user interfaces."""
        self._ask("ccb.issue", service, *args, **kwargs)


class AskedDeviceDB(DeviceDB):
    """The worker's device database, fetched on first use."""

    def __init__(self, ask: Callable):
        self.path = "device database of the scheduler"
        self._ask = ask
        self._entries: dict | None = None

    @property
    def entries(self) -> dict:
        if self._entries is None:
            self._entries = self._ask("device_db.get_device_db")
        return self._entries


def examined(file, datasets) -> dict:
    """Return the requirements of the experiments in a file, by class name. `datasets`: those that
    they may read while they are built."""
    return requirements(import_file(file), datasets)


def requirements(module, datasets) -> dict:
    """Return what `examined` does, of a file that was imported."""
    found = {}
    for name, cls in vars(module).items():
        if not is_public_experiment(cls):
            continue
        arguments, values, scheduling = TraceArgumentManager(), ExamineDatasetMgr(datasets), {}
        with user_code():
            cls((ExamineDeviceMgr(), values, arguments, scheduling))
        found[name] = {
            "name": ((cls.__doc__ or "").strip().splitlines() or [name])[0].strip().removesuffix("."),
            "arginfo": {
                key: (processor.describe(), group, tooltip)
                for key, (processor, group, tooltip) in arguments.requested_args.items()
            },
            "argument_ui": getattr(cls, "argument_ui", None),
            "scheduler_defaults": scheduling,
        }
        if values.calibration.sets:
            checks = hasattr(cls, "check_calibration")
            found[name]["calibration"] = {**values.calibration.describe(), "checks": checks}
    return found
