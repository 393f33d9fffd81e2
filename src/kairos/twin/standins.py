"""What a rehearsal uses instead of a laboratory: of its devices those that the emulator has, and stand-ins for the
others; defaults instead of whoever answers questions.

Nothing outside of the computer is reached: a controller is replaced by what the key ``rehearsal`` of
its entry names, by its own simulation, or by an object whose use ends the rehearsal.

| ``rehearsal`` | Stand-in |
|---|---|
| a command | the process that it starts, with ``{port}`` and ``{bind}`` filled in |
| a dictionary | replies by method; another method ends the rehearsal |
| ``True`` | none: the entry is used as it is, because it reaches no hardware |
"""

import contextlib
import copy
import importlib
import os
import shlex
import signal
import socket
import subprocess
import sys
import time

from .. import emulator
from ..controllers.supervision import end_with_parent
from ..devices import DeviceDB, DeviceManager, signature_of
from ..errors import UsageError
from ..experiment.arguments import DefaultMissing
from ..experiment.environment import ProcessArgumentManager

__all__ = ["DefaultAnswers", "NoStandIn", "TwinDevices", "load_drivers", "twin_database"]

KEY = "rehearsal"
SIMULATION = "--simulation"
"""Option with which controllers run without their hardware."""
OWN = ("artiq.", "kairos.")
"""Packages whose drivers reach only the core device."""
STARTING = 20.0
"""Seconds in which a stand-in must accept connections."""


class NoStandIn(Exception):
    """A rehearsal has come to a device without a stand-in. In a kernel it is raised at the line of the call."""


class Absent:
    """A device without a stand-in: it can be requested, but not used."""

    kernel_invariants: set[str] = set()

    def __init__(self, _dmgr, name: str, why: str):
        self._name, self._why = name, why

    def __getattr__(self, attribute):
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        name, why = self._name, self._why

        def refused(*_args, **_kwargs):
            raise NoStandIn(f"'{name}' is needed: {why}")

        return refused


class Replies(Absent):
    """A device that answers each method with the same value."""

    def __init__(self, _dmgr, name: str, replies: dict):
        super().__init__(None, name, f"its '{KEY}' in the device database has no reply for this method")
        self._replies = replies

    def __getattr__(self, attribute):
        replies = self.__dict__.get("_replies", {})
        if attribute not in replies:
            return super().__getattr__(attribute)
        value = replies[attribute]

        def answered(*_args, **_kwargs):
            return copy.deepcopy(value)  # as one that came from another process

        return answered


class DefaultAnswers(ProcessArgumentManager):
    """The arguments of a rehearsal: interactive ones have their defaults, since nobody is asked."""

    def interactive(self, requests, title):
        try:
            return {key: processor.default() for key, processor in requests}
        except DefaultMissing:
            lacking = next(key for key, processor in requests if not _has_default(processor))
            raise NoStandIn(f"a value of '{lacking}' is asked for, which has no default") from None


def _has_default(processor) -> bool:
    try:
        processor.default()
    except DefaultMissing:
        return False
    return True


class TwinDB(DeviceDB):
    """The database of a laboratory's twin."""


def twin_database(ddb: DeviceDB, url: str | None = None) -> TwinDB:
    """Return the database of a laboratory's twin; one that is that already, unchanged. `url`: its emulated device,
    ``emulator://VARIANT``; None: that of the core device. UsageError if there is none."""
    if isinstance(ddb, TwinDB):
        return ddb
    core = ddb.get("core") if "core" in ddb.entries else None
    entries = {name: _entry(ddb, name, entry) for name, entry in ddb.entries.items()}
    if core is not None:
        arguments = core.get("arguments", {}) if isinstance(core, dict) else {}
        host = url or arguments.get("host")
        if not emulator.is_emulated(host):
            raise UsageError(
                f"the core device of {ddb.path} is not emulated: name its twin with --twin emulator://VARIANT, or with "
                "'twin' under [rehearsal] in lab.toml"
            )
        lacking = ("analyzer_proxy", "analyze_at_run_end")
        kept = {name: value for name, value in arguments.items() if name not in lacking}
        for name, entry in ddb.entries.items():
            if entry is core:
                entries[name] = {**core, "arguments": {**kept, "host": host}}
    return TwinDB(entries, ddb.path)


def load_drivers(ddb: DeviceDB):
    """Import the drivers of a database that are ours, so that copies of this process have them."""
    for entry in ddb.entries.values():
        module = str(entry.get("module", "")) if isinstance(entry, dict) and entry.get("type") == "local" else ""
        if module.startswith(OWN):
            with contextlib.suppress(ImportError, AttributeError, ValueError):  # its first use says what is wrong
                signature_of(getattr(importlib.import_module(module), entry["class"]))


def _entry(ddb: DeviceDB, name: str, entry):
    """Return the entry of the twin's database."""
    if not isinstance(entry, dict) or entry.get(KEY) is True:
        return entry
    said = entry.get(KEY)
    if isinstance(said, dict):
        return _local("Replies", name=name, replies=said)
    kind = entry.get("type")
    if kind == "controller_aux_target":
        controller = ddb.entries.get(entry.get("controller"))
        replaced = _entry(ddb, entry.get("controller"), controller)
        return entry if isinstance(replaced, dict) and replaced.get("type") == "controller" else _without(name, entry)
    if kind == "controller":
        command = said if isinstance(said, str) else entry.get("command", "")
        if isinstance(said, str) or SIMULATION in shlex.split(command):
            return {**entry, "command": command, "host": "127.0.0.1"}
        return _without(name, entry)
    if kind == "local" and not str(entry.get("module", "")).startswith(OWN):
        driver = f"{entry.get('module')}.{entry.get('class')}"
        return _absent(name, f"{driver} may reach hardware; '{KEY}': True in its entry says that it does not")
    return entry


def _without(name: str, entry: dict) -> dict:
    if entry.get("best_effort"):
        return {"type": "dummy"}  # an experiment can do without it
    return _absent(name, f"its controller has no stand-in; '{KEY}' in its entry names a command, or replies by method")


def _absent(name: str, why: str) -> dict:
    return _local("Absent", name=name, why=why)


def _local(cls: str, **arguments) -> dict:
    return {"type": "local", "module": __name__, "class": cls, "arguments": arguments}


class _Unreachable(dict):
    """The entry of a device without a controller that could be connected to: asking for its address ends the
    rehearsal."""

    def __missing__(self, key):
        arguments = self.get("arguments", {})
        why = arguments.get("why", f"its '{KEY}' in the device database are replies, not a process")
        raise NoStandIn(f"'{arguments.get('name', '?')}' is needed, and its '{key}': {why}")


class _Entries(dict):
    """The entries of a device database as an experiment sees them, which connects to a controller by itself: that of
    its stand-in, which is started when its entry is asked for. No entry has the address of the laboratory's."""

    def __init__(self, devices: "TwinDevices"):
        super().__init__({name: _closed(entry) for name, entry in devices.ddb.entries.items()})
        self._devices = devices

    def __getitem__(self, name):
        entry = super().__getitem__(name)
        return self._devices.get_desc(name) if _is_controller(entry) else entry

    def get(self, name, default=None):
        return self[name] if name in self else default


def _is_controller(entry) -> bool:
    return isinstance(entry, dict) and entry.get("type") == "controller"


def _closed(entry):
    if _is_controller(entry):
        return {**entry, "port": 0}
    is_ours = isinstance(entry, dict) and entry.get("module") == __name__
    return _Unreachable(entry) if is_ours else entry


class TwinDevices(DeviceManager):
    """The devices of a rehearsal; stand-ins of controllers are started when they are requested, and
    end with `close_devices`."""

    def __init__(self, ddb: DeviceDB, virtual_devices: dict | None = None):
        super().__init__(ddb, virtual_devices)
        self._ports: dict[str, int] = {}
        self._processes: list[subprocess.Popen] = []

    def get_device_db(self) -> dict:
        return _Entries(self)

    def get_desc(self, name: str) -> dict:
        found = super().get_desc(name)
        if _is_controller(found):
            return {**found, "port": self._port(name, found)}
        return found

    def _port(self, name: str, entry: dict) -> int:
        command = entry["command"]
        if command not in self._ports:
            self._ports[command] = self._started(name, entry)
        return self._ports[command]

    def _started(self, name: str, entry: dict) -> int:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        words = {**entry, "name": name, "port": port, "bind": "127.0.0.1"}
        try:
            command = shlex.split(entry["command"].format(**words))
        except (KeyError, IndexError, ValueError) as error:
            raise UsageError(f"the stand-in of '{name}': its command uses {error}, which its entry lacks") from None
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=sys.stderr,
                start_new_session=True,
                preexec_fn=end_with_parent,
            )
        except OSError as error:
            raise NoStandIn(f"the stand-in of '{name}' cannot be started: {command[0]}: {error.strerror}") from None
        self._processes.append(process)
        deadline = time.monotonic() + STARTING
        while time.monotonic() < deadline and process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                return port
            time.sleep(0.02)
        raise NoStandIn(f"the stand-in of '{name}' does not answer: {shlex.join(command)}")

    def close_devices(self):
        super().close_devices()
        for process in self._processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(2)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self._processes.clear()
