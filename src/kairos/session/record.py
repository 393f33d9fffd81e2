"""What a device has been told in a session: kernels, and the answers to their calls. With the same inputs at
its pins, a device that is told the same takes the same branches.

A record is limited: what is beyond it is left out, and the record says so.
"""

import json
import lzma
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .. import resultfiles

__all__ = ["GROUP", "Record", "Step", "inputs_of", "unpacked"]

GROUP = "replay"
"""Name of the group in a run's file."""
MOST = 32 << 20
"""Bytes of kernels and answers that are kept."""
LONGEST = 1 << 28
"""Bytes of kernels with their debug information, which are several times as large: a file with more is damaged."""
LEVEL = 2
"""Of the compression: kernels that differ in some numbers take little more than one."""


@dataclass
class Step:
    """A kernel that was run."""

    kernel: int
    """Number of its library."""
    subkernels: list[tuple[int, int, int]]
    """Number, destination, and number of the library."""
    connects: bool
    """Whether the host has connected for it."""
    answers: list[bytes] = field(default_factory=list)
    """What the host has sent in answer to its calls, in order, as on the wire."""


class Record:
    """Records the kernels of a session."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.complete = True
        """Whether nothing is left out."""
        self.inputs: bytes | None = None
        """The analyzer's dump of the run, if inputs are recorded: what has come to the device otherwise."""
        self._libraries: dict[bytes, tuple[int, Callable[[], bytes]]] = {}
        self._size, self._connects = 0, False

    def connected(self) -> None:
        """Note that the host has connected."""
        self._connects = True

    def kernel(self, compiled: Any) -> None:
        """Note a kernel that is going to run, a `kairos.compiler.CompiledKernel`."""
        self._add(sum(len(one.library) for one in self._new(compiled)))
        if self.complete:
            subkernels = [(one.number, one.destination, self._number(one)) for one in compiled.subkernels]
            self.steps.append(Step(self._number(compiled), subkernels, self._connects))
            self._connects = False

    def answer(self, data: bytes) -> None:
        """Note an answer that was sent to the kernel that runs."""
        self._add(len(data))
        if self.complete:
            self.steps[-1].answers.append(data)

    @property
    def libraries(self) -> list[bytes]:
        """The libraries by number, with their debug information."""
        return [unstripped() for _, unstripped in self._libraries.values()]

    def packed(self) -> dict[str, Any]:
        """Return the values of the group `GROUP` of a run's file: `steps` (JSON), `libraries` and `answers`
        (one after the other, compressed as by ``xz``) with the length of each, `complete`, and `inputs` (compressed
        likewise), if they are recorded."""
        import numpy as np  # imported late: it takes 0.15 s, in which a device boots

        answers = [answer for step in self.steps for answer in step.answers]
        steps = [{**vars(step), "answers": len(step.answers)} for step in self.steps]
        found: dict[str, Any] = {"steps": json.dumps(steps), "complete": self.complete}

        def compressed(data: bytes) -> np.ndarray:
            return np.frombuffer(lzma.compress(data, preset=LEVEL), np.uint8)

        if self.inputs is not None:
            found["inputs"] = compressed(self.inputs)
        for name, parts in (("libraries", self.libraries), ("answers", answers)):
            found[name] = compressed(b"".join(parts))
            found[f"{name}_bytes"] = np.array([len(part) for part in parts], np.int64)
        return found

    def _new(self, compiled: Any) -> list:
        return [one for one in (compiled, *compiled.subkernels) if one.library not in self._libraries]

    def _number(self, one: Any) -> int:
        known = (len(self._libraries), lambda: one.unstripped)
        return self._libraries.setdefault(one.library, known)[0]

    def _add(self, size: int) -> None:
        self._size += size
        self.complete = self.complete and self._size <= MOST


def unpacked(group: Any) -> tuple[list[Step], list[bytes], bool]:
    """Return steps, libraries with debug information, and whether they are complete, of the group of a file.
    ValueError if it is damaged."""
    try:
        libraries, answers = (_parts(group, name) for name in ("libraries", "answers"))
        steps, following = [], iter(answers)
        for one in json.loads(resultfiles.text(group["steps"])):
            own = [next(following) for _ in range(one["answers"])]
            steps.append(Step(one["kernel"], [tuple(each) for each in one["subkernels"]], one["connects"], own))
        if not all(0 <= step.kernel < len(libraries) for step in steps):
            raise ValueError("a kernel is missing")
        return steps, libraries, bool(resultfiles.value(group["complete"]))
    except (AttributeError, KeyError, TypeError, StopIteration, RecursionError, lzma.LZMAError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from None


def inputs_of(group: Any) -> bytes | None:
    """Return the analyzer's dump in the group of a file; None if inputs were not recorded. ValueError if damaged."""
    try:
        return _decompressed(group["inputs"]) if "inputs" in group else None
    except lzma.LZMAError as error:
        raise ValueError(str(error)) from None


def _decompressed(dataset: Any) -> bytes:
    """Return the bytes that were compressed in a dataset. ValueError if a record cannot have as many."""
    decompressor = lzma.LZMADecompressor()
    whole = decompressor.decompress(resultfiles.value(dataset).tobytes(), max_length=LONGEST)
    if not decompressor.eof:
        raise ValueError("the record is damaged, or too large")
    return whole


def _parts(group: Any, name: str) -> list[bytes]:
    whole = _decompressed(group[name])
    parts, at = [], 0
    for length in resultfiles.value(group[f"{name}_bytes"]).tolist():
        if length < 0:
            raise ValueError(f"{name} have another length")
        parts.append(whole[at : at + length])
        at += length
    if at != len(whole):
        raise ValueError(f"{name} have another length")
    return parts
