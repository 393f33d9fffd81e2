"""``kairos run``: run an experiment on a real or emulated device."""

from ..command import Command, Option
from ..options import EXPERIMENT, STRICT, VERBOSE, quiet


def _emulated(*names: str, **settings) -> Option:
    return Option(*names, group="emulated devices", **settings)


def _several(*names: str, **settings) -> Option:
    return _emulated(*names, action="append", default=[], **settings)


COMMAND = Command(
    "run an experiment on a real or emulated device",
    *EXPERIMENT,
    STRICT,
    Option("--vcd", metavar="FILE", help="write the pin waveforms as a VCD file"),
    Option(
        "--plot", metavar="FILE", help="plot the pin waveforms, and the applets of the experiment (.png, .pdf, .svg)"
    ),
    Option("--scope", metavar="FILE", help="write waveforms, buses and log as an HTML page (.html)"),
    Option("--pulses", metavar="FILE", help="write the output of pulse cores (.npz, for kairos.pulse.Recording)"),
    Option(
        "--table",
        nargs="?",
        const="all",
        metavar="N",
        default="40",
        help="number of pulses to show, or 'all'; default: %(default)s",
    ),
    Option(
        "--from",
        dest="start",
        metavar="TIME",
        help="show table and picture from this time on, as in 20us; default: the end of the devices' initialisation",
    ),
    Option("--to", dest="end", metavar="TIME", help="show them up to this time"),
    Option("--last", metavar="N|TIME", help="show only the last N pulses, or those in this time before the end"),
    Option("--channels", metavar="NAME,...", completes="devices", help="show only these channels, buses and chips"),
    Option("--no-table", dest="table", action="store_const", const="0", help="do not show pulses"),
    Option(
        "-o",
        "--hdf5",
        metavar="FILE",
        help="write the datasets to an HDF5 file, or to a dated, numbered file in the directory FILE/",
    ),
    Option(
        "--record-inputs",
        action="store_true",
        help="with -o: also keep what the analyzer of a device that is not emulated has recorded, for 'kairos replay'",
    ),
    VERBOSE,
    Option("--applets", action="store_true", help="show the applets created by the experiment (ccb)"),
    quiet("print only the output of the experiment"),
    _emulated("--log", metavar="FILE", help="write the serial console output (the log) of the device to this file"),
    _emulated(
        "--bench",
        metavar="FILE",
        help="wiring of the pins; default: bench.toml next to the device database, or the chips of its cards",
    ),
    _several(
        "--wire",
        metavar="PIN=SOURCE",
        help="additional source of an input: another pin (ttl0=ttl4), a generator (ttl0=10kHz), a level (ttl0=high)",
    ),
    _emulated("--no-bench", action="store_true", help="leave the pins unconnected"),
    _emulated("--no-skip", action="store_true", help="simulate idle time cycle by cycle instead of skipping it"),
    _emulated(
        "--no-rounding-warning",
        dest="rounding_warning",
        action="store_false",
        help="do not report outputs that their channels round to steps of 8 ns",
    ),
    _several("--set", metavar="NAME=VALUE", help="set a timing parameter of the emulator"),
    _several("--forward", metavar="HOST:DEVICE", help="forward a port of this host to a port of the device"),
    runs="run.run",
    examples=(
        "kairos run blink.py",
        "kairos run blink.py pulses=2 --vcd pins.vcd --plot pins.png",
        "kairos run blink.py --last 10 --channels ttl4,ttl5",
        "kairos run rabi_flop.py --scope rabi.html",
        "kairos run count.py --wire ttl0=10kHz",
        "kairos run scan.py detuning=-50kHz:50kHz:101 -o results.h5",
    ),
)
