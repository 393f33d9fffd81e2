"""Figures with matplotlib: need no display, and equal content gives equal bytes."""

import sys
import threading
from contextlib import contextmanager
from pathlib import Path

from .errors import UsageError
from .files import replacing
from .terminal_text import plain

__all__ = ["COLORS", "FONT", "FORMATS", "NAMES", "drawing", "load", "prepare", "save"]

FORMATS = (".png", ".pdf", ".svg")
"""Supported suffixes of a picture's file name."""
COLORS = ("#2563a8", "#c8553d", "#3a8f5c", "#8a5aa8", "#c08a1e", "#4a8fa0", "#a04a6b", "#6b7280")
FONT = {"font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"]}
NAMES = {"text.parse_math": False}
"""For texts that are names: one with two dollar signs is no formula."""


_loading: threading.Thread | None = None


def prepare():
    """Load matplotlib, which takes 0.5 s, in the background, for a program that will draw and until then
    mostly waits. To be called when nothing else imports it. The end of the process waits for it: libraries that are
    being initialised must not be destroyed."""
    global _loading
    if _loading is None and "matplotlib" not in sys.modules:
        _loading = threading.Thread(target=_import)
        _loading.start()


def _import():
    try:
        import matplotlib.backends.backend_agg  # here, because few runs draw
        import matplotlib.pyplot  # noqa: F401 likewise
    except Exception:
        pass  # whoever draws gets it, too


def load():
    """Load matplotlib for figures without a display. To be called before anything of it is imported: `prepare` may
    still be importing it, and of a module that is half initialised nothing can be used."""
    if _loading is not None:
        _loading.join()
    # Imported here because it takes 0.4 s, and few runs draw.
    import matplotlib

    # Must precede any import that may need a display.
    matplotlib.use("Agg")


@contextmanager
def drawing(**style):
    """Yield ``matplotlib.pyplot`` with these settings; figures opened in the block are closed at
    its end."""
    load()
    from matplotlib import pyplot  # uses the backend selected by load

    # A line of a million points exceeds what matplotlib renders at once.
    settings = {"svg.hashsalt": "kairos", "agg.path.chunksize": 20_000, **style}
    with pyplot.rc_context(settings):
        before = set(pyplot.get_fignums())
        try:
            yield pyplot
        finally:
            for number in set(pyplot.get_fignums()) - before:
                pyplot.close(number)


def save(figure, path, dpi: int):
    """Write the figure to `path`, whose suffix selects the format, one of `FORMATS`. UsageError if
    it cannot be written; an existing file then remains unchanged."""
    suffix = Path(path).suffix
    if suffix not in FORMATS:
        raise UsageError(
            f"{path}: the file name of a picture must end with {', '.join(FORMATS)}, which selects the format"
        )
    for text in figure.findobj(lambda artist: hasattr(artist, "set_text") and hasattr(artist, "get_text")):
        # Of names in files; matplotlib warns of characters that it cannot draw, as they are.
        shown = plain(text.get_text())
        if shown != text.get_text():
            text.set_text(shown)
    with replacing(path) as new:
        figure.savefig(new, dpi=dpi, format=suffix[1:], metadata={"Software": None} if suffix == ".png" else None)
