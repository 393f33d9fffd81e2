"""Built-in applets: numbers, curves, histograms, images and progress, drawn with matplotlib."""

import sys

import numpy as np

from ..pictures import COLORS
from ..quantities import Quantity
from . import SimpleApplet, TitleApplet

__all__ = ["SUPPLIED", "main", "supplied"]


class _Picture:
    """A figure that is redrawn on each change; `draw` receives one set of axes, and the values by
    argument."""

    def __init__(self, args, requests):
        from matplotlib.figure import Figure  # imported late: it takes 0.3 s, and `kairos run` imports this module

        self.args = args
        self.figure = Figure(figsize=(6.4, 4.0), layout="constrained")

    def data_changed(self, value, metadata, persist, changes, title=""):
        self.figure.clear()
        axes = self.figure.add_subplot()
        axes.set_title(title)
        named = {name: key for name in self.names if (key := getattr(self.args, name)) is not None}
        missing = [key for key in named.values() if key not in value]
        if missing:
            text = f"no dataset {', '.join(missing)} yet\n(applets see those with broadcast=True)"
            axes.text(0.5, 0.5, text, ha="center", transform=axes.transAxes)
            axes.set_axis_off()
            return
        self.draw(axes, {name: value[key] for name, key in named.items()}, metadata)

    def scaled(self, name, values, metadata, like=None):
        """Return the value of an argument in its unit, or in that of the argument `like`; unchanged
        without a scale."""
        of = [metadata[getattr(self.args, one)] for one in (name, like) if one is not None]
        return Quantity.of(next((entry for entry in of if entry.get("scale") is not None), {})).scaled(values[name])

    def label(self, name, metadata):
        """Return the axis label of an argument: its dataset, and the unit."""
        key = getattr(self.args, name, None)
        return key if key is None else Quantity.of(metadata[key]).label(key)


class BigNumber(_Picture):
    """One number, as large as the window."""

    names = ("num",)

    def draw(self, axes, values, metadata):
        unit = Quantity.of(metadata[self.args.num]).unit
        number = self.scaled("num", values, metadata)
        shown = f"{number:.{self.args.digit_count}g}" if isinstance(number, float) else str(number)
        axes.text(0.5, 0.5, f"{shown} {unit}".strip(), ha="center", va="center", size=48, transform=axes.transAxes)
        axes.set_axis_off()


class PlotXY(_Picture):
    """Points, with error bars and a fit if they are given."""

    names = ("y", "x", "error", "fit")

    def draw(self, axes, values, metadata):
        alike = {"error": "y", "fit": "y"}
        drawn = {name: np.asarray(self.scaled(name, values, metadata, alike.get(name))) for name in values}
        y = drawn["y"]
        x = drawn.get("x", np.arange(len(y)))
        count = min(len(x), len(y))
        error = drawn["error"][:count] if "error" in drawn else None
        axes.errorbar(x[:count], y[:count], yerr=error, fmt="o", color=COLORS[0], markersize=4, capsize=2)
        if "fit" in drawn:
            fit = drawn["fit"][:count]
            order = np.argsort(x[: len(fit)])
            axes.plot(x[order], fit[order], color=COLORS[1])
        axes.set(xlabel=self.label("x", metadata), ylabel=self.label("y", metadata))


class PlotHist(_Picture):
    """A histogram: counts, and the boundaries between bins if they are given."""

    names = ("y", "x")

    def draw(self, axes, values, metadata):
        y = np.asarray(values["y"])
        edges = np.asarray(self.scaled("x", values, metadata)) if "x" in values else np.arange(len(y) + 1)
        axes.stairs(y, edges, fill=True, color=COLORS[0])
        axes.set(xlabel=self.label("x", metadata), ylabel=self.label("y", metadata))


class PlotXYHist(_Picture):
    """For each x a histogram, one row of counts each, as an image."""

    names = ("xs", "histogram_bins", "histograms_counts")

    def draw(self, axes, values, metadata):
        xs, edges = (np.asarray(self.scaled(name, values, metadata)) for name in ("xs", "histogram_bins"))
        counts = np.asarray(values["histograms_counts"])
        mesh = axes.pcolormesh(np.arange(len(xs) + 1) - 0.5, edges, counts.T)
        self.figure.colorbar(mesh, ax=axes, label=self.label("histograms_counts", metadata))
        # Label every column as long as the numbers remain distinguishable.
        shown = np.arange(0, len(xs), max(1, len(xs) // 6))
        axes.set_xticks(shown, [f"{x:.3g}" for x in xs[shown]])
        axes.set(xlabel=self.label("xs", metadata), ylabel=self.label("histogram_bins", metadata))


class Image(_Picture):
    """A matrix as an image."""

    names = ("img",)

    def draw(self, axes, values, metadata):
        pixels = np.asarray(self.scaled("img", values, metadata))
        drawn = axes.imshow(pixels.T, origin="lower")
        self.figure.colorbar(drawn, ax=axes, label=self.label("img", metadata))


class ProgressBar(_Picture):
    """Progress of a value between --min and --max."""

    names = ("value",)

    def draw(self, axes, values, metadata):
        axes.barh([0], [values["value"] - self.args.min], left=self.args.min, color=COLORS[2])
        axes.set_xlim(self.args.min, self.args.max)
        axes.set_yticks([])


SUPPLIED = {
    "big_number": (SimpleApplet, BigNumber, ["num"], [], {"digit_count": 10}),
    "image": (SimpleApplet, Image, ["img"], [], {}),
    "plot_hist": (TitleApplet, PlotHist, ["y"], ["x"], {}),
    "plot_xy": (TitleApplet, PlotXY, ["y"], ["x", "error", "fit"], {}),
    "plot_xy_hist": (SimpleApplet, PlotXYHist, ["xs", "histogram_bins", "histograms_counts"], [], {}),
    "progress_bar": (SimpleApplet, ProgressBar, ["value"], [], {"min": 0, "max": 100}),
}
"""By name: the kind of applet, the widget, required and optional datasets, numeric options."""


def supplied(name: str) -> SimpleApplet:
    """Return the applet of this name, one of `SUPPLIED`, before it has parsed a command line."""
    kind, widget, required, optional, numbers = SUPPLIED[name]
    applet = kind(widget, widget.__doc__)
    for dataset in required:
        applet.add_dataset(dataset)
    for dataset in optional:
        applet.add_dataset(dataset, required=False)
    for number, default in numbers.items():
        option = "--" + number.replace("_", "-")
        applet.argparser.add_argument(option, type=type(default), default=default, help="default: %(default)s")
    return applet


def main():
    """Run the applet named on the command line, with its datasets."""
    name = sys.argv[1] if len(sys.argv) > 1 else None
    if name not in SUPPLIED:
        sys.exit(f"usage: python -m kairos.applets NAME DATASET ..., NAME one of {', '.join(SUPPLIED)}")
    del sys.argv[1]
    supplied(name).run()
