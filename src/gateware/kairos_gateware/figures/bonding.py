"""A link's throughput at several line rates, over several lanes, and with the packetiser of the standard bridge.

`python -m kairos_gateware.figures.bonding PATH` draws the efficiency over the length of bursts.
"""

import sys
from functools import cache, partial
from pathlib import Path

import numpy as np

from ..link.line.reliable import Reliability
from ..testbenches.link import BondedPair, BridgePair
from ..verilated.lockstep import Lockstep
from .links import DELAY, LINE_RATE, analytic_mib_per_s, mib_per_s, traffic_engine
from .place import root

__all__ = ["LINE_RATES", "SKEWS", "TARGETS", "rows"]

LINE_RATES = (6.6e9, 10e9, LINE_RATE)
"""Bits per second."""
SKEWS = {2: (0, 700), 4: (0, 700, 1330, 65)}
"""Bits by which each of so many lanes is late: up to 20 cycles, 80 ns at 16.375 Gbit/s, as of 16 m of fibre."""
_PUBLISHED = 1368.82
"""MiB/s of writes of the paper's bridge, on one lane."""
_STANDARD = {"write": 936.29, "read": 943.80}
"""MiB/s of AXI Chip2Chip in the paper: as many as of the simple packetiser. It is closed, and cannot be
simulated here."""
TARGETS = {f"bridge.lanes_{count}_mib_s": round(count * _PUBLISHED, 2) for count in SKEWS}


@cache
def _lanes(count: int) -> Lockstep:
    """Several lanes that are late by `SKEWS`, with retransmission and line coders: beats of 64 bits for each lane."""
    return traffic_engine(root() / f"figures_lanes_{count}", BondedPair(SKEWS[count], delay=DELAY))


@cache
def _rate(rate: float) -> Lockstep:
    """One lane likewise, with the cycles that the same fibre takes at this line rate."""
    name = "figures_link" if rate == LINE_RATE else f"figures_link_{rate / 1e9:g}"
    pair = BridgePair(coded=True, delay=round(DELAY * rate / LINE_RATE), reliability=Reliability())
    return traffic_engine(root() / name, pair)


@cache
def _simple() -> Lockstep:
    """One lane with the simple packetiser, without retransmission and line coder."""
    return traffic_engine(root() / "figures_simple", BridgePair(delay=DELAY, packed=False))


def rows():
    """Yield figures: name, (measure, unit, baseline, source)."""
    how = "with retransmission and line coder"
    for rate in LINE_RATES[:-1]:
        baseline = round(analytic_mib_per_s("never reset", 256, rate=rate), 2)
        what = f"writes in bursts of 256 at {rate / 1e9:g} Gbit/s, the same fibre, {how}; baseline: the paper's V1"
        measure = partial(lambda rate: mib_per_s(_rate(rate), 256, "write", True, rate), rate)
        yield f"bridge.line_{rate / 1e9:g}g_mib_s", (measure, "MiB/s", baseline, what)
    for count, skews in SKEWS.items():
        what = f"writes in bursts of 256 beats of {64 * count} bits over {count} lanes of {LINE_RATE / 1e9} Gbit/s, "
        what += f"late by {', '.join(map(str, skews))} bits, {how}; baseline: as many times the paper's bridge"
        measure = partial(lambda count: mib_per_s(_lanes(count), 256, "write", True, lanes=count), count)
        yield f"bridge.lanes_{count}_mib_s", (measure, "MiB/s", round(count * _PUBLISHED, 2), what)
    for direction, baseline in _STANDARD.items():
        what = (
            "bursts of 256 beats of 64 bits with the simple packetiser; baseline: the standard bridge (AXI Chip2Chip)"
        )
        measure = partial(lambda direction: mib_per_s(_simple(), 256, direction), direction)
        yield f"bridge.simple_{direction}_mib_s", (measure, "MiB/s", baseline, what)


def draw(path: Path, rates: dict[str, list], lanes: dict[str, list]) -> None:
    """Draws written data, as parts of the lines' bits: for each line rate, and for each number of lanes; (beats,
    share) by their labels."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot  # with the backend selected above

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4.2), layout="constrained", sharey=True)
    lengths = np.unique(np.logspace(0, 8, 60, base=2).astype(int))
    shares = [analytic_mib_per_s("never reset", int(n)) * 2**23 / LINE_RATE for n in lengths]
    for axes, curves, unit in [(left, rates, "8 bytes"), (right, lanes, "8 bytes a lane")]:
        axes.plot(lengths, shares, "-", color="#6b7280", label="published formula, one lane")
        marks = zip(curves.items(), ("#2563a8", "#c8553d", "#3a8f5c"), "os^", strict=False)
        for (name, some), color, marker in marks:
            axes.plot(*zip(*some, strict=True), marker + ":", color=color, label=name, markersize=5)
        axes.set_xscale("log", base=2)
        axes.set(xlabel=f"transfers of {unit} in a transaction", ylim=(0, 1))
        axes.legend(loc="lower right")
    left.set_ylabel("data written, part of the lines' bits")
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def main(path: str) -> None:
    lengths = [2**n for n in range(9)]

    def shares(engine, rate=LINE_RATE, lanes=1):
        found = [(n, mib_per_s(engine, n, "write", True, rate, lanes)) for n in lengths]
        return [(n, value * 2**23 / (rate * lanes)) for n, value in found]

    rates = {f"{rate / 1e9:g} Gbit/s": shares(_rate(rate), rate) for rate in LINE_RATES}
    lanes = {"one lane": rates[f"{LINE_RATE / 1e9:g} Gbit/s"]}
    lanes |= {f"{count} lanes with skew": shares(_lanes(count), lanes=count) for count in SKEWS}
    draw(Path(path), rates, lanes)


if __name__ == "__main__":
    main(*sys.argv[1:])
