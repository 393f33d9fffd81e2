"""``kairos compile``: the stages of the compilation of an experiment's ``run``, without a device."""

import sys
from pathlib import Path

from ..devices import DeviceDB, DeviceError
from ..errors import UsageError

__all__ = ["compile_experiment"]


def compile_experiment(args) -> int:
    """Compile ``run()`` of the experiment of the command line `args` and write the stage it asks for."""
    from . import report
    from .experiments import Experiment

    ddb = DeviceDB.load(args.device_db)
    experiment = Experiment(args.file, args.class_name, args.arguments, ddb)
    instance = experiment.instance
    with report.user_code(plain=(DeviceError,)):
        instance.prepare()
        embedded = getattr(instance.run, "artiq_embedded", None)
        if embedded is None or embedded.core_name is None:
            raise UsageError(f"run() of {experiment.name} is not a kernel: decorate it with @kernel")
        core = getattr(instance, embedded.core_name)
        stage = _emit(args.emit, core, instance)
    if isinstance(stage, str):
        stage = stage.encode()
    output = args.output
    if output is None and args.emit == "elf":
        output = str(Path(args.file).with_suffix(".elf"))
    if output is None:
        sys.stdout.buffer.write(stage if stage.endswith(b"\n") else stage + b"\n")
        return 0
    try:
        Path(output).write_bytes(stage)
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror}") from None
    print(f"wrote {output}")
    return 0


def _emit(stage, core, instance):
    from ..coredevice.core import load_compiler

    return load_compiler().emit(stage, type(instance).run, (instance,), {}, core=core)
