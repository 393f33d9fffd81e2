"""Outputs that the hardware rounds: on a channel with steps of 8 ns, a pulse of 20 ns lasts 16 ns.

A run on an emulated device reports this once, with the first line that asks for such an output.
"""

from pathlib import Path

from ..devices import DeviceDB
from ..waveform import Changes, Recording
from ..waveform.table import format_duration
from .printed import print_notice

__all__ = ["print_rounded"]

STEP_NS = 8
"""A coarse cycle, the resolution of an output that is not serialised."""
LEVEL = 0
"""RTIO address of an output's level."""
ITS_DRIVER = ("coredevice", "ttl.py")


def print_rounded(device, recording: Recording, database: DeviceDB):
    """Print a warning if digital outputs of the run on `device` were requested between the steps
    of their channels.

    Outputs by drivers of cards are left out: their timing is part of the driver.
    """
    coarse = _coarse(recording, database)
    if not coarse:
        return
    sources = device.sources()
    outputs = sources.outputs
    between = outputs[(outputs["target"] & 0xFF == LEVEL) & (outputs["time_ns"] % STEP_NS != 0)]
    # The same line often asks for many: its chains are looked up once.
    places: dict[int, tuple[str, int] | None] = {}
    first, count, lines = None, 0, set()
    for time_ns, target, chain in between[["time_ns", "target", "chain"]].tolist():
        if target >> 8 not in coarse:
            continue
        if chain not in places:
            # Of an output that DMA plays, the line that recorded it.
            recorded = sources.recorded(chain, whole=True)
            places[chain] = _user_line(recorded or sources.frames(chain, whole=True))
        if places[chain] is None:
            continue
        count += 1
        lines.add(places[chain])
        if first is None or time_ns < first[0]:
            first = time_ns, coarse[target >> 8], places[chain]
    if first is None:
        return
    time_ns, name, (file, line) = first
    more = f"; {count - 1:,} more, in {len(lines)} lines" if count > 1 else ""
    print_notice(
        f"kairos: {Path(file).name}:{line}: {name} changes in steps of {STEP_NS} ns: its output at "
        f"{format_duration(time_ns - recording.origin_ns)} was rounded down by {time_ns % STEP_NS} ns{more} "
        "(--no-rounding-warning hides this)".replace("in 1 lines", "in this line")
    )


def _coarse(recording: Recording, database: DeviceDB) -> dict[int, str]:
    """Return the digital outputs, as channel and name, whose pins never changed between steps."""
    outputs = database.channels_of("TTLOut") | database.channels_of("TTLInOut")
    return {
        channel.number: channel.name
        for channel in recording.channels
        if channel.number in outputs
        and not ((Changes.of(channel.changes).times + recording.origin_ns) % STEP_NS).any()
        and not channel.waves
    }


def _user_line(frames) -> tuple[str, int] | None:
    """Return file and line of the user's request; None if a card's driver made it on its own."""
    for frame in frames:
        path = Path(frame.file)
        if path.parts[-2:] == ITS_DRIVER:
            continue
        return None if "coredevice" in path.parts else (frame.file, frame.line)
    return None
