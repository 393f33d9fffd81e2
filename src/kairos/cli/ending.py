"""The end of a run, however it came about: results are written and shown.

The data come first and pictures last, since data cannot be obtained again. A step that fails costs
no other, and a signal that arrives meanwhile ends only what can be done without.
"""

import sys
import time
from contextlib import contextmanager
from functools import cache

from .. import files
from ..errors import KairosError
from ..quantities import readable
from ..waveform.table import format_duration
from .bench import print_warnings
from .inexact_outputs import print_rounded, print_undriven
from .outputs import Outputs
from .pins import Shown
from .printed import print_notice
from .signals import held
from .waveforms import waveform_of

__all__ = ["Ending"]

LOST = {
    "collision": "of two outputs in one cycle the one that was submitted first is lost",
    "busy": "an output that came before the one before it was done is lost",
    "sequence": "an output that was submitted too late, behind too many later ones, is lost",
}
"""Reasons for lost outputs, by the device's error name."""


class Ending:
    """Ends the run of `experiment` that began at `started` (Unix time), with the command line
    `args`. `device`: the emulated device, if it is one; `limit`: number of rows of the table;
    `window`: the part of the recording that is shown.

    `failures` are the results that could not be written, one line each.
    """

    def __init__(self, args, experiment, device, limit: int | None, window, outputs: Outputs, started: float):
        self._args, self._experiment, self._device = args, experiment, device
        self._limit, self._window, self._outputs, self._started = limit, window, outputs, started
        self._interrupted = False
        self.failures: list[str] = []

    def end(self, failed: bool):
        """Do everything. `failed`: the run did not end as intended."""
        experiment, device = self._experiment, self._device
        with held():
            self._keep(failed)
        # The user's code, which may import anything, has ended.
        self._outputs.prepare()
        statistics = experiment.statistics()
        kernels = 0 if statistics is None else statistics.kernels
        with self._step("the devices are not closed"):
            experiment.devices.close_devices()
        recording, why = self._recorded(kernels)
        if recording is not None:
            with self._step("the waveform of the pins is not stored"):
                more = {"failed": True} if failed else {}
                self._outputs.add_waveform(experiment, self._started, waveform_of(recording, device) | more)
        shown = None
        if recording is not None:
            with self._step("the pulses are not shown"):
                shown = Shown(recording, device, experiment.devices.ddb.entries, self._window)
                for line in shown.unknown(experiment.devices.ddb.entries):
                    print_notice(f"kairos: {line}")
            why = "the pulses could not be read"
        if device is not None and device.is_alive():
            with self._step("the warnings of the bench are not shown"):
                print_warnings(device, experiment.devices.ddb)
        if recording is not None:
            sources = cache(device.sources)  # read once: a long run has millions
            if self._args.rounding_warning:
                with self._step("rounded outputs are not reported"):
                    print_rounded(sources, recording, experiment.devices.ddb)
            with self._step("pulses of inputs are not reported"):
                print_undriven(sources, recording, experiment.devices.ddb)
        if not self._args.quiet and (kernels or not failed):
            with self._step("the pulses are not shown"):
                _print_summary(statistics, device, recording, time.time() - self._started)
                if shown is not None and self._limit != 0:
                    print(shown.table(self._limit))
        self.failures += self._outputs.write(experiment, shown, device, why, self._interrupted)
        # After everything that shows the device's activity, since it makes the device do more.
        with self._step("outputs that are lost are not reported"):
            if experiment.applets is not None:
                experiment.applets.close()
            _print_lost(device if recording is not None else None)
        with held():
            if not (self._args.hdf5 or self._args.quiet):
                _print_datasets(experiment.datasets)
            sys.stdout.flush()

    def _keep(self, failed: bool):
        """Write the datasets."""
        with self._step("output that was printed is lost"):
            sys.stdout.flush()
        with self._step("datasets with persist=True are not kept"):
            self._experiment.datasets.ddb.close_db()
        with self._step("outputs may be in another folder"):
            self._outputs.return_to_folder()
        self.failures += self._outputs.write_datasets(self._experiment, self._started, not failed)

    def _recorded(self, kernels: int):
        """Return the recording of the device's pins; or None, and why there is none."""
        device, recording = self._device, None
        if device is None:
            return None, None
        if not kernels:
            return None, "no kernel has run"
        if not device.is_alive():
            return None, "the emulated device has ended"
        with self._step("the pins are not recorded"):
            recording = _record(device, self._experiment.devices)
        return recording, "the pins are not recorded"

    @contextmanager
    def _step(self, otherwise: str):
        """A step that costs no other if it fails; skipped after an interruption. `otherwise`: what
        is then missing."""
        try:
            yield
        except KeyboardInterrupt:
            self._interrupted = True
            self.failures.append(f"interrupted again: {otherwise}")
        except KairosError as error:
            if error.is_reported:
                self.failures.append(f"{otherwise}: {error}")
        except Exception as error:  # of a library or of the user's code
            self.failures.append(f"{otherwise}: {files.reason(error)}")


def _print_lost(device):
    """Report outputs that the device could not produce: a kernel does not notice those due after
    its end."""
    for line in [] if device is None or not device.is_alive() else device.lost_outputs():
        why = next(why for error, why in LOST.items() if error in line)
        print_notice(f"kairos: {line}: {why}")


def _print_datasets(datasets):
    for key, value in sorted(datasets.local.items(), key=lambda item: readable(item[0], True)):
        print(f"{readable(key, True)}: {readable(value, sys.stdout.isatty())}")


def _record(device, devices):
    if not device.wait_idle(clocks=devices.ddb.free_running):
        print_notice("kairos: the recording ends while the device still has outputs queued")
    names = devices.ddb.channel_names()
    for channel in sorted(device.left_running & devices.ddb.channels_of("SUServo")):
        name = names.get(channel, "the SU-Servo")
        print_notice(f"kairos: {name} still runs: it is recorded until 1 ms after the last output")
    return device.recording(names)


def _count(number, noun):
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _print_summary(statistics, device, recording, wall_s):
    parts = []
    if statistics is not None and statistics.kernels:
        if statistics.compiled:
            kernels = "kernel" if statistics.compiled == 1 else f"{statistics.compiled} kernels"
            parts.append(f"{kernels} compiled in {statistics.compile_s * 1e3:.0f} ms")
        if statistics.kernels != statistics.compiled:
            parts.append(_count(statistics.kernels, "kernel") + " run")
    if device is not None and device.boot_s is not None:
        parts.append(f"device booted in {device.boot_s * 1e3:.0f} ms")
    if recording is not None:
        parts.append(_count(recording.event_count, "pin event"))
    if statistics is not None and statistics.kernels:
        parts.append(_count(statistics.rpcs, "RPC"))
    parts.append(f"built and ran in {wall_s:.2f} s")
    print(", ".join(parts))
    if recording is not None and recording.event_count:
        print(f"time 0 of the pulses is {format_duration(recording.origin_ns)} after power-up of the device")
