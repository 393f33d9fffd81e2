"""The effect of early answers: the time of transfers to another board over their size, as a
picture."""

from collections.abc import Callable
from pathlib import Path

__all__ = ["draw_early"]

WORD = 8
"""Bytes."""


def draw_early(
    path: Path, sizes: list[int], duration: Callable[[int, bool], float], line: int, xlabel: str, ylabel: str
):
    """sizes: of transfers in words; duration: of one of them, with early answers or without; line:
    its delay in cycles."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot  # with the backend selected above

    figure, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    for early, name, color, marker in [
        (False, "answered by the board", "#c8553d", "s"),
        (True, "early", "#2563a8", "o"),
    ]:
        durations = [duration(words, early) for words in sizes]
        axes.plot([WORD * words for words in sizes], durations, f"{marker}-", color=color, label=name)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.legend(title=f"line of {line} cycles")
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
