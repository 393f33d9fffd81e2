"""Pulses as a table of text."""

from typing import NamedTuple

from ..terminal_text import one_line
from .recording import OPEN, Clock, Pulse, Recording
from .window import WHOLE, Window

__all__ = ["BusMessage", "aligned", "format_duration", "format_table"]

_UNITS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns"))


def format_duration(ns: int) -> str:
    """Format `ns` with a unit that suits its magnitude, and all digits: ``1.25 us``."""
    for size, unit in _UNITS:
        if abs(ns) >= size:
            whole, rest = divmod(abs(ns), size)
            digits = f"{rest:0{len(str(size)) - 1}d}".rstrip("0") if size > 1 else ""
            return f"{'-' if ns < 0 else ''}{whole}{'.' + digits if digits else ''} {unit}"
    return "0 ns"


def aligned(rows, left: int = 0, rule: bool = True) -> list[str]:
    """Format a table whose first row is its header, with a `rule` below it: the first `left`
    columns are left aligned, the others right aligned."""
    rows = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    if rule:
        lines.insert(1, "  ".join("-" * width for width in widths))
    return lines


class BusMessage(NamedTuple):
    """The text of a message on a bus, and its addressee."""

    channel: str
    start_ns: int
    end_ns: int
    text: str

    @property
    def width_ns(self) -> int:
        return self.end_ns - self.start_ns


def format_table(recording: Recording, limit: int | None = 40, listed=None, window: Window = WHOLE) -> str:
    """Format one line per pulse, and per long run of a clock, in a `window`: channel, start and
    width, in exact nanoseconds and readable units. `limit` caps the lines. `listed`: messages
    (`kairos.scope.listed`) that replace the pulses of their pads.
    """
    window = window.resolved(recording)
    rows, more, earlier = _chosen(recording, limit, listed, window)
    left_out = f"{earlier:,} pulses before are not shown: {window.skipped}" if earlier and window.skipped else ""
    if not rows:
        where = " in this window" if window.is_asked or window.channels is not None else ""
        if where and recording.event_count:
            until = format_duration(recording.duration_ns)
            return left_out or f"no pulses{where}: the last pin of all changes at {until}"
        return left_out or f"no pulses{where}: no pin went high (a TTLInOut drives its pin after output() only)"
    table = [("channel", "start / ns", "width / ns", "start", "width")]
    for pulse in rows:
        if isinstance(pulse, Clock):
            width = f"{pulse.end_ns - pulse.start_ns:,}"
            readable = f"clock, {pulse.changes:,} edges, {pulse.frequency_hz / 1e6:.9g} MHz"
        elif pulse.width_ns is None:
            width, readable = "-", "stays high"
        else:
            width, readable = f"{pulse.width_ns:,}", format_duration(pulse.width_ns)
        table.append((pulse.channel, f"{pulse.start_ns:,}", width, format_duration(pulse.start_ns), readable))
    lines = aligned(table, left=1)
    for place, pulse in enumerate(rows, 2):  # after the header
        lines[place] += f"  {pulse.text}" if isinstance(pulse, BusMessage) else ""
    if more:
        lines.append(f"... and {more:,} more (--table all shows them, --vcd FILE writes them)")
    return "\n".join([*filter(None, [left_out]), *lines])


def _chosen(recording: Recording, limit: int | None, listed, window: Window):
    """Return the rows to show in the order of their starts, the number of further ones, and the
    number of those before the window."""
    import numpy as np  # imported late: it takes 0.15 s, in which a device boots

    pads = set() if listed is None else listed.pads
    channels = [channel for channel in recording.channels if id(channel) not in pads and window.has(channel.name)]
    spans = [channel.spans() for channel in channels]
    starts = np.concatenate([np.array([], np.int64), *(first for first, _ in spans)])
    ends = np.concatenate([np.array([], np.int64), *(last for _, last in spans)])
    numbers = np.repeat(np.arange(len(channels)), [len(first) for first, _ in spans])
    clocks = [clock for clock in recording.clocks() if window.has(clock.channel)]
    messages: list[BusMessage] = [] if listed is None else listed.within(window, limit)
    inside = window.chosen(starts, ends)
    earlier = int((~inside & (starts < (window.start_ns or 0))).sum())
    more = int(inside.sum()) + len(clocks) + (0 if listed is None else listed.count(window))
    order = np.flatnonzero(inside)[np.argsort(starts[inside], kind="stable")]
    count = window.last if limit is None else limit if window.last is None else min(limit, window.last)
    if count is not None:
        order = order[max(len(order) - count, 0) :] if window.last is not None else order[:count]
    pulses = [
        Pulse(channels[number].name, start, None if end == OPEN else end)
        for number, start, end in zip(*(column[order].tolist() for column in (numbers, starts, ends)), strict=True)
    ]
    if listed is not None and window.start_ns is not None:
        earlier += listed.count(Window(end_ns=window.start_ns - 1, channels=window.channels))
    rows = sorted([*pulses, *clocks, *messages], key=lambda row: row.start_ns)
    if count is not None:
        rows = rows[max(len(rows) - count, 0) :] if window.last is not None else rows[:count]
    return rows, 0 if window.last is not None else more - len(rows), earlier
