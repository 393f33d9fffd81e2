"""Signals of a card that are not connected to the device."""

from ...language import portable

__all__ = ["ABSENT", "Absent", "get_or_absent"]


class Absent:
    """Stands for an output or a clock that is not connected: nothing happens."""

    @portable
    def on(self):
        """Nothing."""

    @portable
    def off(self):
        """Nothing."""

    @portable
    def set_mu(self, ftw):
        """Nothing."""


ABSENT = Absent()


def get_or_absent(dmgr, name):
    """The device `name`; `ABSENT` if that is None."""
    return ABSENT if name is None else dmgr.get(name)
