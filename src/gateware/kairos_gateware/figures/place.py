"""Where the figures' libraries are built."""

import os
from pathlib import Path

__all__ = ["root"]


def root() -> Path:
    """The folder of all gateware: below KAIROS_BUILD, default `build` of the checkout."""
    return Path(os.environ.get("KAIROS_BUILD", Path(__file__).parents[4] / "build")) / "gateware"
