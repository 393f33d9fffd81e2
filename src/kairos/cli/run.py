"""``kairos run``: boots the device if it is emulated, runs the experiment, and shows the results."""

import sys
import time

from .. import emulator as emulation
from ..contracts import analyzer, session
from ..devices import DeviceDB
from ..errors import CommandLineError, ConnectionLost, DeviceUnreachable, EmulatorError, KairosError, UsageError
from ..terminal_text import log_plainly
from .address import service_of
from .agreement import Agreement
from .bench import bench_file
from .ending import Ending
from .options import log_level
from .outputs import Outputs, table_limit, window_of
from .printed import print_notice
from .signals import code_of
from .wires import wires

__all__ = ["run"]

PORT_MAX = 65535


def _settings(texts) -> dict:
    settings = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator:
            raise CommandLineError(f"--set {text} is not NAME=VALUE")
        settings[name] = value
    return settings


def _forwards(texts) -> dict[int, int]:
    """Return the device's ports with their ports on this host (0: any), always including that of
    the kernel session."""
    forwards = {session.PORT: 0}
    for text in texts:
        host, separator, device = text.partition(":")
        if not (separator and all(each.isdecimal() and int(each) <= PORT_MAX for each in (host, device))):
            raise CommandLineError(f"--forward {text} is not HOST_PORT:DEVICE_PORT, each at most {PORT_MAX}")
        forwards[int(device)] = int(host)
    return forwards


def run(args) -> int:
    """Run the experiment of the command line `args`; returns the exit code."""
    log_plainly("%(levelname)s: %(message)s", log_level(args.verbose))
    limit, window = table_limit(args.table, "pulses"), window_of(args)
    settings, forwards = _settings(args.set), _forwards(args.forward)
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
                settings=settings,
                forward=forwards,
                log=args.log,
                bench=bench_file(args),
                entries=ddb.entries,
                open_pins=args.no_bench,
                wires=wires(args),
            )
            device = emulation.acquire(host, options)
        elif args.vcd or args.scope or args.pulses or args.log or args.wire:
            raise CommandLineError(
                "--vcd, --scope, --pulses, --log and --wire require an emulated device, but 'core' is not emulated"
            )
        if args.record_inputs and device is not None:
            raise CommandLineError(
                "--record-inputs is for devices that are not emulated: their inputs come from the bench"
            )
        return _run_on(args, ddb, device, (limit, window), outputs)
    finally:
        emulation.shutdown_all()


def _run_on(args, ddb, device, shown, outputs):
    # Imported late: it loads NumPy, which takes 0.15 s, in which an emulated device already boots.
    from ..coredevice.core import Core
    from .experiments import Experiment  # likewise

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
    host = ddb.arguments("core").get("host")
    if args.record_inputs and host is not None:
        experiment.devices.inputs_from = service_of(host, analyzer.PORT)
    experiment.devices.with_variables = args.hdf5 is not None
    Core.strict = args.strict
    # What is emulated was built from the same descriptions; asking it would change the times of its run.
    agreement = Agreement(ddb, experiment.devices.entries_in_use if device is None else {})

    ending = Ending(args, experiment, device, *shown, outputs, started)

    def finish(failed=False):
        agreement.wait()
        ending.end(failed)
        if ending.failures and not failed:
            raise UsageError("; ".join(ending.failures))
        # In addition to the failure of the run, which is also reported.
        print_notice(*(f"kairos: {line}" for line in ending.failures))

    try:
        experiment.perform()
    except KeyboardInterrupt as interruption:
        experiment.was_interrupted = True
        print_notice("\nkairos: interrupted: the connection is closed, and the device stops the kernel")
        finish(failed=True)
        return code_of(interruption)
    except SystemExit as error:
        # The experiment ended itself: sys.exit(...) has its usual meaning.
        if isinstance(error.code, str):
            print(error.code, file=sys.stderr)
        finish()
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    except KairosError as error:
        if device is not None and isinstance(error, ConnectionLost | DeviceUnreachable):
            error = _explained(error, device)
        # The reason first, above the table. Pin activity up to the failure helps to diagnose it, and
        # the data measured so far may be all there will be.
        sys.stdout.flush()
        agreement.wait()
        if error.is_reported:
            print_notice(f"kairos: {error}")
        finish(failed=True)
        return 2 if isinstance(error, CommandLineError) else 1
    finish()
    return 0


def _explained(error, device) -> KairosError:
    """Return the error for the loss of an emulated device, with the reason if it is known."""
    failure = device.failure()
    return EmulatorError(failure) if failure else type(error)(f"{error}{device.log_tail()}")
