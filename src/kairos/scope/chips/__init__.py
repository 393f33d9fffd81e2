"""Descriptions of messages to chips, generated from the same register tables as the drivers.

Which drivers have one is said in `src/contracts/cards` (`scope`): a module of this package with a
`CHIP`, or else only the chip's registers. Conversions to hertz or volts depend on the arguments of
the chip's device and of its card, or on the defaults of their drivers.
"""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from inspect import signature

from ...contracts.cards import SCOPE
from .common import Chip, plain

__all__ = ["arguments_of", "described"]

DRIVERS = "kairos.coredevice"


@cache
def described(driver: str) -> Chip:
    """Return the description of the chip with a driver of `kairos.contracts.cards.SCOPE`."""
    name = f"{__name__}.{SCOPE[driver]['chip']}"
    if find_spec(name) is not None:
        return import_module(name).CHIP
    return plain(import_module(f"{DRIVERS}.chips.{SCOPE[driver]['chip']}"))


def arguments_of(driver: str, own: dict, card: dict) -> dict:
    """Return the arguments of a chip's device and of its card, with the defaults of their drivers."""
    facts = SCOPE[driver]
    base = _defaults(*facts["card"].split(".")) if facts["card"] else {}
    return base | card | _defaults(facts["driver"], driver) | own


@cache
def _defaults(module: str, name: str) -> dict:
    """Return the default arguments of a driver, with those of the classes that it extends."""
    found: dict = {}
    for cls in reversed(getattr(import_module(f"{DRIVERS}.{module}"), name).__mro__[:-1]):
        parameters = signature(cls).parameters.items() if "__init__" in vars(cls) else ()
        found |= {name: one.default for name, one in parameters if one.default is not one.empty}
    return found
