"""The whole core, from words to samples, against the model in Rust: every sample."""

import numpy as np
import pytest
from kairos.pulse import Core, GateSet, Model, Pulse
from migen import *

from kairos_gateware.contracts import pulse as facts
from kairos_gateware.verilated.lockstep import build_lockstep

from .conftest import BUILD
from .samples import Samples
from .sequencing import Sequencing

CHANNELS, PER_CYCLE, CYCLES = 2, 8, 600
CORE = Core(clock=125e6, samples_per_cycle=PER_CYCLE, channels=CHANNELS, map=1 << 11, pulses=1 << 10)


class Bench(Module):
    def __init__(self):
        self.submodules.core = core = Sequencing(CHANNELS, mlut_bits=11, plut_bits=10)
        self.submodules.samples = samples = Samples(core.channels, PER_CYCLE)
        parts = [core.word[at : at + 64] for at in range(0, facts.WORD_BITS, 64)]
        words = [Signal(64, name=f"word_{n}") for n in range(len(parts))]
        self.comb += core.word.eq(Cat(*words))
        self.inputs = {"word": words, "valid": core.valid, "load": samples.load, "value": samples.value}
        self.outputs = {"running": core.running, "samples": [s for channel in samples.samples for s in channel]}
        self.latency = samples.latency


@pytest.fixture(scope="module")
def whole():
    bench = Bench()
    library = build_lockstep(BUILD / "pulse_samples", bench, bench.inputs, bench.outputs)
    return library, bench.latency


def pulses(rng, cycles):
    """Two tones of any kind on each channel."""
    found = []
    for channel in range(CHANNELS):
        numbers = {f"freq{t}": rng.choice([rng.uniform(-5e8, 5e8), 1e6]) for t in range(2)}
        numbers |= {f"amp{t}": tuple(rng.uniform(-100, 100, 4)) for t in range(2)}
        numbers |= {f"phase{t}": list(rng.uniform(-180, 180, 3)) for t in range(2)}
        numbers |= {f"framerot{t}": rng.uniform(-180, 180) for t in range(2)}
        numbers |= {"forward": (1, 2) if rng.random() < 0.5 else (2, 1)}
        found.append(Pulse(channel=channel, cycles=cycles, **numbers))
    return found


@pytest.mark.parametrize("seed", range(3))
def test_samples_of_a_program_equal_the_model(whole, seed):
    library, latency = whole
    rng = np.random.default_rng(seed)
    lengths = [int(cycles) for cycles in rng.integers(40, 90, 3)]
    gates = GateSet({f"g{n}": pulses(rng, n) for n in lengths}, core=CORE)
    words = gates.words([f"g{n}" for n in rng.choice(lengths, 5)])
    expected = Model(CORE).play(words, CYCLES)
    rows = np.zeros(len(words) + CYCLES + 400, library.inputs)
    rows["word"][: len(words)], rows["valid"][: len(words)] = words.view("u8"), 1
    out = library.play(rows)
    samples = out["samples"].reshape(len(rows), CHANNELS, PER_CYCLE).astype("i8")
    for channel in range(CHANNELS):
        # Channels start when their segments are available, which is not the same cycle for both
        begin = np.flatnonzero(out["running"] >> channel & 1)[0] + 1 + latency
        start = np.flatnonzero(expected.values[channel, facts.Parameter.F0])[0]
        want = expected.samples[channel, start * PER_CYCLE :]
        got = samples[begin : begin + CYCLES - start, channel].reshape(-1)
        assert (got == want).all()
        assert np.abs(got).max() > 10_000 and not samples[:begin, channel].any()
