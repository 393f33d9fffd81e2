"""Where installed code is: Python's own, that of packages, and Kairos itself. All other code is the user's."""

import os
import site
from functools import cache

__all__ = ["libraries"]


@cache
def libraries() -> tuple[str, ...]:
    """Return the folders, each with a separator at its end, as they begin the names of files in code objects."""
    # `sysconfig` would say the same, and reads how Python was built for that.
    named = [os.path.dirname(os.__file__), *site.getsitepackages(), os.path.dirname(__file__)]
    return tuple(dict.fromkeys(os.path.join(place, "") for place in named))
