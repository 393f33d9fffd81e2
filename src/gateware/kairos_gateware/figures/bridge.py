"""Latency of accesses through a bridge as boards have it, in the form of the paper: cycles of a transaction over
its length, for both packetisers.

`python -m kairos_gateware.figures.bridge PATH` draws it.
"""

import sys
from functools import cache
from pathlib import Path

from ..testbenches.bridge import BridgedBoards, PortMaster
from ..testbenches.simulator import run_simulation

__all__ = ["LENGTHS", "latencies", "packing_share"]

LENGTHS = (1, 2, 4, 8, 16)
"""Beats of 4 bytes: as many as a port of the processing system takes."""
_VECTOR = 0x1000
_REPEATS = 5
_DELAY = 1


@cache
def latencies(packetiser: str) -> dict[str, tuple[int, ...]]:
    """{"write": …, "read": …}: the longest of some transactions of each of `LENGTHS`, in cycles from the address
    to the last answer, less the line's delay both ways."""
    dut = BridgedBoards(delay=_DELAY, packetiser=packetiser)
    master = PortMaster(dut.axi)
    found = {"write": [], "read": []}

    def play():
        while not (yield dut.up):
            yield
        for beats in LENGTHS:
            took = {"write": [], "read": []}
            for _ in range(_REPEATS):
                accesses = {"write": master.store(_VECTOR, *range(beats)), "read": master.load(_VECTOR, beats)}
                for direction, access in accesses.items():
                    yield from access
                    for _ in range(40):
                        yield
                    took[direction].append((yield dut.near.latency) - 2 * _DELAY)
            for direction, cycles in took.items():
                found[direction].append(max(cycles))

    run_simulation(dut, play())
    return {direction: tuple(cycles) for direction, cycles in found.items()}


def packing_share() -> float:
    """Cycles of a write with the gearbox relative to those with the simple packetiser: the largest ratio over
    `LENGTHS`."""
    packed, simple = (latencies(packetiser)["write"] for packetiser in ("gearbox", "simple"))
    return max(a / b for a, b in zip(packed, simple, strict=True))


def draw(path: Path) -> None:
    """Draws the latencies of writes and reads, for both packetisers."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot  # with the backend selected above

    figure, axes = pyplot.subplots(figsize=(8, 4.5), layout="constrained")
    styles = {"gearbox": ("-", "o"), "simple": ("--", "s")}
    colours = {"write": "#c8553d", "read": "#2563a8"}
    for packetiser, (line, marker) in styles.items():
        for direction, cycles in latencies(packetiser).items():
            axes.plot(LENGTHS, cycles, line + marker, color=colours[direction], label=f"{direction}, {packetiser}")
    axes.set_xscale("log", base=2)
    axes.set_xticks(LENGTHS, [str(n) for n in LENGTHS])
    axes.set(xlabel="beats of 4 bytes in a transaction", ylabel="cycles of 8 ns, without the fibre", ylim=0)
    axes.legend()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
