"""What the pins of a laboratory's emulated device do during a run: recorded by the process that keeps the device, asked
for by that of the run.

Unlike a prediction it has everything that happened: overrides by hand, what another run did while this one was paused,
and what earlier runs had left. Of hardware there is what its analyzer has recorded, if inputs are recorded: outputs as
they were sent to the pins, without overrides.

The processes exchange lines of JSON. Events travel through a file in the memory of the run's process.
"""

import json
import logging
import socket
from collections.abc import Sequence
from typing import Any

from ..contracts import session
from ..emulator import Emulator
from ..emulator.control import Control
from ..errors import EmulatorError
from ..network import analyzer
from ..waveform import Recording
from ..waveform.analysis import pins
from ..waveform.changes import FLOATING, Edges
from ..waveform.stored import packed
from ..waveform.wave import Wave

__all__ = ["Keeper", "Recorder"]

logger = logging.getLogger(__name__)

MOST = 5_000_000
"""Events of a run up to which it is recorded: some megabytes in its file."""
TIMEOUT = 20.0
"""Seconds in which the process that keeps the device must answer."""
SETTLING = 5.0
"""Seconds in which outputs that are queued at the end of a run must be played."""
CLOCKED_NS = 1_000_000
"""Time of the device for which it is recorded after a run's end, if clocks go on."""


class Keeper:
    """Answers the requests of runs, one after the other, for the device `emulator`."""

    def __init__(self, emulator: Emulator):
        self._control = emulator.control
        self._next = 0
        self._levels: dict[int, int] = {}
        """Of each pin that has ever changed, after the events before number `_next`."""

    def answer(self, request: dict) -> dict:
        """Return the answer to a request: ``begin``, or ``end`` with what the former has returned. EmulatorError."""
        if request["what"] == "begin":
            return self._begin()
        if request["clocks"]:
            self._control.wait("idle", SETTLING, self._control.status()["time_ns"] + CLOCKED_NS)
        else:
            self._control.wait("idle", SETTLING)
        reply = self._control.request("trace", **{"from": request["from"], "path": request["path"]})
        return {name: reply[name] for name in ("pads", "waves", "next")}

    def _begin(self) -> dict:
        with Control.memory_file() as path:
            reply = self._control.request("trace", **{"from": self._next, "path": path})
            edges = Edges.read(path)
        self._levels |= dict(zip(edges.pads.tolist(), edges.levels.tolist(), strict=True))
        self._next = reply["next"]
        return {"from": self._next, "time_ns": reply["time_ns"], "levels": list(self._levels.items())}


class Recorder:
    """Records the pins during a run, if its core device is emulated. `keepers`: connections to the processes that keep
    the emulated devices of the laboratory."""

    def __init__(self, keepers: Sequence[socket.socket]):
        self._keepers = keepers
        self._lines: dict[socket.socket, Any] = {}
        self._keeper: socket.socket | None = None
        self._begun: dict = {}

    def begin(self, host: str | None):
        """Begin, with the core device at `host`."""
        try:
            for keeper in self._keepers:
                keeper.settimeout(TIMEOUT)
                ports = self._read(keeper)
                if host == f"127.0.0.1:{ports[str(session.PORT)]}":
                    self._begun = self._asked(keeper, {"what": "begin"})
                    self._keeper = keeper
                    return
        except (OSError, ValueError, KeyError) as error:
            logger.warning("the waveform is not recorded: %s", error)

    def end(self, database, inputs: bytes | None) -> dict[str, Any] | None:
        """Return the values of the group ``recorded``, see `kairos.waveform.stored`; None if nothing was recorded.
        `database`: the device database; `inputs`: what the analyzer has recorded."""
        try:
            if self._keeper is not None:
                return self._recorded(self._keeper, database)
            if inputs is not None:
                return packed(pins(analyzer.decode(inputs), database.entries), "analyzer")
        except (OSError, ValueError, KeyError, EmulatorError) as error:
            logger.warning("the waveform is not recorded: %s", error)
        return None

    def _recorded(self, keeper: socket.socket, database) -> dict[str, Any] | None:
        with Control.memory_file() as path:
            clocks = bool(database.free_running)
            reply = self._asked(keeper, {"what": "end", "path": path, "clocks": clocks, "from": self._begun["from"]})
            if reply["next"] - self._begun["from"] > MOST:
                logger.warning("the waveform is not recorded: it has more than %d events", MOST)
                return None
            edges = Edges.read(path)
        start, levels = self._begun["time_ns"], self._begun["levels"]
        before = Edges.of([(start, pad, None if level == FLOATING else level) for pad, level in levels])
        waves = [Wave(*fields) for fields in reply["waves"]]
        trace = {"pads": reply["pads"], "events": Edges.joined([before, edges]), "waves": waves}
        recording = Recording.from_trace(trace, len(levels), database.channel_names(), start)
        return packed(recording, "emulator") if recording.event_count else None

    def _asked(self, keeper: socket.socket, request: dict) -> dict:
        keeper.sendall(json.dumps(request).encode() + b"\n")
        answer = self._read(keeper)
        if "problem" in answer:
            raise ValueError(answer["problem"])
        return answer

    def _read(self, keeper: socket.socket) -> dict:
        reader = self._lines.setdefault(keeper, keeper.makefile("rb"))
        line = reader.readline()
        if not line:
            raise OSError("the emulated device has ended")
        return json.loads(line)
