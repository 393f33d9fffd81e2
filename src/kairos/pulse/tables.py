"""Words that program tables, as lists whose differences a kernel finds, and the entries that they write."""

from collections.abc import Iterable, Iterator

import numpy

from ..contracts import pulse as facts
from ..contracts.pulse import Mode

__all__ = ["Entry", "in_order", "touching"]

Entry = tuple[int, Mode, int]
"""An entry of a table: channel, mode of the words that write it, address."""

_PARTS = facts.WORD_BYTES // 4
_SLOTS = {
    Mode.PROGRAM_MLUT: (facts.MLUT_SLOT_BITS, facts.MLUT_SLOT_ADDRESS_AT, facts.MLUT_ADDRESS_BITS),
    Mode.PROGRAM_GLUT: (facts.GLUT_SLOT_BITS, facts.GLUT_SLOT_ADDRESS_AT, facts.GLUT_ADDRESS_BITS),
}


def in_order(words: numpy.ndarray) -> numpy.ndarray:
    """Return words (bytes, 32 per row), each once, from the largest to the smallest without regard to their channels:
    segments, then the memory map, then gates, as they must be written."""
    words = numpy.unique(words, axis=0)
    parts = numpy.ascontiguousarray(words).view("<u4").copy()
    parts[:, _PARTS - 1] &= (1 << (facts.CHANNEL_MASK_AT % 32)) - 1
    return words[numpy.lexsort(parts.T)[::-1]]


def _field(word: int, at: int, bits: int) -> int:
    return word >> at & ((1 << bits) - 1)


def _entries(word: int) -> Iterator[Entry]:
    mode = Mode(_field(word, facts.MODE_AT, facts.MODE_BITS))
    addresses = [_field(word, facts.PLUT_ADDRESS_AT, facts.PLUT_ADDRESS_BITS)]
    if mode in _SLOTS:
        size, at, bits = _SLOTS[mode]
        count = _field(word, facts.PROGRAM_COUNT_AT, facts.PROGRAM_COUNT_BITS)
        addresses = [_field(word, size * slot + at, bits) for slot in range(count)]
    mask = _field(word, facts.CHANNEL_MASK_AT, facts.CHANNEL_MASK_BITS)
    for channel in range(facts.CHANNELS):
        if mask >> channel & 1:
            yield from ((channel, mode, address) for address in addresses)


def touching(words: numpy.ndarray, entries: Iterable[Entry]) -> numpy.ndarray:
    """Return for each of the words that program tables whether it writes one of these entries."""
    entries = set(entries)
    if not entries:
        return numpy.zeros(len(words), bool)
    numbers = (int.from_bytes(row.tobytes(), "little") for row in words)
    return numpy.array([not entries.isdisjoint(_entries(word)) for word in numbers], dtype=bool)
