"""Bulk transfers: the share of the line used by their data, and the effect of early answers.

`python -m kairos_gateware.figures.bulk PATH` draws the time of transfers over their size.
"""

import sys
from pathlib import Path

import numpy as np

from ..contracts.remote import COPY_DESCRIPTORS
from ..testbenches import bulk_chain
from ..testbenches.bulk import MEMORY_WORDS, BulkPair
from ..verilated.lockstep import Lockstep, build_lockstep
from .early import draw_early
from .place import root

__all__ = ["DELAY", "bulk_engine", "lost_copies", "throughput_share", "transfer_cycles"]

DELAY = 125
"""Cycles that a word is in flight: 1 µs."""
_UP = 3000
_HALF = MEMORY_WORDS // 2
_LONGEST = 1920
"""Words of a descriptor: whole packets that fit after the ring."""


def bulk_engine(output: Path, coded: bool = False, traffic: bool = False, delay: int = 20) -> Lockstep:
    """Two verilated boards. coded: with line coders, one cycle per 64 bits of the line; traffic:
    other streams are busy. Raises OSError."""
    dut = BulkPair(delay, coded, traffic)
    return build_lockstep(output, dut, dut.inputs, dut.outputs)


def lost_copies(engine: Lockstep, rate: float, count: int) -> int:
    """Of so many copies of 1,900 words through a board, those that fail at this bit error rate of both lines.
    engine: of `bulk_chain`."""
    copies = [(bulk_chain.SOURCE, 1900, bulk_chain.HALF, bulk_chain.to(2))] * count
    shown, memories = bulk_chain.play(engine, {bulk_chain.FIRST: copies}, 12_000 * count, flips=rate)
    if memories[bulk_chain.LAST][:1900] != bulk_chain.contents(bulk_chain.FIRST)[:1900]:
        raise ValueError("a copy is not like its source")
    return count - int(shown["completed"][-1, bulk_chain.FIRST])


def _copied(engine, words, count, early, cycles):
    """Outputs while a board copies so many words so often; it begins in cycle `_UP`."""
    rows = np.zeros(_UP + cycles, engine.inputs)
    rows["plugged"] = 1
    rows["early"] = early
    source = 2 * COPY_DESCRIPTORS
    descriptor = [8 * source | 8 * words << 32, 8 * _HALF | 1 << 32] * COPY_DESCRIPTORS
    rows["poke"][: len(descriptor), 0] = 1
    rows["index"][: len(descriptor), 0] = np.arange(len(descriptor))
    rows["value"][: len(descriptor), 0] = descriptor
    rows["posted"][_UP:, 0] = count
    shown = engine.play(rows)
    if not shown["up"][_UP].all() or shown["halted"].any() or shown["completed"][-1, 0] != count:
        raise ValueError("the transfer failed")
    return shown["completed"][:, 0]


def throughput_share(engine: Lockstep) -> float:
    """Data bits per bit of the line while one board copies to the other in packets of 512 bytes,
    without pauses of memory or line."""
    count = 40
    completed = _copied(engine, _LONGEST, count, 1, count * _LONGEST * 5 // 4)
    first, last = [int(np.argmax(completed == n)) for n in (10, count)]
    return (count - 10) * _LONGEST / (last - first)


def transfer_cycles(engine: Lockstep, words: int, early: bool) -> int:
    """From the posting of a descriptor to its completion."""
    packets = -(-words // 64)
    completed = _copied(engine, words, 1, early, 2000 + packets * 600)
    return int(np.argmax(completed == 1)) - _UP


def draw(path: Path, engine: Lockstep) -> None:
    """Time of transfers over their size, with early answers and without."""
    sizes = sorted({*[2**n for n in range(11)], 1408, _LONGEST})

    def duration(words: int, early: bool) -> float:
        return 8 * transfer_cycles(engine, words, early) / 1000

    draw_early(
        path,
        sizes,
        duration,
        DELAY,
        "bytes copied, in packets of 512 at most",
        "µs from posting to completion, at 125 MHz",
    )


def main(path: str) -> None:
    draw(Path(path), bulk_engine(root() / "figures_bulk", coded=True, delay=DELAY))


if __name__ == "__main__":
    main(*sys.argv[1:])
