"""The datasets of a run while it goes on: told of to applets, which the run itself may start.

The server speaks ``sync_struct``: a client sends two lines, and gets a line of PYON with all datasets, then one for
each change. A dataset that changes quickly is sent as it then is, at most every `PERIOD`.
"""

import os
import shlex
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from string import Template

from .. import pyon
from . import SERVER

__all__ = ["LiveApplets", "Published"]

PERIOD = 0.05
"""Seconds in which changes are collected."""
GREETING = [b"ARTIQ sync_struct\n", b"datasets\n"]


class Published:
    """A database of datasets, `ddb`, whose broadcast ones anybody on this computer may follow at `address`."""

    def __init__(self, ddb):
        self._ddb = ddb
        self._before = {key: tuple(entry) for key, entry in ddb.kept().items()} if hasattr(ddb, "kept") else {}
        self._versions: dict[str, int] = {}
        self._changed = threading.Condition()
        self._closed = False
        self._clients: list[threading.Thread] = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._server.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def __getattr__(self, name):
        return getattr(self._ddb, name)

    def _note(self, key):
        with self._changed:
            self._versions[key] = self._versions.get(key, 0) + 1
            self._changed.notify_all()

    def set(self, key, value, persist=None, metadata=None):
        self._ddb.set(key, value, persist, metadata)
        self._note(key)

    def delete(self, key):
        self._ddb.delete(key)
        self._before.pop(key, None)
        self._note(key)

    def changed(self, key):
        self._ddb.changed(key)
        self._note(key)

    def close_db(self):
        """Tell of the last changes, and close the database."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for client in self._clients:
            client.join(1.0)
        self._server.close()
        self._ddb.close_db()

    def _accept(self):
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._follow, args=(connection,), daemon=True)
            self._clients.append(thread)
            thread.start()

    def _follow(self, connection):
        """Tell a client of everything until it or the run has gone."""
        try:
            with connection, connection.makefile("rwb") as lines:
                if [lines.readline(), lines.readline()] != GREETING:
                    return
                seen = dict(self._versions)
                struct = {**self._before, **{key: tuple(entry) for key, entry in self._ddb.data.items()}}
                _send(lines, {"action": "init", "struct": struct})
                while self._news(seen):
                    time.sleep(0 if self._closed else PERIOD)
                    for key, version in list(self._versions.items()):
                        if seen.get(key) != version:
                            seen[key] = version
                            _send(lines, self._change(key))
        except (OSError, ValueError):
            pass  # the client has gone

    def _news(self, seen) -> bool:
        """Wait until there is something; whether there is."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._versions != seen)
            return self._versions != seen

    def _change(self, key) -> dict:
        entry = self._ddb.data.get(key)
        if entry is None:
            return {"action": "delitem", "path": [], "key": key}
        return {"action": "setitem", "path": [], "key": key, "value": tuple(entry)}


def _send(lines, message):
    lines.write(pyon.encode(message).encode() + b"\n")
    lines.flush()


class LiveApplets:
    """The device ``ccb`` of a run whose applets are shown: they follow the datasets at `address`, and outlive the run.

    In a command ``${python}`` and ``${artiq_applet}`` are what starts Python with the names of ARTIQ, and an applet of
    Kairos.
    """

    def __init__(self, address: str):
        self._environment = {SERVER: address}
        self._commands: dict[tuple, list[str]] = {}
        self._processes: dict[tuple, subprocess.Popen] = {}
        self._code = tempfile.mkdtemp(prefix="kairos-applets-")

    def issue(self, service, *args, **kwargs):
        """Do what a command to user interfaces says, if it is about applets."""
        method = getattr(self, f"_{service}", None) if service.endswith(("_applet", "_applet_group")) else None
        if method is not None:
            method(*args, **kwargs)

    def _create_applet(self, name, command, group=None, code=None):
        start = f"{shlex.quote(sys.executable)} -m kairos."
        words = Template(command).safe_substitute(python=f"{start}compat", artiq_applet=f"{start}applets ")
        if code is not None:
            file = Path(self._code, f"applet{len(self._commands)}.py")
            file.write_text(code)
            words = f"{start}compat {shlex.quote(str(file))} {words}"
        self._commands[_place(name, group)] = shlex.split(words)
        self._restart_applet(name, group)

    def _restart_applet(self, name, group=None):
        place = _place(name, group)
        if place in self._commands:
            self._disable_applet(name, group)
            self._processes[place] = subprocess.Popen(self._commands[place], env={**os.environ, **self._environment})

    def _disable_applet(self, name, group=None):
        process = self._processes.pop(_place(name, group), None)
        if process is not None:
            process.terminate()
            process.wait()

    def _disable_applet_group(self, group):
        for name, *around in list(self._processes):
            if around[: len(_groups(group))] == _groups(group):
                self._disable_applet(name, around)


def _groups(group) -> list[str]:
    return [] if group is None else [group] if isinstance(group, str) else list(group)


def _place(name, group) -> tuple[str, ...]:
    return name, *_groups(group)
