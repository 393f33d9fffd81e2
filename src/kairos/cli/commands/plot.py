"""``kairos plot``: the datasets of a result file as a picture."""

from ..command import Command, Option
from ..options import output

COMMAND = Command(
    "draw the datasets of a result file",
    Option("file", metavar="FILE", help="HDF5 file of kairos run -o, or of ARTIQ"),
    Option("datasets", metavar="DATASET", nargs="*", help="which; default: all that are numbers"),
    Option("-x", metavar="DATASET", help="what the others are drawn over; default: their index"),
    output("the picture (.png, .pdf, .svg); default: FILE.png"),
    runs="plot.plot",
    examples=(
        "kairos plot results.h5",
        "kairos plot results.h5 counts -x detuning -o flop.pdf",
    ),
)
