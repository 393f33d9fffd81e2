"""The exceptions of the core device under ARTIQ's module name; they are defined in :mod:`kairos.exceptions`."""

from ..exceptions import *  # noqa: F403
from ..exceptions import __all__ as _ours
from ..exceptions import __getattr__ as __getattr__

__all__ = [*_ours, "LinAlgError"]  # noqa: F405
