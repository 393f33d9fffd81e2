"""Figures of the laboratory for Prometheus: ``GET /metrics`` on a port of its own.

The text format is that of `prometheus_client`.
"""

import asyncio
import logging
import resource
from collections import Counter

from ..errors import UsageError
from . import clock
from .settings import Metrics

__all__ = ["MetricsServer"]

logger = logging.getLogger(__name__)

REQUEST = 8192
"""Bytes of a request's head."""
TIMEOUT = 10.0
STATUSES = (
    "pending",
    "flushing",
    "preparing",
    "prepare_done",
    "running",
    "paused",
    "run_done",
    "analyzing",
    "deleting",
)


class MetricsServer:
    """Serves the figures of `laboratory`; UsageError without `prometheus_client`."""

    def __init__(self, laboratory, wanted: Metrics):
        try:
            from prometheus_client import CollectorRegistry  # imported late: most laboratories need none
        except ImportError:
            raise UsageError("[metrics] needs prometheus_client: pip install 'kairos[metrics]'") from None
        self._lab, self._wanted = laboratory, wanted
        self._begun = clock.now()
        self.ended: Counter[tuple[str, str]] = Counter()
        """Ended runs by experiment and status, since the start."""
        self._seconds: Counter[str] = Counter()
        self._registry = CollectorRegistry()
        self._registry.register(self)
        self._server: asyncio.Server | None = None

    async def start(self) -> int:
        """Listen; returns the port. UsageError if that is impossible."""
        try:
            self._server = await asyncio.start_server(self._answer, self._wanted.bind, self._wanted.port)
        except OSError as error:
            raise UsageError(f"metrics.port {self._wanted.port}: {error.strerror}") from None
        return self._server.sockets[0].getsockname()[1]

    async def stop(self):
        """Stop listening."""
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    def take(self, record: dict):
        """Take the record of a run at its end."""
        name = record.get("class_name") or ""
        self.ended[name, record["status"]] += 1
        if record.get("started") and record.get("ended"):
            self._seconds[name] += max(0.0, record["ended"] - record["started"])

    def collect(self):
        """Yield the figures, as `prometheus_client` asks for them."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily  # as above

        lab = self._lab
        statuses = Counter(run.status for run in lab.scheduler.runs.values())
        queue = GaugeMetricFamily("kairos_lab_queue", "Runs in the queue by status", labels=["status"])
        for status in STATUSES:
            queue.add_metric([status], statuses[status])
        yield queue
        ended = CounterMetricFamily("kairos_lab_runs_ended", "Runs that have ended", labels=["experiment", "status"])
        for (name, status), count in self.ended.items():
            ended.add_metric([name, status], count)
        yield ended
        lasted = CounterMetricFamily("kairos_lab_run_seconds", "Time that runs have taken", labels=["experiment"])
        for name, seconds in self._seconds.items():
            lasted.add_metric([name], seconds)
        yield lasted
        parameters = Counter(state.state for state in lab.calibrator.states().values())
        states = GaugeMetricFamily("kairos_lab_parameters", "Parameters by state", labels=["state"])
        for state in ("valid", "stale", "missing"):
            states.add_metric([state], parameters[state])
        yield states
        alarms = GaugeMetricFamily("kairos_lab_alarm", "1 while an alarm is not ok", labels=["alarm", "state"])
        for alarm in lab.alarms.described():
            alarms.add_metric([alarm["name"], alarm["state"]], float(alarm["state"] != "ok"))
        yield alarms
        yield GaugeMetricFamily("kairos_lab_datasets", "Live datasets", value=len(lab.datasets.values))
        used = resource.getrusage(resource.RUSAGE_SELF)
        yield CounterMetricFamily("process_cpu_seconds", "Processor time", value=used.ru_utime + used.ru_stime)
        yield GaugeMetricFamily("process_start_time_seconds", "Start of the laboratory", value=self._begun)

    async def _answer(self, reader, writer):
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), TIMEOUT)
            writer.write(self._response(head))
            await asyncio.wait_for(writer.drain(), TIMEOUT)
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()

    def _response(self, head: bytes) -> bytes:
        from prometheus_client import CONTENT_TYPE_LATEST, generate_latest  # as above

        method, path, *_ = [*head.split(b"\r\n", 1)[0].split(b" "), b"", b""]
        if method != b"GET" or path.partition(b"?")[0] != b"/metrics":
            return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        body = generate_latest(self._registry)
        kind = CONTENT_TYPE_LATEST.encode()
        length = str(len(body)).encode()
        return b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nContent-Length: %b\r\nConnection: close\r\n\r\n%b" % (
            kind,
            length,
            body,
        )
