"""Samples of several channels, and compensation of their crosstalk: checks 61 and 63 of the
specification, and samples of channels that disturb each other against those of the model in
Rust."""

import numpy as np
import pytest
from kairos.pulse import Core, GateSet, Model, Pulse
from migen import *

from kairos_gateware.contracts import pulse as facts
from kairos_gateware.testbenches.pulse_blocks import Body, bypass
from kairos_gateware.testbenches.synthesis import Parameters
from kairos_gateware.verilated.lockstep import build_lockstep

from .conftest import BUILD
from .crosstalk import LATENCY, OFFSETS, Crosstalk
from .phase import FeedForward
from .synthesis import LATENCY as TO_SAMPLES
from .synthesis import Output, Sum
from .test_synthesis import PER_CYCLE, TURN

CHANNELS = 4
WRITES = ["write", "commit", "channel", "offset", "factor", "delay", "zero"]


class Bench(Module):
    """Parameters of channels to their samples."""

    def __init__(self):
        channels, counter = [Parameters() for _ in range(CHANNELS)], Signal(facts.VALUE_BITS)
        self.submodules.forward = forward = FeedForward(PER_CYCLE)
        sums = [Sum(PER_CYCLE, channel, forward, counter, quadrature=True) for channel in channels]
        self.submodules += sums
        self.submodules.crosstalk = crosstalk = Crosstalk([(s.samples, s.imaginary) for s in sums])
        outputs = [Output(total) for total in crosstalk.sums]
        self.submodules += outputs
        self.inputs = {"values": [value for channel in channels for value in channel.values]}
        self.inputs |= {name: getattr(crosstalk, name) for name in WRITES}
        self.outputs = {"samples": [sample for output in outputs for sample in output.samples]}


@pytest.fixture(scope="session")
def channels():
    bench = Bench()
    return build_lockstep(BUILD / "pulse_crosstalk", bench, bench.inputs, bench.outputs)


def samples(channels, values, couplings=(), zero=0):
    """The samples (channel, sample) of `values` (channel, parameter, cycle), with couplings
    (channel, offset, factor as two words, delay)."""
    before = len(couplings) + 1
    rows = np.zeros(before + values.shape[2] + TO_SAMPLES, channels.inputs)
    for row, (channel, offset, factor, delay) in zip(rows, couplings, strict=False):
        row["write"], row["channel"], row["offset"], row["delay"] = 1, channel, OFFSETS.index(offset), delay
        row["factor"] = np.array(factor) % 2**18
    rows["commit"][len(couplings)], rows["zero"] = 1, zero
    rows["values"][before:-TO_SAMPLES] = values.reshape(-1, values.shape[2]).T % TURN
    played = channels.play(rows)["samples"][before + TO_SAMPLES :].astype("i8")
    return played.reshape(-1, CHANNELS, PER_CYCLE).transpose(1, 0, 2).reshape(CHANNELS, -1)


def tones(cycles=400):
    """Values of channels with one identical tone each."""
    values = np.zeros((CHANNELS, facts.PARAMETERS, cycles), "i8")
    values[:, facts.Parameter.F0] = 0x3E80000000
    values[:, facts.Parameter.A0] = 0x3FFF800000
    return values


def gate(rng):
    """Two tones on each channel that rise and fall, and change their phase."""
    pulses = []
    for channel in range(CHANNELS):
        numbers = {f"freq{t}": rng.uniform(-400e6, 400e6) for t in range(2)}
        numbers |= {f"amp{t}": tuple(rng.uniform(-100, 100, 4)) for t in range(2)}
        numbers |= {f"phase{t}": list(rng.uniform(-180, 180, 3)) for t in range(2)}
        pulses.append(Pulse(channel=channel, cycles=500, **numbers))
    return pulses


def test_check_61_without_factors_samples_are_delayed_only(channels):
    model = Model(Core(channels=CHANNELS))
    played = model.play(GateSet({"all": gate(np.random.default_rng(61))}, sequence=["all"]).words(), 500)
    for zero in [0, 9, 63]:
        late = (LATENCY + zero) * PER_CYCLE
        got = samples(channels, played.values, zero=zero)
        assert not got[:, :late].any()
        assert (got[:, late:] == played.samples[:, :-late]).all()


@pytest.mark.parametrize("zero", [0, 5, 63])
def test_check_61_an_equal_neighbour_is_cancelled(channels, zero):
    got = samples(channels, tones(), [(1, 1, (-(2**17), 0), zero)], zero)
    assert np.abs(got[1]).max() <= 1
    assert np.abs(got[0]).max() > 16000


def test_check_61_outermost_channels_have_no_neighbour_beyond(channels):
    couplings = [(0, -1, (2**16, 0), 0), (0, -2, (2**16, 0), 0), (3, 1, (2**16, 0), 0), (3, 2, (2**16, 0), 0)]
    assert (samples(channels, tones(), couplings) == samples(channels, tones())).all()


@pytest.mark.parametrize("seed", range(4))
def test_samples_of_channels_with_crosstalk_equal_the_model(channels, seed):
    rng = np.random.default_rng(seed)
    model = Model(Core(channels=CHANNELS), crosstalk=LATENCY)
    zero, couplings = int(rng.integers(64)), []
    for channel in range(CHANNELS):
        for offset in OFFSETS:
            factor = rng.integers(-(2**17), 2**17, 2) if rng.random() < 0.8 else np.zeros(2, int)
            couplings.append((channel, offset, tuple(map(int, factor)), int(rng.integers(64))))
            model.couple(channel, offset, complex(*factor / 2**17), couplings[-1][3], zero)
    played = model.play(GateSet({"all": gate(rng)}, sequence=["all"]).words(), 500)
    assert (samples(channels, played.values, couplings, zero) == played.samples).all()
    assert np.abs(played.samples).max() == 2**15 - 1 or np.abs(played.samples).max() == 2**15


def test_check_63_channels_with_equal_programs_give_equal_samples(channels, engines):
    """Words for both channels of the engines, whose values go to two channels each of the
    synthesis."""
    rng = np.random.default_rng(63)
    words = []
    for p in range(facts.PARAMETERS):
        words += [
            bypass(Body(tuple(map(int, rng.integers(0, 2**38, 4))), 50, 20), 1 << p, channels=3) for _ in range(2)
        ]
    shown = engines.play(words, 300).shown["values"].transpose(1, 2, 0)
    assert (shown[0] == shown[1]).all()
    got = samples(channels, shown[[0, 1, 0, 1]].astype("i8"))
    assert (got == got[0]).all() and np.abs(got).max() > 10_000
