"""Cost of reading an input event for the kernel core, in cycles of the gateware's clock."""

from tests.support.experiment import experiment

FEW, MANY = 24, 120
"""Reads of the two loops compared; the longer one includes returning credit, and events that were
held back for it in the gateware."""


def input_read_cycles() -> float:
    """Return the cycles (8 ns) of one read of an available event in a kernel's loop. The emulator
    must be running."""
    reads = experiment("tests/bench/kernels.py", "InputReads")
    return (reads.read(MANY) - reads.read(FEW)) / (8 * (MANY - FEW))
