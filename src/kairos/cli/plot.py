"""``kairos plot``: curves of the one-dimensional datasets of files, images of the two-dimensional ones,
histograms."""

import time
from contextlib import suppress
from pathlib import Path

import numpy as np

from .. import pyon, resultfiles
from ..errors import CommandLineError, UsageError
from ..terminal_text import one_line
from ..waveform.results import Curve, Style, write_curves
from .command import suggestion
from .outputs import check_picture

__all__ = ["plot"]

LARGEST = 1 << 30
"""Maximum size in bytes of a dataset that is drawn: a file of some kilobytes may announce any."""


def plot(args):
    """Draw the datasets selected by the command line `args`."""
    target = Path(args.output or Path(args.file).with_suffix(".png"))
    check_picture("-o", target)
    if args.error and args.histogram:
        raise CommandLineError("--error and --histogram exclude each other")
    files = [args.file, *args.others]
    several = len(files) > 1
    curves = [curve for file in files for curve in _curves(args, file, Path(file).stem if several else "")]
    title = " and ".join(filter(None, map(_title, files))) or Path(args.file).stem
    try:
        write_curves(target, curves, title, Style(args.overlay, args.histogram))
    except (ValueError, RuntimeError) as error:  # of points without an area between them, for one
        what = str(error).partition(";")[0]
        raise UsageError(f"{target} cannot be drawn: {what}") from None
    print(f"wrote {target}")


def _curves(args, file: str, source: str) -> list[Curve]:
    """Return the selected curves of a file."""
    known = _datasets(file, source)
    numbers = {name: curve for name, curve in known.items() if curve is not None}
    of = {name: getattr(args, name) for name in ("x", "y", "error")}
    for name in (*args.datasets, *filter(None, of.values())):
        if name not in known:
            question = suggestion(name, known) or f"; it has {', '.join(map(one_line, known)) or 'none'}"
            raise UsageError(f"{file} has no dataset '{name}'{question}")
        if name not in numbers:
            raise UsageError(f"dataset '{name}' of {file} is not a list or matrix of numbers, or is too large")
    used = {kind: numbers[name] for kind, name in of.items() if name}
    numbers = {name: curve for name, curve in numbers.items() if name not in of.values()}
    chosen = [numbers[name] for name in args.datasets or numbers]
    if not chosen:
        raise UsageError(f"{file} has no datasets that are lists or matrices of numbers")
    if "y" in used and "x" not in used and any(curve.values.ndim == 1 for curve in chosen):
        raise CommandLineError("-y of a list needs -x")
    if "error" in used and (used["error"].values < 0).any():
        raise UsageError(f"dataset '{args.error}' of {file} has negative values: a standard deviation has none")
    for curve in chosen:
        if args.datasets and not np.isfinite(curve.values).any():
            raise UsageError(f"dataset '{curve.name}' of {file} has no value that is a finite number")
        for kind, other in used.items():
            needed = curve.values.shape[1 if kind == "y" and curve.values.ndim == 2 else 0]
            if needed != len(other.values):
                raise UsageError(
                    f"dataset '{curve.name}' cannot be plotted with '{other.name}' ({kind}): it has {needed} values, "
                    f"'{other.name}' has {len(other.values)}"
                )
    return [curve._replace(**used) for curve in chosen]


def _datasets(path, source: str) -> dict[str, Curve | None]:
    """Return the datasets by name, None for those that cannot be drawn."""
    found: dict[str, Curve | None] = {}
    with resultfiles.opened(path) as file:
        if (group := resultfiles.group_of(file, "datasets")) is None:
            raise UsageError(f"{path} has no group 'datasets': it is not the result file of an experiment")
        for name, item in resultfiles.datasets(group):
            drawable = item.dtype.kind in "iufb" and item.ndim in (1, 2) and 0 < (item.nbytes or 0) <= LARGEST
            found[name] = Curve.of(name, resultfiles.value(item), item.attrs, source) if drawable else None
    return found


def _title(path) -> str:
    """Return the experiment, number and time of a result file, as far as it has them."""
    parts = []
    for name, shown in (("expid", _class), ("rid", _number), ("start_time", _date)):
        # Without what is not there in a file that is not ours, or not ARTIQ's.
        with suppress(UsageError), resultfiles.opened(path) as file:
            parts.append(shown(resultfiles.value(file[name])))
    return ", ".join(filter(None, parts))


def _class(expid) -> str:
    return str(pyon.decode(expid.decode())["class_name"] or "")


def _number(rid) -> str:
    return f"run {int(rid)}"


def _date(seconds) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(float(seconds)))
