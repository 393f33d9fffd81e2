"""Messages on serial buses as rows of a run's table, replacing the pulses of the buses' pads."""

from itertools import islice

from ..waveform import Recording
from ..waveform.table import BusMessage
from .pins import buses_of
from .serial import Labels, Messages

__all__ = ["Listed"]


class Listed:
    """The messages of a recording, labelled with the entries of a device database."""

    def __init__(self, recording: Recording, entries: dict):
        buses = buses_of(recording)
        self._labels = Labels(entries)
        self._messages = [(name, Messages(pads)) for (_, name), pads in buses.items()]
        self.pads = {id(pad) for pads in buses.values() for pad in pads.values()}
        """The pads that carry the messages."""

    def __len__(self) -> int:
        return sum(len(messages) for _, messages in self._messages)

    def first(self, limit: int | None) -> list[BusMessage]:
        """Return at least the first `limit` messages."""
        return [
            BusMessage(
                self._labels.name(bus, message.select),
                message.start_ns,
                message.end_ns,
                self._labels.text(bus, message),
            )
            for bus, messages in self._messages
            for message in islice(messages, limit)
        ]
