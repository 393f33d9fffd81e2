"""Registers without function; for their use see src/contracts/registers.toml."""

from litex.soc.interconnect.csr import AutoCSR, CSRStorage
from migen import *

from ..csr import uses

__all__ = ["ScratchRegisters"]


class ScratchRegisters(Module, AutoCSR):
    """Keep the written value."""

    USES = uses("scratch")

    def __init__(self):
        self.word = CSRStorage(32, name="word")
        self.wide = CSRStorage(64, name="wide", atomic_write=True)
