"""Source lines from which the outputs of kernels originate.

The emulator records for each output the return addresses of the active functions in the kernel's
library; the library's debug information, kept by the compiler, maps them to lines.
"""

import os
from collections import OrderedDict
from functools import cached_property
from pathlib import Path

from ..contracts.library import FINGERPRINT, FINGERPRINT_BYTES

__all__ = ["UNKNOWN", "Kernels", "Sources", "is_own", "own"]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
KEPT = 256
"""Number of kernels whose lines are kept; a program may run any number of kernels."""
OUTPUT = [("time_ns", "<i8"), ("target", "<u4"), ("chain", "<u4"), ("submitted_ns", "<i8")]
"""An output in the emulator's file: due time since power-up, channel << 8 | address, number of its
chain, time of its submission since power-up (`UNKNOWN` for events of a DMA trace but the first)."""
UNKNOWN = -1
"""Time of a submission that is not known."""


class Kernels:
    """The newest kernels that a device has run: objects with ``library`` and ``symbolize``
    (`CompiledKernel`)."""

    def __init__(self):
        self._kept: OrderedDict[str, object] = OrderedDict()

    def add(self, compiled):
        """Add a kernel sent to the device, with its subkernels."""
        for one in (compiled, *compiled.subkernels):
            name = one.library[FINGERPRINT : FINGERPRINT + FINGERPRINT_BYTES].hex()
            self._kept[name] = one
            self._kept.move_to_end(name)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)

    def libraries(self) -> dict[str, bytes]:
        """Return the libraries with their debug information, by fingerprint."""
        return {name: compiled.unstripped for name, compiled in self._kept.items()}

    def frames(self, library: str | None, addresses, whole=False) -> tuple:
        """Return file, line and function of return addresses in the library with this fingerprint,
        innermost first: of user code, or else of the drivers, or of both if `whole`
        (`kairos.compiler.Frame`); none, if it is not known.
        """
        compiled = self._kept.get(library)
        frames = () if compiled is None else tuple(compiled.symbolize(list(addresses)))
        return frames if whole else own(frames)


class Sources:
    """The outputs of kernels, and their origins: the emulator's answer to ``sources``, with the
    file at `path`."""

    def __init__(self, reply: dict, path, kernels: Kernels):
        self._reply, self._kernels = reply, kernels
        self._bytes = Path(path).read_bytes()

    @cached_property
    def outputs(self):
        """Array with the fields of `OUTPUT`, grouped by board, in the order of submission."""
        import numpy as np  # imported late: it takes 0.15 s, in which a device boots

        return np.frombuffer(self._bytes, OUTPUT)

    def origin(self, chain: int) -> tuple:
        """Return the library and the addresses of this chain, for `Kernels.frames`."""
        library, addresses, _ = self._reply["chains"][chain]
        names = self._reply["libraries"]
        return names[library] if library < len(names) else None, addresses

    def frames(self, chain: int, whole=False) -> tuple:
        """Return the origin of the outputs of this chain, in the format of `Kernels.frames`."""
        return self._kernels.frames(*self.origin(chain), whole)

    def called_by(self, chain: int, names) -> bool:
        """Return whether a driver's method of one of these names is among the callers."""
        frames = self.frames(chain, whole=True)
        return any(frame.file.startswith(_PACKAGE) and frame.function.rpartition(".")[2] in names for frame in frames)

    def recorded(self, chain: int, whole=False) -> tuple | None:
        """Return where the events of a trace played by this chain were recorded, as `frames`; None:
        it plays none."""
        number = self._reply["chains"][chain][2]
        return None if number is None else self.frames(number, whole)


def own(frames) -> tuple:
    """Select the frames of user code, innermost first; all frames, if there are none."""
    return tuple(frame for frame in frames if is_own(frame.file)) or tuple(frames)


def is_own(file: str) -> bool:
    """Return whether a file is not one of Kairos itself."""
    return not file.startswith(_PACKAGE)
