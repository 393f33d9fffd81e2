"""Messages on the pads of a serial bus (SPI), and their meaning for the chips listed in the device database."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from itertools import starmap
from typing import NamedTuple

import numpy as np

from ..contracts.cards import SCOPE
from ..waveform import Changes, Channel
from .chips import arguments_of, described

__all__ = ["Labels", "Message", "Messages"]


class Message(NamedTuple):
    """Bits sent and received while a chip was selected, the first one highest. `select`: the chip
    selects that differ from the bus's idle state, one bit each."""

    start_ns: int
    end_ns: int
    select: int
    bits: int
    written: int
    read: int | None


class Labels:
    """Information about the chips on buses, from the entries of a device database."""

    def __init__(self, entries: dict):
        self._entries = entries
        self._chips: dict[tuple[str, int], tuple[str, str, dict]] = {}
        for name, entry in entries.items():
            driver, own = self._local(entry)
            if driver not in SCOPE:
                continue
            _, card = self._local(self._resolved(own.get("cpld_device")))
            bus = own.get(SCOPE[driver]["bus"]) or card.get("spi_device")
            arguments = arguments_of(driver, own, card)
            for select, suffix in (SCOPE[driver]["selects"] or {arguments.get("chip_select"): ""}).items():
                if isinstance(bus, str) and isinstance(select, int):
                    self._chips.setdefault((bus, select), (name + suffix, driver, arguments))

    def _resolved(self, name):
        """Look up the entry of a name, following aliases."""
        seen: set[str] = set()
        while isinstance(name, str) and name not in seen:
            seen.add(name)
            name = self._entries.get(name)
        return name

    def _local(self, entry) -> tuple[str, dict]:
        """Return class and arguments of a device; empty if it is not a core device driver."""
        if not isinstance(entry, dict) or entry.get("type") != "local":
            return "", {}
        arguments = entry.get("arguments")
        return entry.get("class", ""), arguments if isinstance(arguments, dict) else {}

    def _chip(self, bus: str, select: int) -> tuple[str, str, dict]:
        """Return name, class and arguments of the selected device; an empty class if it is unknown."""
        return self._chips.get((bus, select)) or (f"{bus} select {select}", "", {})

    def name(self, bus: str, select: int) -> str:
        """Return the name of the selected device."""
        return self._chip(bus, select)[0]

    def text(self, bus: str, message: Message) -> str:
        """Describe a message, or format its bits as a number."""
        _, driver, arguments = self._chip(bus, message.select)
        text = described(driver).text(message, arguments) if driver else None
        return text or f"{message.written:#0{2 + -(-message.bits // 4)}x} ({message.bits} bits)"

    def settings(self, bus: str, message: Message, before: Message | None = None) -> dict[str, tuple[str, float]]:
        """Return the quantities that a message sets, alone or together with the preceding message
        `before` to the same chip: unit and number by name."""
        _, driver, arguments = self._chip(bus, message.select)
        chip = described(driver) if driver else None
        found: dict[str, tuple[str, float]] = {}
        if chip and chip.settings:
            found |= chip.settings(message, arguments)
        if chip and chip.paired and before is not None:
            found |= chip.paired(before, message, arguments)
        return found


class Messages:
    """The messages on a bus with these pads (`clk`, `mosi`, `miso`, `cs0` ...), in order. Their
    number is known before they are decoded.

    Idle level and sampling edge of the clock are inferred from the pads: data do not change at a
    sampling edge.
    """

    def __init__(self, pads: dict[str, Channel]):
        self._clock, self._out = _samples(pads["clk"]), _samples(pads.get("mosi"))
        incoming = pads.get("miso")
        self._incoming = None if incoming is None or not incoming.change_count else _samples(incoming)
        selects = [pads[name] for name in sorted(pads) if name.startswith("cs")]
        # With the clock edges in each; spans without clock edges are dropped
        spans = ((span, self._edges(span)) for span in _selections(selects, self._clock[0]))
        self._spans = [(span, edges) for span, edges in spans if len(edges)]

    def __len__(self) -> int:
        return len(self._spans)

    def __iter__(self) -> Iterator[Message]:
        return starmap(self._read, self._spans)

    def __getitem__(self, number: int) -> Message:
        return self._read(*self._spans[number])

    def spans(self) -> Iterator[tuple[int, int, int]]:
        """Yield start, end and chip selects of each message."""
        return (span for span, _ in self._spans)

    def _edges(self, span: tuple[int, int, int]) -> range:
        """Return the indices of the clock edges within a span."""
        return range(*(bisect_left(self._clock[0], time) for time in span[:2]))

    def _read(self, span: tuple[int, int, int], numbers: range) -> Message:
        start, end, select = span
        (times, levels), out = self._clock, self._out
        within, idle = slice(numbers.start, numbers.stop), levels[numbers.start - 1]
        edges = times[within]
        leading, trailing = edges[levels[within] != idle], edges[levels[within] == idle]
        changes = out[0][slice(*np.searchsorted(out[0], (start + 1, end)))]
        late = len(np.intersect1d(changes, leading)) > len(np.intersect1d(changes, trailing))
        sampled = trailing if late else leading
        read = None if self._incoming is None else _number(self._incoming, sampled)
        return Message(start, end, select, len(sampled), _number(out, sampled), read)


def _samples(channel: Channel | None) -> tuple[np.ndarray, np.ndarray]:
    """Return times and levels of a pad, with the initial level at the minimum time."""
    changes = Changes.of([] if channel is None else channel.changes)
    initial = 0 if channel is None else channel.initial or 0
    times = np.concatenate([[np.iinfo(np.int64).min], changes.times])
    return times, np.concatenate([[initial], np.maximum(changes.levels, 0)]).astype(np.uint8)


def _number(samples, times) -> int:
    """Return the levels just before these times as a number, the first one highest."""
    levels = samples[1][np.searchsorted(samples[0], times) - 1]
    return int("".join(map(str, levels)) or "0", 2)


def _selections(channels: list[Channel], clock: np.ndarray) -> Iterator[tuple[int, int, int]]:
    """Yield start, end and chip selects of each interval in which the selects differ from their
    idle state: the state at start and end, or, if these differ (pads are low until a bus is set
    up), the state with the fewest edges of the clock, whose edge times are `clock`.
    """
    changes = sorted(
        (time, number, level) for number, channel in enumerate(channels) for time, level in channel.changes
    )
    initial = pattern = sum((channel.initial or 0) << number for number, channel in enumerate(channels))
    spans: list[list[int]] = []  # start, end, pattern
    for time, number, level in changes:
        pattern = pattern & ~(1 << number) | (level or 0) << number
        if spans and spans[-1][0] == time:
            spans[-1][2] = pattern
        else:
            if spans:
                spans[-1][1] = time
            spans.append([time, time, pattern])
    if not spans:
        return
    rest = spans[-1][2]
    if rest != initial:
        edges: dict[int, int] = defaultdict(int)
        for start, end, pattern in spans:
            edges[pattern] += bisect_left(clock, end) - bisect_left(clock, start)
        rest = min(edges, key=lambda pattern: edges[pattern])
    yield from ((start, end, pattern ^ rest) for start, end, pattern in spans if pattern != rest and end > start)
