"""``kairos plot``: plot the datasets of a result file."""

from ..command import Command, Option
from ..options import output

COMMAND = Command(
    "plot the datasets of a result file",
    Option("file", metavar="FILE", help="HDF5 file written by 'kairos run -o' or ARTIQ"),
    Option("datasets", metavar="DATASET", nargs="*", help="datasets to plot; default: all numeric ones"),
    Option("-x", metavar="DATASET", help="dataset for the x axis; default: the index"),
    Option("-y", metavar="DATASET", help="dataset for the second axis of a matrix, or of a list of points in a plane"),
    Option("--error", metavar="DATASET", help="dataset with the error bars"),
    Option("--histogram", action="store_true", help="draw the distribution of the values"),
    Option("--overlay", action="store_true", help="draw all datasets in one set of axes, with a legend"),
    Option(
        "--with", dest="others", metavar="FILE", action="append", default=[], help="draw those of another file, too"
    ),
    output("image file (.png, .pdf, .svg); default: FILE.png"),
    runs="plot.plot",
    examples=(
        "kairos plot results.h5",
        "kairos plot results.h5 counts -x detuning -o flop.pdf",
        "kairos plot today.h5 excitation -x length --error deviation --with yesterday.h5",
        "kairos plot results.h5 counts --histogram",
    ),
)
