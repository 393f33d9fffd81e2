"""``kairos sweep``: an experiment at every point of a sweep, on emulated laboratories."""

from ..command import Command, Option
from ..options import EXPERIMENT, TWIN, between

SWEEP_TWIN = [option for option in TWIN if not {"--interlocks", "--least-slack"} & set(option.names)]

COMMAND = Command(
    "compute an experiment at every point of a grid or a random sample, on many emulated laboratories",
    *EXPERIMENT,
    Option(
        "--scan",
        metavar="NAME=VALUES",
        action="append",
        default=[],
        help="argument, or number of the bench file, that varies: START:STOP:NUMBER, [1, 2, 3], LOW~HIGH (random)",
    ),
    Option(
        "--repeat", metavar="N", type=between(1), default=1, help="compute each point N times; default: %(default)s"
    ),
    Option("--samples", metavar="N", type=between(0), default=0, help="number of points with random values"),
    Option(
        "--minimize",
        metavar="KEY",
        help="look for the random values with the smallest dataset KEY, or element of one (KEY[2]), with Optuna",
    ),
    Option("--maximize", metavar="KEY", help="look for those with the largest"),
    Option("--batch", metavar="N", type=between(1), default=4, help="samples proposed at a time; default: %(default)s"),
    Option("--seed", metavar="N", type=int, default=0, help="seed of all random numbers; default: %(default)s"),
    Option("-o", "--output", metavar="FILE", default="sweep.h5", help="file with the results; default: %(default)s"),
    Option("--force", action="store_true", help="replace this file"),
    Option("--workers", metavar="N", type=between(1), help="processes of this computer; default: its processors"),
    Option("--over", metavar="URL", help="compute on a Dask cluster, dask://HOST:PORT, whose workers have Kairos"),
    *SWEEP_TWIN,
    runs="twin:sweep.command.sweep",
    examples=(
        "kairos sweep rabi_flop.py points=5 --scan longest=10us:60us:11 --repeat 5",
        "kairos sweep sideband_cooling.py --scan heating=0:1e3:11 --scan cycles=[10,20,40] -o cooling.h5",
        "kairos sweep transfer.py --scan length=1us~50us --scan power=0~1 --samples 60 --maximize p",
        "kairos sweep scan.py --scan detuning=-50kHz~50kHz --samples 200 --over dask://10.0.0.5:8786",
    ),
)
