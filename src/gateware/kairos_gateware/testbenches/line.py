"""Two endpoints of the link, verilated, and the line between them, which carries words and behaves
like a real line.

The line is in `line_shim.cpp`, its parameters are a `Line`; one call transfers millions of
words.
"""

import ctypes
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from migen import *

from ..link.line.reliable import Reliability
from ..verilated import verilate
from ..verilated.ports import TopLevel
from ..verilog import convert
from .link import STREAMS, StreamTraffic

__all__ = ["Line", "LineBench", "Played", "build_line"]

_TOP = "line_bench"


@dataclass(frozen=True)
class Line:
    """One direction. Cycles: `delay` of a word, which varies by `drift` with a period of twice
    `drift_period`; each `pause_every`th cycle takes no word (0: all do). Rates: `bit_errors` per
    bit; `bursts` per cycle, of 2 to `burst_bits` (at most 64) bits of which the first and the last
    are wrong; `drops` of words, which vanish; `unplugs` per cycle, which lose everything for
    `unplugged` cycles, in both directions at once as given by the first one. `seed` determines all
    of these."""

    seed: int = 1
    delay: int = 20
    drift: int = 0
    drift_period: int = 0
    bit_errors: float = 0.0
    bursts: float = 0.0
    burst_bits: int = 64
    drops: float = 0.0
    unplugs: float = 0.0
    unplugged: int = 0
    pause_every: int = 33


class _Parameters(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_double if kind in (float, "float") else ctypes.c_uint64)
        for name, kind in Line.__annotations__.items()
    ]


_COUNTS = ["up", "ended", "corrected", "broken", "dropped", "retransmitted", "gaps", "wrong"]
_ROW = np.dtype(
    [(name, "u4") for name in _COUNTS] + [("sent", "u4", len(STREAMS)), ("received", "u4", len(STREAMS))],
)


class LineBench(TopLevel):
    """Both ends between ports. An end outputs a row of words of 32 bits: `up`, the number of link
    failures, words by outcome, and the counts of `StreamTraffic`."""

    def __init__(self, reliability):
        super().__init__()
        ends = [StreamTraffic(seed, reliability=reliability) for seed in (1, 2)]
        self.submodules += ends
        offering = self.port("offering")
        out_ready, into_valid = self.port("out_ready", 2), self.port("into_valid", 2)
        shown = []
        for n, end in enumerate(ends):
            transport = end.endpoint.transport
            self.comb += [
                end.offering.eq(offering),
                transport.out.ready.eq(out_ready[n]),
                transport.into.valid.eq(into_valid[n]),
            ]
            self.inward(transport.into.word, f"into_word_{n}")
            self.outward(transport.out.word, f"out_word_{n}")
            counted = [transport.ended, transport.corrected, transport.broken, transport.dropped, transport.repeated]
            row = [Cat(transport.up, C(0, 31)), *map(self._count, counted), end.gaps, end.wrong]
            shown += [*row, *end.sent, *end.received]
        self.outward(Cat(*[end.endpoint.out.valid for end in ends]), "out_valid")
        self.outward(Cat(*shown), "shown")

    def _count(self, pulse):
        count = Signal(32)
        self.sync += count.eq(count + pulse)
        return count


@dataclass
class Played:
    """words: transferred, both directions together. ends: outputs of each end at rest, by name."""

    words: int
    cycles: int
    unplugs: int
    ends: np.ndarray


class Ends:
    """The library at `path`. Each `play` is a new instance."""

    def __init__(self, path: Path):
        self._play = ctypes.CDLL(str(path)).line_play

    def play(self, words: int, there: Line, back: Line | None = None, settle: int = 100_000) -> Played:
        """Full load on all streams for so many words, then `settle` cycles without load, plugged
        in."""
        counts, shown = (ctypes.c_uint64 * 3)(), np.zeros(2, _ROW)
        lines = [_Parameters(**asdict(line)) for line in (there, back or there)]
        self._play(
            *map(ctypes.byref, lines),
            ctypes.c_uint64(words),
            ctypes.c_uint64(settle),
            counts,
            shown.ctypes.data_as(ctypes.c_void_p),
            ctypes.c_uint64(shown.nbytes),
        )
        return Played(*counts, shown)


def build_line(output: Path, reliability: Reliability) -> Ends:
    """Builds the library in the folder `output`, unless it is up to date. Raises OSError."""
    bench = LineBench(reliability)
    with verilate.building_alone(output):
        (output / f"{_TOP}.v").write_text(convert(bench, bench.ios, name=_TOP).main_source)
        return Ends(verilate.compile_library(output, _TOP, _TOP, [], shim=Path(__file__).with_name("line_shim.cpp")))
