"""``kairos pulse``: gate sets of the pulse core."""

from ..command import Command, Option
from ..options import JSON, output

FILE = Option("file", metavar="FILE", help="Python file that defines a kairos.pulse.GateSet, or Jaqal circuit (.jaqal)")

COMMAND = Command(
    "compile, show, compare and measure gate sets of the pulse core",
    tools={
        "compile": Command(
            "write the words that program a gate set and run its sequence",
            FILE,
            output("32 bytes a word, the least significant first", required=True),
            runs="pulse.compile_words",
            examples=("kairos pulse compile gates.py -o gates.bin",),
        ),
        "view": Command(
            "draw what its sequence plays, or write it as a NumPy file",
            FILE,
            output("picture (.png, .pdf, .svg) or arrays (.npz)", required=True),
            Option("--cycles", type=int, metavar="N", help="cycles from the start; default: all, at most 1,000,000"),
            runs="pulse.view",
        ),
        "diff": Command(
            "count the words that make one gate set of another, pauses of their sequences included",
            FILE,
            Option("new", metavar="NEW", help="the other one"),
            output("write these words, and those that run the new one's sequence", required=False),
            JSON,
            runs="pulse.diff",
            examples=("kairos pulse diff gates.py new_gates.py --json",),
        ),
        "stats": Command("show time and memory of each gate", FILE, JSON, runs="pulse.stats"),
    },
    examples=(
        "kairos pulse stats gates.py",
        "kairos pulse view gates.py -o gates.png",
    ),
)
