"""Several classes with gates, each derived from another one: the circuit means the one derived last."""

from lab.standard.jaqal_pulses import GatePulses


class Stronger(GatePulses):
    def gate_Constant(self, ion):
        return [*super().gate_Constant(ion), *super().gate_Constant(ion)]


class Shifted(Stronger):
    shift = 2.5e6


class Numbers:
    """Without gates."""
