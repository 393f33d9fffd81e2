"""Dumps of the analyzer: as Value Change Dump files, as recordings of pins, and as a table.

The content of the file depends on the drivers in the device database: the level of a TTL, x while
it is an input, the frequency word of a clock generator, the words written to and read from an SPI
bus. Every other local channel is shown as the last word written. The slack of every output, in
machine units, is included.
"""

from collections.abc import Iterator

from ..devices import rtio_channel
from .recording import Channel, Recording

__all__ = ["Line", "describe", "drivers", "pins", "write_dump"]

_LEVEL, _DRIVEN = range(2)
"""Addresses of a TTL channel."""
_SCOPES = {"TTLOut": "ttl", "TTLInOut": "ttl", "TTLClockGen": "ttl_clkgen", "SPIMaster": "spi2"}


class Line:
    """A channel as seen by its driver: a pin, or the last word written. `initial`: its value before
    any message, "x" while nothing drives it."""

    def __init__(self, name: str, driver: str):
        self.name, self.driver, self.scope = name, driver, _SCOPES.get(driver, "word")
        self.is_pin = self.scope == "ttl"
        self.width = 1 if self.is_pin else 64
        self.initial = "x" if driver != "TTLOut" else 0
        self._level, self._driven = 0, driver == "TTLOut"

    def after(self, message):
        """Return the value after a message; None if it is unchanged."""
        if not hasattr(message, "address"):
            return message.data & 1 if self.is_pin else message.data
        if not self.is_pin:
            return message.data
        if message.address == _LEVEL:
            self._level = message.data & 1
        elif message.address == _DRIVEN:
            self._driven = bool(message.data & 1)
        else:
            return None
        return self._level if self._driven else "x"


def drivers(devices: dict) -> dict[int, tuple[str, str]]:
    """Return name and class of each channel's local device; the first one counts."""
    found: dict[int, tuple[str, str]] = {}
    for name, entry in devices.items():
        if isinstance(entry, dict) and entry.get("type") == "local":
            channel = rtio_channel(entry)
            if channel is not None:
                found.setdefault(channel, (name, entry.get("class", "")))
    return found


def _lines(devices: dict) -> dict[int, Line]:
    """Return the line of each channel that a local device owns."""
    return {channel: Line(*device) for channel, device in drivers(devices).items()}


def _events(dump) -> Iterator[tuple[int, object]]:
    """Yield the timestamped messages with their times, in chronological order."""
    timed = [(message.timestamp, message) for message in dump.messages if hasattr(message, "timestamp")]
    # Stable: of two simultaneous events the one submitted last takes effect.
    yield from sorted(timed, key=lambda event: event[0])


def _timescale(unit: float) -> tuple[str, int]:
    """Return a file's time unit, a power of ten, and the number of these units in `unit` seconds."""
    picoseconds = round(unit * 1e12)
    power = len(str(picoseconds)) - 1
    while picoseconds % 10**power:
        power -= 1
    thousands, rest = divmod(power, 3)
    return f"{10**rest} {('ps', 'ns', 'us', 'ms')[thousands]}", picoseconds // 10**power


def write_dump(file, dump, devices: dict, ref_period: float | None = None):
    """Write a `kairos.network.analyzer.Dump` to an open text file; time 0 is its first event.

    `devices` is the dictionary of the device database; the machine unit is that of its ``core``
    unless given.
    """
    from vcd import VCDWriter  # imported late, because few runs need it: 9 ms

    arguments = devices.get("core", {}).get("arguments", {})
    timescale, steps = _timescale(ref_period or arguments.get("ref_period", 1e-9))
    events = list(_events(dump))
    origin = events[0][0] if events else 0
    lines = _lines(devices)
    with VCDWriter(file, timescale=timescale, date="", version="Kairos") as writer:
        variables = {
            channel: writer.register_var(line.scope, line.name, "wire", size=line.width, init=line.initial)
            for channel, line in lines.items()
        }
        slack = writer.register_var("rtio", "rtio_slack", "integer", size=64, init="x")
        for time, message in events:
            line, at = lines.get(message.channel), (time - origin) * steps
            value = None if line is None else line.after(message)
            if value is not None:
                writer.change(variables[message.channel], at, value)
            if hasattr(message, "address"):
                writer.change(slack, at, message.timestamp - message.rtio_counter)


def pins(dump, devices: dict) -> Recording:
    """Build a recording of the pins owned by TTL drivers from a dump; time 0 is the first event."""
    period = devices.get("core", {}).get("arguments", {}).get("ref_period", 1e-9) * 1e9
    lines = {number: line for number, line in _lines(devices).items() if line.is_pin}
    channels = {number: Channel(line.name, number, 0 if line.initial == 0 else None) for number, line in lines.items()}
    events = list(_events(dump))
    origin = events[0][0] if events else 0
    for time, message in events:
        if message.channel in lines:
            value = lines[message.channel].after(message)
            changes = channels[message.channel].changes
            level = None if value == "x" else value
            before = changes[-1][1] if changes else channels[message.channel].initial
            if value is not None and level != before:
                changes.append((round((time - origin) * period), level))
    return Recording([channels[number] for number in sorted(channels)], round(origin * period))


def describe(dump, devices: dict) -> Iterator[dict]:
    """Yield each message as a dictionary: `kind`, `channel` and `device`, `time` since the first
    event and `slack` in machine units, `address` and `data`; None where not applicable."""
    names = {number: line.name for number, line in _lines(devices).items()}
    times = [message.timestamp for message in dump.messages if hasattr(message, "timestamp")]
    origin = min(times, default=0)
    for message in dump.messages:
        time, address = getattr(message, "timestamp", None), getattr(message, "address", None)
        channel = getattr(message, "channel", None)
        error = getattr(message, "exception_type", None)
        yield {
            "kind": type(message).__name__.removesuffix("Message").lower(),
            "channel": channel,
            "device": "rtio_log" if channel == dump.log_channel else names.get(channel),
            "time": None if time is None else time - origin,
            "slack": None if address is None else time - message.rtio_counter,
            "address": address,
            "data": getattr(message, "data", None) if error is None else error.name.lower(),
        }
