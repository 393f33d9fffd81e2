"""Recordings as a picture: a trace for each channel that changed, board by board, over a time axis in SI
units. Long pauses are left out: then each piece between them has a time axis of its own."""

from ..pictures import COLORS, FONT, drawing, save
from .pauses import between_pauses
from .recording import Recording
from .table import format_duration

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
    pieces = between_pauses(recording)
    with drawing(**FONT, **{"font.size": 12}) as pyplot:
        size = (10 if len(pieces) == 1 else 12, 1.3 + 0.62 * len(channels))
        figure, (row,) = pyplot.subplots(1, len(pieces), squeeze=False, sharey=True, figsize=size, layout="constrained")
        for axes, piece in zip(row, pieces, strict=True):
            _draw_piece(axes, channels, *piece)
            _divide_boards(axes, channels)
        _name_boards(row[-1], channels, recording.board_names())
        row[0].set_yticks([len(channels) - 1 - place + HIGH / 2 for place in range(len(channels))])
        row[0].set_yticklabels([channel.name for channel in channels])
        row[0].set_ylim(-0.25, len(channels) - 1 + HIGH + 0.25)
        if title:
            row[0].set_title(title, loc="left", fontsize=12.5, fontweight="bold", pad=10)
        save(figure, path, 200)


def _draw_piece(axes, channels, first: int, last: int):
    """The traces of a recording from a time to another one, in ns."""
    span = max(last - first, 10)
    scale, symbol = _axis_unit(span)
    margin = 0.04 * span
    begin, end = first - margin, last + margin
    for place, channel in enumerate(channels):
        base = len(channels) - 1 - place
        color = COLORS[place % len(COLORS)]
        times, levels = _steps(channel, begin, end)
        times = [(time - first) / scale for time in times]
        for wave in channel.waves:
            if wave.changes > DENSE:
                band = [(wave.time_of(number) - first) / scale for number in (0, wave.changes - 1)]
                axes.fill_between(band, base, base + HIGH, color=color, alpha=0.6, linewidth=0)
        driven = [float("nan") if level is None else base + HIGH * level for level in levels]
        floating = [base if level is None else float("nan") for level in levels]
        axes.step(times, driven, where="post", color=color, linewidth=1.6, solid_joinstyle="miter")
        axes.step(times, floating, where="post", color="#9ca3af", linewidth=1.2, linestyle=(0, (2, 2)))
        filled = [base if level is None else base + HIGH * level for level in levels]
        axes.fill_between(times, base, filled, step="post", color=color, alpha=0.25, linewidth=0)
    axes.set_xlim((begin - first) / scale, (end - first) / scale)
    axes.set_xlabel(f"time / {symbol}" if first == 0 else f"time after {format_duration(first)} / {symbol}")
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="#e5e7eb", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def _steps(channel, begin: float, end: float):
    """Times in ns from one to another, and the level from each on."""
    times, levels = [begin], [channel.initial]
    for changes, wave in channel.parts():
        edges = () if wave is None else wave.edges() if wave.changes <= DENSE else _as_band(wave)
        for time, after in [*changes, *edges]:
            if time <= begin:
                levels[0] = after
            elif time < end:
                times.append(time)
                levels.append(after)
            else:
                break
    return [*times, end], [*levels, levels[-1]]


def _divide_boards(axes, channels):
    """With several boards: a line between them."""
    boards = [channel.board for channel in channels]
    for place in range(1, len(boards)):
        if boards[place] != boards[place - 1]:
            axes.axhline(len(boards) - place - (1 - HIGH) / 2, color="#9ca3af", linewidth=0.8)


def _name_boards(axes, channels, names):
    """With several boards: each one's name beside its traces."""
    boards = [channel.board for channel in channels]
    for board in sorted(set(boards)) if len(names) > 1 else []:
        rows = [len(boards) - 1 - row for row, of in enumerate(boards) if of == board]
        middle = (rows[0] + rows[-1] + HIGH) / 2
        place = axes.get_yaxis_transform()
        axes.text(1.01, middle, names[board], transform=place, rotation=90, va="center", ha="left", color="#6b7280")
