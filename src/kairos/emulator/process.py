"""The emulator as a child process: started early, awaited only when needed, and never left running."""

import atexit
import json
import math
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..contracts.session import PORT
from ..devices.cores import devices_on
from ..errors import CommandLineError, EmulatorError, KairosError, PortInUse
from ..scratch import ScratchFolder
from ..waveform import Recording
from . import artifacts
from .cards import cards, pins
from .control import Control, processor_s
from .hosts import variant_of
from .lines import Lines
from .sources import Kernels, Sources
from .storage import open_card

__all__ = [
    "Emulator",
    "Options",
    "acquire",
    "adopt",
    "environment",
    "is_running",
    "shutdown_all",
    "wiring",
]


READY_TIMEOUT = 30.0
"""Timeout in seconds for booting the firmware of a board; a hundred times its duration on an idle machine. The boards
of a system take turns, every few cycles if their fibres are short."""
STARVED_TIMEOUT = 180.0
"""The same for an emulator that has not had that much processor time, on a busy machine."""
ANSWER_TIMEOUT = 2.0
"""Timeout in seconds for a reply of an emulator that has not booted."""

CLOCKS_ONLY_NS = 1_000_000
"""If clock generators keep running, a recording ends this long after the last change of another pin."""

LOST = re.compile(r"RTIO (?:collision|busy error|sequence error) involving channel \S+")
"""Log text of an output that could not be produced."""

HOPELESS = 0.2
"""Share of altered or lost words from which a link may be why it did not boot; its boards correct one bit of a word."""
RESTLESS_NS = 1_000
"""A bench that acts again within this time may be why a device did not boot."""

_MARGIN_NS = 1_000
SAYS = "kairos-emulator: "
"""Prefix of the emulator's messages for its user."""


@dataclass(frozen=True)
class Options:
    """Options of an emulator: `skip` skips idle time, `settings` are timing parameters."""

    skip: bool = True
    settings: dict = field(default_factory=dict)
    forward: dict[int, int] = field(default_factory=lambda: {PORT: 0})
    """Forwarded ports of the device, with their ports on this host; 0 lets the system choose."""
    log: str | None = None
    """File for the output of the device's serial line."""
    bench: str | None = None
    """Bench file that describes what is wired to the pins; without it the chips of the device's
    cards."""
    entries: dict = field(default_factory=dict)
    """Entries of the device database, from which cards and pins of the bench are derived."""
    open_pins: bool = False
    """Wire nothing to the pins."""
    wires: list[str] = field(default_factory=list)
    """Additional drivers of inputs: PIN=PIN, PIN=HZ or PIN=high."""
    storage: str | None = None
    """Image of its SD card, in which it keeps its configuration; empty: one that is deleted when it is
    stopped; None: no card."""


def boot_limits(variant: str) -> tuple[float, float]:
    """Return the timeouts in seconds for booting all boards: processor time, and, on a busy machine, time."""
    processor = READY_TIMEOUT * artifacts.boards(variant)
    return processor, max(STARVED_TIMEOUT, 2 * processor)


def channels_of(url: str) -> set[int] | None:
    """Return the RTIO channels of ``emulator://VARIANT``, as `artifacts.channels`."""
    return artifacts.channels(variant_of(url))


def wiring(options: Options) -> list[str]:
    """Command-line arguments of an emulator for the wiring of its pins."""
    if options.open_pins:
        return ["--no-bench"]
    bench = [] if options.bench is None else ["--bench", options.bench]
    bench += [word for wire in options.wires for word in ("--wire", wire)]
    for option, known in (("--cards", cards(options.entries)), ("--names", pins(options.entries))):
        bench += [option, json.dumps(known)] if known else []
    return bench


def environment() -> dict[str, str]:
    """Return the environment of an emulator: models in Python use this interpreter."""
    return {**os.environ, "KAIROS_PYTHON": sys.executable}


def folder_for_socket() -> ScratchFolder:
    """Create a folder for an emulator's socket and small files: among temporary files, or in /tmp if
    their path is too long, since a socket's has at most 107 characters."""
    folder = tempfile.gettempdir()
    return ScratchFolder("kairos-emu-", folder if len(folder) <= 70 else "/tmp")


class Emulator:
    """A running emulator of the gateware `variant`. It ends with :meth:`stop`, or with this
    process."""

    def __init__(self, variant: str, options: Options = Options()):
        program, what = artifacts.command(variant)
        self.variant = variant
        self.has_bench, self.entries = not options.open_pins, options.entries
        """Whether anything is wired to the pins."""
        self.started = time.perf_counter()
        self._directory = folder_for_socket()
        self._socket_path = os.path.join(self._directory.path, "control")
        command = [str(program), *what]
        for guest_port, host_port in options.forward.items():
            command += ["--forward", f"{host_port}:{guest_port}"]
        command += ["--control", self._socket_path, "--exit-with-control"]
        if not options.skip:
            command.append("--no-skip")
        if options.log is not None:
            command += ["--uart", options.log]
        self._card = None
        if options.storage is not None:
            path = options.storage or os.path.join(self._directory.path, "card")
            self._card = open_card(Path(path))
            command += ["--sd", path]
        command += wiring(options)
        for name, value in options.settings.items():
            command += ["--set", f"{name}={value}"]
        try:
            self._process = subprocess.Popen(
                command,
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                # Ctrl-C is for the experiment: the emulator stays, so that its activity can still
                # be shown.
                start_new_session=True,
            )
        except OSError as error:
            self._directory.close()
            raise EmulatorError(f"{program} cannot be started: {error.strerror}") from None
        self._control: Control | None = None
        self._booting = threading.Lock()
        self._ready: dict | None = None
        self._unready: KairosError | None = None
        """Why it is not ready, nor ever will be."""
        self._begin()
        self._said = Lines()
        self._errors: list[str] = []
        self._readers = [threading.Thread(target=target, daemon=True) for target in (self._read_out, self._read_err)]
        for reader in self._readers:
            reader.start()

    def _begin(self):
        """Begin without a run."""
        self.trace_start = 0
        """Number of the first pin event that belongs to the run."""
        self.trace_start_ns = 0  # time from which changes of clocks belong to the run
        self.recorded_until_ns: int | None = None
        self.left_running: frozenset[int] = frozenset()
        self.kernels = Kernels()
        """The kernels it has run."""
        self.outputs_start: list[int] = []
        """For each board, the number of the first kernel output that belongs to the run."""

    def _read_out(self):
        # Connect before anything else: the emulator ends with this connection, so it cannot outlive
        # this process.
        try:
            self._control = Control.connect_when_there(self._socket_path, self.is_alive, READY_TIMEOUT)
            # No other client connects: the directory is removed now, so that none remains if this
            # process is killed.
            self._directory.close()
        except (EmulatorError, OSError):
            pass
        self._said.read(self._process.stdout)

    def _read_err(self):
        for line in self._process.stderr:
            if line.strip():
                self._errors = [*self._errors[-20:], line.strip()]

    # State

    @property
    def pid(self) -> int:
        """Process id of the program."""
        return self._process.pid

    @property
    def boot_s(self) -> float | None:
        """Wall-clock seconds from the start of the program until the device was idle with its network up."""
        return None if self._ready is None else self._ready["wall_s"]

    def is_alive(self) -> bool:
        """Return whether the program is still running."""
        return self._process.poll() is None

    def failure(self) -> str | None:
        """Return why the emulator ended, or None while it runs."""
        try:
            code = self._process.wait(timeout=0.2)
        except subprocess.TimeoutExpired:
            return None
        self._readers[1].join(timeout=1)
        reason = self._errors[-1] if self._errors else "it said nothing"
        if reason.startswith(SAYS):
            return reason.removeprefix(SAYS)
        if code < 0 and not self._errors:
            reason += (
                "; if this happens again, its files may be damaged: rebuild them with 'make firmware gateware emulator'"
            )
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return f"the emulator ended ({how}): {reason}"

    def log_failure(self) -> str | None:
        """Return why the file of `Options.log` could not be written completely, or None. This does
        not end the run."""
        why = self.control.status()["uart_failed"]
        return why and why.partition(" (os error")[0]

    def wait_ready(self) -> dict:
        """The emulator's ready event: ``forwards``, ``wall_s`` (seconds to boot), ``time_ns``. Several threads may
        wait for it."""
        with self._booting:
            if self._ready is None and self._unready is None:
                try:
                    self._ready = self._awaited()
                except KairosError as error:
                    self._unready = error
        if self._ready is None:
            raise self._unready
        return self._ready

    def _awaited(self) -> dict:
        began, read = time.monotonic(), 0
        processor, starved = boot_limits(self.variant)
        while True:
            lines, is_all = self._said.after(read, max(1.0, processor - (time.monotonic() - began)))
            read += len(lines)
            for line in lines:
                if (event := self._understood(line)) is not None:
                    return event
            if is_all:
                why = self.failure() or "the emulator closed its output before it was ready"
                raise CommandLineError(why) if why.startswith(("--wire", "--set")) else EmulatorError(why)
            waited = time.monotonic() - began
            if not lines and (waited >= starved or processor_s(self.pid, math.inf) >= processor):
                raise self._not_booted(waited)

    def _understood(self, line: str) -> dict | None:
        """Return the event of a line if it is that the emulator is ready; PortInUse, EmulatorError."""
        try:
            event = json.loads(line)
        except ValueError:
            raise EmulatorError(f"unexpected output of the emulator: {line.strip()}") from None
        if event.get("kind") == "port_in_use":
            raise PortInUse(event["port"])
        if event.get("event") == "offline":
            raise self._offline()
        return event if event.get("event") == "ready" else None

    def _not_booted(self, waited: float) -> EmulatorError:
        """Stop the emulator; returns the error to raise."""
        if self._control is not None:
            # It may have no time to answer.
            self._control.timeout = self._control.longest = ANSWER_TIMEOUT
        said, advice = self.log_tail(), self._busy_with()
        self.stop()
        return EmulatorError(f"the emulated device did not boot within {waited:.0f} s{said}: {advice}")

    def _offline(self) -> EmulatorError:
        """Stop the emulator, whose device is idle without a network; returns the error to raise."""
        said = self.log_tail()
        self.stop()
        return EmulatorError(
            f"the emulated device has booted without a network{said}: the firmware of the first board must be a "
            "master's (runtime.elf), not a satellite's (satman.elf)"
        )

    def _busy_with(self) -> str:
        """Return what keeps the device from becoming idle, and what to do."""
        rebuild = "rebuild it with 'make firmware gateware emulator'"
        restless = f"a part of its bench acts every few nanoseconds and keeps it busy (try --no-bench), or {rebuild}"
        try:
            for link in self._control.request("links")["links"] if self._control else []:
                for way in ("down", "up"):
                    sent, bad = link[way]["sent"], link[way]["wrong"] + link[way]["lost"]
                    if bad > sent * HOPELESS:
                        ends = (link["from"], link["to"]) if way == "down" else (link["to"], link["from"])
                        return (
                            f"of {sent} words from {ends[0]} to {ends[1]} the line has altered or lost {bad}, too many "
                            "for the boards to talk: lower bit_errors or losses of this link"
                        )
            status = self._control.status() if self._control else {}
        except EmulatorError:
            # Nothing but a bench keeps an emulator from answering.
            return restless if self.has_bench else rebuild
        due = status.get("bench_ns")
        if due is not None and due - status["time_ns"] < RESTLESS_NS:
            return restless
        return rebuild

    def log_tail(self) -> str:
        """Return the last two lines that the firmware printed, as part of a sentence."""
        try:
            lines = [] if self._control is None else self._control.uart().split("\n")
        except EmulatorError:
            lines = []
        lines = [line.strip() for line in lines if line.strip()]
        return f" (it printed last: {'; '.join(lines[-2:])})" if lines else ""

    def lost_outputs(self) -> list[str]:
        """Failed outputs from the device's log (collisions and the like), one line each with the channel. To be
        called at the end of a run, since device time passes."""
        # A kernel may end before its outputs are due. The device looks for them when a session ends,
        # and this is one.
        with socket.create_connection(("127.0.0.1", self.port(PORT)), READY_TIMEOUT):
            pass
        self.control.wait("idle", 1.0, self.control.status()["time_ns"] + CLOCKS_ONLY_NS)
        return re.findall(LOST, self.control.uart())

    def port(self, guest_port: int) -> int:
        """Return the port of this host forwarded to `guest_port` of the device; waits until the
        device has booted."""
        forwards = self.wait_ready()["forwards"]
        try:
            return int(forwards[str(guest_port)])
        except KeyError:
            raise EmulatorError(f"port {guest_port} of the emulated device is not forwarded") from None

    @property
    def control(self) -> Control:
        """The control connection; waits until the device has booted."""
        self.wait_ready()
        if self._control is None:
            raise EmulatorError(self.failure() or f"the emulator made no control socket at {self._socket_path}")
        return self._control

    # Recording

    def mark_start(self):
        """Mark the start of the run: earlier pin activity is not part of its recording."""
        trace = self.control.edges()
        self.trace_start, self.trace_start_ns = trace["next"], trace["time_ns"]
        self.outputs_start = self.control.status()["outputs"]

    def wait_idle(self, timeout: float = 30.0, clocks: frozenset[int] = frozenset()) -> bool:
        """Wait until the device, left alone by the host, has played its queued outputs and its time
        stands still.

        A clock generator or an SU-Servo that was left running never ends: once only the RTIO channels `clocks` have
        changed for a millisecond of the device's time, the recording ends that long after the last other change, at
        `recorded_until_ns`; `left_running` are those that have. Returns False if this takes longer than `timeout`
        seconds, not counting the time to reach the next output, before which hours of the device's time may pass.
        """
        import numpy as np  # imported late: only recordings need it

        deadline = time.monotonic() + timeout
        status = self.control.status()
        start, seen, last = status["time_ns"], self.trace_start, None
        while True:
            # Slightly later: events in the current cycle may not have been simulated yet.
            until = max(start, last or 0) + CLOCKS_ONLY_NS + _MARGIN_NS if clocks else None
            reached = self.control.wait("idle", deadline - time.monotonic(), until)
            if reached is None and self._gets_nearer(status):
                deadline = time.monotonic() + timeout
                continue
            if reached != "time":
                return reached == "idle"
            trace = self.control.edges(seen)
            seen, events = trace["next"], trace["events"]
            others = events.times[~np.isin(events.pads, [p["index"] for p in trace["pads"] if p["channel"] in clocks])]
            # Without any other change, the clocks' first change counts.
            clocked = [wave.since(self.trace_start_ns) for wave in trace["waves"]]
            firsts = [*events.times[:1].tolist(), *(w.time_of(0) for w in clocked if w.changes)]
            last = int(others.max()) if len(others) else last or min(firsts, default=start)
            if max(start, last) + CLOCKS_ONLY_NS <= trace["time_ns"]:
                # Not the device's current time: the same run must give the same recording.
                self.recorded_until_ns = last + CLOCKS_ONLY_NS
                later = set(events.pads[events.times > last].tolist())
                self.left_running = frozenset(pad["channel"] for pad in trace["pads"] if pad["index"] in later)
                return True
            if time.monotonic() > deadline:
                return False

    def recording(self, names: dict[int, str]) -> Recording:
        """Recording of the pins in the settled run; `names` are those of its RTIO channels."""
        trace = self.control.edges(until=self.recorded_until_ns)
        return Recording.from_trace(trace, self.trace_start, names, self.trace_start_ns)

    def sources(self) -> Sources:
        """Source lines of the outputs of the run."""
        with self.control.memory_file() as path:
            reply = self.control.request("sources", **{"path": path, "from": self.outputs_start})
            return Sources(reply, path, self.kernels)

    def _gets_nearer(self, status: dict) -> bool:
        """Return whether time advances towards the next output known at `status`, which is updated."""
        before, status["time_ns"] = status["time_ns"], self.control.status()["time_ns"]
        return before < status["time_ns"] < (status["queued_ns"] or 0)

    def stop(self):
        """Stop the emulator; harmless if it has ended already."""
        if self._control is not None:
            try:
                if self.is_alive():
                    self._control.request("shutdown")
            except EmulatorError:
                pass
            self._control.close()
            self._control = None
        elif self.is_alive():
            self._process.terminate()
        try:
            self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for reader in self._readers:
            reader.join(timeout=1)
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        if self._card is not None:
            self._card.close()
        self.discard()

    def discard(self):
        """Forget a device that has ended."""
        if self._directory is not None:
            self._directory.close()
        _running.pop(self.variant, None)


_running: dict[str, Emulator] = {}


def adopt(device: Emulator):
    """Make a device this process's emulator of its variant."""
    _running[device.variant] = device


def acquire(url: str, options: Options | None = None) -> Emulator:
    """Return this process's emulator of ``emulator://VARIANT``, started with `options` if
    necessary."""
    variant = variant_of(url)
    if variant not in _running:
        options = options or Options()
        _running[variant] = Emulator(variant, replace(options, entries=devices_on(options.entries, url)))
    return _running[variant]


def is_running(url: str) -> bool:
    """Return whether this process runs the emulator of ``emulator://VARIANT``."""
    return variant_of(url) in _running


@atexit.register
def shutdown_all():
    """Stop every emulator of this process."""
    for emulator in list(_running.values()):
        emulator.stop()
