"""What the link carries, from the verilated bridge at a line rate, and by the formulas of the paper."""

from pathlib import Path

from ..link.bench import BridgeTraffic
from ..sim.core_bench import Command, Core, LinkBench
from ..sim.lockstep import Lockstep, build_lockstep

__all__ = [
    "FIBRE",
    "LINE_RATE",
    "bridge_engine",
    "duplex_share",
    "mib_per_s",
    "remote_event_cycles",
    "remote_latency_cycles",
]

LINE_RATE = 16.375e9
"""Bits per second on the line, 64B/66B, as in the paper (Drehmel and Heiss, The Prism Bridge)."""
_WORDS_PER_S = LINE_RATE / 66
_WARM_UP, _CYCLES = 500, 8000
DELAY = 20
"""Cycles that a word is under way."""
FIBRE = 125
"""The same for RTIO: 1 µs."""


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


def _remote(core: Core, commands, until):
    """Plays commands to the satellite once the boards agree on the time."""
    delay_pads = len(core.pads) - LinkBench.DELAY_BITS - 1
    edges = [(0, delay_pads + bit, 1) for bit in range(LinkBench.DELAY_BITS) if FIBRE >> bit & 1]
    commands[0].pause = _UP
    played = core.play(commands, edges, until)
    if played.errors != (0,):
        raise ValueError(f"the satellite reports errors {played.errors}")
    return played


_UP = 400 + 8 * FIBRE
_FIRST_OUTPUT = 1 << 16 | 2


def remote_event_cycles(core: Core, data: int, count: int = 4000) -> float:
    """Mean distance of outputs that the master takes for its satellite without a pause, once credits and reports pass;
    all come out. data: of each."""
    ahead = _UP + FIBRE + 1000
    commands = [
        Command(8 * (ahead + 2 * n), 0, _FIRST_OUTPUT + n % 4, data ^ (n >> 2 & 1), 0, Command.OUTPUT, 0)
        for n in range(count)
    ]
    played = _remote(core, commands, ahead + 2 * count + 1000)
    accepted = [answer[0] for answer in played.answers]
    return (accepted[-1] - accepted[count // 2]) / (count - 1 - count // 2)


def remote_latency_cycles(core: Core) -> int:
    """Least distance of an output's time from the counter when the master takes it, at which it comes out of the
    satellite's pin in time, beyond the fibre's delay."""
    for slack in range(FIBRE, FIBRE + 100):
        command = Command(8 * slack, 0, _FIRST_OUTPUT, 1, 0, Command.OUTPUT, 1)
        played = _remote(core, [command], _UP + 1000)
        if played.answers[0][5] == 0:
            if [change[0] for change in played.changes] != [played.answers[0][2] >> 3]:
                raise ValueError(f"the output did not come out in time: {played}")
            return slack - FIBRE
    raise ValueError("no output is accepted")
