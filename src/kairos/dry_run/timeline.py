"""The time cursor of host-run kernels: sequential and parallel blocks, and the events on the
timeline."""

from contextlib import contextmanager
from dataclasses import dataclass, field

from ..language import set_time_manager

__all__ = ["Timeline", "manager"]


@dataclass
class _Block:
    """A block of statements that start together (`parallel`) or one after another."""

    parallel: bool
    start: float
    end: float


@dataclass
class Timeline:
    """A time cursor in seconds, and the events recorded by devices: (time, device, method,
    arguments).

    As in kernels, the statements of ``with parallel`` start at the beginning of the block, which
    ends with the longest of them. Unlike in kernels, two calls in one such statement start
    together, too: put them into ``with sequential``.
    """

    ref_period: float = 1e-9
    """Machine unit in seconds."""
    events: list[tuple] = field(default_factory=list)

    def __post_init__(self):
        self._blocks = [_Block(False, 0.0, 0.0)]

    @property
    def now(self) -> float:
        """The cursor in seconds."""
        block = self._blocks[-1]
        return block.start if block.parallel else block.end

    def _enter(self, parallel: bool):
        self._blocks.append(_Block(parallel, self.now, self.now))

    def enter_sequential(self):
        """Begin a block whose statements run one after another."""
        self._enter(False)

    def enter_parallel(self):
        """Begin a block whose statements start together."""
        self._enter(True)

    def exit(self):
        """End the innermost block."""
        ended = self._blocks.pop()
        block = self._blocks[-1]
        block.end = max(block.end, ended.end) if block.parallel else ended.end

    def take_time(self, duration: float):
        """Advance the cursor by seconds."""
        block = self._blocks[-1]
        block.end = max(block.end, block.start + duration) if block.parallel else block.end + duration

    def take_time_mu(self, duration: int):
        """Advance the cursor by machine units."""
        self.take_time(duration * self.ref_period)

    def get_time_mu(self) -> int:
        """Return the cursor in machine units."""
        return round(self.now / self.ref_period)

    def set_time_mu(self, time: int):
        """Set the cursor, in machine units. The next statement of a parallel block starts at its
        beginning nevertheless."""
        block, seconds = self._blocks[-1], time * self.ref_period
        block.end = max(block.end, seconds) if block.parallel else seconds

    def event(self, device: str, method: str, *arguments):
        """Record an action of a device at the cursor."""
        self.events.append((self.now, device, method, arguments))

    def format_timeline(self) -> str:
        """Format the events in chronological order, one per line: seconds, device, operation."""
        lines = (
            f"{time:15.9f} s  {device}: {method}({', '.join(map(repr, arguments))})"
            for time, device, method, arguments in sorted(self.events, key=lambda event: event[0])
        )
        return "\n".join(lines)

    @contextmanager
    def running(self):
        """Use this timeline for host-run kernels."""
        set_time_manager(self)
        yield self


manager = Timeline()
"""The timeline of the devices in :mod:`kairos.dry_run.devices`."""
