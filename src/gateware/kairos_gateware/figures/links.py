"""What the link carries, from the verilated bridge at a line rate, and by the formulas of the paper."""

from pathlib import Path

from ..link.bench import BridgeTraffic
from ..sim.lockstep import Lockstep, build_lockstep

__all__ = ["LINE_RATE", "bridge_engine", "duplex_share", "mib_per_s"]

LINE_RATE = 16.375e9
"""Bits per second on the line, 64B/66B, as in the paper (Drehmel and Heiss, The Prism Bridge)."""
_WORDS_PER_S = LINE_RATE / 66
_WARM_UP, _CYCLES = 500, 8000
DELAY = 20
"""Cycles that a word is under way."""


def bridge_engine(output: Path) -> Lockstep:
    """The verilated bridge with endless bursts. Raises OSError."""
    dut = BridgeTraffic(delay=DELAY)
    inputs = {name: getattr(dut, name) for name in ("beats", "writes", "reads")}
    outputs = {name: getattr(dut, name) for name in ("written", "read", "wrong")}
    return build_lockstep(output, dut, inputs, outputs)


def _beats_per_word(engine: Lockstep, beats, writes, reads):
    shown = engine.play([(beats, writes, reads)] * (_WARM_UP + _CYCLES))
    if shown["wrong"][-1]:
        raise ValueError(f"{shown['wrong'][-1]} beats arrived wrong")
    return [float(shown[name][-1] - shown[name][_WARM_UP - 1]) / _CYCLES for name in ("written", "read")]


def mib_per_s(engine: Lockstep, beats: int, direction: str) -> float:
    """MiB of data per second in bursts of so many beats of 8 bytes, `write` or `read`."""
    written, read = _beats_per_word(engine, beats, direction == "write", direction == "read")
    return (written if direction == "write" else read) * 8 * _WORDS_PER_S / 2**20


def duplex_share(engine: Lockstep, beats: int = 256) -> float:
    """What writes and reads reach together, of what each reaches alone: the lesser of both shares."""
    alone = _beats_per_word(engine, beats, 1, 0)[0], _beats_per_word(engine, beats, 0, 1)[1]
    together = _beats_per_word(engine, beats, 1, 1)
    return min(a / b for a, b in zip(together, alone, strict=True))
