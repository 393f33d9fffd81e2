"""A bench model: a beam gated by a pin."""

from kairos.bench import Light, Model


class Shutter(Model):
    def input(self, at, changes):
        self.send("beam", Light(0.0, float(changes["open"]), 0.0), delay=200)
