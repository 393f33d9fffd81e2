"""The control socket of the emulator: requests and replies as JSON objects, one per line."""

import itertools
import json
import os
import socket
import struct
import time
from contextlib import contextmanager
from pathlib import Path

from ..errors import EmulatorError
from ..waveform import Edges, Wave

__all__ = ["Control", "processor_s"]

LONGEST = 600.0
"""Maximum seconds to wait for a reply of a program that is working on it."""
_BLOCK = 1 << 20
"""Bytes received at once."""
SOON = 1.0
"""Seconds within which nearly all replies come: only later ones are worth a look at what the emulator does."""


def processor_s(pid: int, otherwise: float = 0.0) -> float:
    """Return the processor time that a process has used itself, or `otherwise` if the system does not say. That of
    the system on its behalf does not count: on a machine short of memory, it is spent on pages that are read again."""
    try:
        # utime, the field 14
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return otherwise


class Control:
    """The connection `connected` to the emulator with the process `pid`; closing it ends an emulator with
    ``--exit-with-control``."""

    def __init__(self, connected: socket.socket, pid: int, timeout: float = 30.0):
        self._socket, self._pid = connected, pid
        self.timeout = timeout
        """Seconds to wait for a reply while the emulator does nothing…"""
        self.longest = LONGEST
        """…and in all."""
        self._received = bytearray()
        self._is_torn = False
        """A signal came while a reply was received: a part of it is lost."""
        self._numbers = itertools.count(1)

    @classmethod
    def connect(cls, path: str, timeout: float = 30.0) -> "Control":
        """Connect to the control socket at `path`. OSError."""
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        made.settimeout(timeout)
        try:
            made.connect(path)
            credentials = made.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        except BaseException:
            made.close()
            raise
        return cls(made, struct.unpack("3i", credentials)[0], timeout)

    @classmethod
    def connect_when_there(cls, path: str, is_alive, timeout: float) -> "Control":
        """Connect once the emulator has created its socket; EmulatorError if it exits before or
        takes too long."""
        deadline = time.monotonic() + timeout
        while True:
            try:
                return cls.connect(path)
            except (FileNotFoundError, ConnectionRefusedError):
                if not is_alive():
                    raise EmulatorError("the emulator ended before it was ready") from None
                if time.monotonic() > deadline:
                    raise EmulatorError(f"the emulator made no control socket within {timeout:g} s") from None
                time.sleep(0.005)

    def request(self, cmd: str, **arguments) -> dict:
        """Return the reply to `cmd`; EmulatorError if it fails or the emulator has exited."""
        return self.reply(cmd, self.send(cmd, **arguments), arguments.get("timeout_ms", 0) / 1000)

    def send(self, cmd: str, passed: socket.socket | None = None, **arguments) -> int:
        """Send a request; returns its number, for `reply`. `passed`: a socket that the emulator gets, too.
        EmulatorError if the emulator has exited."""
        number = next(self._numbers)
        try:
            self._socket.settimeout(self.timeout)
            line = json.dumps({"cmd": cmd, **arguments, "id": number}).encode() + b"\n"
            if passed is not None:
                line = line[socket.send_fds(self._socket, [line], [passed.fileno()]) :]
            self._socket.sendall(line)
        except TimeoutError:
            raise EmulatorError(f"the emulator does not take the request '{cmd}'") from None
        except OSError:
            raise EmulatorError("the emulator has ended") from None
        return number

    def reply(self, cmd: str, number: int, patience: float = 0.0) -> dict:
        """Return the reply to the request `number`, which was `cmd`; EmulatorError if it fails or the emulator
        has exited. patience: seconds that it may take by itself."""
        try:
            while True:
                # A wait is answered at its end.
                reply = self._understood(self._line(self.timeout + patience))
                # A reply with another number is for a request that a signal has interrupted.
                if reply is not None and reply.get("id", number) == number:
                    break
        except TimeoutError:
            raise EmulatorError(f"the emulator does not answer (request '{cmd}')") from None
        except OSError:
            raise EmulatorError("the emulator has ended") from None
        if "error" in reply:
            raise EmulatorError(f"the emulator refused '{cmd}': {reply['error']}")
        return reply

    def _understood(self, line: bytes) -> dict | None:
        """Return what a line says; None if it is the rest of a reply that a signal has interrupted."""
        try:
            said = json.loads(line)
        except ValueError:
            if self._is_torn:
                return None
            raise
        return said if isinstance(said, dict) else None

    def _line(self, timeout: float) -> bytes:
        """Receive a line. TimeoutError if the emulator does not send anything for `timeout`
        seconds in which it does not work either; what it works on may be large."""
        deadline, searched = time.monotonic() + self.longest, 0
        worked = processor_s(self._pid) if timeout <= SOON else None
        self._socket.settimeout(min(timeout, SOON))
        while (end := self._received.find(b"\n", searched)) < 0:
            searched = len(self._received)
            try:
                block = self._socket.recv(_BLOCK)
            except TimeoutError:
                before, worked = worked, processor_s(self._pid)
                if worked == before or time.monotonic() > deadline:
                    raise
                self._socket.settimeout(timeout)
                continue
            except KeyboardInterrupt:
                # What was received with it may be lost, and belongs to the same reply.
                self._received.clear()
                self._is_torn = True
                raise
            if not block:
                raise ConnectionResetError
            self._received += block
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return line

    @staticmethod
    @contextmanager
    def memory_file():
        """Yield the path of a file in memory for a reply: a full disk loses no recording."""
        file = os.memfd_create("kairos")
        try:
            yield f"/proc/{os.getpid()}/fd/{file}"
        finally:
            os.close(file)

    def status(self) -> dict:
        """Return the machine's state: ``time_ns`` of the device, ``instructions`` and ``state`` of
        each core, and more."""
        return self.request("status")

    def wait(self, goal: str, timeout: float = 30.0, time_ns: int | None = None) -> str | None:
        """Wait until the device is ``ready`` (its network is up), or ``idle``: only the host can
        make progress, and nothing is queued. The wait also ends at the device's time `time_ns`, or
        after `timeout` seconds.

        Returns what was reached: `goal`, ``time``, or None.
        """
        until = {} if time_ns is None else {"time_ns": time_ns}
        timeout_ms = max(0, round(timeout * 1000))
        return self.request("wait", **{"for": goal}, timeout_ms=timeout_ms, **until)["reached"]

    def submissions(self, start: int = 0) -> list[int]:
        """Return the PL cycles of the `sev` instructions from number `start` on; only the newest
        4096 are kept."""
        return self.request("sev", **{"from": start})["cycles"]

    def trace(self, start: int = 0, until: int | None = None) -> dict:
        """Return ``pads``; ``events`` from number `start` on, up to the present or before the time
        `until` in ns, as (ns, pad, level), with ``next``, the number of the following event;
        ``waves``: clock activity since power-up, before that time, which is not among the events;
        ``time_ns``, before which everything is known.
        """
        trace = self.edges(start, until)
        return {**trace, "events": trace["events"].listed()}

    def edges(self, start: int = 0, until: int | None = None) -> dict:
        """As :meth:`trace`, with the events as `kairos.waveform.Edges`; through a file, since there
        may be millions."""
        # A free-running clock would produce new events forever.
        end = self.status()["time_ns"] if until is None else until
        parts, following = [], start
        with self.memory_file() as path:
            while True:
                reply = self.request("trace", **{"from": following, "path": path})
                parts.append(Edges.read(path))
                following = reply["next"]
                if not len(parts[-1].times) or parts[-1].times[-1] > end:
                    break
        events = Edges.joined(parts)
        waves = [Wave(*fields) for fields in reply["waves"]]
        if until is not None:
            events = events.part(events.times < until)
            waves = [wave.before(until) for wave in waves]
        # Drop waves without changes.
        waves = [wave for wave in waves if wave.changes]
        known = {"next": following, "time_ns": reply["time_ns"]}
        return {"pads": reply["pads"], "events": events, "waves": waves, **known}

    def uart(self) -> str:
        """Return what the firmware has printed since power-up."""
        return self.request("uart", **{"from": 0})["text"]

    def close(self):
        self._socket.close()
