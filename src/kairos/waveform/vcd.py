"""Recordings as Value Change Dump files, for GTKWave and the like.

The file depends only on the recording (no dates, no versions): identical runs give identical files.
"""

from collections.abc import Iterator
from heapq import merge

from ..files import replacing
from .recording import Channel, Recording
from .wave import Wave

__all__ = ["CLOCK_EDGES", "write_vcd"]

CLOCK_EDGES = 2_000_000
"""Maximum clock edges per file, about 30 MB. Clocks beyond that are left out."""


def _kept(recording: Recording) -> set[Wave]:
    """Return the waves whose edges are written: those with the fewest, up to the limit."""
    kept, room = set(), CLOCK_EDGES
    for wave in sorted((wave for channel in recording.channels for wave in channel.waves), key=lambda w: w.changes):
        if wave.changes <= room:
            kept.add(wave)
            room -= wave.changes
    return kept


def _changes(position: int, channel: Channel, kept: set[Wave]) -> Iterator[tuple[int, int, int | str | None]]:
    """Yield (time, position, level) of all changes; x while a clock without written edges runs."""
    for changes, wave in channel.parts():
        for time, level in changes:
            yield time, position, level
        if wave in kept:
            for time, level in wave.edges():
                yield time, position, level
        elif wave is not None:
            yield wave.time_of(0), position, "x"
            yield wave.time_of(wave.changes - 1), position, wave.final


def write_vcd(path, recording: Recording, title: str | None = None) -> list[str]:
    """Write `recording` to the file `path`, with a timescale of 1 ns. Undriven pins are ``z``;
    boards are scopes.

    Clocks with too many edges for `CLOCK_EDGES` are ``x`` while they run. Returns one line per
    omitted clock; the lines are also the file's comment. UsageError if it cannot be written; an
    existing file then remains unchanged.
    """
    from vcd import VCDWriter  # imported late, because few runs need it: 9 ms

    def value(level):
        return "z" if level is None else level

    kept = _kept(recording)
    left_out = [
        f"{channel.name} is x from {wave.time_of(0):,} to {wave.time_of(wave.changes - 1):,} ns: a clock of "
        f"{wave.frequency_hz / 1e6:.9g} MHz, whose {wave.changes:,} edges are too many for the file"
        for channel in recording.channels
        for wave in channel.waves
        if wave not in kept
    ]
    with replacing(path) as new, open(new, "w", encoding="ascii", newline="\n") as file:
        with VCDWriter(file, timescale="1 ns", date="", version="Kairos", comment="; ".join(left_out)) as writer:
            scopes = recording.board_names()
            variables = []
            for channel in recording.channels:
                scope, initial = scopes[channel.board], value(channel.initial)
                variables.append(writer.register_var(scope, channel.name, "wire", size=1, init=initial))
            streams = [_changes(position, channel, kept) for position, channel in enumerate(recording.channels)]
            for time, position, level in merge(*streams, key=lambda change: change[:2]):
                writer.change(variables[position], time, value(level))
            # One additional nanosecond, so that viewers show the last change.
            writer.close(recording.duration_ns + 1)
    return left_out
