"""Any block, verilated, and run in lockstep: each cycle takes a row of inputs and returns a row of
outputs.

For blocks without handshake. Rows are NumPy records; a field's integers go to signals of at most 64
bits.
"""

import ctypes
from pathlib import Path

import numpy as np
from migen import *

from ..verilog import convert
from . import verilate
from .ports import TopLevel

__all__ = ["Lockstep", "build_lockstep"]

_TOP = "lockstep"
_IN_USE: dict[Path, str] = {}
"""The designs of this process's libraries, by their folders."""


def _row(signals):
    return np.dtype([(name, "u8" if isinstance(of, Signal) else ("u8", len(of))) for name, of in signals.items()])


def _flat(signals):
    return [s for of in signals.values() for s in ([of] if isinstance(of, Signal) else of)]


class _Top(TopLevel):
    def __init__(self, dut, inputs, outputs):
        super().__init__()
        self.submodules.dut = dut
        into = self.port("into", 64 * len(_flat(inputs)))
        self.comb += [signal.eq(into[64 * n : 64 * n + len(signal)]) for n, signal in enumerate(_flat(inputs))]
        signs = [Replicate(signal[-1] if signal.signed else C(0), 64 - len(signal)) for signal in _flat(outputs)]
        padded = [Cat(signal, sign) for signal, sign in zip(_flat(outputs), signs, strict=True)]
        self.outward(Cat(*padded), "out")


class Lockstep:
    """inputs, outputs: types of rows."""

    def __init__(self, path: Path, inputs, outputs):
        self._play = ctypes.CDLL(str(path)).lockstep_play
        self.inputs, self.outputs = inputs, outputs

    def play(self, rows) -> np.ndarray:
        """The row of outputs in each cycle of `rows`, from reset."""
        rows = np.ascontiguousarray(rows, self.inputs)
        out = np.zeros(len(rows), self.outputs)
        sizes = [len(rows), self.inputs.itemsize, self.outputs.itemsize]
        pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in [rows, out]]
        self._play(*pointers, *map(ctypes.c_uint64, sizes))
        return out


def build_lockstep(output: Path, dut, inputs, outputs) -> Lockstep:
    """Builds the library in the folder `output`, unless it is up to date. inputs, outputs: name to
    a signal of `dut`, or to a list of them; outputs that are signed are extended to 64 bits. Raises
    OSError; ValueError if another library of this folder is in use: a process would get that one again."""
    top = _Top(dut, inputs, outputs)
    converted = convert(top, top.ios, name=_TOP)
    source = converted.main_source
    with verilate.building_alone(output):
        for name, content in converted.data_files.items():
            (output / name).write_text(content)
            source = source.replace(f'"{name}"', f'"{(output / name).resolve()}"')
        (output / f"{_TOP}.v").write_text(source)
        if _IN_USE.setdefault(output.resolve(), source) != source:
            raise ValueError(f"{output}: a library of another design is in use, which needs a folder of its own")
        library = verilate.compile_library(output, _TOP, _TOP, [], shim="lockstep_shim.cpp")
    return Lockstep(library, _row(inputs), _row(outputs))
