"""Time and throughput of the paths over the size, as a picture: medians, and a band from smallest to largest."""

from ..network.channels import LABELS, Series

__all__ = ["write_plot"]

COLORS = ("#2563a8", "#c8553d", "#3a8f5c", "#8a5aa8", "#c08a1e", "#4a8fa0", "#a04a6b", "#6b7280")


def write_plot(path, series: list[Series]):
    """Write a picture to `path`; its suffix says the format (png, pdf, svg)."""
    # Here, because it takes 0.4 s, and few commands draw.
    import matplotlib

    # Before anything that may want a display.
    matplotlib.use("Agg")
    from matplotlib import pyplot  # with the backend that was chosen

    sized = {of: [one for one in series if one.path == of and one.size] for of in LABELS}
    sized = {of: found for of, found in sized.items() if found}
    single = [one for one in series if not one.size]
    with pyplot.rc_context({"font.size": 10, "svg.hashsalt": "kairos"}):
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
        for axes, name in [(times, "time (ns)"), (rates, "throughput (MB/s)")]:
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            axes.set_ylabel(name)
            axes.grid(color="#e5e7eb", lw=0.8)
        if sized:
            times.legend(loc="upper left", fontsize=8)
        rates.set_xlabel("bytes")
        figure.savefig(path, dpi=150, metadata={"Software": None} if str(path).endswith(".png") else None)
        pyplot.close(figure)


def _bars(axes, single: list[Series]):
    """Paths without a size: a bar each, to the median, with its range."""
    spreads = [one.time_ns() for one in single]
    rows = range(len(single))
    medians = [spread.median for spread in spreads]
    ranges = [[s.median - s.min for s in spreads], [s.max - s.median for s in spreads]]
    axes.barh(rows, medians, xerr=ranges if single else None, color=COLORS[0], alpha=0.6, height=0.6, capsize=3)
    axes.set_yticks(list(rows), [LABELS[one.path] for one in single])
    axes.invert_yaxis()
    axes.set_xlabel("time (ns)")
    axes.grid(axis="x", color="#e5e7eb", lw=0.8)
