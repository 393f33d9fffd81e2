"""Pulses as a table of text."""

from typing import NamedTuple

from .recording import Clock, Recording

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


def format_table(recording: Recording, limit: int | None = 40, listed=None) -> str:
    """Format one line per pulse, and per long run of a clock: channel, start and width, in exact
    nanoseconds and readable units. `limit` caps the lines. `listed`: messages
    (`kairos.scope.listed`) that replace the pulses of their pads.
    """
    messages: list[BusMessage] = []
    if listed is not None:
        others = [channel for channel in recording.channels if id(channel) not in listed.pads]
        recording, messages = Recording(others, recording.origin_ns), listed.first(limit)
    pulses = sorted([*recording.pulses(), *recording.clocks(), *messages], key=lambda row: row.start_ns)
    if not pulses:
        return "no pulses: no pin went high (a TTLInOut drives its pin after output() only)"
    shown = pulses if limit is None else pulses[:limit]
    rows = [("channel", "start / ns", "width / ns", "start", "width")]
    for pulse in shown:
        if isinstance(pulse, Clock):
            width = f"{pulse.end_ns - pulse.start_ns:,}"
            readable = f"clock, {pulse.changes:,} edges, {pulse.frequency_hz / 1e6:.9g} MHz"
        elif pulse.width_ns is None:
            width, readable = "-", "stays high"
        else:
            width, readable = f"{pulse.width_ns:,}", format_duration(pulse.width_ns)
        rows.append((pulse.channel, f"{pulse.start_ns:,}", width, format_duration(pulse.start_ns), readable))
    lines = aligned(rows, left=1)
    for place, pulse in enumerate(shown, 2):  # after the header
        lines[place] += f"  {pulse.text}" if isinstance(pulse, BusMessage) else ""
    more = len(pulses) - len(shown) + (0 if listed is None else len(listed) - len(messages))
    if more:
        lines.append(f"... and {more:,} more (--table all shows them, --vcd FILE writes them)")
    return "\n".join(lines)
