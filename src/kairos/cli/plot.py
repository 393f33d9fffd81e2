"""``kairos plot``: curves of the one-dimensional datasets of a file, images of the two-dimensional ones."""

from pathlib import Path

from ..errors import UsageError
from ..waveform.results import Curve, write_curves
from .outputs import check_picture

__all__ = ["plot"]


def plot(args):
    """Draw the datasets selected by the command line `args`."""
    target = Path(args.output or Path(args.file).with_suffix(".png"))
    check_picture("-o", target)
    known = _datasets(args.file)
    numbers = {name: curve for name, curve in known.items() if curve is not None}
    for name in (*args.datasets, *filter(None, [args.x])):
        if name not in known:
            raise UsageError(f"{args.file} has no dataset '{name}'; it has {', '.join(known) or 'none'}")
        if name not in numbers:
            raise UsageError(f"dataset '{name}' of {args.file} is not a list or matrix of numbers")
    x = numbers.pop(args.x) if args.x else None
    chosen = [numbers[name] for name in args.datasets or numbers]
    if not chosen:
        raise UsageError(f"{args.file} has no datasets that are lists or matrices of numbers")
    for curve in chosen:
        if x is not None and curve.values.shape[0] != len(x.values):
            lengths = f"{curve.values.shape[0]} values, '{x.name}' has {len(x.values)}"
            raise UsageError(f"dataset '{curve.name}' cannot be plotted over '{x.name}': it has {lengths}")
    write_curves(target, chosen, x, title=Path(args.file).stem)
    print(f"wrote {target}")


def _datasets(path) -> dict[str, Curve | None]:
    """Return the datasets by name, None for those that cannot be drawn."""
    import h5py  # imported late: it takes 0.1 s

    found: dict[str, Curve | None] = {}

    def note(name, item):
        if isinstance(item, h5py.Dataset):
            drawable = item.dtype.kind in "iufb" and item.ndim in (1, 2) and item.size
            found[name] = Curve.of(name, item[()], item.attrs) if drawable else None

    try:
        with h5py.File(path) as file:
            if "datasets" not in file:
                raise UsageError(f"{path} has no group 'datasets': it is not the result file of an experiment")
            file["datasets"].visititems(note)
    except OSError:
        if not Path(path).is_file():
            raise UsageError(f"there is no file {path}") from None
        raise UsageError(f"{path} is not an HDF5 file, or is truncated") from None
    return found
