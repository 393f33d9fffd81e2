"""Reached by a relative name, and imports its neighbour by one."""

from .derived import Shifted


class Neighbour(Shifted):
    def gate_Long(self, ion):
        return super().gate_Long(ion)[:1]
