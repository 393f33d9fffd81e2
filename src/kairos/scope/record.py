"""Lanes of the events recorded by a device's analyzer: pins, buses, the log and errors, and the slack of outputs.

Each channel is shown according to its driver in the device database: the level of a TTL and the
edges read from it, the frequency of a clock generator, the words on an SPI bus, and for all others
the words written.
"""

from collections.abc import Iterator
from typing import NamedTuple

from ..contracts import spi
from ..contracts.spi import SpiFlag
from ..coredevice.edge_counter import RESET, SEND
from ..coredevice.parts.edges import FALLING, RISING
from ..waveform.analysis import Line, drivers
from .lanes import FLOATING, Lane, Levels, Marks, Steps, Words
from .page import write_page
from .serial import Labels, Message

__all__ = ["lanes_of_dump", "write_dump_page"]

GROUPS = ("pins", "inputs", "gates", "clocks", "settings", "buses", "other channels", "log", "RTIO")
"""Display order."""
SEPARATOR, TERMINATOR = b"\x1e", 0x1D
"""In the log: separator after the name, and terminator of the text."""


class Event(NamedTuple):
    """A message of the analyzer, in nanoseconds of the page."""

    time: int
    address: int | None
    """None for an input event."""
    data: int
    slack: int | None


def write_dump_page(path, dump, entries: dict, title: str):
    """Write the page of a `kairos.network.analyzer.Dump`, with the entries of a device database.
    OSError if it cannot be written."""
    write_page(path, f"{title}: no lines of the source, which a device does not record", *lanes_of_dump(dump, entries))


def lanes_of_dump(dump, entries: dict) -> tuple[list[Lane], int]:
    """Return the lanes of a `kairos.network.analyzer.Dump`, with the entries of a device database,
    and the time of the last event; time 0 is the first event."""
    core = entries.get("core", {}).get("arguments", {})
    period = core.get("ref_period", 1e-9) * 1e9
    cycle = period * core.get("ref_multiplier", 8)
    timed = [message for message in dump.messages if hasattr(message, "timestamp")]
    origin = min((message.timestamp for message in timed), default=0)
    channels: dict[int, list[Event]] = {}
    for message in sorted(timed, key=lambda message: message.timestamp):
        address = getattr(message, "address", None)
        slack = None if address is None else round((message.timestamp - message.rtio_counter) * period)
        event = Event(round((message.timestamp - origin) * period), address, message.data, slack)
        channels.setdefault(message.channel, []).append(event)
    log = channels.pop(dump.log_channel, [])
    devices, labels = drivers(entries), Labels(entries)
    lanes: list[Lane] = []
    for number, events in sorted(channels.items()):
        line = Line(*devices.get(number, (f"channel {number}", "")))
        lanes += _channel(line, events, cycle, labels)
    lanes += _log(log)
    lanes += _errors(dump, devices, origin, period)
    lanes += _slack(channels)
    lanes.sort(key=lambda lane: GROUPS.index(lane.group[0]))
    return lanes, max((events[-1].time for events in channels.values()), default=0)


def _channel(line: Line, events: list[Event], cycle: float, labels: Labels) -> Iterator[Lane]:
    name, driver = line.name, line.driver
    outputs = [event for event in events if event.address is not None]
    inputs = [event for event in events if event.address is None]
    if line.is_pin:
        yield _pin(line, outputs)
        if inputs:
            yield Marks(name, ("inputs",), [event.time for event in inputs], [""] * len(inputs))
    elif driver == "TTLClockGen":
        hertz = [event.data / (1 << 32) / (cycle * 1e-9) for event in outputs]
        yield Steps(name, ("clocks",), "Hz", [event.time for event in outputs], hertz)
    elif driver == "SPIMaster":
        yield from _bus(name, outputs, cycle, labels)
        if inputs:
            yield _marks(name, ("buses", name, "read"), inputs)
    elif driver == "EdgeCounter":
        if inputs:
            yield Marks(name, ("inputs",), [event.time for event in inputs], [_counted(event.data) for event in inputs])
        yield Marks(name, ("gates",), [event.time for event in outputs], [_gate(event.data) for event in outputs])
    else:
        yield _marks(name, ("other channels",), events)


def _counted(edges: int) -> str:
    return f"{edges} edge{'' if edges == 1 else 's'}"


def _gate(word: int) -> str:
    """Describe a command to an edge counter."""
    edges = [name for name, bit in (("rising", RISING), ("falling", FALLING)) if word & bit]
    parts = [f"counts {' and '.join(edges)} edges" if edges else "stopped"]
    return ", ".join(parts + ["from 0"] * bool(word & RESET) + ["sends the count"] * bool(word & SEND))


def _marks(name, group, events) -> Marks:
    texts = [f"{event.data:#x}" if not event.address else f"{event.data:#x} to {event.address:#x}" for event in events]
    return Marks(name, group, [event.time for event in events], texts)


def _pin(line: Line, events) -> Levels:
    def level(value):
        return FLOATING if value == "x" else value

    lane = Levels(line.name, ("pins",), initial=level(line.initial), times=[], levels=[])
    before = lane.initial
    for event in events:
        value = line.after(event)
        if value is not None and level(value) != before:
            before = level(value)
            lane.times.append(event.time)
            lane.levels.append(before)
    return lane


def _bus(name, events, cycle, labels: Labels) -> Iterator[Lane]:
    """Yield the messages of a bus, grouped by chip: transfers up to the one that ends them."""
    found: dict[int, list[Message]] = {}
    config, open_message = None, None
    for event in events:
        if event.address == spi.CONFIG_ADDRESS:
            config = event.data
        elif event.address == spi.DATA_ADDRESS and config is not None:
            length = (config >> spi.LENGTH_AT & (1 << spi.LENGTH_BITS) - 1) + spi.LENGTH_LEAST
            period = (config >> spi.DIV_AT & (1 << spi.DIV_BITS) - 1) + spi.DIV_LEAST
            select = config >> spi.CS_AT & (1 << spi.CS_BITS) - 1
            end = event.time + round((length + 1) * period * cycle)
            # Data are left aligned in the word.
            word = event.data >> spi.WORD_BITS - length
            if config & SpiFlag.LSB_FIRST:
                word = event.data & (1 << length) - 1
            if open_message is not None and open_message.select == select:
                word |= open_message.written << length
                length += open_message.bits
                open_message = Message(open_message.start_ns, end, select, length, word, None)
            else:
                open_message = Message(event.time, end, select, length, word, None)
            if config & SpiFlag.END:
                found.setdefault(select, []).append(open_message)
                open_message = None
    for select, own in sorted(found.items()):
        starts, ends = [message.start_ns for message in own], [message.end_ns for message in own]
        texts = [labels.text(name, message) for message in own]
        yield Words(labels.name(name, select), ("buses", name), starts, ends, texts)
        yield from _settings(name, own, labels)


def _settings(bus, messages: list[Message], labels: Labels) -> Iterator[Lane]:
    """Yield the quantities set by messages to a chip, each effective from the end of its message."""
    found: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for before, message in zip([None, *messages], messages, strict=False):
        for quantity, (unit, number) in labels.settings(bus, message, before).items():
            found.setdefault((quantity, unit), []).append((message.end_ns, number))
    for (quantity, unit), steps in found.items():
        group = ("settings", labels.name(bus, messages[0].select))
        yield Steps(quantity, group, unit, [time for time, _ in steps], [number for _, number in steps])


def _log(events) -> Iterator[Lane]:
    """Yield a lane for each name in the log. Words hold four characters; zeros are skipped."""
    found: dict[str, list[tuple[int, str]]] = {}
    text, start = bytearray(), 0
    for event in events:
        for byte in (event.data & 0xFFFFFFFF).to_bytes(4, "big").lstrip(b"\0"):
            start = start if text else event.time
            if byte == TERMINATOR:
                name, _, message = bytes(text).partition(SEPARATOR)
                found.setdefault(name.decode(errors="replace"), []).append((start, message.decode(errors="replace")))
                text.clear()
            else:
                text.append(byte)
    for name, entries in found.items():
        yield Marks(name, ("log",), [time for time, _ in entries], [entry for _, entry in entries])


def _errors(dump, devices, origin, period) -> Iterator[Lane]:
    errors = [message for message in dump.messages if hasattr(message, "exception_type")]
    if errors:
        times = [round((message.rtio_counter - origin) * period) for message in errors]
        texts = [
            f"{message.exception_type.name.lower()} on {devices.get(message.channel, (message.channel,))[0]}"
            for message in errors
        ]
        order = sorted(range(len(errors)), key=times.__getitem__)
        yield Marks("errors", ("RTIO",), [max(times[n], 0) for n in order], [texts[n] for n in order])


def _slack(channels) -> Iterator[Lane]:
    """Yield the slack: how long before its due time each output was submitted."""
    outputs = sorted(
        (event.time, event.slack) for events in channels.values() for event in events if event.slack is not None
    )
    if outputs:
        yield Steps("slack", ("RTIO",), "ns", [time for time, _ in outputs], [slack for _, slack in outputs])
