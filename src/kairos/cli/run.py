"""``kairos run``: boots the device if it is emulated, runs the experiment, and shows the results."""

import logging
import sys
import time

from .. import emulator as emulation
from ..contracts.session import PORT
from ..devices import DeviceDB
from ..errors import ConnectionLost, DeviceUnreachable, EmulatorError, KairosError, UsageError
from ..quantities import readable
from ..waveform.table import format_duration, format_table
from . import report
from .bench import bench_file, print_warnings
from .outputs import Outputs, table_limit
from .rounding import print_rounded
from .signals import code_of, end_orderly
from .wires import wires

__all__ = ["run"]

LOST = {
    "collision": "of two outputs in one cycle the one that was submitted first is lost",
    "busy": "an output that came before the one before it was done is lost",
    "sequence": "an output that was submitted too late, behind too many later ones, is lost",
}
"""Reasons for lost outputs, by the device's error name."""


def _settings(texts) -> dict:
    settings = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator:
            raise UsageError(f"--set {text} is not NAME=VALUE")
        settings[name] = value
    return settings


def _forwards(texts) -> dict[int, int]:
    """Return the device's ports with their ports on this host (0: any), always including that of
    the kernel session."""
    forwards = {PORT: 0}
    for text in texts:
        host, separator, device = text.partition(":")
        if not (separator and host.isdecimal() and device.isdecimal()):
            raise UsageError(f"--forward {text} is not HOST_PORT:DEVICE_PORT")
        forwards[int(device)] = int(host)
    return forwards


def run(args) -> int:
    """Run the experiment of the command line `args`; returns the exit code."""
    end_orderly()
    level = (logging.WARNING, logging.INFO, logging.DEBUG)[min(args.verbose, 2)]
    logging.basicConfig(level=level, format="%(levelname)s: %(message)s")
    limit = table_limit(args.table, "pulses")
    outputs = Outputs(args)
    outputs.check()
    ddb = DeviceDB.load(args.device_db)
    host = ddb.arguments("core").get("host")
    device = None
    try:
        if emulation.is_emulated(host):
            # It boots while the experiment is imported and compiled.
            options = emulation.Options(
                skip=not args.no_skip,
                settings=_settings(args.set),
                forward=_forwards(args.forward),
                log=args.log,
                bench=bench_file(args),
                entries=ddb.entries,
                open_pins=args.no_bench,
                wires=wires(args),
            )
            device = emulation.acquire(host, options)
        elif args.vcd or args.scope or args.pulses or args.log or args.wire:
            raise UsageError(
                "--vcd, --scope, --pulses, --log and --wire require an emulated device, but 'core' is not emulated"
            )
        return _run_on(args, ddb, device, limit, outputs)
    finally:
        emulation.shutdown_all()


def _run_on(args, ddb, device, limit, outputs):
    # Imported late: it loads NumPy, which takes 0.15 s, in which an emulated device already boots.
    from ..coredevice.core import Core
    from .experiments import ENDED, Experiment  # likewise

    started = time.time()
    experiment = Experiment(
        args.file,
        args.class_name,
        args.arguments,
        ddb,
        args.dataset_db,
        applets=args.applets,
        pictures=args.plot is not None,
        rid=outputs.next_rid(),
        bench=bench_file(args) if device is not None else None,
    )
    Core.strict = args.strict

    def finish(failed=False):
        try:
            _finish(args, experiment, device, limit, outputs, started, failed)
        except UsageError as error:
            if not failed:
                raise
            # In addition to the failure of the run, which is also reported.
            print(f"kairos: {error}", file=sys.stderr)

    try:
        with report.user_code(plain=ENDED):
            experiment.instance.prepare()
            experiment.instance.run()
            experiment.devices.notify_run_end()
        with report.user_code():
            experiment.instance.analyze()
    except KeyboardInterrupt as interruption:
        print("\nkairos: interrupted: the connection is closed, and the device stops the kernel", file=sys.stderr)
        finish(failed=True)
        return code_of(interruption)
    except SystemExit as error:
        # The experiment ended itself: sys.exit(...) has its usual meaning.
        if isinstance(error.code, str):
            print(error.code, file=sys.stderr)
        finish()
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    except KairosError as error:
        # Pin activity up to the failure helps to diagnose it, and the data measured so far may be
        # all there will be.
        finish(failed=True)
        if device is not None and isinstance(error, ConnectionLost | DeviceUnreachable):
            raise _explained(error, device) from None
        raise
    finish()
    return 0


def _explained(error, device) -> KairosError:
    """Return the error for the loss of an emulated device, with the reason if it is known."""
    failure = device.failure()
    return EmulatorError(failure) if failure else type(error)(f"{error}{device.last_words()}")


def _finish(args, experiment, device, limit, outputs, started, failed):
    """Show and write the results of a run, however it ended."""
    sys.stdout.flush()
    statistics = experiment.statistics()
    experiment.devices.close_devices()
    try:
        experiment.datasets.ddb.close_db()
    except KairosError as error:
        # The run's own file contains them too.
        print(f"kairos: {error}", file=sys.stderr)
    recording = None
    kernels = 0 if statistics is None else statistics.kernels
    if device is not None and kernels and device.is_alive():
        recording = _record(device, experiment.devices)
        print_warnings(device)
        if args.rounding_warning:
            print_rounded(device, recording, experiment.devices.ddb)
    if not args.quiet and (kernels or not failed):
        _print_summary(statistics, device, recording, time.time() - started)
        if recording is not None and limit != 0:
            print(format_table(recording, limit, _listed(recording, experiment.devices.ddb.entries)))
    if device is not None and not (kernels or failed):
        outputs.report_no_kernel()
    try:
        outputs.write(experiment, started, recording, device, completed=not failed)
    finally:
        if experiment.applets is not None:
            experiment.applets.close()
        # Last, after everything that shows the device's activity, since it makes the device do
        # more.
        _print_lost(device if recording is not None else None)
    if not (args.hdf5 or args.quiet):
        for key, value in sorted(experiment.datasets.local.items(), key=lambda item: readable(item[0], True)):
            print(f"{readable(key, True)}: {readable(value, sys.stdout.isatty())}")
    sys.stdout.flush()


def _listed(recording, entries):
    """Return the messages on serial buses, for the table; None if no chip select is active."""
    if not any("_cs" in channel.name for channel in recording.active()):
        return None
    # Imported late: it loads NumPy, and drivers of cards.
    from ..scope.listed import Listed

    return Listed(recording, entries)


def _print_lost(device):
    """Report outputs that the device could not produce: a kernel does not notice those due after
    its end."""
    for line in [] if device is None else device.lost_outputs():
        why = next(why for error, why in LOST.items() if error in line)
        print(f"kairos: {line}: {why}", file=sys.stderr)


def _record(device, devices):
    clocks = devices.ddb.channels_of("TTLClockGen")
    if not device.settle(clocks=clocks):
        print("kairos: the recording ends while the device still has outputs queued", file=sys.stderr)
    return device.recording(devices.ddb.channel_names())


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
