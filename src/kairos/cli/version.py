"""``kairos version``: which Kairos this is."""

from .. import __version__

__all__ = ["show"]


def show(_args):
    """Print the version."""
    print(f"kairos {__version__}")
