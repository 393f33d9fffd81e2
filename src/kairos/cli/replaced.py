"""Output files of a command are none of the files that it reads, under any of their names."""

import os

from ..errors import CommandLineError

__all__ = ["check_outputs"]

OUTPUTS = {"hdf5": "-o", "output": "-o"} | {
    name: f"--{name}" for name in ("dump", "log", "plot", "pulses", "record", "scope", "vcd")
}
"""The options of files that commands write, by their names in the command line."""

READ = {
    "file": "the experiment",
    "device_db": "the device database",
    "dataset_db": "the dataset store",
    "bench": "the wiring of the bench",
}
"""What a message calls a file that an experiment needs."""

OTHER = "a file that this command reads"


def check_outputs(args):
    """Raise CommandLineError if an output file of the command line `args` is a file that the command reads."""
    values = {name: value for name, value in vars(args).items() if isinstance(value, str) and os.path.isfile(value)}
    for name in sorted(OUTPUTS.keys() & values.keys()):
        for other in sorted(values.keys() - OUTPUTS.keys()):
            if os.path.samefile(values[name], values[other]):
                if other == "device_db" and getattr(args, "source", None):
                    # `kairos devices --from` does not read the device database, but it would replace the user's own.
                    text = f"{values[name]} is there already, and may have been edited"
                    raise CommandLineError(f"{text}: remove it first, or give the output another name")
                # The files of other commands than those of experiments are named "file" as well.
                is_named = other != "file" or values[other].endswith(".py")
                what = READ.get(other, OTHER) if is_named else OTHER
                raise CommandLineError(
                    f"{OUTPUTS[name]} {values[name]} would replace {what}: give the output another name"
                )
