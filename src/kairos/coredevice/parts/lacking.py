"""Functions of a card that its driver lacks because they are not publicly documented; using one raises an error.

A class decorated with `lacking` has such methods by name::

    @lacking("the bits of its SPI registers are not published", "init spi_cfg")
    class Phaser: ...

A kernel that uses one does not compile, and says so at that place; on the host using one raises
`NotInKairos`. Of a class derived from `Unknown` not even the methods' names are known: that is
every name that it does not have.
"""

from ...errors import NotInKairos

__all__ = ["Missing", "Unknown", "lacking"]


class Missing(NotInKairos, AttributeError):
    """A method that its driver lacks."""


def _refusal(owner, name, why):
    return Missing(f'{owner}.{name} is not part of Kairos: {why} (docs/experiments.md, "Not there")')


class _Lacked:
    """In place of a method."""

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
    """Decorator of a class: the methods `names` (a text with spaces between them) are missing, and `why`."""

    def add(cls):
        for name in names.split():
            assert name not in vars(cls), f"{cls.__name__} has {name}"
            lacked = _Lacked(why)
            lacked.__set_name__(cls, name)
            setattr(cls, name, lacked)
        return cls

    return add


class Unknown:
    """A device of a database of which only the constructor is known; `why` says what is missing."""

    why = ""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)  # Python itself asks for these
        raise _refusal(type(self).__name__, name, type(self).why)
