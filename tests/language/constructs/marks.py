"""What every program has: a core device, and `mark`, which keeps what the program says."""

import numpy

from kairos.language import rpc


def plain(value):
    """A value as Python has it by itself, so that both sides say the same of equal values."""
    if isinstance(value, numpy.ndarray | numpy.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return type(value)(plain(element) for element in value)
    return bytes(value) if isinstance(value, bytearray) else value


class Marks:
    kernel_invariants = {"core"}

    def __init__(self, core):
        self.core = core
        self.trace = []
        self.build()

    def build(self):
        """What a program gives its kernel."""

    @rpc(flags={"async"})
    def mark(self, *values):
        self.trace.append(plain(values))
