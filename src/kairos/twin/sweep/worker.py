"""The process that computes the points of a sweep.

It imports the experiment, and boots an emulated device for each bench that the points need. A point
is computed by a copy of this process with a copy of the device, so that no point sees anything of
another one, and one that crashes costs no other. A device that cannot be copied is booted for the point.
While a point is computed, the next copy of the process is made, and waits for what it is to compute.

It is started with the number of a socket and a folder. On the socket it receives the task, then numbers and values of
points, and answers each with its result, all as PYON.
"""

import gc
import os
import random
import select
import shutil
import signal
import sys
import time
import traceback
from collections import OrderedDict
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ... import compat, emulator, pyon
from ...cli.experiments import choose_class, import_file
from ...cli.provenance import imported_from_elsewhere
from ...coredevice.core import load_compiler
from ...devices import DeviceDB
from ...errors import EmulatorError, KairosError
from ...experiment.arguments import DefaultMissing
from ...experiment.datasets import DatasetDB
from ..rehearsal import PATIENT, Twin
from ..standins import load_drivers, twin_database
from . import warm
from .identity import identity
from .task import DATABASE, Task, with_values

__all__ = ["main"]

WRITTEN = ".written"
"""Folder for the files that a point writes."""
DEVICES = 4
"""Devices that are kept to be copied, one per bench."""
USED, UNUSED = b"+\n", b"-\n"
"""After a complete result, which is a line: whether it has used its device."""
BEYOND = 30.0
"""Seconds beyond those allowed after which the process of a point is killed."""


class Spare(NamedTuple):
    """A copy of this process that waits for its point."""

    pid: int
    sending: int
    """Descriptor on which it is sent the point, in a line."""
    reading: int
    """Descriptor on which it gives the result."""
    devices: dict[str | None, emulator.Emulator]
    """Those that it knows, by their benches."""


class Worker:
    """Computes points of a task."""

    def __init__(self, task: Task, folder: Path):
        self._task = task
        self._folder = folder
        task.write(folder)
        os.chdir(folder)
        compat.install()
        # A copy of this process has what is loaded now; it would load the rest for its own point.
        load_compiler().codegen.load()
        np.random.seed(0)  # NumPy loads its random numbers when they are first used
        database = DeviceDB.load(self._folder / DATABASE)
        load_drivers(database)
        self._ddb = twin_database(database, task.twin)
        self._file = self._folder / task.file
        self._class = choose_class(import_file(str(self._file)), task.class_name)
        self.host = self._ddb.arguments("core").get("host")
        """Of the twin's device; None: there is none."""
        self._written = folder / WRITTEN
        """The working directory of a point."""
        self._written.mkdir()
        self._devices: OrderedDict[str | None, emulator.Emulator] = OrderedDict()
        self._cannot_be_copied: set[str | None] = set()
        self._uses_device = True
        """Whether the last point has used its device."""
        self._datasets = DatasetDB()
        for key, value in task.datasets.items():
            self._datasets.set(key, value)
        self._ending: list[int] = []
        """Processes of points that have given their result."""
        self._spare: Spare | None = None
        gc.collect()
        gc.freeze()

    def result(self, number: int, arguments: dict, bench: dict, seed: int) -> str:
        """Return the result of a point, as PYON: `number`, `error` (None: it was successful),
        `device_ns`, and `datasets`, by name, each as PYON."""
        text = self._task.bench
        if bench:
            text = with_values(text or "", bench)
        try:
            device, text = self._device(text, seed)
        except KairosError as error:
            return _failed(number, str(error))
        self._reap()
        self._empty()
        # The device is copied while this process is, if the point before has used it.
        begun = emulator.begin(device, seed) if device is not None and self._uses_device else None
        made = self._copy(begun) if begun is not None else self._next(text, device)
        point = pyon.encode([number, arguments, text, seed, device is not None]).encode()
        try:
            # If it was killed, that is found out below.
            with suppress(BrokenPipeError), os.fdopen(made.sending, "wb") as pipe:
                pipe.write(point + b"\n")
            if begun is None:
                self._spare = self._copy(None)
            return self._received(number, made.pid, made.reading)
        finally:
            if begun is not None:
                begun.connection.close()

    def _next(self, text: str | None, device: emulator.Emulator | None) -> Spare:
        """Return a copy of this process that knows a device and its bench: the one that waits, or a new one."""
        spare, self._spare = self._spare, None
        if spare is not None and device is not None and spare.devices.get(text) is not device:
            self._end(spare)
            spare = None
        return spare or self._copy(None)

    def _end(self, spare: Spare):
        """End a copy without a point."""
        os.close(spare.sending)
        os.close(spare.reading)
        self._ending.append(spare.pid)

    def _copy(self, begun) -> Spare:
        """Copy this process. `begun`: the copy of a device that was begun for it."""
        (receiving, sending), (reading, writing) = os.pipe(), os.pipe()
        pid = os.fork()
        if pid:
            os.close(receiving)
            os.close(writing)
            return Spare(pid, sending, reading, dict(self._devices))
        code = 1
        try:
            os.close(sending)
            os.close(reading)
            with os.fdopen(receiving, "rb") as pipe:
                point = pipe.readline()
            with os.fdopen(writing, "wb") as pipe:
                if point:
                    result, used = self._computed(*pyon.decode(point.decode()), begun)
                    pipe.write(result.encode() + (USED if used else UNUSED))
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)

    def _empty(self):
        """Delete what the point before has written, which has ended or was killed."""
        if any(os.scandir(self._written)):
            shutil.rmtree(self._written, ignore_errors=True)
            self._written.mkdir(exist_ok=True)

    def _reap(self):
        """Collect the processes of earlier points that have ended."""
        self._ending = [pid for pid in self._ending if os.waitpid(pid, os.WNOHANG) == (0, 0)]

    def _device(self, text: str | None, seed: int):
        """Return the device to be copied for a bench, and the text of the bench; None if it must be
        booted for the point, with a bench that has the seed."""
        if self.host is None or text in self._cannot_be_copied:
            return None, with_values(text, {"seed": seed}) if text else text
        if text not in self._devices:
            while len(self._devices) >= DEVICES:
                self._devices.popitem(last=False)[1].stop()
            with _written(self._folder, text) as path:
                options = emulator.Options(
                    bench=path,
                    entries=self._ddb.entries,
                    settings={**PATIENT, **self._task.settings},
                )
                device = emulator.Emulator(emulator.variant_of(self.host), options)
                device.control.wait("ready")
            self._devices[text] = device
            try:
                self._warm_up(emulator.Copy(device))
                gc.freeze()
            except EmulatorError:
                device.stop()
                del self._devices[text]
                self._cannot_be_copied.add(text)
                return self._device(text, seed)
        self._devices.move_to_end(text)
        return self._devices[text], text

    def _warm_up(self, device: emulator.Copy):
        """Run a kernel in this process, which loads what the copies of it need; the device of which this one is a
        copy learns the code of the firmware that its copies will run."""
        with Twin(self._ddb, device=device) as twin:
            twin.rehearse(warm.__file__, None, warm.ARGUMENTS, cls=warm.Warm, thoroughly=False, folder=self._written)
            device.teach()

    def _computed(self, number, arguments, text, seed, is_copied: bool, begun) -> tuple[str, bool]:
        """Compute a point, in a process of its own. Returns the result, and whether its device was used. `is_copied`:
        it has a copy of the device with this bench."""
        random.seed(seed)
        np.random.seed(seed & 0xFFFFFFFF)
        os.dup2(2, 1)  # what libraries print is not a result
        task = self._task
        if arguments:
            load_compiler().numbers_as_data()  # one library for all points
        copy = emulator.Copy(self._devices[text], seed, begun, late=True) if is_copied else None
        # What a copy is wired to, it knows.
        with _written(self._folder, text if copy is None else None) as path:
            twin = Twin(self._ddb, path, settings=task.settings, device=copy)
        with twin:
            given = [*(f"{key}={value}" for key, value in task.arguments.items())]
            given += [f"{key}={pyon.encode(value)}" for key, value in arguments.items()]
            try:
                found = twin.rehearse(
                    str(self._file),
                    task.class_name,
                    given,
                    self._datasets,
                    task.within_s,
                    self._class,
                    thoroughly=False,
                    folder=self._written,
                )
            except (KairosError, DefaultMissing) as error:
                return _failed(number, str(error)), True
            used = copy is None or copy.is_used
        error = None
        if found.stopped:
            error = "it takes longer than allowed"
        elif found.failure is not None:
            error = f"{found.failure.place}: {found.failure.kind}: {' '.join(found.failure.message.split())}"
        results = {key: _text(value) for key, value in found.datasets.items()}
        result = {"number": number, "error": error, "device_ns": found.device_ns, "datasets": results}
        return pyon.encode(result), used

    def _received(self, number: int, pid: int, reading: int) -> str:
        """Return what the process of a point has written."""
        allowed = None if self._task.within_s is None else time.monotonic() + self._task.within_s + BEYOND
        data = b""
        with os.fdopen(reading, "rb", buffering=0) as pipe:
            while True:
                left = None if allowed is None else max(0.0, allowed - time.monotonic())
                if not select.select([pipe], [], [], left)[0]:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                    continue
                block = pipe.read(1 << 20)
                if not block:
                    break
                data += block
        if data.endswith((USED, UNUSED)):
            self._ending.append(pid)  # what it had to say is said
            self._uses_device = data.endswith(USED)
            return data[: -len(USED)].decode()
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if code:
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            return _failed(number, f"its process has ended ({how})")
        return _failed(number, "its process has ended without a result")

    def close(self):
        """Stop the devices."""
        if self._spare is not None:
            self._end(self._spare)
        for device in self._devices.values():
            device.stop()
        for pid in self._ending:
            os.waitpid(pid, 0)


def _failed(number: int, error: str) -> str:
    return pyon.encode({"number": number, "error": error, "device_ns": 0, "datasets": {}})


def _text(value) -> str:
    try:
        return pyon.encode(value)
    except TypeError:
        return pyon.encode(repr(value))


class _written:
    """Context of the path of a file with a bench; None for none."""

    def __init__(self, folder: Path, text: str | None):
        self._path = None if text is None else folder / f".bench-{os.getpid()}.toml"
        if self._path is not None:
            self._path.write_text(text)

    def __enter__(self) -> str | None:
        return None if self._path is None else str(self._path)

    def __exit__(self, *_):
        if self._path is not None:
            self._path.unlink(missing_ok=True)


def main(descriptor: int, folder: str, identified: bool):
    """Compute what is asked for at the other end of the socket `descriptor`, until it is closed, with
    the files of the task in an empty `folder`. `identified`: say what it is computed with."""
    connection = Connection(descriptor)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is for the sweep
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    worker = None
    try:
        try:
            worker = Worker(Task.decode(connection.recv_bytes()), Path(folder))
        except (KairosError, DefaultMissing) as error:
            connection.send_bytes(pyon.encode({"refused": str(error)}).encode())
            return
        ready = {"ready": os.getpid(), "external": imported_from_elsewhere(Path(folder))}
        if identified:
            ready["identity"] = identity(Path(folder), worker.host)
        connection.send_bytes(pyon.encode(ready).encode())
        while True:
            connection.send_bytes(worker.result(**pyon.decode(connection.recv_bytes().decode())).encode())
    except (EOFError, ConnectionError):
        pass  # the sweep has ended
    finally:
        if worker is not None:
            worker.close()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], "--identified" in sys.argv[3:])
