"""Remote memory: cycles of a store, and the effect of early answers.

`python -m kairos_gateware.figures.remote PATH` draws the time of transfers over their size.
"""

import sys
from pathlib import Path

import numpy as np

from ..link.line.reliable import Reliability
from ..testbenches.remote import PointerPair, RemotePair
from ..verilated.lockstep import Lockstep, build_lockstep
from .early import draw_early
from .place import root

__all__ = ["DELAY", "pointer_cycles", "pointer_engine", "remote_engine", "round_trip_cycles", "transfer_cycles"]

DELAY = 20
"""Cycles that a word is in flight."""
_UP = 600
_IN = "offer write address data strobes tag early blocking writable plugged stall hold"
_OUT = "accepted failed failed_address failed_status idle refused repeated stale full"


def remote_engine(output: Path, reliable: bool) -> Lockstep:
    """Two verilated boards, one with a memory. reliable: their words are protected by frames.
    Raises OSError."""
    dut = RemotePair(DELAY, Reliability() if reliable else None)
    outputs = {name: getattr(dut.initiator if name.startswith("failed_") else dut, name) for name in _OUT.split()}
    outputs |= {f"answer_{name}": getattr(dut.answer, name) for name in ("valid", "tag", "status", "data")}
    return build_lockstep(output, dut, {name: getattr(dut, name) for name in _IN.split()}, outputs)


def _stores(engine, count, early, cycles):
    """Outputs while words are stored one after the other, each when the previous one was
    answered."""
    rows = np.zeros(cycles, engine.inputs)
    for name, value in [("plugged", 1), ("writable", 1), ("early", early), ("blocking", 1), ("strobes", 255)]:
        rows[name] = value
    at = slice(_UP, _UP + count)
    rows["offer"][at] = rows["write"][at] = 1
    rows["address"][at] = np.arange(count) % 128
    shown = engine.play(rows)
    if shown["failed"].any() or shown["repeated"][-1] or not shown["idle"][-1]:
        raise ValueError("stores failed")
    return shown


def round_trip_cycles(engine: Lockstep) -> int:
    """From the acceptance of a store to its answer, excluding the line's delays and the memory's
    cycle."""
    shown = _stores(engine, 1, 0, 2 * _UP)
    return int(np.flatnonzero(shown["answer_valid"])[0] - np.flatnonzero(shown["accepted"])[0]) - 2 * DELAY - 1


def transfer_cycles(engine: Lockstep, words: int, early: bool) -> int:
    """From the first store of so many to the one after which all are in the other board's memory,
    for a requester that waits for each answer."""
    shown = _stores(engine, words, early, 3 * _UP + 120 * words)
    began = np.flatnonzero(shown["accepted"])[0]
    return int(np.flatnonzero(shown["idle"][began:] == 0)[-1] + 1)


def pointer_engine(output: Path) -> Lockstep:
    """The same boards, whose words are protected by frames, with a window in the first. Raises
    OSError."""
    dut = PointerPair(DELAY, Reliability())
    inputs = {name: getattr(dut, name) for name in "offer address data posted writable plugged".split()}
    outputs = {name: getattr(dut, name) for name in "taken failed repeated idle".split()}
    return build_lockstep(output, dut, inputs, outputs)


def pointer_cycles(engine: Lockstep, words: int, posted: bool) -> int:
    """From the first of so many stores of 32 bits through a pointer, one word after the other, to the
    cycle after which all are in the other board's memory."""
    rows = np.zeros(3 * _UP + 120 * words, engine.inputs)
    for name, value in [("plugged", 1), ("writable", 1), ("posted", posted)]:
        rows[name] = value
    at = slice(_UP, _UP + words)
    rows["offer"][at] = 1
    rows["address"][at] = rows["data"][at] = 4 * np.arange(words)
    shown = engine.play(rows)
    if shown["failed"].any() or shown["repeated"][-1] or not shown["idle"][-1]:
        raise ValueError("stores failed")
    began = np.flatnonzero(shown["taken"])[0]
    return int(np.flatnonzero(shown["idle"][began:] == 0)[-1] + 1)


def draw(path: Path, engine: Lockstep) -> None:
    """Time of transfers over their size, with early answers and without."""
    sizes = [2**n for n in range(11)]

    def duration(words: int, early: bool) -> float:
        return transfer_cycles(engine, words, early)

    draw_early(path, sizes, duration, DELAY, "bytes stored, 8 at a time", "cycles until all are there")


def main(path: str) -> None:
    draw(Path(path), remote_engine(root() / "remote_bench", reliable=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
