"""Base of all programs: a core device, and `mark`, which records values of the program."""

import numpy

from kairos.language import rpc


def plain(value):
    """Converts a value to plain Python types, so that equal values have the same representation."""
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
        """Sets the attributes that the kernel uses."""

    @rpc(flags={"async"})
    def mark(self, *values):
        self.trace.append(plain(values))
