"""The exceptions of the core device where ARTIQ has them; they are defined in :mod:`kairos.exceptions`."""

from ..exceptions import *  # noqa: F403
from ..exceptions import __all__ as __all__
