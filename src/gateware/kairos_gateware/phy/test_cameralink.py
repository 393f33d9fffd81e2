"""Camera Link receiver against a camera in plain Python: every word arrives at any rate, phase and
with jitter."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from migen import *

from kairos_gateware.pad import Pad
from kairos_gateware.phy.camera import lane_samples
from kairos_gateware.phy.cameralink import CameraLinkReceiver
from kairos_gateware.testbenches.simulator import run_simulation

LEAD = 86  # words until a receiver certainly knows the rate


def receive(cycles):
    """cycles: from `lane_samples`. Returns [(cycle, word)], and whether it was settled in each
    cycle."""
    pads = [Pad(f"x{i}", "in", 0, True) for i in range(5)]
    dut = CameraLinkReceiver(pads[0], pads[1:])
    words, settled = [], []

    def bench():
        for cycle, lanes in enumerate(cycles):
            for pad, samples in zip(pads, lanes, strict=True):
                yield pad.i.eq(samples)
            yield
            if (yield dut.stb):
                words.append((cycle, (yield dut.word)))
            settled.append((yield dut.settled))

    run_simulation(dut, bench())
    return words, settled


def check(cycles, sent):
    """From some word on, all arrive."""
    words = [word for _, word in receive(cycles + [cycles[-1]] * 6)[0]]
    assert len(words) >= len(sent) - LEAD and words == sent[-len(words) :]


@settings(max_examples=8, deadline=None)
@given(st.floats(14.7, 200), st.floats(0, 30), st.integers(0, 2**32))
def test_words_arrive_at_any_rate_and_phase(period, phase, seed):
    """5 to 68 MHz."""
    noise = random.Random(seed)
    sent = [noise.getrandbits(28) for _ in range(LEAD + 30)]
    check(lane_samples(sent, period, phase), sent)


@settings(max_examples=8, deadline=None)
@given(st.floats(16.7, 60), st.integers(0, 2**32))
def test_words_arrive_in_spite_of_jitter(period, seed):
    """Each edge of each lane is off by up to 0.1 ns at 60 MHz (2.4 ns a bit), by 0.3 ns at 40 MHz; by a
    tenth of a bit when slower."""
    noise = random.Random(seed)
    sent = [noise.getrandbits(28) for _ in range(LEAD + 30)]
    most = max(0.3, period / 70) if period >= 25 else 0.1
    check(lane_samples(sent, period, 3.3, lambda: noise.uniform(-most, most)), sent)


def test_word_is_available_four_cycles_after_its_last_bit():
    words, _ = receive(lane_samples([3**16 % 2**28] * 120, 56.0))
    # A bit lasts a cycle: the last one of word n has its middle in cycle 7 n + 6
    assert [cycle for cycle, _ in words] == [7 * n + 6 + 4 for n in range(76, 119)]


@pytest.mark.parametrize("period", [11.8, 14.0])
def test_too_fast_camera_clock_gives_no_words(period):
    words, _ = receive(lane_samples([1] * 200, period))
    assert words == []


def test_receiver_is_settled_while_clock_is_stopped():
    """The clock stops in the middle of a word, and resumes: no wrong word. Time is not skipped
    until the clock is known to have stopped: 255 ns."""
    noise = random.Random(1)
    first, second = ([noise.getrandbits(28) for _ in range(LEAD + 10)] for _ in range(2))
    cycles = lane_samples(first, 30.0)[:-5]
    pause = [cycles[-1]] * 60
    words, settled = receive(pause + cycles + pause + lane_samples(second, 41.0) + pause)
    assert [word for _, word in words] == first[76:95] + second[76:]
    assert all(settled[40:60]) and not any(settled[61 : 60 + len(cycles) + 30])
    assert all(settled[60 + len(cycles) + 36 : 120 + len(cycles)]) and not settled[121 + len(cycles)]
