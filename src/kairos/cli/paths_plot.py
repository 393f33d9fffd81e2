"""Time and throughput of the paths over the size, as a picture: medians, and a band from minimum to
maximum."""

from ..network.paths import LABELS, Series
from ..pictures import COLORS, drawing, save
from ..quantities import label

__all__ = ["write_plot"]


def write_plot(path, series: list[Series]):
    """Write a picture to `path`, whose suffix selects the format (png, pdf, svg)."""
    sized = {of: [one for one in series if one.path == of and one.size] for of in LABELS}
    sized = {of: found for of, found in sized.items() if found}
    single = [one for one in series if not one.size]
    with drawing(**{"font.size": 10}) as pyplot:
        figure, (bars, times, rates) = pyplot.subplots(
            3, 1, figsize=(9, 12), layout="constrained", height_ratios=(0.5 + 0.25 * len(single), 4, 4)
        )
        _bars(bars, single)
        for (of, found), color in zip(sized.items(), COLORS, strict=False):
            sizes = [one.size for one in found]
            style = {"color": color, "marker": "o", "ms": 3, "lw": 1.2, "label": LABELS[of]}
            for axes, spreads in [
                (times, [one.time_ns() for one in found]),
                (rates, [one.throughput() for one in found]),
            ]:
                axes.fill_between(
                    sizes, [s.min for s in spreads], [s.max for s in spreads], color=color, alpha=0.2, lw=0
                )
                axes.plot(sizes, [s.median for s in spreads], **style)
        for axes, name in [(times, label("time", "ns")), (rates, "throughput (MB/s)")]:
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            axes.set_ylabel(name)
            axes.grid(color="#e5e7eb", lw=0.8)
        if sized:
            times.legend(loc="upper left", fontsize=8)
        rates.set_xlabel("bytes")
        save(figure, path, 150)


def _bars(axes, single: list[Series]):
    """Draw paths without a size: one bar each, to the median, with its range."""
    spreads = [one.time_ns() for one in single]
    rows = range(len(single))
    medians = [spread.median for spread in spreads]
    ranges = [[s.median - s.min for s in spreads], [s.max - s.median for s in spreads]]
    axes.barh(rows, medians, xerr=ranges if single else None, color=COLORS[0], alpha=0.6, height=0.6, capsize=3)
    axes.set_yticks(list(rows), [LABELS[one.path] for one in single])
    axes.invert_yaxis()
    axes.set_xlabel(label("time", "ns"))
    axes.grid(axis="x", color="#e5e7eb", lw=0.8)
