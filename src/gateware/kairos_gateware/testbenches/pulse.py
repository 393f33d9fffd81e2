"""The pulse core's channels up to their engines, verilated, and fed with streams of words cycle by
cycle.

For vectors and random programs: one call into the library plays a whole stream (`pulse_shim.cpp`).
"""

import ctypes
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from migen import *

from ..contracts import pulse as facts
from ..pulse.sequencer import READS
from ..pulse.sequencing import Sequencing
from ..verilated import verilate
from ..verilated.ports import TopLevel
from ..verilog import convert

__all__ = ["Engines", "Played", "SequencingBench", "build_engines"]

_TOP = "pulse_engines"
_SETTINGS = ["trigger_strict", "hold", "misalign_limit", "branch_timeout", "trigger_channels"]
_STATES = ["armed", "running", "settled", "waiting", "trigger"]


class SequencingBench(TopLevel):
    """The block between ports. A channel outputs a row of words of 64 bits: `ROW`."""

    def __init__(self, **options):
        super().__init__()
        self.submodules.dut = dut = Sequencing(**options)

        # # #

        for name in ["valid", "word", "trigger", "result", "result_valid", *_SETTINGS]:
            self.inward(getattr(dut, name), name)
        for name in ["ready", "errors", *_STATES[:3]]:
            self.outward(getattr(dut, name), name)
        self.outward(Cat(*[sequencer.waiting for sequencer in dut.sequencers]), "waiting")
        parts = []
        for c, (channel, sequencer) in enumerate(zip(dut.channels, dut.sequencers, strict=True)):
            levels = Cat(channel.synchronise, channel.feed_forward, channel.enable, channel.gpo)
            parts += [*channel.values, *channel.applied, levels, dut.underrun_parameters[c], dut.first_cycles[c]]
            for there, mask, body in sequencer.given:
                parts += [Cat(mask, there), *[body[n : n + 64] for n in range(0, len(body), 64)]]
        row = [Signal(64) for _ in parts]
        self.comb += [number.eq(part) for number, part in zip(row, parts, strict=True)]
        self.outward(Cat(*row), "shown")


ROW = np.dtype(
    [
        ("values", "u8", facts.PARAMETERS),
        ("applied", "u8", facts.TONES),
        ("levels", "u8"),
        ("underrun", "u8"),
        ("first_cycle", "u8"),
        ("given", "u8", (READS, 5)),
    ]
)
"""Outputs of a channel. `first_cycle`: of its first underrun, by the core's own count. `given`:
segments that its sequencer outputs in this cycle, each its mask of parameters, 0x100 if there is
one, and its bits, the lowest first."""


@dataclass
class Played:
    """shown: (cycles, channels) of ROW. states: by name, (cycles,) of bits, one for each channel;
    `waiting`: for a measurement's result, `trigger`: whether there was one. errors: bits of
    `facts.Error` at the end. taken: the cycle in which each word left the stream, or 2^32 - 1."""

    shown: np.ndarray
    states: dict[str, np.ndarray]
    errors: int
    taken: np.ndarray


class Engines:
    """The library at `path`. Each `play` is a new instance of the core."""

    def __init__(self, path: Path, channels: int):
        self._play, self.channels = ctypes.CDLL(str(path)).pulse_play, channels
        self._play.restype = ctypes.c_uint32

    def play(self, words, cycles, gaps=None, triggers=None, results=(), **settings) -> Played:
        """words: integers; gaps: cycles that the stream pauses before each. triggers: the cycles
        with one; None: whenever a channel has become armed and all are. results: (cycle, state)."""
        data = np.frombuffer(b"".join(word.to_bytes(facts.WORD_BYTES, "little") for word in words), dtype="u4")
        gaps = np.zeros(len(words), "u4") if gaps is None else np.asarray(gaps, "u4")
        times = np.asarray([] if triggers is None else sorted(triggers), "u4")
        given = np.asarray(sorted(results), "u4").reshape(-1, 2)
        settings = {"trigger_channels": 2**self.channels - 1} | settings
        values = np.asarray([settings.pop(name, 0) for name in _SETTINGS], "u4")
        if settings:
            raise TypeError(f"no such settings: {', '.join(settings)}")
        shown = np.zeros((cycles, self.channels), ROW)
        states = np.zeros((cycles, len(_STATES)), "u4")
        taken = np.full(len(words), 0xFFFF_FFFF, "u4")
        arrays = [data, gaps, times, given, values, shown, states, taken]
        pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in arrays]
        counts = [len(words), len(times), len(given), cycles, self.channels * ROW.itemsize, triggers is None]
        errors = self._play(*pointers, *map(ctypes.c_uint32, counts))
        return Played(shown, {name: states[:, n] for n, name in enumerate(_STATES)}, errors, taken)


def build_engines(output: Path, channels=facts.CHANNELS, **options) -> Engines:
    """Builds the library in the folder `output`, unless it is up to date. Raises OSError."""
    bench = SequencingBench(channels=channels, **options)
    with verilate.building_alone(output):
        (output / f"{_TOP}.v").write_text(convert(bench, bench.ios, name=_TOP).main_source)
        return Engines(
            verilate.compile_library(output, _TOP, _TOP, [], shim=Path(__file__).with_name("pulse_shim.cpp")), channels
        )
