"""Events on the channels of a core device: the hub reads them from the analyzer and keeps the newest for all
clients. Times are in machine units."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["Event", "Waveforms"]

KIND = "EVENT_KIND_"


class Event(NamedTuple):
    """An RTIO event. `kind`: output, input, underflow, overflow, exception or stopped (events
    between this and the next one were not recorded); `channel`: its number, and `name`;
    `timestamp`: when it was due or seen, in machine units; `counter`: RTIO counter when it was
    submitted or read; `address` of an output, and `data`.
    """

    kind: str
    channel: int
    name: str
    timestamp: int
    counter: int
    address: int
    data: int

    @property
    def slack(self) -> int | None:
        """Slack of an output, in machine units."""
        return self.timestamp - self.counter if self.kind == "output" else None


class Waveforms:
    """The recorded events of a device."""

    def __init__(self, lab, device: str):
        self._lab, self._device = lab, device

    def status(self):
        """Return the state of the hub's record and of the pulse cores: the message
        `ListWaveformsResponse` of the protocol."""
        return self._lab.call("Waveforms", "List", device=self._device)

    def read(self, *channels: str, newest: int = 0, kept: bool = False) -> list[Event]:
        """Return events, oldest first: of all channels or of the named ones, all or the `newest`
        ones. `kept`: only events that the hub has already."""
        found = self._stream(channels, newest=newest, kept=kept)
        return [event for _, events in found for event in events]

    def follow(self, *channels: str, newest: int = 0, period: float = 1.0) -> Iterator[tuple[int, list[Event]]]:
        """Yield events as `read`, and new ones, without end: the number of missing events before
        them, and the events. The device is polled every `period` seconds, and records nothing while
        it sends.
        """
        return self._stream(channels, newest=newest, follow=True, period_ms=round(1000 * period))

    def _stream(self, channels, **fields) -> Iterator[tuple[int, list[Event]]]:
        for part in self._lab.stream("Waveforms", "Read", device=self._device, channels=channels, **fields):
            yield part.missing, [_event(event) for event in part.events]

    def capture(
        self, channel: str = "", kind: str | None = None, before: int = 100, after: int = 100, timeout: float = 60.0
    ) -> tuple[int, list[Event]]:
        """Wait for an event after this call, of this channel and kind, or of any; returns its index
        and the events around it. HubError with the code DEADLINE_EXCEEDED if there is none within
        `timeout` seconds.
        """
        fields = {"channel": channel, "before": before, "after": after, "timeout_ms": round(1000 * timeout)}
        if kind is not None:
            fields["kind"] = f"{KIND}{kind.upper()}"
        found = self._lab.wait_for(timeout, "Waveforms", "Capture", device=self._device, **fields)
        return found.found, [_event(event) for event in found.events]

    def vcd(self, *channels: str, kept: bool = False) -> bytes:
        """Return all kept events as a value change dump, for GTKWave and the like; of these
        channels, or of all."""
        return self._file("WAVEFORM_FORMAT_VCD", channels, kept)

    def dump(self, *channels: str, kept: bool = False) -> bytes:
        """Return all kept events in the analyzer's format, for `kairos analyze` and
        `kairos.network.analyzer.decode`."""
        return self._file("WAVEFORM_FORMAT_DUMP", channels, kept)

    def _file(self, form: str, channels, kept: bool) -> bytes:
        fields = {"device": self._device, "channels": channels, "format": form, "kept": kept}
        return b"".join(part.bytes for part in self._lab.stream("Waveforms", "File", **fields))

    def save(self, file, *channels: str):
        """Write the value change dump to a file."""
        Path(file).write_bytes(self.vcd(*channels))

    def __repr__(self) -> str:
        return f"<waveforms of {self._device}>"


def _event(message) -> Event:
    kind = type(message).DESCRIPTOR.fields_by_name["kind"].enum_type.values_by_number[message.kind].name
    place = message.channel, message.name, message.timestamp, message.counter, message.address, message.data
    return Event(kind.removeprefix(KIND).lower(), *place)
