"""Live datasets of a run, published to applets, which the run itself may start.

The server speaks ``sync_struct``: a client sends two lines, and receives a line of PYON with all
datasets, then one per change. A rapidly changing dataset is sent in its current state, at most
every `PERIOD`.
"""

import io
import os
import re
import shlex
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import redirect_stderr
from pathlib import Path
from string import Template

from .. import pyon
from ..scratch import ScratchFolder
from . import SERVER
from .sources import ServerSource
from .supplied import SUPPLIED, supplied

__all__ = ["Applets", "Published"]

PERIOD = 0.05
"""Seconds over which changes are collected."""
PROGRAM = [sys.executable, "-m", "kairos.compat"]
OWN = [sys.executable, "-m", "kairos.applets"]
TIME_TO_DRAW = 60
"""Timeout in seconds of an applet that draws a picture."""
GREETING = [b"ARTIQ sync_struct\n", b"datasets\n"]
GREETING_MAX = 64
"""Maximum length of each of these lines in bytes."""


class Published:
    """A database of datasets, `ddb`, whose broadcast datasets any program on this computer may
    follow at `address`."""

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
        """Publish the last changes and close the database. Later clients get the final datasets."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for client in self._clients:
            client.join(1.0)
        self._ddb.close_db()

    def close(self):
        """Stop accepting connections."""
        self._server.close()

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
        """Send all changes to a client until it or the run ends."""
        try:
            with connection, connection.makefile("rwb") as lines:
                if [lines.readline(GREETING_MAX), lines.readline(GREETING_MAX)] != GREETING:
                    return
                seen = dict(self._versions)
                struct = {**self._before, **{key: tuple(entry) for key, entry in self._ddb.data.items()}}
                _send(lines, {"action": "init", "struct": struct})
                while self._wait_for_change(seen):
                    time.sleep(0 if self._closed else PERIOD)
                    for key, version in list(self._versions.items()):
                        if seen.get(key) != version:
                            seen[key] = version
                            _send(lines, self._change(key))
        except (OSError, ValueError):
            pass  # the client has disconnected

    def _wait_for_change(self, seen) -> bool:
        """Wait for changes or the end of the run; returns whether there are changes."""
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


class Applets:
    """The device ``ccb`` of a run whose applets are shown: they follow the datasets at `address`.

    `windows`: each applet has a window, which outlives the run. Otherwise they are only recorded,
    for `draw`. In a command, ``${python}`` and ``${artiq_applet}`` stand for Python with ARTIQ's
    module names, and an applet of Kairos.
    """

    def __init__(self, address: str, windows: bool):
        self._environment = {**os.environ, SERVER: address}
        self._windows = windows
        self._commands: dict[tuple, list[str]] = {}
        self._processes: dict[tuple, subprocess.Popen] = {}
        self._code: ScratchFolder | None = None
        """Source files of applets, created with the first one."""

    def issue(self, service, *args, **kwargs):
        """Execute a command to user interfaces if it concerns applets."""
        method = getattr(self, f"_{service}", None) if service.endswith(("_applet", "_applet_group")) else None
        if method is not None:
            method(*args, **kwargs)

    def close(self):
        """Delete the sources of applets; windows, which outlive the run, keep theirs."""
        if self._code is not None:
            self._code.close()
            self._code = None

    def draw(self, path) -> tuple[list[Path], list[str]]:
        """Draw the current state of each applet to files next to `path`, whose names append the
        applet's name to that of `path`, including those closed by the experiment. Returns the
        pictures, and one line per applet that could not be drawn.
        """
        pictures = _pictures(Path(path), self._commands)
        # Those of a laboratory are separate programs, which take 0.7 s each to start; two run at a
        # time.
        with ThreadPoolExecutor(2) as pool:
            failures = [
                self._draw_here(command[3:], picture)
                if command[:3] == OWN and command[3:4] and command[3] in SUPPLIED
                else pool.submit(self._draw_by_program, command, picture)
                for command, picture in zip(self._commands.values(), pictures, strict=True)
            ]
        failures = [failure.result() if isinstance(failure, Future) else failure for failure in failures]
        drawn = [picture for picture, failure in zip(pictures, failures, strict=True) if failure is None]
        lines = zip(pictures, failures, strict=True)
        return drawn, [f"{picture} is not drawn: {failure}" for picture, failure in lines if failure is not None]

    def _draw_here(self, words, picture) -> str | None:
        """Draw an applet that comes with Kairos; returns the reason for a failure."""
        said = io.StringIO()
        host, _, port = self._environment[SERVER].rpartition(":")
        source = ServerSource(host, int(port))
        try:
            with redirect_stderr(said):
                supplied(words[0]).draw(words[1:], picture, source)
        except SystemExit:
            return said.getvalue().strip().splitlines()[-1]
        except Exception as error:  # matplotlib's errors for unsuitable values
            return str(error).partition("\n")[0] or type(error).__name__
        finally:
            source.close()
        return None

    def _draw_by_program(self, command, picture) -> str | None:
        environment = {**self._environment, "QT_QPA_PLATFORM": "offscreen"}
        words = [*command, "--picture", str(picture)]
        pipes = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
        try:
            done = subprocess.run(words, env=environment, timeout=TIME_TO_DRAW, **pipes)
        except subprocess.TimeoutExpired:
            return f"its applet has not ended within {TIME_TO_DRAW} s"
        except OSError as error:
            return f"{command[0]}: {error.strerror}"
        if done.returncode == 0 and picture.is_file():
            return None
        return (done.stderr.strip().splitlines() or ["its applet ended without a picture"])[-1]

    def _create_applet(self, name, command, group=None, code=None):
        python = shlex.join(PROGRAM)
        words = Template(command).safe_substitute(python=python, artiq_applet=f"{shlex.join(OWN)} ")
        if code is not None:
            self._code = self._code or ScratchFolder("kairos-applets-")
            file = self._code.path / f"applet{len(self._commands)}.py"
            file.write_text(code)
            words = f"{python} {shlex.quote(str(file))} {words}"
        self._commands[_place(name, group)] = shlex.split(words)
        self._restart_applet(name, group)

    def _restart_applet(self, name, group=None):
        place = _place(name, group)
        if place in self._commands and self._windows:
            self._disable_applet(name, group)
            used = () if self._code is None else (self._code.lock,)
            self._processes[place] = subprocess.Popen(self._commands[place], env=self._environment, pass_fds=used)

    def _disable_applet(self, name, group=None):
        process = self._processes.pop(_place(name, group), None)
        if process is not None:
            process.terminate()
            process.wait()

    def _disable_applet_group(self, group):
        for name, *around in list(self._processes):
            if around[: len(_groups(group))] == _groups(group):
                self._disable_applet(name, around)


def _pictures(path: Path, places) -> list[Path]:
    """Return a file for each applet: ``scan.png`` and the applet "rabi flop" of the group "729"
    give ``scan-729-rabi-flop.png``. Applets whose names differ only in characters not allowed in
    file names are numbered.
    """
    files: list[Path] = []
    for name, *groups in places:
        words = [word for part in (*groups, name) if (word := re.sub(r"[^\w.+]+", "-", part).strip("-."))]
        stem = "-".join([path.stem, *words])
        file, number = path.with_name(stem + path.suffix), 2
        while file in files or file == path:
            file, number = path.with_name(f"{stem}-{number}{path.suffix}"), number + 1
        files.append(file)
    return files


def _groups(group) -> list[str]:
    return [] if group is None else [group] if isinstance(group, str) else list(group)


def _place(name, group) -> tuple[str, ...]:
    return name, *_groups(group)
