"""Pictures with matplotlib: no display is needed, and the same content gives the same bytes."""

from contextlib import contextmanager
from pathlib import Path

from .errors import UsageError
from .files import replacing

__all__ = ["COLORS", "FONT", "FORMATS", "drawing", "save"]

FORMATS = (".png", ".pdf", ".svg")
"""How the name of a picture may end."""
COLORS = ("#2563a8", "#c8553d", "#3a8f5c", "#8a5aa8", "#c08a1e", "#4a8fa0", "#a04a6b", "#6b7280")
FONT = {"font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"]}


@contextmanager
def drawing(**style):
    """``matplotlib.pyplot`` with these settings; figures made meanwhile are closed at the end."""
    # Here, because it takes 0.4 s, and few runs draw.
    import matplotlib

    # Before anything that may want a display.
    matplotlib.use("Agg")
    from matplotlib import pyplot  # with the backend that was chosen

    with pyplot.rc_context({"svg.hashsalt": "kairos", **style}):
        before = set(pyplot.get_fignums())
        try:
            yield pyplot
        finally:
            for number in set(pyplot.get_fignums()) - before:
                pyplot.close(number)


def save(figure, path, dpi: int):
    """Write the figure to `path`, whose suffix says the format, one of `FORMATS`. UsageError if it
    cannot be written, and then what is there stays as it was."""
    suffix = Path(path).suffix
    if suffix not in FORMATS:
        raise UsageError(
            f"{path}: the file name of a picture must end with {', '.join(FORMATS)}, which selects the format"
        )
    with replacing(path) as new:
        figure.savefig(new, dpi=dpi, format=suffix[1:], metadata={"Software": None} if suffix == ".png" else None)
