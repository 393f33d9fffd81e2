"""Pulses in a class of the name that is otherwise a module's."""

from lab.standard import jaqal_pulses as standard


class jaqal_pulses:
    class GatePulses(standard.GatePulses):
        shift = 3.5e6
