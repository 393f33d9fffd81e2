"""``kairos compile``: the compilation stages of an experiment's ``run``, without a device."""

from ..command import Command, Option
from ..options import EXPERIMENT, STRICT, output

STAGES = ("ast", "types", "ir", "llvm", "asm", "elf")
"""Those of `kairos.compiler.STAGES`, which would take 0.2 s to import."""

COMMAND = Command(
    "compile run() of an experiment and output one of the compilation stages",
    *EXPERIMENT,
    STRICT,
    Option("--emit", choices=STAGES, default="elf", help="stage to output; default: %(default)s"),
    output("output file; default: standard output (-); for elf, FILE.elf, or FILE.tar with subkernels"),
    runs="compile.compile_experiment",
    examples=(
        "kairos compile blink.py",
        "kairos compile blink.py pulses=2 --emit llvm",
    ),
)
