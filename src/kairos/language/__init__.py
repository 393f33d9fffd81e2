"""The kernel language as Python sees it: decorators, time functions, type annotations and units.

Nothing here compiles anything. Decorators leave a record (`artiq_embedded`) on a function that the
compiler reads later; calling a kernel from host code hands it to the `run` method of its core
device.
"""

from kairos.language import core, phases, types, units
from kairos.language.core import *  # noqa: F403
from kairos.language.phases import *  # noqa: F403
from kairos.language.types import *  # noqa: F403
from kairos.language.units import *  # noqa: F403

__all__ = [*core.__all__, *phases.__all__, *types.__all__, *units.__all__]
