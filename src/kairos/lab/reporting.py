"""What a laboratory reports to the world around it: events to people, alarms, figures and numbers to databases."""

from .alarms import Alarms
from .events import Events
from .influx import InfluxWriter
from .metrics import MetricsServer
from .notifications import Notifications
from .settings import Settings
from .watching import Watching

__all__ = ["Reporting"]


class Reporting:
    """The reports of `laboratory`, as its settings ask for them. UsageError for what is impossible."""

    def __init__(self, laboratory, settings: Settings):
        self._lab = laboratory
        name = settings.name or settings.folder.name
        self.events = Events()
        self.alarms = Alarms(settings.alarm, laboratory.datasets, laboratory.database, self.events)
        self._watching = Watching(settings.watch, lambda: laboratory.device_entries, self.events)
        self.notifications: Notifications | None = None
        if settings.notify:
            self.notifications = Notifications(name, settings.notify, settings.email, settings.folder)
            self.events.listeners.append(self.notifications.take)
        self._influx: InfluxWriter | None = None
        if settings.influx is not None:
            self._influx = InfluxWriter(settings.influx, name, laboratory.datasets.values, settings.folder)
            laboratory.datasets.publication.watchers.append(self._influx.take)
        self._metrics = None if settings.metrics is None else MetricsServer(laboratory, settings.metrics)
        self._waiting: set[int] = set()
        """Proposed values that were reported."""

    async def start(self):
        """Begin to watch and to serve."""
        self._waiting = {row["id"] for row in self._lab.proposals.waiting()}
        self._lab.proposals.publication.watchers.append(self._proposals_changed)
        self.alarms.start()
        self._watching.start()
        if self._metrics is not None:
            self._lab.addresses["metrics"] = await self._metrics.start()

    async def stop(self):
        """Send what waits, and end."""
        self.alarms.close()
        self._watching.close()
        if self._metrics is not None:
            await self._metrics.stop()
        if self._influx is not None:
            self._influx.close()
        if self.notifications is not None:
            self.notifications.close()

    def run_ended(self, record: dict):
        """Report the end of a run."""
        if self._metrics is not None:
            self._metrics.take(record)
        if self._influx is not None:
            self._influx.ended(record)
        rid, status, name = record["rid"], record["status"], record.get("class_name") or "?"
        kind = "failed" if status in ("failed", "interrupted") else "ended"
        error = record.get("error") or ""
        reason = f": {error.partition(chr(10))[0]}" if error else ""
        self.events.emit(kind, f"run {rid} ({name}) {_ENDS.get(status, status)}{reason}", error, name, rid)

    def queue_empty(self):
        """Report that the last run has left the queue."""
        self.events.emit("queue_empty", "the queue is empty")

    def _proposals_changed(self, _):
        waiting = self._lab.proposals.waiting()
        for row in waiting:
            if row["id"] not in self._waiting:
                title = f"{row['key']} = {row['value']} waits for a decision: {row['objection']}"
                self.events.emit("value_waits", title, subject=row["key"], rid=row["rid"])
        self._waiting = {row["id"] for row in waiting}


_ENDS = {"completed": "has completed", "failed": "has failed", "deleted": "was deleted", "terminated": "was terminated"}
