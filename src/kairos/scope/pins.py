"""Lanes of a device's pins; the pads of a serial bus are shown below its words."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

from ..waveform import Channel, Recording
from .lanes import CLOCKING, FLOATING, Lane, Levels, Words
from .serial import Labels, Messages

__all__ = ["buses_of", "lanes_of_pins"]

_PAD = re.compile(r"(.+)_(clk|mosi|miso|cs\d*)$")
"""Name of a pad of a serial bus: the bus, and the pad's function."""


def levels_of(channel: Channel, group: tuple[str, ...]) -> Levels:
    """Return the lane of one pin."""
    lane = Levels(channel.name, group, initial=_level(channel.initial), times=[], levels=[])
    for changes, wave in channel.parts():
        lane.times += [time for time, _ in changes]
        lane.levels += [_level(level) for _, level in changes]
        if wave is not None:
            last = wave.changes - 1
            lane.times += [wave.time_of(0), wave.time_of(last)]
            lane.levels += [CLOCKING, wave.final]
            lane.clocks.append((wave.time_ns, wave.half, wave.accumulator, wave.word, wave.changes))
    return lane


def buses_of(recording: Recording) -> dict[tuple[int, str], dict[str, Channel]]:
    """Return the pads of each serial bus with chip selects, by board and bus name."""
    buses: dict[tuple[int, str], dict[str, Channel]] = defaultdict(dict)
    for channel in recording.channels:
        if pad := _PAD.match(channel.name):
            buses[channel.board, pad[1]][pad[2]] = channel
    return {bus: pads for bus, pads in buses.items() if "clk" in pads and any(name.startswith("cs") for name in pads)}


def lanes_of_pins(recording: Recording, labels: Labels) -> Iterator[Lane]:
    """Yield a lane for each pin that changed, board by board; pads of a serial bus follow the lane
    of its words, pads of other channels with several pads form their own group."""
    boards = recording.board_names()
    pads_of = Counter((channel.board, channel.number) for channel in recording.channels)
    buses = buses_of(recording)
    shown = set()
    for channel in recording.active():
        pad, board = _PAD.match(channel.name), boards[channel.board]
        bus = (channel.board, pad[1]) if pad else None
        if bus not in buses:
            several = pads_of[channel.board, channel.number] > 1
            yield levels_of(channel, (board, channel.name.rpartition("_")[0], "pads") if several else (board,))
        elif bus not in shown:
            shown.add(bus)
            yield from _bus(bus[1], buses[bus], board, labels)


def _bus(name, pads, board, labels) -> Iterator[Lane]:
    found = list(Messages(pads))
    for select in sorted({message.select for message in found}):
        own = [message for message in found if message.select == select]
        yield Words(
            labels.name(name, select),
            (board, name),
            times=[message.start_ns for message in own],
            ends=[message.end_ns for message in own],
            texts=[labels.text(name, message) for message in own],
        )
    for pad in pads.values():
        if pad.change_count:
            yield levels_of(pad, (board, name, "pads"))


def _level(level: int | None) -> int:
    return FLOATING if level is None else level
