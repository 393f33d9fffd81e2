"""Digital outputs that a pin does not show as requested: on a channel with steps of 8 ns a pulse of 20 ns lasts 16 ns,
and on an input no pulse reaches the pin.

A run on an emulated device reports each kind once, with the first line that asks for such an output.
"""

from collections.abc import Callable, Collection
from pathlib import Path
from typing import NamedTuple

from ..coredevice.ttl import DRIVEN, LEVEL
from ..devices import DeviceDB
from ..waveform import Changes, Channel, Recording
from ..waveform.changes import FLOATING
from ..waveform.table import format_duration
from .printed import print_notice

__all__ = ["print_rounded", "print_undriven"]

STEP_NS = 8
"""A coarse cycle, the resolution of an output that is not serialised."""
ITS_DRIVER = ("coredevice", "ttl.py")
RAISING = {"on", "pulse", "pulse_mu"}
"""Methods of the driver that ask for a high level."""
DRIVING = {"output"}
"""That which makes the pin an output. If it was lost, the run reports that."""


class Requests(NamedTuple):
    """The outputs of one kind: time since power-up and channel of the first, its line, and how many there are."""

    time_ns: int
    channel: int
    place: tuple[str, int]
    count: int
    lines: int

    def more(self) -> str:
        if self.count == 1:
            return ""
        where = "this line" if self.lines == 1 else f"{self.lines} lines"
        return f"; {self.count - 1:,} more, in {where}"


def print_rounded(sources: Callable, recording: Recording, database: DeviceDB):
    """Print a warning if digital outputs of a run were requested between the steps of their
    channels. `sources`: returns the origins of its outputs (`Device.sources`), asked for if needed.

    Outputs by drivers of cards are left out: their timing is part of the driver.
    """
    digital = database.channels_of("TTLOut") | database.channels_of("TTLInOut")
    coarse = _names(recording, digital, lambda channel: _is_coarse(channel, recording.origin_ns))
    found = _requests(sources, coarse, _user_line, lambda outputs: outputs["time_ns"] % STEP_NS != 0)
    if found is not None:
        _print(
            found,
            f"{coarse[found.channel]} changes in steps of {STEP_NS} ns: its output at "
            f"{format_duration(found.time_ns - recording.origin_ns)} was rounded down by {found.time_ns % STEP_NS} ns"
            f"{found.more()} (--no-rounding-warning hides this)",
        )


def print_undriven(sources: Callable, recording: Recording, database: DeviceDB):
    """Print a warning if a pin that stayed an input during a run was asked for pulses. `sources` as above."""
    inputs = _names(recording, database.channels_of("TTLInOut"), _is_undriven)
    found = _requests(sources, inputs, _line_of(RAISING))
    if found is not None and _requests(sources, {found.channel}, _line_of(DRIVING), address=DRIVEN) is None:
        name = inputs[found.channel]
        _print(
            found,
            f"{name} is an input: its output at {format_duration(found.time_ns - recording.origin_ns)} does not reach "
            f"the pin{found.more()} ({name}.output() before it makes {name} an output)",
        )


def _print(found: Requests, text: str):
    file, line = found.place
    print_notice(f"kairos: {Path(file).name}:{line}: {text}")


def _requests(
    sources: Callable, channels: Collection[int], place_of: Callable, select: Callable | None = None, address=LEVEL
) -> Requests | None:
    """Return the outputs at an address of these channels for which `place_of` returns a line, all frames of the request
    given; of those only which `select` finds, an array of them given."""
    if not channels:
        return None
    import numpy as np  # imported late: see kairos.waveform.changes

    known = sources()
    outputs = known.outputs
    outputs = outputs[np.isin(outputs["target"], [channel << 8 | address for channel in channels])]
    if select is not None:
        outputs = outputs[select(outputs)]
    # The same line often asks for many: its chains are looked up once.
    places: dict[int, tuple[str, int] | None] = {}
    first, count, lines = None, 0, set()
    for time_ns, target, chain in outputs[["time_ns", "target", "chain"]].tolist():
        if chain not in places:
            # Of an output that DMA plays, the line that recorded it.
            recorded = known.recorded(chain, whole=True)
            places[chain] = place_of(recorded or known.frames(chain, whole=True))
        if places[chain] is None:
            continue
        count += 1
        lines.add(places[chain])
        if first is None or time_ns < first[0]:
            first = time_ns, target >> 8, places[chain]
    return None if first is None else Requests(*first, count, len(lines))


def _names(recording: Recording, numbers: frozenset[int], which: Callable[[Channel], bool]) -> dict[int, str]:
    return {
        channel.number: channel.name
        for channel in recording.channels
        if channel.number in numbers and not channel.waves and which(channel)
    }


def _is_coarse(channel: Channel, origin_ns: int) -> bool:
    """Return whether the pin never changed between steps."""
    return not ((Changes.of(channel.changes).times + origin_ns) % STEP_NS).any()


def _is_undriven(channel: Channel) -> bool:
    return channel.initial is None and bool((Changes.of(channel.changes).levels == FLOATING).all())


def _user_line(frames) -> tuple[str, int] | None:
    """Return file and line of the user's request; None if a card's driver made it on its own."""
    for frame in frames:
        path = Path(frame.file)
        if path.parts[-2:] == ITS_DRIVER:
            continue
        return None if "coredevice" in path.parts else (frame.file, frame.line)
    return None


def _line_of(methods: set[str]) -> Callable:
    """Return what returns file and line of the user's call of one of these methods; None for another request."""

    def line(frames) -> tuple[str, int] | None:
        called = {frame.function.rpartition(".")[2] for frame in frames if Path(frame.file).parts[-2:] == ITS_DRIVER}
        return _user_line(frames) if called & methods else None

    return line
