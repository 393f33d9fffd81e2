"""Recordings as a picture: a trace for each channel that changed, grouped by board, over a time
axis in SI units.

Long pauses are cut out of the time axis, so that distant pulses stay visible. The remaining pieces
share one scale.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from ..errors import UsageError
from ..pictures import COLORS, FONT, NAMES, drawing, save
from ..terminal_text import one_line
from .changes import FLOATING, Changes
from .recording import Channel, Recording
from .table import BusMessage
from .window import WHOLE, Window

__all__ = ["windows", "write_plot"]

HIGH = 0.62
"""Height of a pulse in units of the distance between channels."""

TEXTS = 200
"""Number of messages in a piece above which their texts are not drawn."""
DENSE = 1000
"""Number of edges above which a clock is drawn as a filled band."""
COLUMNS = 4000
"""Number of columns of a piece: more changes than a few in each are not visible, and too many for
matplotlib."""

CUTS = 7
"""Maximum number of pauses cut out…"""
LEFT = 0.05
"""…provided that at most this fraction of the time remains."""
MARGIN = 0.04
"""Fraction of the shown time added before the first and after the last change of each piece."""
NARROWEST = 0.14
"""Minimum width of a piece, as a fraction of the widest one."""


def windows(recording: Recording, buses: Sequence["Bus"] = (), window: Window = WHOLE) -> list[tuple[float, float]]:
    """Return the pieces (start, end), in ns, that a picture of `recording` shows: all of it, unless
    a few pauses make up most of it; or the times of the `window`, if it has any."""
    if window.start_ns is not None and window.end_ns is not None and window.is_asked:
        return [(window.start_ns, max(window.end_ns, window.start_ns + 1))]
    import numpy as np  # imported late: it takes 0.15 s, in which a device boots

    spans = [*map(_busy, recording.channels), *map(_busy_bus, buses)] or [(np.array([]), np.array([]))]
    starts, ends = (np.concatenate(column) for column in zip(*spans, strict=True))
    order = np.lexsort((ends, starts))
    starts, ends = starts[order], np.maximum.accumulate(ends[order])
    if not len(starts):
        starts, ends = np.array([0]), np.array([1])
    first, last = int(starts[0]), max(int(ends[-1]), int(starts[0]) + 1)
    lengths = starts[1:] - ends[:-1]
    # The longest first, of equal ones the later.
    longest = [int(place) for place in np.argsort(lengths, kind="stable")[::-1][:CUTS] if lengths[place] > 0]
    cuts: list[tuple[int, int]] = []
    for count in range(1, len(longest) + 1):
        if last - first - int(lengths[longest[:count]].sum()) <= LEFT * (last - first):
            cuts = [(int(ends[place]), int(starts[place + 1])) for place in sorted(longest[:count])]
            break
    shown = list(zip([first, *(start for _, start in cuts)], [*(end for end, _ in cuts), last], strict=True))
    if any(start == end for start, end in shown):
        # A single change begins or ends a long pulse, which is not a pause.
        shown = [(first, last)]
    margin = max(MARGIN * sum(end - start for start, end in shown), 0.5)
    pieces = [(start - margin, end + margin) for start, end in shown]
    least = NARROWEST * max(end - start for start, end in pieces)
    return [_widened(piece, least) for piece in pieces]


def _busy(channel: Channel):
    """Return start and end of each activity as arrays: an instant per change, and for a clock its
    first to its last edge."""
    import numpy as np  # imported late

    times = Changes.of(channel.changes).times
    first = [wave.time_of(0) for wave in channel.waves]
    last = [wave.time_of(wave.changes - 1) for wave in channel.waves]
    return tuple(np.concatenate([times, np.array(column, np.int64)]) for column in (first, last))


def _busy_bus(bus: "Bus"):
    """Return start and end of each message, as arrays."""
    import numpy as np  # imported late

    return tuple(np.array([message[place] for message in bus.messages], np.int64) for place in (1, 2))


def _within(bus: "Bus", window: Window) -> "Bus":
    """Return a bus with the messages in the window."""
    import numpy as np  # imported late

    if not window.has(bus.name):
        return bus._replace(messages=[])
    starts, ends = (np.array([m[place] for m in bus.messages], np.int64) for place in (1, 2))
    chosen = [bus.messages[place] for place in np.flatnonzero(window.chosen(starts, ends))]
    return bus._replace(messages=chosen[-window.last :] if window.last is not None else chosen)


def _widened(piece, least):
    start, end = piece
    more = max(least - (end - start), 0) / 2
    return start - more, end + more


def _as_band(wave):
    """Return times and levels of a clock's ends, without a line in between."""
    return [wave.time_of(0), wave.time_of(wave.changes - 1)], [float("nan"), wave.final]


def _thinned(times, levels, limits):
    """Return the changes (arrays of times in ns and of levels) that a picture of the piece `limits`
    can show: the level before it, and the first two and last two changes in each of `COLUMNS`
    columns, so that a column with more is filled."""
    import numpy as np  # imported late

    first, last = np.searchsorted(times, limits)
    kept = slice(max(first - 1, 0), last)
    times, levels = times[kept], levels[kept]
    if len(times) <= COLUMNS:
        return times, levels
    columns = ((times - limits[0]) * (COLUMNS / (limits[1] - limits[0]))).astype(np.int64)
    begins, ends = np.diff(columns, prepend=-2) != 0, np.diff(columns, append=-2) != 0
    kept = begins | ends
    kept[1:] |= begins[:-1]
    kept[:-1] |= ends[1:]
    return times[kept], levels[kept]


def _axis_unit(span_ns: float) -> tuple[float, str]:
    """Return nanoseconds per unit of the time axis, and the unit's symbol."""
    for size, symbol in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if span_ns >= 2 * size:
            return size, symbol
    return 1.0, "ns"


class Bus(NamedTuple):
    """The messages to a chip on a serial bus, drawn instead of the pads (their `id`) of the bus."""

    name: str
    board: int
    messages: list[BusMessage]
    pads: frozenset[int]

    @property
    def change_count(self) -> int:
        return len(self.messages)


def write_plot(path, recording: Recording, title: str | None = None, window: Window = WHOLE, buses: Sequence[Bus] = ()):
    """Write a picture of `recording` to `path`, whose suffix selects the format (png, pdf, svg).
    UsageError if nothing changes in the `window`."""
    window = window.resolved(recording)
    hidden = frozenset().union(*(bus.pads for bus in buses))
    pins = [channel for channel in recording.channels if id(channel) not in hidden]
    recording = window.part(Recording(pins, recording.origin_ns))
    buses = [bus for bus in (_within(bus, window) for bus in buses) if bus.messages]
    channels = [*recording.active(), *buses]
    if not channels:
        raise UsageError("no pin changes in the time that it would show")
    channels.sort(key=lambda channel: channel.board)
    pieces = windows(recording, buses, window)
    scale, symbol = _axis_unit(max(end - start for start, end in pieces) / (1 + 2 * MARGIN))
    with drawing(**FONT, **NAMES, **{"font.size": 12}) as pyplot:
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
                draw = _draw_words if isinstance(channel, Bus) else _draw_trace
                color = COLORS[number % len(COLORS)]
                draw(axes, channel, len(channels) - 1 - number, color, (start / scale, end / scale), scale)
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
    import numpy as np  # imported late

    piece = limits[0] * scale, limits[1] * scale
    times = [np.array([min(piece[0], 0)])]
    levels = [np.array([FLOATING if channel.initial is None else channel.initial])]
    for part, wave in channel.parts():
        changes = Changes.of(part)
        times.append(changes.times)
        levels.append(changes.levels)
        if wave is None:
            continue
        edges = wave.edge_arrays() if wave.changes <= DENSE else _as_band(wave)
        if wave.changes > DENSE:
            band = [edge / scale for edge in edges[0]]
            axes.fill_between(band, base, base + HIGH, color=color, alpha=0.6, linewidth=0)
        times.append(edges[0])
        levels.append(edges[1])
    shown, states = _thinned(np.concatenate(times), np.concatenate(levels), piece)
    at = np.clip(shown / scale, *limits)
    at, states = np.append(at, limits[1]), np.append(states, states[-1])
    driven = np.where(states == FLOATING, np.nan, base + HIGH * states)
    floating = np.where(states == FLOATING, base, np.nan)
    axes.step(at, driven, where="post", color=color, linewidth=1.6, solid_joinstyle="miter")
    axes.step(at, floating, where="post", color="#9ca3af", linewidth=1.2, linestyle=(0, (2, 2)))
    filled = np.where(states == FLOATING, base, driven)
    axes.fill_between(at, base, filled, step="post", color=color, alpha=0.25, linewidth=0)


def _draw_words(axes, bus: Bus, base, color, limits, scale):
    """Draw the messages on a bus as boxes, with their texts where there is room."""
    shown = [m for m in bus.messages if m.end_ns >= limits[0] * scale and m.start_ns <= limits[1] * scale]
    column = (limits[1] - limits[0]) / COLUMNS
    spans: list[list[float]] = []
    for message in shown:
        start, end = message.start_ns / scale, message.end_ns / scale
        if spans and start - spans[-1][1] < column:
            spans[-1][1] = max(end, spans[-1][1])
        else:
            spans.append([start, end])
    boxes = [(start, end - start) for start, end in spans]
    axes.broken_barh(boxes, (base, HIGH), facecolor=f"{color}40", edgecolor=color, linewidth=1.0)
    # The number of characters that fit into the whole width.
    room = 110 * axes.get_position().width / (limits[1] - limits[0])
    for message in shown if len(shown) <= TEXTS else []:
        start, end = max(message.start_ns / scale, limits[0]), min(message.end_ns / scale, limits[1])
        characters = int((end - start) * room)
        text = message.text if len(message.text) <= characters else message.text[: max(characters - 1, 0)] + "…"
        if characters >= 4:
            axes.text((start + end) / 2, base + HIGH / 2, text, ha="center", va="center", fontsize=8, clip_on=True)


def _draw_frame(axes, channels, limits):
    axes.set_yticks([len(channels) - 1 - row + HIGH / 2 for row in range(len(channels))])
    axes.set_yticklabels([one_line(channel.name) for channel in channels])
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
