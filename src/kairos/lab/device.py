"""The emulated core device of a laboratory, kept by a process of its own.

It lives while the laboratory or a run is connected to its socket, and some seconds longer, so that
it outlives a laboratory that is started again. Whoever connects receives a line of JSON with the
device's ports, and may then ask for what its pins do (:mod:`.recording`).
"""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from ..cli.address import service_of
from ..contracts import session
from ..controllers.sockets import dialled, unix_socket
from ..devices import DeviceDB
from ..emulator import Emulator, Options, is_emulated, variant_of
from ..errors import EmulatorError, KairosError
from ..network import analyzer, management, moninj
from .recording import Keeper

__all__ = ["BENCH", "Devices"]

BENCH = "bench.toml"
"""Wiring of an emulated device, next to its database."""

PORTS = (management.PORT, session.PORT, analyzer.PORT, moninj.PORT)
LINGER = 5.0
"""Seconds for which the device is kept although nobody uses it."""
STARTING = 40.0
"""Seconds for it to start."""
ATTEMPTS = 3
"""Connections without an answer until a laboratory that is started gives up."""
RETRY = 2.0
"""Seconds until a device that has ended is started again."""


class Devices:
    """The emulated devices of a device database. `folder`: for their sockets. `changed`: called when
    a device has been started again, at other ports."""

    def __init__(self, folder: Path, changed):
        self._folder, self._changed = folder, changed
        self._ports: dict[str, dict] = {}
        """By URL: ports of this computer, by those of the device."""
        self._tasks: dict[str, asyncio.Task] = {}
        self._failures: dict[str, str] = {}

    def sockets(self) -> list[str]:
        """Return the sockets of the devices: one is kept while somebody is connected."""
        return [str(self._socket(url)) for url in self._ports]

    def _socket(self, url: str) -> Path:
        return self._folder / f"device-{list(self._tasks).index(url)}.sock"

    async def start(self, database: Path, entries: dict):
        """Start the devices of a database, or find those that are running; EmulatorError."""
        urls = {entry["arguments"]["host"] for entry in entries.values() if is_emulated(_host(entry))}
        for url in sorted(urls):
            ready = asyncio.get_running_loop().create_future()
            self._tasks[url] = asyncio.get_running_loop().create_task(self._keep(url, database, ready))
            await ready

    async def stop(self):
        """Leave the devices, which then end unless a run uses them."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _keep(self, url: str, database: Path, ready: asyncio.Future):
        failures = 0
        while True:
            try:
                connection = await asyncio.to_thread(self._reached, url, database)
            except KairosError as error:
                if not ready.done():
                    ready.set_exception(error)
                    return
                await asyncio.sleep(RETRY)
                continue
            reader, writer = await asyncio.open_connection(sock=connection)
            try:
                self._ports[url] = json.loads(await reader.readline())
                if ready.done():
                    self._changed(url)
                else:
                    ready.set_result(None)
                await reader.read()
            except (OSError, ValueError):  # it has ended before it has said its ports, for instance after `LINGER`
                failures += 1
                if failures == ATTEMPTS and not ready.done():
                    ready.set_exception(EmulatorError(f"the emulated device {url} ends as soon as it is started"))
                    return
            finally:
                writer.close()
            await asyncio.sleep(RETRY)

    def _reached(self, url: str, database: Path) -> socket.socket:
        """Connect to a device's process, which is started if there is none."""
        path = self._socket(url)
        with suppress(OSError):
            return _nonblocking(dialled(path))
        path.unlink(missing_ok=True)
        command = [sys.executable, "-m", "kairos.lab.device", url, str(database), str(path)]
        with (self._folder / "device.log").open("wb") as log:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        deadline = time.monotonic() + STARTING
        while time.monotonic() < deadline:
            with suppress(OSError):
                return _nonblocking(dialled(path))
            if process.poll() is not None:
                lines = (self._folder / "device.log").read_text(errors="replace").strip().splitlines()
                raise EmulatorError(lines[-1] if lines else "the emulated device has ended")
            time.sleep(0.02)
        raise EmulatorError(f"the emulated device has not started within {STARTING:g} s")

    def address(self, host: str, port: int) -> tuple[str, int]:
        """Return host and port of a service of the device that a device database has at `host`;
        EmulatorError if it is emulated and does not run."""
        if host in self._ports:
            return "127.0.0.1", self._ports[host][str(port)]
        if is_emulated(host):
            raise EmulatorError(f"the emulated device {host} does not run")
        return service_of(host, port)

    def resolved(self, entries: dict) -> dict:
        """Return a device database whose emulated devices are replaced by their addresses."""
        found = {}
        for name, entry in entries.items():
            ports = self._ports.get(_host(entry))
            if ports is not None:
                address = f"127.0.0.1:{ports[str(session.PORT)]}"
                entry = {**entry, "arguments": {**entry["arguments"], "host": address}}
            found[name] = entry
        return found


def _host(entry):
    arguments = entry.get("arguments") if isinstance(entry, dict) else None
    host = arguments.get("host") if isinstance(arguments, dict) else None
    return host if isinstance(host, str) else None


def _nonblocking(connection: socket.socket) -> socket.socket:
    connection.setblocking(False)
    return connection


async def _serve(emulator: Emulator, path: Path):
    """Serve the ports to whoever connects, until nobody is connected, or the device has ended."""
    clients: set[asyncio.StreamWriter] = set()
    ports = json.dumps({str(port): emulator.port(port) for port in PORTS}).encode() + b"\n"
    keeper, asking = Keeper(emulator), asyncio.Lock()

    async def accepted(reader, writer):
        clients.add(writer)
        with suppress(OSError, ValueError):
            writer.write(ports)
            while line := await reader.readline():
                async with asking:
                    writer.write(await asyncio.to_thread(_answered, keeper, line))
        clients.discard(writer)
        writer.close()

    server = await asyncio.start_unix_server(accepted, sock=unix_socket(path))
    used = time.monotonic()
    while emulator.is_alive() and time.monotonic() - used < LINGER:
        if clients:
            used = time.monotonic()
        await asyncio.sleep(0.2)
    path.unlink(missing_ok=True)
    server.close()


def _answered(keeper: Keeper, line: bytes) -> bytes:
    """Return the line that answers a request about the pins."""
    try:
        answer = keeper.answer(json.loads(line))
    except (KairosError, OSError, ValueError, KeyError, TypeError) as error:
        answer = {"problem": str(error)}
    return json.dumps(answer).encode() + b"\n"


def main(url: str, database: str, path: str):
    """Keep the device `url`, with the cards of a device database, at the socket `path`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    bench = Path(database).with_name(BENCH)
    options = Options(
        forward=dict.fromkeys(PORTS, 0),
        bench=str(bench) if bench.exists() else None,
        entries=DeviceDB.load(database).entries,
        log=os.path.join(os.path.dirname(path), "device-uart.log"),
    )
    emulator = Emulator(variant_of(url), options)
    try:
        emulator.wait_ready()
        asyncio.run(_serve(emulator, Path(path)))
    finally:
        emulator.stop()


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except KairosError as error:
        sys.exit(str(error))
