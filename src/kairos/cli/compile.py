"""``kairos compile``: outputs the compilation stages of an experiment's ``run``, without a device."""

import sys
from pathlib import Path

from .. import files
from ..devices import DeviceDB
from .experiments import Experiment

__all__ = ["compile_experiment"]


def compile_experiment(args):
    """Compile ``run()`` of the experiment of the command line, and write the requested stage."""
    experiment = Experiment(args.file, args.class_name, args.arguments, DeviceDB.load(args.device_db), args.dataset_db)
    stage = experiment.compiled(args.emit, strict=args.strict)
    content = stage.encode() if isinstance(stage, str) else stage
    path = args.output
    if path is None and args.emit == "elf":
        suffix = ".elf" if content.startswith(b"\x7fELF") else ".tar"
        path = str(Path(args.file).with_suffix(suffix))
    if path in (None, "-"):
        sys.stdout.buffer.write(content if content.endswith(b"\n") else content + b"\n")
    else:
        files.write(path, content)
        print(f"wrote {path}")
