"""``kairos version``: the version of Kairos."""

import json

from .. import __version__

__all__ = ["show"]


def show(args):
    """Print the version."""
    print(json.dumps({"kairos": __version__}) if args.json else f"kairos {__version__}")
