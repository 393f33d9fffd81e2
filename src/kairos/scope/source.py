"""Lanes of the source lines that produce a run's outputs: one lane per line, with a mark for each
output.

Outputs played by DMA come from two lines, the recording and the playing one, and appear in both
lanes.
"""

import linecache
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..emulator.sources import Sources
from .lanes import Lane, Marks

__all__ = ["lanes_of_source"]

LONGEST = 60
"""Maximum number of characters of a source line in a lane's name."""


def lanes_of_source(sources: Sources, origin_ns: int, names: dict[int, str]) -> Iterator[Lane]:
    """Yield the lanes file by file, in the order of the lines.

    origin_ns: the page's time 0, since power-up. names: of RTIO channels.
    """
    outputs = sources.outputs
    order = np.argsort(outputs["time_ns"], kind="stable")
    times = outputs["time_ns"][order] - origin_ns
    # Distinct texts are numbered: a few per line, regardless of the number of outputs.
    kinds = outputs["chain"][order].astype(np.int64) << 32 | outputs["target"][order] >> 8
    # Most outputs are of the same kind as the one before, so that there is little to sort.
    begins = np.flatnonzero(np.diff(kinds, prepend=-1))
    found, which = np.unique(kinds[begins], return_inverse=True)
    which = np.repeat(which, np.diff(begins, append=len(kinds)))
    lines: dict[tuple[str, int], dict[int, str]] = {}
    for number, kind in enumerate(found):
        chain, channel = int(kind) >> 32, int(kind) & 0xFFFFFFFF
        name = names.get(channel, f"channel {channel}")
        frames, recorded = sources.frames(chain), sources.recorded(chain)
        # If one line does both, the later assignment wins.
        for own, other, does in ((recorded, frames, "played"), (frames, recorded, "recorded")):
            if own:
                text = _text(name, own) + (f", {does} at {_place(other[0])}" if other else "")
                lines.setdefault((own[0].file, own[0].line), {})[number] = text
    for (file, line), texts in sorted(lines.items()):
        numbers = np.array(sorted(texts))
        own = np.isin(which, numbers)
        text = linecache.getline(file, line).strip()
        name = f"{line}: {text if len(text) <= LONGEST else text[: LONGEST - 1] + '…'}"
        place = np.searchsorted(numbers, which[own])
        shown = [texts[number] for number in numbers.tolist()]
        yield Marks(name, ("source", Path(file).name), times[own], shown, place)


def _text(channel: str, frames) -> str:
    """Describe an output: its channel, and the calls around its line."""
    return " ← ".join([channel, *map(_place, frames[1:])])


def _place(frame) -> str:
    return f"{Path(frame.file).name}:{frame.line}"
