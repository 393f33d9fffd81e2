"""An experiment that plays words of a gate set, and the verilated tones of what a recording has."""

from functools import cache

import numpy as np
from kairos_gateware.contracts import pulse as facts
from kairos_gateware.pulse.phase import FeedForward
from kairos_gateware.pulse.synthesis import Output, Sum
from kairos_gateware.testbenches.synthesis import LATENCY, LEVELS, Parameters, build_synthesis
from kairos_gateware.verilated.lockstep import build_lockstep
from migen import Module, Signal

from .paths import BUILD

__all__ = ["EXPERIMENT", "parts", "tones"]

SAMPLES = 8
"""Per cycle."""
EXPERIMENT = """
from artiq.experiment import *


class Exp(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("pulse0")
        words = definition().words().reshape(-1).view("<i4")
        self.words = words.tolist()

    @kernel
    def run(self):
        self.core.reset()
        delay(100*us)
        self.pulse0.send(self.words)
        delay(1*ms)
        self.pulse0.trigger()
        delay(1*ms)
        self.pulse0.check()
"""
"""After the function `definition`, which returns a gate set."""


class _Parts(Module):
    """A channel's samples for two converters, and what they are made of."""

    def __init__(self):
        counter, of = Signal(facts.VALUE_BITS), Parameters()
        self.submodules.error = error = FeedForward(SAMPLES)
        self.submodules.both = both = Sum(SAMPLES, of, error, counter, quadrature=True)
        self.inputs = {name: getattr(of, name) for name in ["values", "applied", *LEVELS]}
        self.inputs |= {"harmonics": both.harmonics, "counter": counter, "error": error.error}
        self.outputs = {}
        for name, sums in [("real", both.samples), ("imaginary", both.imaginary)]:
            converter = Output(sums)
            self.submodules += converter
            self.outputs[name] = converter.samples


@cache
def _tones():
    return build_synthesis(BUILD / "gateware" / "pulse_synthesis8", SAMPLES)


@cache
def _parts():
    dut = _Parts()
    return build_lockstep(BUILD / "gateware" / "pulse_synthesis8_parts", dut, dut.inputs, dut.outputs)


def tones(recording, channel, first, cycles):
    """Return the samples that the logic makes of what the engines have shown, from cycle `first` on."""
    return _played(_tones(), recording, channel, first, cycles, "samples")


def parts(recording, channel, first, cycles):
    """Return (real, imaginary) samples likewise, for I and Q."""
    return [_played(_parts(), recording, channel, first, cycles, name) for name in ("real", "imaginary")]


def _played(logic, recording, channel, first, cycles, output):
    rows = np.zeros(cycles + LATENCY, logic.inputs)
    fields = recording.fields(channel, first * SAMPLES, (first + cycles) * SAMPLES)
    rows["values"][:cycles] = fields[:, : facts.PARAMETERS] % 2**facts.VALUE_BITS
    rows["applied"][:cycles] = fields[:, facts.PARAMETERS : -1] % 2**facts.VALUE_BITS
    rows["synchronise"][:cycles] = fields[:, -1] & 3
    rows["counter"] = (first + np.arange(len(rows))) * SAMPLES % 2**facts.VALUE_BITS
    return logic.play(rows)[output][LATENCY:].astype("i2").reshape(-1)
