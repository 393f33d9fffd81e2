"""Lanes of the lines of the source from which a run's outputs come: one for each line, with a mark for each output."""

import linecache
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from .lanes import Lane, Marks

__all__ = ["lanes_of_source"]

LONGEST = 60
"""Characters of a line of the source that a lane's name has."""


def lanes_of_source(outputs, places: Callable, origin_ns: int, names: dict[int, str]) -> Iterator[Lane]:
    """Lanes file by file, in the order of the lines.

    outputs: array with the fields `time_ns` since power-up, `target` (channel << 8 | address) and `chain`. places: of
    the number of a chain, the frames of the user's code, innermost first. origin_ns: the page's time 0.
    names: of channels.
    """
    order = np.argsort(outputs["time_ns"], kind="stable")
    times = outputs["time_ns"][order] - origin_ns
    # What differs in text, numbered: a few for each line, however many outputs there are.
    kinds = outputs["chain"][order].astype(np.int64) << 32 | outputs["target"][order] >> 8
    found, which = np.unique(kinds, return_inverse=True)
    lines: dict[tuple[str, int], list[int]] = {}
    texts = []
    for number, kind in enumerate(found):
        frames = places(int(kind) >> 32)
        channel = int(kind) & 0xFFFFFFFF
        texts.append(_text(names.get(channel, f"channel {channel}"), frames))
        if frames:
            lines.setdefault((frames[0].file, frames[0].line), []).append(number)
    for (file, line), numbers in sorted(lines.items()):
        own = np.isin(which, numbers)
        text = linecache.getline(file, line).strip()
        name = f"{line}: {text if len(text) <= LONGEST else text[: LONGEST - 1] + '…'}"
        yield Marks(name, ("source", Path(file).name), times[own], [texts[number] for number in which[own]])


def _text(channel: str, frames) -> str:
    """What an output is told as: its channel, and the calls around its line."""
    around = [f"{Path(frame.file).name}:{frame.line}" for frame in frames[1:]]
    return " ← ".join([channel, *around])
