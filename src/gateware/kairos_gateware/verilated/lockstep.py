"""Any block, verilated, and run in lockstep: each cycle takes a row of inputs and returns a row of
outputs.

For blocks without handshake. Rows are NumPy records; a field's integers go to signals of at most 64
bits.
"""

import ctypes
import shutil
from pathlib import Path
from tempfile import NamedTemporaryFile

import numpy as np
from migen import *

from ..verilog import convert
from . import verilate
from .ports import TopLevel

__all__ = ["Lockstep", "build_lockstep"]

_TOP = "lockstep"
_LOADED: dict[Path, str] = {}
"""The Verilog of the libraries that this process has loaded, by their files."""


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

    def __init__(self, library: ctypes.CDLL, inputs, outputs):
        self._play = library.lockstep_play
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
    OSError."""
    top = _Top(dut, inputs, outputs)
    converted = convert(top, top.ios, name=_TOP)
    source = converted.main_source
    with verilate.building_alone(output):
        for name, content in converted.data_files.items():
            (output / name).write_text(content)
            source = source.replace(f'"{name}"', f'"{(output / name).resolve()}"')
        (output / f"{_TOP}.v").write_text(source)
        library = verilate.compile_library(output, _TOP, _TOP, [], shim="lockstep_shim.cpp")
        return Lockstep(_load(library, source), _row(inputs), _row(outputs))


def _load(library: Path, source: str) -> ctypes.CDLL:
    """A process that loads a file again gets what it loaded first, whatever the file holds now: a library of another
    design, or of the same one with other names of signals, is loaded from a copy."""
    if _LOADED.setdefault(library.resolve(), source) == source:
        return ctypes.CDLL(str(library))
    with NamedTemporaryFile(suffix=library.suffix) as copy:
        shutil.copyfile(library, copy.name)
        return ctypes.CDLL(copy.name)
