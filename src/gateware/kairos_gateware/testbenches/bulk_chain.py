"""A chain of three boards, verilated, that copy to each other, with cuts and bit errors of their lines."""

from pathlib import Path
from random import Random

import numpy as np

from ..contracts.remote import COPY_DESCRIPTORS
from ..verilated.lockstep import Lockstep, build_lockstep
from .bulk import MEMORY_WORDS, BulkChain

__all__ = ["chain_engine", "contents", "play", "to"]
__all__ += ["FIRST", "HALF", "LAST", "LOWER", "NEAR", "QUARTER", "READY", "SOURCE", "UPPER"]

HALF, QUARTER = MEMORY_WORDS // 2, MEMORY_WORDS // 4
SOURCE = 2 * COPY_DESCRIPTORS
READY = HALF + 600
"""The cycle in which copies begin."""
FIRST, UPPER, LOWER, LAST = range(4)
"""Board 0, the two link ends of board 1, and board 2."""
NEAR = 1


def to(destination):
    """Flags of a descriptor for that board, with report of completion."""
    return 1 | (8 | destination) << 8


def chain_engine(output: Path) -> Lockstep:
    """The boards. Raises OSError."""
    dut = BulkChain()
    return build_lockstep(output, dut, dut.inputs, dut.outputs)


def contents(board):
    random = Random(board)
    return [random.getrandbits(64) for _ in range(HALF - SOURCE)]


def play(engine, copies, cycles, cuts=(), flips=0.0, clear=0, offering=1, posts=((0, COPY_DESCRIPTORS),)):
    """engine: of `BulkChain`, or of another bench with its ports. copies: by board, (word here, words, word there,
    flags). cuts: (line, from, to). flips: bit
    error probability. posts: (cycle, most copies of a board posted from then on). Returns the
    outputs, and the second halves of the memories."""
    rows = np.zeros(READY + cycles + HALF + 2, engine.inputs)
    rows["plugged"], rows["early"] = 1, 1
    middle = np.arange(500, READY + cycles)
    rows["offering"][500 : READY + cycles] = (offering & (middle % 300 < 60))[:, None]
    boards = rows["poke"].shape[1]
    for board in range(boards):
        words = []
        for here, count, there, flags in copies.get(board, []):
            words += [8 * here | 8 * count << 32, 8 * there | flags << 32]
        words += [0] * (SOURCE - len(words)) + contents(board)
        rows["poke"][: len(words), board] = 1
        rows["index"][: len(words), board] = np.arange(len(words))
        rows["value"][: len(words), board] = np.array(words, np.uint64)
        rows["index"][-HALF - 2 : -2, board] = np.arange(HALF, MEMORY_WORDS)
        for cycle, most in posts:
            rows["posted"][READY + cycle :, board] = min(most, len(copies.get(board, [])))
    for line, begin, end in cuts:
        rows["plugged"][READY + begin : READY + end, line] = 0
    if clear:
        rows["clear"][READY + clear] = 1
    random = np.random.default_rng(4)
    for board in range(boards):
        hits = random.random(cycles) < 64 * flips
        rows["flips"][READY : READY + cycles, board] = hits * (1 << random.integers(0, 64, cycles, np.uint64))
    shown = engine.play(rows)
    return shown, [[int(word) for word in shown["peek"][-HALF - 1 : -1, board]] for board in range(boards)]
