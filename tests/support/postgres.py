"""A PostgreSQL server of its own, as Debian has it."""

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

__all__ = ["Postgres"]


def _programs() -> Path | None:
    """Return the folder of the server's programs; None if it is not installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


class Postgres:
    """A server with an empty database, reached by a Unix socket; skips the test without PostgreSQL."""

    def __init__(self):
        programs = _programs()
        if programs is None:
            pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
        self._programs = programs
        # The server refuses to run as root; its folder must be short enough for a socket.
        self._user = "postgres" if os.geteuid() == 0 else None
        self.folder = Path(tempfile.mkdtemp(prefix="kairos-pg-"))
        if self._user is not None:
            try:
                entry = pwd.getpwnam(self._user)
            except KeyError:
                pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
            os.chown(self.folder, entry.pw_uid, entry.pw_gid)
        for folder in (self.folder, self.folder.parent):
            folder.chmod(folder.stat().st_mode | 0o011)
        data = self.folder / "data"
        self._run("initdb", "-D", data, "-A", "trust", "-U", "kairos", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8")
        self.url = f"postgresql+psycopg://kairos@/postgres?host={self.folder}"
        self.start()

    def _run(self, program, *words):
        command = [self._programs / program, *map(str, words)]
        done = subprocess.run(
            command, cwd=self.folder, user=self._user, group=self._user, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self):
        """Start the server."""
        options = f"-c listen_addresses='' -c unix_socket_directories='{self.folder}'"
        log = self.folder / "log"
        self._run("pg_ctl", "-D", self.folder / "data", "-l", log, "-w", "-o", options, "start")

    def stop(self):
        """Stop the server at once, as a power cut of its computer does."""
        self._run("pg_ctl", "-D", self.folder / "data", "-m", "immediate", "-w", "stop")

    def close(self):
        """Stop the server, and remove it."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
