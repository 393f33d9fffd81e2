"""Source lines from which the outputs of kernels originate.

The emulator notes for each output the addresses in the kernel's library to which the functions
under way return; the library's debug information, which the compiler keeps, says which lines those
are.
"""

import os
from collections import OrderedDict
from functools import cached_property
from pathlib import Path

from ..contracts.library import FINGERPRINT, FINGERPRINT_BYTES

__all__ = ["Kernels", "Sources"]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
KEPT = 256
"""Kernels whose lines can be told; a program may run any number of them."""
OUTPUT = [("time_ns", "<i8"), ("target", "<u4"), ("chain", "<u4")]
"""An output in the emulator's file: when it is due since power-up, channel << 8 | address, number of its chain."""


class Kernels:
    """The newest kernels that a device has run: objects with ``library`` and ``symbolize`` (`CompiledKernel`)."""

    def __init__(self):
        self._kept: OrderedDict[str, object] = OrderedDict()

    def add(self, compiled):
        """A kernel is sent to the device, with its subkernels."""
        for one in (compiled, *compiled.subkernels):
            name = one.library[FINGERPRINT : FINGERPRINT + FINGERPRINT_BYTES].hex()
            self._kept[name] = one
            self._kept.move_to_end(name)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)

    def frames(self, library: str | None, addresses) -> tuple:
        """File, line and function of return addresses in the library of this fingerprint, innermost
        first: of the user's code, or where there is none of the drivers' (`kairos.compiler.Frame`);
        none, if it is not known."""
        compiled = self._kept.get(library)
        return () if compiled is None else own(compiled.symbolize(list(addresses)))


class Sources:
    """The outputs of kernels, and where they come from: the answer of an emulator to ``sources``,
    with the file at `path`."""

    def __init__(self, reply: dict, path, kernels: Kernels):
        self._reply, self._kernels = reply, kernels
        self._bytes = Path(path).read_bytes()

    @cached_property
    def outputs(self):
        """An array with the fields `time_ns`, `target` and `chain`, board by board, in the order in
        which they were submitted."""
        import numpy as np  # not at the head: it takes 0.15 s, in which a device boots

        return np.frombuffer(self._bytes, OUTPUT)

    def frames(self, chain: int) -> tuple:
        """Where the outputs of this chain come from, as `Kernels.frames` has it."""
        library, addresses, _ = self._reply["chains"][chain]
        names = self._reply["libraries"]
        return self._kernels.frames(names[library] if library < len(names) else None, addresses)

    def recorded(self, chain: int) -> tuple | None:
        """Where the events of a trace that this chain plays were recorded, as `frames`; None: it plays none."""
        number = self._reply["chains"][chain][2]
        return None if number is None else self.frames(number)


def own(frames) -> tuple:
    """Of frames, innermost first: those of the user's code; all of them, if there is none."""
    return tuple(frame for frame in frames if not frame.file.startswith(_PACKAGE)) or tuple(frames)
