"""Results as a picture: curves over a common axis with error bars, histograms, and images."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..pictures import COLORS, FONT, NAMES, drawing, save
from ..quantities import Quantity
from ..terminal_text import one_line

__all__ = ["Curve", "Style", "write_curves"]

LARGE = 200
"""Number of points of a curve above which they have no markers."""
INTEGERS = 60
"""Range of integers up to which each has a bin of its own."""
BINS_MAX = 400
"""Maximum number of bins of a histogram."""


class Curve(NamedTuple):
    """Values to draw (one or two dimensions) with the label of their axis; `source`: what
    distinguishes them from those of the same name, in the legend."""

    name: str
    values: Any
    label: str
    source: str = ""
    x: "Curve | None" = None
    """Values of the x axis; None: the index."""
    y: "Curve | None" = None
    """For a matrix the values of the y axis; for a list those of the second coordinate of a map."""
    error: "Curve | None" = None
    """Standard deviations of the values."""

    @classmethod
    def of(cls, name: str, values, metadata, source: str = "") -> "Curve":
        """Return the curve of a dataset, in its unit."""
        quantity = Quantity.of(metadata)
        shown = one_line(name)
        return cls(shown, quantity.scaled(values), one_line(quantity.label(name)), source)


class Style(NamedTuple):
    """How curves are drawn: all in one set of axes (`overlay`), or the distribution of their values
    (`histogram`)."""

    overlay: bool = False
    histogram: bool = False


PLAIN = Style()


def write_curves(path, curves: Sequence[Curve], title: str = "", style: Style = PLAIN):
    """Draw curves and images in a column, or one over the other; the suffix of `path` selects the
    format."""
    rows = _rows(curves, style)
    with drawing(**FONT, **NAMES, **{"font.size": 11}) as pyplot:
        size = (8, max(1.0 + 2.4 * len(rows), 4.0))
        figure, cells = pyplot.subplots(len(rows), figsize=size, layout="constrained", squeeze=False)
        for number, (row, (axes,)) in enumerate(zip(rows, cells, strict=True)):
            edges = _edges([curve.values for curve in row]) if style.histogram else None
            for place, curve in enumerate(row):
                color = COLORS[(place if len(row) > 1 else number) % len(COLORS)]
                _draw(figure, axes, curve, color, edges, row)
            if len(row) > 1:
                axes.legend(frameon=False)
            for side in ("top", "right"):
                axes.spines[side].set_visible(False)
        figure.suptitle(title, x=0.02, ha="left", fontsize=12.5, fontweight="bold")
        save(figure, path, 160)


def _rows(curves: Sequence[Curve], style: Style) -> list[list[Curve]]:
    """Return what is drawn in each set of axes. An image would hide another, and has one for itself."""
    rows: dict[Any, list[Curve]] = {}
    for number, curve in enumerate(curves):
        is_image = not style.histogram and (curve.values.ndim == 2 or curve.y is not None)
        rows.setdefault(number if is_image else None if style.overlay else curve.name, []).append(curve)
    return list(rows.values())


def _edges(values: list):
    """Return the edges of the bins that all these values have in common. Those of integers, as numbers of photons, are
    in the middle between two."""
    import numpy as np  # imported late: it takes 0.1 s

    whole = all(each.dtype.kind in "iub" for each in values)
    joined = np.concatenate([each.ravel().astype(float) for each in values])
    joined = joined[np.isfinite(joined)]
    if not joined.size:
        return [0.0, 1.0]
    low, high = joined.min(), joined.max()
    # Freedman and Diaconis, or Sturges if that is finer: NumPy's choice, but bounded.
    quarter, three_quarters = np.percentile(joined, [25, 75])
    widths = [2 * (three_quarters - quarter) / joined.size ** (1 / 3), (high - low) / (np.log2(joined.size) + 1)]
    width = max(min((each for each in widths if each > 0), default=1.0), (high - low) / BINS_MAX)
    if whole:
        # Few integers have a bin each.
        width = 1.0 if high - low <= INTEGERS else max(1.0, np.ceil(width - 0.5))
        return low - 0.5 + width * np.arange(np.floor((high - low) / width) + 2)
    return np.linspace(low, high, max(1, round((high - low) / width)) + 1) if high > low else [low - 0.5, low + 0.5]


def _common_label(row: Sequence[Curve]) -> str:
    """Return the label of the axis of all these curves; empty if they have different units."""
    labels = {curve.label for curve in row}
    units = {curve.label.removeprefix(curve.name) for curve in row}
    return labels.pop() if len(labels) == 1 else f"value{units.pop()}" if len(units) == 1 else ""


def _draw(figure, axes, curve: Curve, color, edges, row: Sequence[Curve]):
    """Draw one of the curves of a row. It is named in the legend if there are several. `edges`: of the bins, for
    histograms."""
    several, value = len(row) > 1, _common_label(row)
    name = curve.name if value else curve.label
    legend = {"label": ": ".join(filter(None, [curve.source, name]))} if several else {}
    value = value or "value"
    if edges is not None:
        values = curve.values.ravel().astype(float)
        axes.hist(values[abs(values) < float("inf")], bins=edges, color=color, alpha=0.6 if several else 0.9, **legend)
        axes.set(xlabel=value, ylabel="number")
    elif curve.values.ndim == 2:
        _draw_image(figure, axes, curve)
    elif curve.y is not None:
        drawn = axes.tripcolor(curve.x.values, curve.y.values, curve.values, shading="gouraud")
        figure.colorbar(drawn, ax=axes, label=_named(curve))
        axes.set(xlabel=curve.x.label, ylabel=curve.y.label)
    else:
        points = range(len(curve.values)) if curve.x is None else curve.x.values
        line = {"marker": "o" if len(curve.values) <= LARGE else "", "markersize": 4, "linewidth": 1.2}
        error = {} if curve.error is None else {"yerr": curve.error.values, "capsize": 2}
        axes.errorbar(points, curve.values, color=color, **line, **error, **legend)
        axes.set(xlabel="index" if curve.x is None else curve.x.label, ylabel=value)
        axes.grid(color="#e5e7eb", linewidth=0.8)


def _named(curve: Curve) -> str:
    return ": ".join(filter(None, [curve.source, curve.label]))


def _draw_image(figure, axes, curve: Curve):
    points = range(curve.values.shape[0]) if curve.x is None else curve.x.values
    across = range(curve.values.shape[1]) if curve.y is None else curve.y.values
    image = axes.pcolormesh(points, across, curve.values.T, shading="nearest")
    figure.colorbar(image, ax=axes, label=_named(curve))
    axes.set_xlabel("index" if curve.x is None else curve.x.label)
    axes.set_ylabel("second index" if curve.y is None else curve.y.label)
