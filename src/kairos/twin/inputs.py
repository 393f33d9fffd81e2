"""From the analyzer's record of a run to a bench that gives the same inputs again.

The analyzer has each output with its time, and each input that the kernel has read. A kernel on the twin has another
time, and after a call of the host another slack, so an input is placed by the last change of an output pin
before it: the bench's `recorded` repeats it as long after the same change. Edges are repeated at their time, a count
of an edge counter as so many edges within its gate, words of a serial bus bit by bit with its clock.
"""

import json
from bisect import bisect_right
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..coredevice.edge_counter import RESET
from ..coredevice.parts.edges import BOTH
from ..devices import DeviceDB
from ..errors import UsageError
from ..network.analyzer import Dump, InputMessage, OutputMessage, decode
from ..waveform.analysis import pins
from . import serial_words

__all__ = ["Inputs", "inputs_in"]

WIDTH_NS = 20
"""Of the pulse of an edge, at most: edges of which only one kind was recorded."""
NARROWEST_NS = 16
"""Distance of two pulses of a counter that every kind of pin tells apart."""
COUNTER = "EdgeCounter"
SUFFIX = "_counter"
"""In a device database, what is behind the name of a counter's pin."""
READ, BUSES = ("TTLInOut",), ("SPIMaster",)
"""Drivers whose inputs are edges of a pin; and words of a bus."""

Pin = tuple[int, str | None]
"""A pin of the device: its channel, and of a bus the last part of the line's name."""


class _Level(NamedTuple):
    """A pin of the twin is to have this level."""

    at_ns: int
    channel: int
    level: int


@dataclass(frozen=True)
class Inputs:
    """What has come to a device in a run."""

    outputs: dict[int, list[int]]
    """Addresses of the outputs of each RTIO channel, in order."""
    changes: list[tuple[Pin, int, int, Pin, int]]
    """An output pin, how often it had changed, ns from then on, an input pin, its level."""
    missing: int
    """Inputs that cannot be repeated: before the first change of an output pin, or that no pin gives."""
    duration_ns: int = 0
    """From the first output to the last."""

    def write(self, folder: Path) -> Path:
        """Write the bench into a folder; returns the path of its file."""
        anchors = {pin: number for number, pin in enumerate(dict.fromkeys(change[0] for change in self.changes))}
        inputs = {pin: number for number, pin in enumerate(dict.fromkeys(change[3] for change in self.changes))}
        changes = [
            (anchors[one], count, offset, inputs[two], bool(level)) for one, count, offset, two, level in self.changes
        ]
        content = {"anchors": list(anchors), "inputs": list(inputs), "changes": changes}
        (folder / "inputs.json").write_text(json.dumps(content))
        path = folder / "bench.toml"
        path.write_text('[recorded.inputs]\nfile = "inputs.json"\n')
        return path


def inputs_in(data: bytes, ddb: DeviceDB) -> Inputs:
    """Return the inputs in the dump of an analyzer; UsageError if it has lost the beginning of the run."""
    dump = decode(data)
    if dump.error or dump.total_bytes > len(data):
        raise UsageError("the analyzer has kept only the last of the run's events, so that its inputs are not known")
    period = ddb.arguments("core").get("ref_period", 1e-9) * 1e9  # in ns
    drivers = {channel: _driver(ddb, name) for channel, name in ddb.channel_names().items()}
    outputs: dict[int, list[int]] = {}
    for message in dump.messages:
        if isinstance(message, OutputMessage):
            outputs.setdefault(message.channel, []).append(message.address)
    levels, missing = _levels(dump, drivers, ddb, period)
    anchors = _anchors(dump, ddb, {one.channel for one in levels})
    times = [time for time, _, _ in anchors]
    changes: list[tuple[Pin, int, int, Pin, int]] = []
    for at, channel, level in levels:
        place = bisect_right(times, at)
        if place == 0:
            missing += level
            continue
        time, anchor, count = anchors[place - 1]
        changes.append(((anchor, None), count, at - time, (channel, None), level))
    for channel in (number for number, driver in drivers.items() if driver in BUSES):
        sent = [one for one in dump.messages if isinstance(one, OutputMessage) and one.channel == channel]
        received = [one for one in dump.messages if isinstance(one, InputMessage) and one.channel == channel]
        bits, unknown = serial_words.bits_of(sent, received)
        changes += [
            ((channel, serial_words.CLOCK), one.count, serial_words.AFTER_NS, (channel, one.line), one.level)
            for one in bits
        ]
        missing += unknown
    times = [one.timestamp for one in dump.messages if isinstance(one, OutputMessage)]
    return Inputs(outputs, changes, missing, round((max(times) - min(times)) * period) if times else 0)


def _driver(ddb: DeviceDB, name: str) -> str:
    entry = ddb.get(name)
    return entry.get("class", "") if isinstance(entry, dict) else ""


def _anchors(dump: Dump, ddb: DeviceDB, driven: set[int]) -> list[tuple[int, int, int]]:
    """Return the changes of output pins, in order of time: time, channel, how often it had changed with this change."""
    recording = pins(dump, ddb.entries)
    anchors = []
    for channel in recording.channels:
        if channel.number in driven:
            continue
        count, before = 0, 0
        for time, level in channel.changes:
            if level is not None and level != before:
                count, before = count + 1, level
                anchors.append((time + recording.origin_ns, channel.number, count))
    return sorted(anchors)


def _levels(dump: Dump, drivers: dict[int, str], ddb: DeviceDB, period: float) -> tuple[list[_Level], int]:
    """Return the levels of input pins that give the recorded inputs, in order of time, and how many have none."""
    read: dict[int, list[InputMessage]] = {}
    for message in dump.messages:
        if isinstance(message, InputMessage):
            read.setdefault(message.channel, []).append(message)
    found: list[_Level] = []
    missing = 0
    for channel, messages in read.items():
        kind = drivers.get(channel)
        if kind == COUNTER:
            levels, unknown = _counted(dump, channel, messages, ddb, period)
            found += levels
            missing += unknown
        elif kind in READ:
            found += _edges(channel, [(round(one.timestamp * period), one.data & 1) for one in messages])
        elif kind not in BUSES:
            missing += len(messages)
    return sorted(found), missing


def _edges(channel: int, events: list[tuple[int, int]]) -> list[_Level]:
    """Return the levels of a pin at which these edges, or samples, are seen: time and the level from then on."""
    found: list[_Level] = []
    level, events = 0, sorted(events)
    following = [*events[1:], (events[-1][0] + 2 * WIDTH_NS, 1)]
    for (at, after), (later, then) in zip(events, following, strict=True):
        if after == level:
            # A falling edge, before which the rising one was not recorded.
            before = found[-1].at_ns if found else at - 2 * WIDTH_NS
            found.append(_Level(max(at - WIDTH_NS, (before + at) // 2), channel, 1 - after))
        found.append(_Level(at, channel, after))
        if after and then:
            # Soon, since what is read next may be another gate's, or a counter's of the same pin.
            found.append(_Level(min(at + WIDTH_NS, (at + later) // 2), channel, 0))
        level = after if not then else 0
    return found


def _counted(dump: Dump, channel: int, messages: list, ddb: DeviceDB, period: float) -> tuple[list[_Level], int]:
    """Return pulses of a counter's pin that give these counts, and how many counts have none."""
    names = ddb.channel_names()
    pin = ddb.channel_of(names[channel].removesuffix(SUFFIX)) if names[channel].endswith(SUFFIX) else None
    if pin is None:
        return [], len(messages)
    settings = sorted(
        (one.timestamp, one.data) for one in dump.messages if isinstance(one, OutputMessage) and one.channel == channel
    )
    found: list[_Level] = []
    missing = 0
    for message in messages:
        gates = [(time, data & BOTH) for time, data in settings if data & RESET and time < message.timestamp]
        begun, edges = gates[-1] if gates else (None, 0)
        pulses = message.data // 2 if edges == BOTH else message.data
        if begun is None or not pulses:
            missing += message.data > 0
            continue
        start, end = round(begun * period), round(message.timestamp * period)
        step = (end - start) // pulses
        if step < NARROWEST_NS:
            missing += 1
            continue
        for number in range(pulses):
            at = start + number * step + step // 4
            found += [_Level(at, pin, 1), _Level(at + max(NARROWEST_NS // 2, min(WIDTH_NS, step // 2)), pin, 0)]
    return found, missing
