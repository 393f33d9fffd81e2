"""Recordings as a picture: a trace for each channel that changed, grouped by board, over a time
axis in SI units.

Long pauses are cut out of the time axis, so that distant pulses stay visible. The remaining pieces
share one scale.
"""

from heapq import nlargest
from itertools import pairwise

from ..pictures import COLORS, FONT, drawing, save
from .recording import Channel, Recording

__all__ = ["windows", "write_plot"]

HIGH = 0.62
"""Height of a pulse in units of the distance between channels."""

DENSE = 1000
"""Number of edges above which a clock is drawn as a filled band."""

CUTS = 3
"""Maximum number of pauses cut out…"""
LEFT = 0.05
"""…provided that at most this fraction of the time remains."""
MARGIN = 0.04
"""Fraction of the shown time added before the first and after the last change of each piece."""
NARROWEST = 0.14
"""Minimum width of a piece, as a fraction of the widest one."""


def windows(recording: Recording) -> list[tuple[float, float]]:
    """Return the pieces (start, end), in ns, that a picture of `recording` shows: all of it, unless
    a few pauses make up most of it."""
    busy = sorted(span for channel in recording.channels for span in _busy(channel)) or [(0, 1)]
    end, pauses = busy[0][1], []
    for (_, stop), (start, _) in pairwise(busy):
        end = max(end, stop)
        if start > end:
            pauses.append((start - end, end, start))
    first, last = busy[0][0], max(max(stop for _, stop in busy), busy[0][0] + 1)
    cuts: list[tuple[int, int, int]] = []
    for count in range(1, CUTS + 1):
        longest = nlargest(count, pauses)
        if last - first - sum(length for length, *_ in longest) <= LEFT * (last - first):
            cuts = sorted(longest, key=lambda pause: pause[1])
            break
    starts, ends = [first, *(start for *_, start in cuts)], [*(end for _, end, _ in cuts), last]
    if any(start == end for start, end in zip(starts, ends, strict=True)):
        # A single change begins or ends a long pulse, which is not a pause.
        starts, ends = [first], [last]
    margin = max(MARGIN * sum(end - start for start, end in zip(starts, ends, strict=True)), 0.5)
    pieces = [(start - margin, end + margin) for start, end in zip(starts, ends, strict=True)]
    least = NARROWEST * max(end - start for start, end in pieces)
    return [_widened(piece, least) for piece in pieces]


def _busy(channel: Channel):
    """Yield the activity as (start, end): an instant per change, and for a clock its first to its
    last edge."""
    for changes, wave in channel.parts():
        yield from ((time, time) for time, _ in changes)
        if wave is not None:
            yield wave.time_of(0), wave.time_of(wave.changes - 1)


def _widened(piece, least):
    start, end = piece
    more = max(least - (end - start), 0) / 2
    return start - more, end + more


def _as_band(wave) -> list[tuple[int, float]]:
    """Return the ends of a clock as changes, without a line in between."""
    return [(wave.time_of(0), float("nan")), (wave.time_of(wave.changes - 1), wave.final)]


def _axis_unit(span_ns: float) -> tuple[float, str]:
    """Return nanoseconds per unit of the time axis, and the unit's symbol."""
    for size, symbol in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if span_ns >= 2 * size:
            return size, symbol
    return 1.0, "ns"


def write_plot(path, recording: Recording, title: str | None = None):
    """Write a picture of `recording` to `path`, whose suffix selects the format (png, pdf, svg)."""
    channels = recording.active() or recording.channels[:1]
    pieces = windows(recording)
    scale, symbol = _axis_unit(max(end - start for start, end in pieces) / (1 + 2 * MARGIN))
    with drawing(**FONT, **{"font.size": 12}) as pyplot:
        figure, row = pyplot.subplots(
            ncols=len(pieces),
            sharey=True,
            squeeze=False,
            figsize=(10, 1.3 + 0.62 * len(channels)),
            layout="constrained",
            width_ratios=[end - start for start, end in pieces],
        )
        row = row[0]
        for axes, (start, end) in zip(row, pieces, strict=True):
            for number, channel in enumerate(channels):
                color = COLORS[number % len(COLORS)]
                _draw_trace(axes, channel, len(channels) - 1 - number, color, (start / scale, end / scale), scale)
            _draw_frame(axes, channels, (start / scale, end / scale))
        if len(pieces) > 1:
            _mark_cuts(row)
        _mark_boards(row, channels, recording.board_names())
        if len(pieces) == 1:
            row[0].set_xlabel(f"time / {symbol}")
        else:
            figure.supxlabel(f"time / {symbol}", fontsize=12)
            figure.get_layout_engine().set(wspace=0.02)
        if title:
            row[0].set_title(title, loc="left", fontsize=12.5, fontweight="bold", pad=10)
        save(figure, path, 200)


def _draw_trace(axes, channel, base, color, limits, scale):
    """Draw one channel, with its low level at height `base`; `limits` of the time axis, in units of
    `scale` ns."""
    times, levels = [limits[0]], [channel.initial]
    for changes, wave in channel.parts():
        times += [time / scale for time, _ in changes]
        levels += [level for _, level in changes]
        if wave is None:
            continue
        edges = list(wave.edges()) if wave.changes <= DENSE else _as_band(wave)
        if wave.changes > DENSE:
            band = [edges[0][0] / scale, edges[-1][0] / scale]
            axes.fill_between(band, base, base + HIGH, color=color, alpha=0.6, linewidth=0)
        times += [time / scale for time, _ in edges]
        levels += [level for _, level in edges]
    times.append(max(limits[1], times[-1]))
    levels.append(levels[-1])
    times[0] = min(times[:2])
    driven = [float("nan") if level is None else base + HIGH * level for level in levels]
    floating = [base if level is None else float("nan") for level in levels]
    axes.step(times, driven, where="post", color=color, linewidth=1.6, solid_joinstyle="miter")
    axes.step(times, floating, where="post", color="#9ca3af", linewidth=1.2, linestyle=(0, (2, 2)))
    filled = [base if level is None else base + HIGH * level for level in levels]
    axes.fill_between(times, base, filled, step="post", color=color, alpha=0.25, linewidth=0)


def _draw_frame(axes, channels, limits):
    axes.set_yticks([len(channels) - 1 - row + HIGH / 2 for row in range(len(channels))])
    axes.set_yticklabels([channel.name for channel in channels])
    axes.set_ylim(-0.25, len(channels) - 1 + HIGH + 0.25)
    axes.set_xlim(*limits)
    axes.xaxis.set_major_formatter("{x:,.10g}")
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="#e5e7eb", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def _mark_cuts(row):
    """Mark interruptions of the time axis with two strokes, and keep the numbers away from them."""
    stroke = {
        "marker": [(-0.6, -1), (0.6, 1)],
        "markersize": 9,
        "linestyle": "none",
        "color": "black",
        "clip_on": False,
    }
    for before, after in pairwise(row):
        before.plot([1], [0], transform=before.transAxes, **stroke)
        after.plot([0], [0], transform=after.transAxes, **stroke)
    limits = [axes.get_xlim() for axes in row]
    shown = sum(right - left for left, right in limits)
    for axes, (left, right) in zip(row, limits, strict=True):
        room = max(int(10 * (right - left) / shown), 1)
        ticks, bins = [], room + 1
        while not ticks:
            axes.locator_params(axis="x", nbins=bins, steps=[1, 2, 5, 10])
            ticks = [tick for tick in axes.get_xticks() if left + 0.03 * shown <= tick <= right - 0.03 * shown]
            bins += 1
        axes.set_xticks(ticks[:room])


def _mark_boards(row, channels, names):
    """With several boards, draw a separating line and each board's name next to its traces."""
    boards = [channel.board for channel in channels]
    for board in sorted(set(boards)) if len(names) > 1 else []:
        rows = [len(boards) - 1 - number for number, of in enumerate(boards) if of == board]
        middle = (rows[0] + rows[-1] + HIGH) / 2
        place = row[-1].get_yaxis_transform()
        row[-1].annotate(
            names[board], (1, middle), (12, 0), place, "offset points", rotation=90, va="center", color="#6b7280"
        )
        if rows[-1] > 0:
            for axes in row:
                axes.axhline(rows[-1] - (1 - HIGH) / 2, color="#9ca3af", linewidth=0.8)
