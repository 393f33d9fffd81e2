"""A model of a bench: a beam that a pin lets through."""

from kairos.bench import Light, Model


class Shutter(Model):
    def input(self, at, changes):
        self.send("beam", Light(0.0, float(changes["open"]), 0.0), delay=200)
