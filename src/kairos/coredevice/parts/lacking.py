"""Functions of a card that its driver lacks because they are not publicly documented; using one raises an error.

A class decorated with `lacking` names the missing methods::

    @lacking("the bits of its SPI registers are not published", "init spi_cfg")
    class Phaser: ...

A kernel that uses a missing method does not compile, with an error at that place; on the host the
access raises `NotInKairos`. For classes derived from `Unknown` the names are unknown as well: any
name that the class does not have counts as missing.
"""

from ...errors import NotInKairos

__all__ = ["Missing", "Unknown", "lacking"]


class Missing(NotInKairos, AttributeError):
    """A method that the driver lacks."""


def _refusal(owner, name, why):
    return Missing(f'{owner}.{name} is not part of Kairos: {why} (docs/experiments.md, "Not there")')


class _Lacked:
    """Placeholder for a missing method."""

    def __init__(self, why):
        self.why = why
        self.name = ""

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, device, owner=None):
        if device is None:
            return self
        raise _refusal(type(device).__name__, self.name, self.why)


def lacking(why, names):
    """Class decorator: marks the methods `names` (separated by spaces) as missing, for the reason
    `why`."""

    def add(cls):
        for name in names.split():
            assert name not in vars(cls), f"{cls.__name__} has {name}"
            lacked = _Lacked(why)
            lacked.__set_name__(cls, name)
            setattr(cls, name, lacked)
        return cls

    return add


class Unknown:
    """A device of which only the constructor is known; `why` describes what is missing."""

    why = ""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)  # looked up by Python itself
        raise _refusal(type(self).__name__, name, type(self).why)
