"""``kairos device paths``: the paths between processors, memory and logic, as table, JSON, and
picture."""

import json
from contextlib import contextmanager

from ..devices import DeviceDB
from ..emulator import Emulator, Options, is_emulated, variant_of
from ..errors import CommandLineError
from ..network.management import PORT, Management, read_key
from ..network.paths import LABELS, Path, Series, Spread, measure
from .address import address_of
from .outputs import check_picture
from .paths_plot import write_plot

__all__ = ["measure_paths"]

_TIMING = {"quantum": 100}
"""Maximum lead of one core over the other in cycles, which is the error of message times between
them."""

_HEAD = f"{'path':37}{'bytes':>9}{'trials':>8}{'time, ns':>44}{'MB/s':>33}{'in the logic, ns':>22}"
_UNDER = f"{'':54}" + "".join(f"{name:>11}" for name in "min median 99% max min median max first last".split())


def measure_paths(args):
    """Measure the paths selected by the command line `args`, and show the results."""
    if args.plot:
        check_picture("--plot", args.plot)
    if args.disturbances < 0:
        raise CommandLineError(f"--disturbances {args.disturbances}: give a seed of at least 1, or 0 for none")
    if args.trials < 1:
        raise CommandLineError(f"--trials {args.trials}: give a number of at least 1")
    names = {path.name.lower().replace("_", "-"): path for path in Path}
    if unknown := [name for name in args.paths if name not in names]:
        raise CommandLineError(f"there is no path '{unknown[0]}'; there are {', '.join(names)}")
    paths = [names[name] for name in args.paths] or list(Path)
    if not args.json:
        print(_HEAD, _UNDER, sep="\n", flush=True)
    with _device(args) as management:
        series, absent = measure(management, paths, args.trials, (lambda _: None) if args.json else _print)
    if args.json:
        print(
            json.dumps({"series": [one.as_json() for one in series], "absent": [path.name.lower() for path in absent]})
        )
    elif absent:
        print("not on this device:", ", ".join(name for name, path in names.items() if path in absent))
    if args.plot:
        write_plot(args.plot, series)


@contextmanager
def _device(args):
    """Return the management service of the device; an emulated device is started for this."""
    host = args.device or DeviceDB.load(args.device_db).arguments("core").get("host")
    key = read_key(args.key) if args.key else None
    if args.disturbances and not is_emulated(host):
        raise CommandLineError("--disturbances is for emulated devices: a board has its own")
    if is_emulated(host):
        settings = _TIMING | {"disturbances": args.disturbances}
        emulator = Emulator(variant_of(host), Options(forward={PORT: 0}, settings=settings))
        try:
            with Management("127.0.0.1", emulator.port(PORT), key=key) as management:
                yield management
        finally:
            emulator.stop()
    else:
        with Management(*address_of(args, PORT), key=key) as management:
            yield management


def _columns(spread: Spread | None, digits: int, *names: str) -> str:
    if spread is None:
        return " " * 11 * len(names)
    return "".join(f"{getattr(spread, name):11,.{digits}f}" for name in names)


def _print(series: Series):
    size = f"{series.size:,}" if series.size else ""
    line = f"{LABELS[series.path]:37}{size:>9}{len(series.cycles):8,}"
    line += _columns(series.time_ns(), 0, "min", "median", "percentile_99", "max")
    line += _columns(series.throughput(), 1, "min", "median", "max")
    if (counted := series.logic_ns()) is not None:
        line += f"{counted[0].median:11,.0f}{counted[1].median:11,.0f}"
    print(line.rstrip(), flush=True)
