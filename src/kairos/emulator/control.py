"""The control socket of the emulator: requests and replies as JSON objects, one per line."""

import json
import socket
import time

from ..errors import EmulatorError
from ..waveform import Wave

__all__ = ["Control"]


class Control:
    """A connection to the control socket at `path`; closing it ends an emulator with
    ``--exit-with-control``."""

    def __init__(self, path: str, timeout: float = 30.0):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout)
        self.timeout = timeout
        """Timeout of a request in seconds."""
        self._socket.connect(path)
        self._lines = self._socket.makefile("r", encoding="utf-8")

    @classmethod
    def connect_when_there(cls, path: str, is_alive, timeout: float) -> "Control":
        """Connect once the emulator has created its socket; EmulatorError if it exits before or
        takes too long."""
        deadline = time.monotonic() + timeout
        while True:
            try:
                return cls(path)
            except (FileNotFoundError, ConnectionRefusedError):
                if not is_alive():
                    raise EmulatorError("the emulator ended before it was ready") from None
                if time.monotonic() > deadline:
                    raise EmulatorError(f"the emulator made no control socket within {timeout:g} s") from None
                time.sleep(0.005)

    def request(self, cmd: str, **arguments) -> dict:
        """Return the reply to `cmd`; EmulatorError if it fails or the emulator has exited."""
        # A wait is answered at its end.
        self._socket.settimeout(self.timeout + arguments.get("timeout_ms", 0) / 1000)
        try:
            self._socket.sendall(json.dumps({"cmd": cmd, **arguments}).encode() + b"\n")
            line = self._lines.readline()
        except TimeoutError:
            raise EmulatorError(f"the emulator does not answer (request '{cmd}')") from None
        except OSError:
            line = ""
        if not line:
            raise EmulatorError("the emulator has ended")
        reply = json.loads(line)
        if "error" in reply:
            raise EmulatorError(f"the emulator refused '{cmd}': {reply['error']}")
        return reply

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
        # A free-running clock would produce new events forever.
        end = self.status()["time_ns"] if until is None else until
        events, following = [], start
        while True:
            reply = self.request("trace", **{"from": following})
            events += reply["events"]
            following = reply["next"]
            if not reply["events"] or reply["events"][-1][0] > end:
                break
        waves = [Wave(*fields) for fields in reply["waves"]]
        if until is not None:
            events = [event for event in events if event[0] < until]
            waves = [wave.before(until) for wave in waves]
        # Drop waves without changes.
        waves = [wave for wave in waves if wave.changes]
        known = {"next": following, "time_ns": reply["time_ns"]}
        return {"pads": reply["pads"], "events": events, "waves": waves, **known}

    def uart(self) -> str:
        """Return what the firmware has printed since power-up."""
        return self.request("uart", **{"from": 0})["text"]

    def close(self):
        self._lines.close()
        self._socket.close()
