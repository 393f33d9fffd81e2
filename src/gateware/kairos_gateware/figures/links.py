"""The link's throughput, from the verilated bridge at a line rate, and by the formulas of the
paper.

`python -m kairos_gateware.figures.links PATH` draws both over the length of bursts.
"""

import sys
from math import ceil
from pathlib import Path

import numpy as np

from ..link.line.reliable import Reliability
from ..testbenches.link import BridgePair, BridgeTraffic
from ..testbenches.rtio_core import Command, Core, LinkBench
from ..verilated.lockstep import Lockstep, build_lockstep
from .place import root

__all__ = [
    "DELAY",
    "FIBRE",
    "LINE_RATE",
    "analytic_mib_per_s",
    "bridge_engine",
    "duplex_share",
    "interrupt_cycles",
    "mib_per_s",
    "remote_event_cycles",
    "remote_latency_cycles",
    "traffic_engine",
    "whole_engine",
]

LINE_RATE = 16.375e9
"""Bits per second on the line, 64B/66B, as in the paper (Drehmel and Heiss, The Prism Bridge)."""
_WARM_UP, _CYCLES = 4000, 8000
DELAY = 20
"""Cycles that a word is in flight."""
FIBRE = 125
"""The same for RTIO: 1 µs."""
_INPUTS = ("beats", "writes", "reads", "levels")
_OUTPUTS = ("written", "read", "wrong", "levels_seen")


def traffic_engine(output: Path, pair) -> Lockstep:
    """Endless bursts over a pair of bridges, verilated. Raises OSError."""
    dut = BridgeTraffic(pair)
    inputs = {name: getattr(dut, name) for name in _INPUTS}
    return build_lockstep(output, dut, inputs, {name: getattr(dut, name) for name in _OUTPUTS})


def bridge_engine(output: Path) -> Lockstep:
    """The verilated bridge with endless bursts, one cycle per word of the line. Raises OSError."""
    return traffic_engine(output, BridgePair(delay=DELAY))


def whole_engine(output: Path) -> Lockstep:
    """The same with retransmission and line coders, one cycle per 64 bits of the line. Raises
    OSError."""
    return traffic_engine(output, BridgePair(coded=True, delay=DELAY, reliability=Reliability()))


def _play(engine, beats, writes, reads, levels=None):
    rows = np.zeros(_WARM_UP + _CYCLES, engine.inputs)
    for name, value in zip(_INPUTS, (beats, writes, reads, 0 if levels is None else levels), strict=True):
        rows[name] = value
    shown = engine.play(rows)
    if shown["wrong"][-1]:
        raise ValueError(f"{shown['wrong'][-1]} beats arrived wrong")
    return shown


def _beats_per_cycle(engine: Lockstep, beats, writes, reads):
    shown = _play(engine, beats, writes, reads)
    return [float(shown[name][-1] - shown[name][_WARM_UP - 1]) / _CYCLES for name in ("written", "read")]


def mib_per_s(
    engine: Lockstep, beats: int, direction: str, whole: bool = False, rate: float = LINE_RATE, lanes: int = 1
) -> float:
    """MiB of data per second in bursts of so many beats, `write` or `read`. whole: of an engine with line coders,
    which take 32 words in 33 cycles of 64 bits. rate: of each line, in bit/s; lanes: each has 8 bytes of a beat."""
    written, read = _beats_per_cycle(engine, beats, direction == "write", direction == "read")
    cycles = rate / (64 if whole else 66)
    return (written if direction == "write" else read) * 8 * lanes * cycles / 2**20


def duplex_share(engine: Lockstep, beats: int = 256) -> float:
    """The rates of simultaneous writes and reads relative to those of each alone: the lesser of
    both ratios."""
    alone = _beats_per_cycle(engine, beats, 1, 0)[0], _beats_per_cycle(engine, beats, 0, 1)[1]
    together = _beats_per_cycle(engine, beats, 1, 1)
    return min(a / b for a, b in zip(together, alone, strict=True))


def interrupt_cycles(engine: Lockstep, beats: int = 256, writes: int = 1, reads: int = 1) -> int:
    """The longest latency of many from a level at the far end to the near end, excluding the line's
    delay, while data fill the link, by default in both directions."""
    every = 67
    levels = np.arange(_WARM_UP + _CYCLES) // every
    seen = _play(engine, beats, writes, reads, levels)["levels_seen"]
    begins = [n for n in range(_WARM_UP, _WARM_UP + _CYCLES - every, 1) if levels[n] != levels[n - 1]]
    return max(int(np.argmax(seen[n:] == levels[n])) for n in begins) - DELAY


def _remote(core: Core, commands, until):
    """Plays commands to the satellite once the boards agree on the time."""
    delay_pads = len(core.pads) - LinkBench.FIBRE_PADS
    edges = [(0, delay_pads + bit, 1) for bit in range(LinkBench.DELAY_BITS) if FIBRE >> bit & 1]
    commands[0].pause = _UP
    played = core.play(commands, edges, until)
    if played.errors != (0,):
        raise ValueError(f"the satellite reports errors {played.errors}")
    return played


_UP = 400 + 8 * FIBRE
_FIRST_OUTPUT = 1 << 16 | 2


def remote_event_cycles(core: Core, data: int, count: int = 4000) -> float:
    """Mean distance of outputs that the master accepts for its satellite back to back, once credits
    and reports are steady; all are executed. data: of each."""
    ahead = _UP + FIBRE + 1000
    commands = [
        Command(8 * (ahead + 2 * n), 0, _FIRST_OUTPUT + n % 4, data ^ (n >> 2 & 1), 0, Command.OUTPUT, 0)
        for n in range(count)
    ]
    played = _remote(core, commands, ahead + 2 * count + 1000)
    accepted = [answer[0] for answer in played.answers]
    return (accepted[-1] - accepted[count // 2]) / (count - 1 - count // 2)


def remote_latency_cycles(core: Core) -> int:
    """Least distance of an output's time from the counter at acceptance by the master for which it
    appears at the satellite's pin on time, beyond the fibre's delay."""
    for slack in range(FIBRE, FIBRE + 100):
        command = Command(8 * slack, 0, _FIRST_OUTPUT, 1, 0, Command.OUTPUT, 1)
        played = _remote(core, [command], _UP + 1000)
        if played.answers[0][5] == 0:
            if [change[0] for change in played.changes] != [played.answers[0][2] >> 3]:
                raise ValueError(f"the output did not come out in time: {played}")
            return slack - FIBRE
    raise ValueError("no output is accepted")


_ADDRESS, _BEAT, _PAYLOAD = 99, 73, 54
"""Bits of the paper's vectors and words."""
CURVES = {
    "simple": lambda t, beats: t * beats * ceil(_BEAT / _PAYLOAD),
    "never reset": lambda t, beats: ceil(t * beats * (_BEAT + 1) / _PAYLOAD),
    "reset after a transaction": lambda t, beats: t * ceil(beats * (_BEAT + 1) / _PAYLOAD),
    "reset after a transfer": lambda t, beats: t * beats * ceil((_BEAT + 1) / _PAYLOAD),
}
"""Words of the data of t transactions of so many transfers, in the paper's packetisers: V0, V1, V2,
V3."""


def analytic_mib_per_s(
    curve: str, beats: int, direction: str = "write", transactions: int = 1000, rate: float = LINE_RATE
) -> float:
    """The paper's formula; a write's addresses share the direction with its data."""
    words = CURVES[curve](transactions, beats)
    words += transactions * ceil(_ADDRESS / _PAYLOAD) if direction == "write" else 0
    return rate / 66 * transactions * beats * 8 / words / 2**20


def draw(path: Path, points: dict[str, list[tuple[int, float]]]) -> None:
    """Draws the four curves of writes, and points (beats, MiB/s) by their labels."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot  # with the backend selected above

    lengths = np.unique(np.logspace(0, 8, 60, base=2).astype(int))
    figure, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    for name, style in zip(CURVES, (":", "-", "--", "-."), strict=True):
        axes.plot(lengths, [analytic_mib_per_s(name, int(n)) for n in lengths], style, color="#6b7280", label=name)
    for (name, some), color, marker in zip(points.items(), ("#2563a8", "#c8553d", "#3a8f5c"), "os^", strict=False):
        axes.plot(*zip(*some, strict=True), marker, color=color, label=name)
    axes.set_xscale("log", base=2)
    axes.set(xlabel="transfers of 8 bytes in a transaction", ylabel="data written, MiB/s", ylim=0)
    axes.legend(title=f"{LINE_RATE / 1e9} Gbit/s, 64B/66B", loc="lower right")
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def main(path: str) -> None:
    plain, whole = bridge_engine(root() / "figures_bridge"), whole_engine(root() / "figures_link")
    lengths = [2**n for n in range(9)]
    draw(
        Path(path),
        {
            "measured": [(n, mib_per_s(plain, n, "write")) for n in lengths],
            "with retransmission": [(n, mib_per_s(whole, n, "write", whole=True)) for n in lengths],
            "published measurement": [(256, 1368.82)],
        },
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
