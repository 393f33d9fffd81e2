"""Results as a picture: curves over a common axis with error bars, histograms, and images."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..pictures import COLORS, FONT, drawing, save
from ..quantities import Quantity

__all__ = ["Curve", "Style", "write_curves"]

LARGE = 200
"""Number of points of a curve above which they have no markers."""


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
        return cls(name, quantity.scaled(values), quantity.label(name), source)


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
    with drawing(**FONT, **{"font.size": 11}) as pyplot:
        size = (8, max(1.0 + 2.4 * len(rows), 4.0))
        figure, cells = pyplot.subplots(len(rows), figsize=size, layout="constrained", squeeze=False)
        for number, (row, (axes,)) in enumerate(zip(rows, cells, strict=True)):
            for place, curve in enumerate(row):
                color = COLORS[(place if len(row) > 1 else number) % len(COLORS)]
                _draw(figure, axes, curve, color, style, len(row) > 1)
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


def _draw(figure, axes, curve: Curve, color, style: Style, several: bool):
    """Draw a curve; one of `several` is named in the legend."""
    legend = {"label": ": ".join(filter(None, [curve.source, curve.name]))} if several else {}
    value = "value" if several and style.overlay else curve.label
    if style.histogram:
        values = curve.values.ravel()
        axes.hist(values[abs(values) < float("inf")], bins="auto", color=color, alpha=0.6 if several else 0.9, **legend)
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
