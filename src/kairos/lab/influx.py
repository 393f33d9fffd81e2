"""Numbers for InfluxDB, in its line protocol: datasets that change, and the results of runs.

Lines are collected, and sent by a thread; what cannot be sent is kept, the newest `KEPT` lines. A line that the server
rejects keeps back no other.
Measurements are ``dataset`` (tag ``key``) and ``run`` (tags ``experiment`` and ``status``).
"""

import errno
import logging
import math
import socket
import threading
import time
from collections import deque
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from . import clock
from .posting import Rejected, encryption, post, secret
from .settings import Influx
from .values import finite

__all__ = ["InfluxWriter", "line"]

logger = logging.getLogger(__name__)

KEPT = 100_000
"""Lines that wait while the server does not answer."""
BATCH = 5000
"""Lines in one request; of a datagram `DATAGRAM` bytes."""
DATAGRAM = 1400
PERIOD = 1.0
"""Seconds between two requests."""
AGAIN = 10.0
"""Seconds until the next attempt after one that has failed."""
TIMEOUT = 10.0
SHOWN = 100
"""Characters of a line that the log shows."""

_NAME = str.maketrans({",": r"\,", " ": r"\ ", "=": r"\=", "\n": r"\n", "\\": "\\\\"})
_TEXT = str.maketrans({'"': r"\"", "\\": r"\\", "\n": r"\n"})


def line(measurement: str, tags: dict[str, str], values: dict, moment: float) -> str:
    """Return a line of the protocol; empty if no value can be written. Numbers are written as
    floating-point ones, so that a dataset keeps its type. `moment`: seconds of Unix time."""
    written = [f"{name.translate(_NAME)}={text}" for name, value in values.items() if (text := _field(value))]
    if not written:
        return ""
    named = "".join(f",{name}={value.translate(_NAME)}" for name, value in sorted(tags.items()) if value)
    return f"{measurement}{named} {','.join(written)} {int(moment * 1e9)}"


def _field(value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if (number := finite(value)) is not None:
        return repr(number)
    if isinstance(value, str):
        return f'"{value.translate(_TEXT)}"'
    return ""


class InfluxWriter:
    """Writes the numbers of a laboratory called `name`, whose datasets are `values`, by key (persist,
    value, metadata). UsageError if the token or the certificate cannot be read."""

    def __init__(self, wanted: Influx, name: str, values: dict, folder: Path):
        self._wanted, self._name, self._values = wanted, name, values
        self._token = secret(folder, wanted.token_file)
        self._encryption = encryption(folder, wanted.certificate)
        self._written: dict[str, float] = {}
        """When each dataset was written last, on the monotonic clock."""
        self._held: dict[str, None] = {}
        """Datasets that have changed since, too early to be written again."""
        self._lines: deque[str] = deque(maxlen=KEPT)
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._failing = False
        self._is_wanted = lru_cache(maxsize=10_000)(lambda key: any(fnmatchcase(key, p) for p in wanted.datasets))
        self._thread = threading.Thread(target=self._keep, name="influx", daemon=True)
        self._thread.start()

    def take(self, changes: list[dict]):
        """Take changes of datasets, as `Publication.changed` gets them."""
        now = time.monotonic()
        for key in {change["path"][0] if change["path"] else change["key"] for change in changes}:
            if not self._is_wanted(key):
                continue
            if now - self._written.get(key, -math.inf) >= self._wanted.interval:
                self._write(key, now)
            else:
                with self._lock:
                    self._held[key] = None

    def _write(self, key: str, now: float):
        entry = self._values.get(key)
        if entry is None or isinstance(entry[1], str) or not (text := self._line_of(key, entry[1])):
            return
        self._written[key] = now
        self._lines.append(text)

    def _line_of(self, key: str, value) -> str:
        if isinstance(value, list) and value:
            value = value[-1]
        return line("dataset", {"laboratory": self._name, "key": key}, {"value": value}, clock.now())

    def ended(self, record: dict):
        """Take the record of a run at its end."""
        results = dict(record.get("scalars") or {})
        for fit, found in (record.get("fits") or {}).items():
            for name, value in found.get("values", {}).items():
                results[f"{fit}.{name}"] = value
                results[f"{fit}.{name}.error"] = found.get("errors", {}).get(name)
        known = record.get("started") and record.get("ended")
        lasted = max(0.0, record["ended"] - record["started"]) if known else None  # the clock may have been set back
        tags = {"laboratory": self._name, "experiment": record.get("class_name") or "", "status": record["status"]}
        if text := line("run", tags, {"rid": record["rid"], "duration": lasted, **results}, clock.now()):
            self._lines.append(text)

    def close(self):
        """Send what waits, once, and stop."""
        self._ended.set()
        self._thread.join(TIMEOUT)

    def _keep(self):
        while not self._ended.wait(AGAIN if self._failing else PERIOD):
            self._flush()
        self._flush()

    def _flush(self):
        with self._lock:
            held, self._held = self._held, {}
        now = time.monotonic()
        for key in held:
            self._write(key, now)
        while self._lines:
            batch = [self._lines.popleft() for _ in range(min(BATCH, len(self._lines)))]
            try:
                self._deliver(batch)
            except Exception as error:  # also an answer that is no HTTP: the thread must go on
                if not self._failing:
                    logger.warning("InfluxDB cannot be reached, numbers are kept: %s", error)
                self._failing = True
                room = KEPT - len(self._lines)
                self._lines.extendleft(reversed(batch[-room:] if room else []))
                return
            if self._failing:
                logger.warning("InfluxDB is reached again")
            self._failing = False

    def _deliver(self, batch: list[str]):
        """Send lines. Those that the server rejects are left out, which the log says."""
        waiting = [batch]
        while waiting:
            some = waiting.pop()
            try:
                self._send(some)
            except Rejected as why:
                if len(some) > 1:
                    middle = len(some) // 2
                    waiting += [some[middle:], some[:middle]]
                else:
                    logger.error("InfluxDB rejects '%s': %s", some[0][:SHOWN], why)

    def _send(self, batch: list[str]):
        place = urlsplit(self._wanted.url)
        if place.scheme == "udp":
            self._send_datagrams(batch, (place.hostname or "localhost", place.port or 8089))
            return
        headers = {"Content-Type": "text/plain; charset=utf-8"}
        if self._token:
            headers["Authorization"] = f"Token {self._token}"
        data = "\n".join(batch).encode(errors="replace")
        post(self._wanted.url, data, headers, self._encryption, TIMEOUT)

    def _send_datagrams(self, batch: list[str], address):
        family, kind, protocol, _, place = socket.getaddrinfo(*address, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind, protocol) as sender:
            waiting: list[bytes] = []
            for each in [*(text.encode(errors="replace") for text in batch), None]:
                if waiting and (each is None or sum(map(len, waiting)) + len(waiting) + len(each) > DATAGRAM):
                    _send_datagram(sender, b"\n".join(waiting), place)
                    waiting = []
                if each is not None:
                    waiting.append(each)


def _send_datagram(sender: socket.socket, data: bytes, place):
    try:
        sender.sendto(data, place)
    except OSError as error:
        if error.errno == errno.EMSGSIZE:
            raise Rejected("it is too long for a datagram") from None
        raise
