"""Lanes of a device's pins; the pads of a serial bus are shown below its words."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np

from ..waveform import Changes, Channel, Recording
from .lanes import CLOCKING, FLOATING, Lane, Levels, Words
from .serial import Labels, Messages

__all__ = ["buses_of", "lanes_of_pins"]

_PAD = re.compile(r"(.+)_(clk|mosi|miso|cs\d*)$")
"""Name of a pad of a serial bus: the bus, and the pad's function."""


def levels_of(channel: Channel, group: tuple[str, ...]) -> Levels:
    """Return the lane of one pin."""
    times, levels, clocks = [], [], []
    for part, wave in channel.parts():
        changes = Changes.of(part)
        times.append(changes.times)
        levels.append(np.where(changes.levels < 0, FLOATING, changes.levels))
        if wave is not None:
            times.append([wave.time_of(0), wave.time_of(wave.changes - 1)])
            levels.append([CLOCKING, wave.final])
            clocks.append((wave.time_ns, wave.half, wave.accumulator, wave.word, wave.changes))
    return Levels(
        channel.name,
        group,
        initial=FLOATING if channel.initial is None else channel.initial,
        times=np.concatenate(times),
        levels=np.concatenate(levels),
        clocks=clocks,
    )


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
