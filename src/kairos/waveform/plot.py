"""Recordings as a picture: a trace for each channel that changed, board by board, over a time axis in SI units."""

from ..pictures import COLORS, FONT, drawing, save
from .recording import Recording

__all__ = ["write_plot"]

HIGH = 0.62
"""Height of a pulse in units of the distance between channels."""

DENSE = 1000
"""Edges of a clock above which it is a filled band."""


def _as_band(wave) -> list[tuple[int, float]]:
    """Its ends as changes: no line in between."""
    return [(wave.time_of(0), float("nan")), (wave.time_of(wave.changes - 1), wave.final)]


def _axis_unit(span_ns: float) -> tuple[float, str]:
    """Nanoseconds in the unit of the time axis, and its symbol."""
    for size, symbol in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if span_ns >= 2 * size:
            return size, symbol
    return 1.0, "ns"


def write_plot(path, recording: Recording, title: str | None = None):
    """Write a picture of `recording` to `path`; its suffix says the format (png, pdf, svg)."""
    channels = recording.active() or recording.channels[:1]
    span = max(recording.duration_ns, 1)
    scale, symbol = _axis_unit(span)
    margin = 0.04 * span
    left, right = -margin / scale, (span + margin) / scale
    with drawing(**FONT, **{"font.size": 12}) as pyplot:
        figure, axes = pyplot.subplots(figsize=(10, 1.3 + 0.62 * len(channels)), layout="constrained")
        for row, channel in enumerate(channels):
            base = len(channels) - 1 - row
            color = COLORS[row % len(COLORS)]
            times, levels = [left], [channel.initial]
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
            times.append(right)
            levels.append(levels[-1])
            driven = [float("nan") if level is None else base + HIGH * level for level in levels]
            floating = [base if level is None else float("nan") for level in levels]
            axes.step(times, driven, where="post", color=color, linewidth=1.6, solid_joinstyle="miter")
            axes.step(times, floating, where="post", color="#9ca3af", linewidth=1.2, linestyle=(0, (2, 2)))
            filled = [base if level is None else base + HIGH * level for level in levels]
            axes.fill_between(times, base, filled, step="post", color=color, alpha=0.25, linewidth=0)
        _mark_boards(axes, channels, recording.board_names())
        axes.set_yticks([len(channels) - 1 - row + HIGH / 2 for row in range(len(channels))])
        axes.set_yticklabels([channel.name for channel in channels])
        axes.set_ylim(-0.25, len(channels) - 1 + HIGH + 0.25)
        axes.set_xlim(left, right)
        axes.set_xlabel(f"time / {symbol}")
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color="#e5e7eb", linewidth=0.8)
        axes.set_axisbelow(True)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        if title:
            axes.set_title(title, loc="left", fontsize=12.5, fontweight="bold", pad=10)
        save(figure, path, 200)


def _mark_boards(axes, channels, names):
    """With several boards: a line between them, and each one's name beside its traces."""
    boards = [channel.board for channel in channels]
    for board in sorted(set(boards)) if len(names) > 1 else []:
        rows = [len(boards) - 1 - row for row, of in enumerate(boards) if of == board]
        middle = (rows[0] + rows[-1] + HIGH) / 2
        place = axes.get_yaxis_transform()
        axes.text(1.01, middle, names[board], transform=place, rotation=90, va="center", ha="left", color="#6b7280")
        if rows[-1] > 0:
            axes.axhline(rows[-1] - (1 - HIGH) / 2, color="#9ca3af", linewidth=0.8)
