"""``kairos pulse``: gate sets of the pulse core."""

from ..command import Command, Option
from ..options import JSON, between, output

FILE = Option("file", metavar="FILE", help="Python file that defines a kairos.pulse.GateSet, or Jaqal circuit (.jaqal)")

COMMAND = Command(
    "compile, show, compare and measure gate sets of the pulse core",
    tools={
        "compile": Command(
            "write the words that program a gate set and play its sequence",
            FILE,
            output("output file: 32 bytes per word, least significant byte first", required=True),
            runs="pulse.compile_words",
            examples=("kairos pulse compile gates.py -o gates.bin",),
        ),
        "view": Command(
            "plot the waveforms of its sequence, or write them as a NumPy file",
            FILE,
            output("image file (.png, .pdf, .svg) or arrays (.npz)", required=True),
            Option(
                "--cycles",
                type=between(1),
                metavar="N",
                help="number of cycles to show; default: all, at most 1,000,000",
            ),
            runs="pulse.view",
        ),
        "diff": Command(
            "count the words needed to turn one gate set into another, including the pauses of their sequences",
            FILE,
            Option("new", metavar="NEW", help="new gate set"),
            output("write these words, followed by those that play the new sequence", required=False),
            JSON,
            runs="pulse.diff",
            examples=("kairos pulse diff gates.py new_gates.py --json",),
        ),
        "stats": Command("show the duration and memory of each gate", FILE, JSON, runs="pulse.stats"),
    },
    examples=(
        "kairos pulse stats gates.py",
        "kairos pulse view gates.py -o gates.png",
    ),
)
