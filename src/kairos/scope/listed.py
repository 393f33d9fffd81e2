"""Messages on serial buses as rows of a run's table and as lanes of its picture, replacing the pulses of the buses'
pads."""

from collections.abc import Iterator

from ..waveform import Recording
from ..waveform.plot import Bus
from ..waveform.table import BusMessage
from ..waveform.window import Window
from .pins import buses_of
from .serial import Labels, Messages

__all__ = ["Listed"]


class Listed:
    """The messages of a recording, labelled with the entries of a device database."""

    def __init__(self, recording: Recording, entries: dict):
        buses = buses_of(recording)
        self._labels = Labels(entries)
        self._buses = [(board, name, pads, Messages(pads)) for (board, name), pads in buses.items()]
        self.pads = {id(pad) for pads in buses.values() for pad in pads.values()}
        """The pads that carry the messages."""

    def _numbers(self, window: Window) -> Iterator[tuple[str, Messages, list[int]]]:
        """Yield each bus with the numbers of its messages in a window; only those are decoded."""
        for _, bus, _, messages in self._buses:
            found = [
                number
                for number, (start, end, select) in enumerate(messages.spans())
                if (window.start_ns is None or end >= window.start_ns)
                and (window.end_ns is None or start <= window.end_ns)
                and (window.has(bus) or window.has(self._labels.name(bus, select)))
            ]
            yield bus, messages, found

    def count(self, window: Window) -> int:
        """Return the number of messages in a window."""
        return sum(len(numbers) for _, _, numbers in self._numbers(window))

    def within(self, window: Window, limit: int | None) -> list[BusMessage]:
        """Return at least the first `limit` messages in a window, or as many of the last ones as it
        asks for."""
        return [
            self._listed(bus, messages[number])
            for bus, messages, numbers in self._numbers(window)
            for number in (numbers[:limit] if window.last is None else numbers[max(len(numbers) - window.last, 0) :])
        ]

    def _listed(self, bus: str, message) -> BusMessage:
        name, text = self._labels.name(bus, message.select), self._labels.text(bus, message)
        return BusMessage(name, message.start_ns, message.end_ns, text)

    def lanes(self) -> list[Bus]:
        """Return a lane for each chip with messages."""
        lanes = []
        for board, bus, pads, messages in self._buses:
            own: dict[str, list[BusMessage]] = {}
            for message in map(lambda message: self._listed(bus, message), messages):
                own.setdefault(message.channel, []).append(message)
            hidden = frozenset(id(pad) for pad in pads.values())
            lanes += [Bus(name, board, found, hidden) for name, found in own.items()]
        return lanes
