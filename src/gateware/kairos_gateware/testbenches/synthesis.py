"""A pulse core's path from a channel's outputs to samples, verilated, and run in lockstep."""

from pathlib import Path

from migen import *

from ..contracts import pulse as facts
from ..pulse.phase import FeedForward
from ..pulse.settings import Sampled, Settings
from ..pulse.synthesis import LATENCY, Output, Sum
from ..verilated.lockstep import Lockstep, build_lockstep

__all__ = ["LATENCY", "LEVELS", "Parameters", "build_sampled", "build_synthesis"]

LEVELS = ["synchronise", "feed_forward"]


class Parameters:
    """Outputs of a channel."""

    def __init__(self):
        self.values = [Signal(facts.VALUE_BITS, name=f"value_{p}") for p in range(facts.PARAMETERS)]
        self.applied = [Signal(facts.VALUE_BITS, name=f"applied_{t}") for t in range(facts.TONES)]
        self.synchronise, self.feed_forward = Signal(facts.TONES), Signal(facts.TONES)


class _Bench(Module):
    def __init__(self, samples_per_cycle):
        parameters, counter = Parameters(), Signal(facts.VALUE_BITS)
        self.submodules.forward = forward = FeedForward(samples_per_cycle)
        self.submodules.sum = total = Sum(samples_per_cycle, parameters, forward, counter)
        self.submodules.output = output = Output(total.samples)
        self.inputs = {"values": parameters.values, "applied": parameters.applied, "harmonics": total.harmonics}
        self.inputs |= {name: getattr(parameters, name) for name in LEVELS}
        self.inputs |= {"counter": counter, "error": forward.error}
        self.outputs = {"samples": output.samples, "limited": output.limited}


def build_synthesis(output: Path, samples_per_cycle: int) -> Lockstep:
    """Builds the library in the folder `output`, unless it is up to date. A row of inputs has
    `values`, `applied`, `harmonics`, LEVELS, `counter` and `error`; its samples are LATENCY rows
    later. Raises OSError."""
    bench = _Bench(samples_per_cycle)
    return build_lockstep(output, bench, bench.inputs, bench.outputs)


class _SampledBench(Module):
    def __init__(self, count, samples_per_cycle):
        channels = [Parameters() for _ in range(count)]
        self.stb, self.address, self.data, self.time = Signal(), Signal(5), Signal(64), Signal(61)

        def at(address):
            return self.stb & (self.address == address)

        self.submodules.settings = settings = Settings(at, self.data, count)
        self.submodules.sampled = sampled = Sampled(channels, settings, self.time, samples_per_cycle)
        self.inputs = {name: getattr(self, name) for name in ["stb", "address", "data", "time"]}
        for name in ["values", "applied"]:
            self.inputs[name] = [signal for channel in channels for signal in getattr(channel, name)]
        self.inputs |= {name: [getattr(channel, name) for channel in channels] for name in LEVELS}
        self.outputs = {"samples": [sample for of in sampled.outputs.samples for sample in of]}
        self.latency = sampled.outputs.latency


def build_sampled(output: Path, channels: int, samples_per_cycle: int) -> tuple[Lockstep, int]:
    """Likewise for some channels with a core's settings. A row has `values` and `applied`, those of
    one channel after those of the previous one, LEVELS for each channel, `time` in cycles, and an
    event: `stb`, `address`, `data`. Returns the library, and the number of rows by which samples
    lag, without the delay of the couplings."""
    bench = _SampledBench(channels, samples_per_cycle)
    return build_lockstep(output, bench, bench.inputs, bench.outputs), bench.latency
