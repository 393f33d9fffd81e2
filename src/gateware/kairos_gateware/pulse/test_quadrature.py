"""Both parts of a channel's signal: a quarter of a turn apart, at full scale like the real one."""

import numpy as np
import pytest
from migen import *

from kairos_gateware.contracts import pulse as facts
from kairos_gateware.pulse.samples import Samples
from kairos_gateware.testbenches.simulator import run_simulation

TURN = 1 << facts.VALUE_BITS
FULL = 65535 << facts.AMPLITUDE_FRACTION


class Engines:
    """What the engines of a channel show."""

    def __init__(self):
        self.values = [Signal(facts.VALUE_BITS) for _ in range(facts.PARAMETERS)]
        self.applied = [Signal(facts.VALUE_BITS) for _ in range(facts.TONES)]
        self.synchronise = [Signal() for _ in range(facts.TONES)]
        self.feed_forward = [Signal() for _ in range(facts.TONES)]


@pytest.mark.parametrize("degrees", [0, 45, 90, 200])
def test_parts_of_a_tone_are_a_quarter_turn_apart(degrees):
    channel, found = Engines(), []
    samples = Samples([channel], 1, quadrature=True)

    def play():
        yield channel.values[facts.Parameter.A0].eq(FULL // 2)
        yield channel.values[facts.Parameter.P0].eq(round(degrees / 360 * TURN) % TURN)
        for _ in range(samples.latency + 2):
            yield
        for part in (samples.samples, samples.imaginary):
            found.append((yield part[0][0]))
        found.append((yield samples.limited))

    run_simulation(samples, play())
    wanted = 65535 / 4 * np.exp(1j * np.deg2rad(degrees))
    assert abs(found[0] - wanted.real) <= 2 and abs(found[1] - wanted.imag) <= 2
    assert found[2] == 0


def test_part_beyond_full_scale_is_reported():
    channel, found = Engines(), []
    samples = Samples([channel], 1, quadrature=True)

    def play():
        for tone in (facts.Parameter.A0, facts.Parameter.A1):
            yield channel.values[tone].eq(FULL)
            yield channel.values[tone + 1].eq(TURN // 4)
        for _ in range(samples.latency + 2):
            yield
        for signal in (samples.samples[0][0], samples.imaginary[0][0], samples.limited):
            found.append((yield signal))

    run_simulation(samples, play())
    assert abs(found[0]) <= 2 and found[1:] == [32767, 1]
