"""Where installed code is: Python's own, that of packages, and Kairos itself. All other code is the user's."""

import os
import sysconfig
from functools import cache

__all__ = ["libraries"]


@cache
def libraries() -> tuple[str, ...]:
    """Return the folders, each with a separator at its end, as they begin the names of files in code objects."""
    named = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    return tuple(dict.fromkeys(os.path.join(place, "") for place in [*named, os.path.dirname(__file__)]))
