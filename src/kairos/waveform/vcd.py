"""Recordings as Value Change Dump files, for GTKWave and the like.

The file depends only on the recording (no dates, no versions): identical runs give identical files.
"""

import re
from collections.abc import Iterator

from ..files import replacing
from ..terminal_text import one_line
from .changes import FLOATING, Changes
from .recording import Channel, Recording
from .wave import Wave

__all__ = ["CLOCK_EDGES", "Names", "write_vcd"]

CLOCK_EDGES = 2_000_000
"""Maximum clock edges per file, about 30 MB. Clocks beyond that are left out."""
UNKNOWN = 2
"""Level of a clock whose edges are left out, besides 0, 1 and FLOATING."""
_TEXTS = {0: "0", 1: "1", FLOATING: "z", UNKNOWN: "x"}
_TOGETHER = 1 << 16
"""Changes formatted at once."""


class Names:
    """Names of the variables of a file: words of a line, each once in its scope. A device database
    may have any text as a name."""

    def __init__(self):
        self._used: set[tuple[str, str]] = set()

    def take(self, scope: str, name: str) -> str:
        """Return the variable's name for a device."""
        plain = re.sub(r"[^!-~\u00a1-\uffff]+", "_", one_line(re.sub(r"\s+", "_", name))) or "_"
        # A word with a dollar sign in front is a keyword.
        plain = re.sub(r"^(?=\$)", "_", plain)
        free, number = plain, 1
        while (scope, free) in self._used:
            number += 1
            free = f"{plain}_{number}"
        self._used.add((scope, free))
        return free


def _kept(recording: Recording) -> set[Wave]:
    """Return the waves whose edges are written: those with the fewest, up to the limit."""
    kept, room = set(), CLOCK_EDGES
    for wave in sorted((wave for channel in recording.channels for wave in channel.waves), key=lambda w: w.changes):
        if wave.changes <= room:
            kept.add(wave)
            room -= wave.changes
    return kept


def _changes(channel: Channel, kept: set[Wave]) -> Changes:
    """Return all changes in order; UNKNOWN while a clock without written edges runs."""
    import numpy as np  # imported late: it takes 0.15 s, in which a device boots

    times, levels = [], []
    for part, wave in channel.parts():
        changes = Changes.of(part)
        found = (changes.times, changes.levels)
        if wave in kept:
            clock = wave.edge_arrays()
        elif wave is not None:
            clock = [wave.time_of(0), wave.time_of(wave.changes - 1)], [UNKNOWN, wave.final]
        else:
            clock = [], []
        times += [found[0], clock[0]]
        levels += [found[1], clock[1]]
    return Changes(np.concatenate(times).astype(np.int64), np.concatenate(levels).astype(np.int8))


def _lines(changes: list[Changes], idents: list[str]) -> Iterator[str]:
    """Yield the lines of the changes after time 0, many at once: a time, then the channels that
    change at it, in their order."""
    import numpy as np  # imported late

    times = np.concatenate([own.times for own in changes] or [[]])
    levels = np.concatenate([own.levels for own in changes] or [[]])
    positions = np.repeat(np.arange(len(changes)), [len(own) for own in changes])
    order = np.lexsort((positions, times))
    order = order[times[order] > 0]
    times, codes = times[order], positions[order] * len(_TEXTS) + levels[order] - FLOATING
    begins = np.diff(times, prepend=0) != 0
    texts = [f"{_TEXTS[level]}{ident}\n" for ident in idents for level in sorted(_TEXTS)]
    words = np.array(texts or [""], dtype=bytes)
    words = words.view(np.uint8).reshape(len(words), -1)
    for start in range(0, len(times), _TOGETHER):
        some = slice(start, start + _TOGETHER)
        heads = _heads(times[some])
        heads[~begins[some]] = 0
        rows = np.concatenate((heads, words[codes[some]]), axis=1)
        yield rows[rows != 0].tobytes().decode("ascii")


def _heads(times):
    """Return the lines ``#TIME`` of times above 0, a row of characters for each, with zeros between them:
    formatting them one by one takes five times as long."""
    import numpy as np  # imported late

    rest = times.astype(np.uint64)
    rows = np.zeros((len(times), len(str(rest.max())) + 2), np.uint8)
    rows[:, 0], rows[:, -1] = ord("#"), ord("\n")
    for place in range(rows.shape[1] - 2, 0, -1):
        tens = rest // 10
        rows[:, place] = np.where(rest > 0, ord("0") + rest - 10 * tens, 0)
        rest = tens
    return rows


def write_vcd(path, recording: Recording) -> list[str]:
    """Write `recording` to the file `path`, with a timescale of 1 ns. Undriven pins are ``z``;
    boards are scopes.

    Clocks with too many edges for `CLOCK_EDGES` are ``x`` while they run. Returns one line per
    omitted clock; the lines are also the file's comment. UsageError if it cannot be written; an
    existing file then remains unchanged.
    """
    from vcd import VCDWriter  # imported late, because few runs need it: 9 ms

    kept, names, scopes = _kept(recording), Names(), recording.board_names()
    shown = [names.take(scopes[channel.board], channel.name) for channel in recording.channels]
    left_out = [
        f"{name} is x from {wave.time_of(0):,} to {wave.time_of(wave.changes - 1):,} ns: a clock of "
        f"{wave.frequency_hz / 1e6:.9g} MHz, whose {wave.changes:,} edges are too many for the file"
        for name, channel in zip(shown, recording.channels, strict=True)
        for wave in channel.waves
        if wave not in kept
    ]
    changes = [_changes(channel, kept) for channel in recording.channels]
    with replacing(path) as new, open(new, "w", encoding="utf-8", newline="\n") as file:
        with VCDWriter(file, timescale="1 ns", date="", version="Kairos", comment="; ".join(left_out)) as writer:
            idents = []
            for name, channel, own in zip(shown, recording.channels, changes, strict=True):
                at_zero = own.levels[own.times <= 0]
                level = int(at_zero[-1]) if len(at_zero) else FLOATING if channel.initial is None else channel.initial
                variable = writer.register_var(scopes[channel.board], name, "wire", size=1, init=_TEXTS[level])
                idents.append(variable.ident)
            # Only the head: the writer's own method for a change takes ten times as long.
            writer.flush()
            for lines in _lines(changes, idents):
                file.write(lines)
            # One additional nanosecond, so that viewers show the last change.
            writer.close(recording.duration_ns + 1)
    return left_out
