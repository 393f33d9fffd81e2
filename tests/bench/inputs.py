"""What reading an input event costs the kernel core, in cycles of the gateware's clock."""

from tests.support.experiment import experiment

FEW, MANY = 24, 120
"""Reads of the two loops compared; the longer one includes giving room back, and events that waited
for it in the gateware."""


def input_read_cycles() -> float:
    """Cycles (8 ns) of one read in a kernel's loop, the event being there. The emulator must run."""
    reads = experiment("tests/bench/kernels.py", "InputReads")
    return (reads.read(MANY) - reads.read(FEW)) / (8 * (MANY - FEW))
