"""Results as a picture: curves over a common axis, and images."""

from typing import Any, NamedTuple

from ..pictures import COLORS, FONT, drawing, save
from ..quantities import Quantity

__all__ = ["Curve", "write_curves"]

LARGE = 200
"""Number of points of a curve above which they have no markers."""


class Curve(NamedTuple):
    """Values to draw (one or two dimensions) with the label of their axis."""

    name: str
    values: Any
    label: str

    @classmethod
    def of(cls, name: str, values, metadata) -> "Curve":
        """Return the curve of a dataset, in its unit."""
        quantity = Quantity.of(metadata)
        return cls(name, quantity.scaled(values), quantity.label(name))


def write_curves(path, curves: list[Curve], x: Curve | None = None, title: str = ""):
    """Draw curves and images in a column, over `x` or the first index; the suffix of `path` selects
    the format."""
    with drawing(**FONT, **{"font.size": 11}) as pyplot:
        size = (8, 1.0 + 2.4 * len(curves))
        figure, rows = pyplot.subplots(len(curves), figsize=size, layout="constrained", squeeze=False)
        for row, curve in enumerate(curves):
            axes = rows[row][0]
            points = range(len(curve.values)) if x is None else x.values
            if curve.values.ndim == 2:
                across = range(curve.values.shape[1])
                image = axes.pcolormesh(points, across, curve.values.T, shading="nearest")
                figure.colorbar(image, ax=axes, label=curve.label)
                axes.set_ylabel("second index")
            else:
                look = {"marker": "o" if len(curve.values) <= LARGE else "", "markersize": 4, "linewidth": 1.2}
                axes.plot(points, curve.values, color=COLORS[row % len(COLORS)], **look)
                axes.set_ylabel(curve.label)
                axes.grid(color="#e5e7eb", linewidth=0.8)
            for side in ("top", "right"):
                axes.spines[side].set_visible(False)
        rows[-1][0].set_xlabel("index" if x is None else x.label)
        figure.suptitle(title, x=0.02, ha="left", fontsize=12.5, fontweight="bold")
        save(figure, path, 160)
