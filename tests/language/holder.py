"""What a kernel of a test has as `self`, where the test gives it functions and objects of its own."""

import numpy as np

from kairos.language import rpc

__all__ = ["Base", "program"]


class Base:
    def __init__(self, core):
        self.core = core
        self.told = []
        self.number = 7

    @rpc
    def tell(self, *values):
        self.told += [value.item() if isinstance(value, np.generic) else value for value in values]


def program(core, run, **attributes):
    """Runs the kernel `run` as a method of an object with these attributes; what it told."""
    holder = type("Holder", (Base,), {"run": run, **attributes})(core)
    holder.run()
    return holder.told
