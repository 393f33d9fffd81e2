"""Measurement of the data paths between processors, memory and logic of a device, and evaluation of the samples."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy

from .. import _native
from ..contracts.paths import MESSAGE_MAX, SIZE_MAX, TOTAL_MAX, TRIALS_MAX, Path
from ..errors import ConnectionLost
from .management import Management, PathAbsent

__all__ = ["LABELS", "Path", "Series", "Spread", "measure", "plan"]

LABELS = {
    Path.REGISTER_WRITE: "GP0: write a register",
    Path.REGISTER_READ: "GP0: read a register",
    Path.REGISTER_HANDSHAKE: "GP0: write, read it back",
    Path.LINES_WRITE: "EMIO: write 32 lines",
    Path.LINES_READ: "EMIO: read 32 lines",
    Path.LINES_HANDSHAKE: "EMIO: write, read it back",
    Path.REQUEST: "event line and ACP: request, answer",
    Path.STREAM_FROM_MEMORY: "HP: logic reads memory",
    Path.STREAM_TO_MEMORY: "HP: logic writes memory",
    Path.COHERENT_FROM_MEMORY: "ACP: logic reads memory",
    Path.COHERENT_TO_MEMORY: "ACP: logic writes memory",
    Path.MESSAGE_TO_KERNEL: "message: comms to kernel core",
    Path.MESSAGE_TO_COMMS: "message: kernel to comms core",
    Path.COPY: "processor: memory to memory",
    Path.CLEAN: "processor: clean the caches",
}
"""Human-readable name of each path."""

_REGISTER_BYTES = 4
_REGISTERS = {Path.REGISTER_WRITE: 1, Path.REGISTER_READ: 1, Path.REGISTER_HANDSHAKE: 2} | {
    Path.LINES_WRITE: 1,
    Path.LINES_READ: 1,
    Path.LINES_HANDSHAKE: 2,
}
"""Words transferred per trial."""
_WORK = 1 << 20
"""Approximate total bytes of a series: a series with large sizes has fewer trials."""
_LEAST_TRIALS = 3


@dataclass(frozen=True)
class Spread:
    """Minimum, median and maximum of some numbers, and what 99 % of them do not exceed."""

    min: float
    median: float
    max: float
    percentile_99: float

    @classmethod
    def of(cls, numbers) -> "Spread":
        highest = numpy.percentile(numbers, 99, method="inverted_cdf")
        return cls(*map(float, (numpy.min(numbers), numpy.median(numbers), numpy.max(numbers), highest)))


@dataclass(frozen=True)
class Series:
    """Trials of one path with `size` bytes each, 0 where not applicable. `cycles`: processor cycles
    per trial; `first`, `last`: logic cycles to the first and last beat, where it counts them.
    Clocks in Hz.
    """

    path: Path
    size: int
    processor_hz: int
    logic_hz: int
    cycles: numpy.ndarray
    first: numpy.ndarray
    last: numpy.ndarray

    @classmethod
    def read(cls, path: Path, size: int, content: bytes) -> "Series":
        """Decode the content of a reply; ConnectionLost if it is invalid."""
        try:
            processor, logic, samples = _native.wire.read_measurement(content)
        except ValueError as invalid:
            raise ConnectionLost(f"the device sent {invalid}") from None
        return cls(path, size, processor, logic, *numpy.array(samples, numpy.uint32).T)

    @property
    def counted(self) -> bool:
        """Whether the logic has counted its own cycles."""
        return bool(self.last.any())

    @property
    def bytes(self) -> int:
        """Bytes transferred per trial; 0 for a request, which transfers no data."""
        return self.size or _REGISTER_BYTES * _REGISTERS.get(self.path, 0)

    def time_ns(self) -> Spread:
        """Time from before the first instruction to after the last."""
        return Spread.of(self.cycles * (1e9 / self.processor_hz))

    def throughput(self) -> Spread | None:
        """Bytes divided by that time, in 10^6 bytes per second."""
        if not self.bytes:
            return None
        return Spread.of(self.bytes * self.processor_hz / 1e6 / numpy.maximum(self.cycles, 1))

    def logic_ns(self) -> tuple[Spread, Spread] | None:
        """Times counted by the logic: to the first beat (the first response to a write), and to the
        last."""
        if not self.counted or not self.logic_hz:
            return None
        first, last = (Spread.of(cycles * (1e9 / self.logic_hz)) for cycles in (self.first, self.last))
        return first, last

    def as_json(self) -> dict:
        """Return the numbers by name."""
        found = {"path": self.path.name.lower(), "size": self.size, "trials": len(self.cycles)}
        parts = {"time_ns": self.time_ns(), "throughput_mb_s": self.throughput()}
        if (counted := self.logic_ns()) is not None:
            parts |= {"logic_first_ns": counted[0], "logic_last_ns": counted[1]}
        return found | {name: vars(part) for name, part in parts.items() if part is not None}


def _sizes(path: Path) -> list[int]:
    if path in _REGISTERS or path == Path.REQUEST:
        return [0]
    if path in (Path.MESSAGE_TO_KERNEL, Path.MESSAGE_TO_COMMS):
        return [1 << n for n in range(3, MESSAGE_MAX.bit_length())]
    return [1 << n for n in range(5, SIZE_MAX.bit_length())]


def plan(paths, trials: int) -> Iterator[tuple[Path, int, int]]:
    """Yield (path, size, trials) of the measurements: each path with all its sizes, large ones with
    fewer trials."""
    for path in paths:
        for size in _sizes(path):
            often = min(trials, TRIALS_MAX)
            if size:
                often = min(max(_LEAST_TRIALS, min(often, _WORK // size)), trials, TOTAL_MAX // size)
            yield path, size, often


def measure(management: Management, paths, trials: int, report=lambda series: None) -> tuple[list[Series], list[Path]]:
    """Measure these paths; returns the series, and the paths that the device does not have. `report`
    is called with each series.

    ManagementError if the device refuses: a kernel is running, or may start.
    """
    found: list[Series] = []
    absent: list[Path] = []
    for path, size, often in plan(paths, trials):
        if path in absent:
            continue
        try:
            found.append(Series.read(path, size, management.measure(path, size, often)))
        except PathAbsent:
            absent.append(path)
        else:
            report(found[-1])
    return found, absent
