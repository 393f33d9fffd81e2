"""Typical laboratory experiments with their expected behaviour: small classes, one per idiom of the
ranking of language features by use. `test_laboratory.py` runs them all on one emulated device."""

from kairos.experiment.environment import EnvExperiment

__all__ = ["Expected", "Laboratory", "expect"]


class Laboratory(EnvExperiment):
    """Base of the laboratories' experiments: the devices listed by a class become its attributes."""

    devices = ""

    def build(self):
        self.setattr_device("core")
        for name in self.devices.split():
            self.setattr_device(name)
        self.more()

    def more(self):
        """Build further attributes of a class."""


class Expected:
    """The exact behaviour of a run.

    pins: for each pin that changes, its pulses as (start, end) in ns since the first given pulse,
    or None for a pin whose pulses are not compared; pins of cards may be omitted. printed: lines.
    values: attributes of the experiment after the run. datasets: all datasets set. buses: for some
    of `test_laboratory.BUSES` their traffic, as (chip selects, bits, data); only transfers with the
    same number of bits as the first are compared. raises: the exception that ends it.
    """

    def __init__(self, pins=None, printed=(), values=None, datasets=None, buses=None, raises=None):
        self.pins = pins or {}
        self.printed = list(printed)
        self.values = values or {}
        self.datasets = datasets or {}
        self.buses = buses or {}
        self.raises = raises


def expect(**what):
    """Decorate a class as an experiment with these expectations."""

    def note(cls):
        cls.expected = Expected(**what)
        return cls

    return note
