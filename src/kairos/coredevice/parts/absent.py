"""Signals of a card that are not connected to the device."""

from ...language import portable

__all__ = ["ABSENT", "Absent", "get_or_absent"]


class Absent:
    """Stands in for an output or a clock that is not connected: all methods do nothing."""

    @portable
    def on(self):
        """Do nothing."""

    @portable
    def off(self):
        """Do nothing."""

    @portable
    def set_mu(self, ftw):
        """Do nothing."""


ABSENT = Absent()


def get_or_absent(dmgr, name):
    """Return the device `name`, or `ABSENT` if the name is None."""
    return ABSENT if name is None else dmgr.get(name)
