"""The `self` of a test's kernel, for tests that provide their own functions and objects."""

import numpy as np

from kairos.language import rpc

__all__ = ["Base", "program"]


class Base:
    def __init__(self, core):
        self.core = core
        self.reported = []
        self.number = 7

    @rpc
    def report(self, *values):
        self.reported += [value.item() if isinstance(value, np.generic) else value for value in values]


def program(core, run, **attributes):
    """Runs the kernel `run` as a method of an object with these attributes; returns the values it reported."""
    holder = type("Holder", (Base,), {"run": run, **attributes})(core)
    holder.run()
    return holder.reported
