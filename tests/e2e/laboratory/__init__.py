"""Experiments in the manner of laboratories, each with what it must do: small classes, one per
idiom of the ranking in which features of the language are used. `test_laboratory.py` runs them all
on one emulated device.
"""

from kairos.experiment.environment import EnvExperiment

__all__ = ["Expected", "Laboratory", "expect"]


class Laboratory(EnvExperiment):
    """What laboratories derive their experiments from: the devices that a class lists are its attributes."""

    devices = ""

    def build(self):
        self.setattr_device("core")
        for name in self.devices.split():
            self.setattr_device(name)
        self.more()

    def more(self):
        """What a class needs besides."""


class Expected:
    """What a run does, exactly.

    pins: for each pin that changes, its pulses as (start, end) in ns since the first of those that
    are given, or None for a pin whose pulses are not compared; pins of cards may be left out.
    printed: lines. values: attributes of the experiment after the run. datasets: all that it has
    set. buses: for some of `test_laboratory.BUSES` what goes over them, as (chip selects, bits,
    data); only transfers of as many bits as the first are compared. raises: the exception that ends
    it.
    """

    def __init__(self, pins=None, printed=(), values=None, datasets=None, buses=None, raises=None):
        self.pins = pins or {}
        self.printed = list(printed)
        self.values = values or {}
        self.datasets = datasets or {}
        self.buses = buses or {}
        self.raises = raises


def expect(**what):
    """The class decorated so is an experiment with these expectations."""

    def note(cls):
        cls.expected = Expected(**what)
        return cls

    return note
