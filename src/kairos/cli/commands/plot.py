"""``kairos plot``: plot the datasets of a result file."""

from ..command import Command, Option
from ..options import output

COMMAND = Command(
    "plot the datasets of a result file",
    Option("file", metavar="FILE", help="HDF5 file written by 'kairos run -o' or ARTIQ"),
    Option("datasets", metavar="DATASET", nargs="*", help="datasets to plot; default: all numeric ones"),
    Option("-x", metavar="DATASET", help="dataset for the x axis; default: the index"),
    output("image file (.png, .pdf, .svg); default: FILE.png"),
    runs="plot.plot",
    examples=(
        "kairos plot results.h5",
        "kairos plot results.h5 counts -x detuning -o flop.pdf",
    ),
)
