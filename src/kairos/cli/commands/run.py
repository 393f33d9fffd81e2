"""``kairos run``: an experiment, on a device or an emulated one."""

from ..command import Command, Option
from ..options import EXPERIMENT, STRICT, quiet


def _emulated(*names: str, **settings) -> Option:
    return Option(*names, group="emulated devices", **settings)


def _several(*names: str, **settings) -> Option:
    return _emulated(*names, action="append", default=[], **settings)


COMMAND = Command(
    "run an experiment",
    *EXPERIMENT,
    STRICT,
    Option("--vcd", metavar="FILE", help="write what the pins did as a VCD file"),
    Option(
        "--plot", metavar="FILE", help="draw what the pins did, and the applets of the experiment (.png, .pdf, .svg)"
    ),
    Option("--scope", metavar="FILE", help="write all that happened as a page for a browser (.html)"),
    Option("--pulses", metavar="FILE", help="write what pulse cores did (.npz, for kairos.pulse.Recording)"),
    Option("--table", nargs="?", const="all", metavar="N", default="40", help="pulses to show, or 'all'"),
    Option("--no-table", dest="table", action="store_const", const="0", help="show no pulses"),
    Option("-o", "--hdf5", metavar="FILE", help="write the datasets to an HDF5 file"),
    Option("-v", "--verbose", action="count", default=0, help="tell more; twice, everything"),
    Option("--applets", action="store_true", help="show the applets that the experiment has created (ccb)"),
    quiet("print only what the experiment prints"),
    _emulated("--log", metavar="FILE", help="write what the device says on its serial line, its log"),
    _emulated(
        "--bench",
        metavar="FILE",
        help="what is wired to the pins; default: bench.toml beside the device database, or the chips of its cards",
    ),
    _several(
        "--wire",
        metavar="PIN=SOURCE",
        help="what drives an input besides: another pin (ttl0=ttl4), a generator (ttl0=10kHz), or a level (ttl0=high)",
    ),
    _emulated("--no-bench", action="store_true", help="nothing is wired to the pins"),
    _emulated("--no-skip", action="store_true", help="let idle time pass clock by clock"),
    _several("--set", metavar="NAME=VALUE", help="timing parameter"),
    _several("--forward", metavar="HOST:DEVICE", help="make a port of the device one of this host"),
    runs="run.run",
    examples=(
        "kairos run blink.py",
        "kairos run blink.py pulses=2 --vcd pins.vcd --plot pins.png",
        "kairos run rabi_flop.py --scope rabi.html",
        "kairos run count.py --wire ttl0=10kHz",
        "kairos run scan.py detuning=-50kHz:50kHz:101 -o results.h5",
    ),
)
