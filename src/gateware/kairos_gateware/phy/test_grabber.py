"""Grabber against NumPy: sums over regions of synthetic frames, from words and from the lanes'
samples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from migen import *

from kairos_gateware.pad import Pad
from kairos_gateware.phy.camera import frame_words, lane_samples
from kairos_gateware.phy.grabber import FrameParser, Grabber, GrabberGate, Roi, result_bits
from kairos_gateware.phy.kinds import make_phys
from kairos_gateware.testbenches.simulator import run_simulation
from kairos_gateware.variant import ChannelSpec


class Bench(Module):
    def __init__(self, **options):
        self.pads = [Pad(f"x{i}", "in", 0, True) for i in range(5)]
        self.submodules.grabber = Grabber(0, self.pads[0], self.pads[1:], **options)
        self.submodules.gate = GrabberGate(1, self.grabber)

    def write(self, link, address, data):
        yield link.stb.eq(1)
        yield link.address.eq(address)
        yield link.data.eq(data)
        yield
        yield link.stb.eq(0)

    def setup(self, rois, mask):
        for n, corners in enumerate(rois):
            for i, value in enumerate(corners):
                yield from self.write(self.grabber.channel.output, 4 * n + i, value)
        yield from self.write(self.gate.channel.output, 0, mask)


def play(dut, rois, mask, samples):
    """Events of the second channel as (cycle, data), the cycle being that of `samples`; then the
    probes."""
    events, probes = [], []

    def bench():
        yield from dut.setup(rois, mask)
        for cycle, lanes in enumerate(samples):
            for pad, word in zip(dut.pads, lanes, strict=True):
                yield pad.i.eq(word)
            yield
            if (yield dut.gate.channel.input.stb):
                events.append((cycle, (yield dut.gate.channel.input.data)))
        for probe in dut.grabber.probes:
            probes.append((yield probe))

    run_simulation(dut, bench())
    return events, probes


def expected(frame, rois, mask, shift=0, bits=31):
    found = []
    for n, (x0, y0, x1, y1) in enumerate(rois):
        if mask >> n & 1:
            found.append(int((frame[y0:y1, x0:x1] >> shift).sum(dtype=np.int64)) % 2**bits)
    return [1 << bits, *found] if mask else []


_CORNER = st.integers(0, 9)
_ROI = st.tuples(_CORNER, _CORNER, _CORNER, _CORNER)


class Sums(Module):
    """Parser and ROIs alone: a word in each cycle."""

    def __init__(self, rois, bits=31):
        self.submodules.parser = self.parser = FrameParser(4)
        self.rois = [Roi(self.parser, [C(c, 4) for c in corners], bits, 0) for corners in rois]
        self.submodules += self.rois

    def play(self, words):
        """[sums] at the end of each frame."""
        found = []

        def bench():
            ended = [0, 0]  # the sums lag two cycles
            for word in words + [0, 0, 0]:
                yield self.parser.stb.eq(1)
                yield self.parser.word.eq(word)
                yield
                ended.append((yield self.parser.end))
                if ended[-3]:
                    sums = []
                    for roi in self.rois:
                        sums.append((yield roi.sum))
                    found.append(sums)
            found.append([(yield self.parser.width), (yield self.parser.height)])

        run_simulation(self, bench())
        return found


@settings(max_examples=30, deadline=None)
@given(
    st.integers(1, 8),
    st.integers(1, 6),
    st.lists(_ROI, min_size=4, max_size=4),
    st.integers(0, 2),
    st.integers(0, 3),
    st.integers(0, 2**32),
)
def test_sums_over_regions_agree_with_numpy(width, height, rois, holes, gap, seed):
    """Two frames; a ROI may be empty, or extend beyond the frame. Without a gap, lines merge into
    one long one."""
    noise = np.random.default_rng(seed)
    if not gap:
        height = 1
    frames = [noise.integers(0, 2**16, (height, width)) for _ in range(2)]
    words = [word for frame in frames for word in frame_words(frame, gap, 4, holes)]
    *sums, size = Sums(rois).play(words)
    assert sums == [expected(frame, rois, 15)[1:] for frame in frames]
    assert size == [width, height]


def test_overflowing_sum_wraps_around():
    words = frame_words(np.array([[200, 300, 1]])) + frame_words(np.array([[200, 56, 1]]))
    assert Sums([(0, 0, 3, 1), (0, 0, 2, 1)], bits=8).play(words)[:2] == [[245, 244], [1, 0]]
    words = frame_words(np.array([[200, 54, 1]])) + frame_words(np.array([[3, 4, 5]]))
    assert Sums([(0, 0, 3, 1), (0, 0, 2, 1)], bits=8).play(words)[:2] == [[255, 254], [12, 7]]


@pytest.mark.parametrize("mask", [0, 0b0010, 0b1101])
def test_frames_received_on_lanes_give_selected_sums(mask):
    """Two frames at 40 MHz; results of the ROIs in the mask."""
    noise = np.random.default_rng(mask)
    frames = [noise.integers(0, 2**16, (4, 5)) for _ in range(2)]
    rois = [(0, 0, 5, 4), (1, 1, 3, 2), (4, 0, 5, 3), (2, 2, 2, 4)]
    words = [0] * 90 + [word for frame in frames for word in frame_words(frame, frame_gap=6)]
    events, sizes = play(Bench(rois=4), rois, mask, lane_samples(words, 25.0, 5.0))
    assert [data for _, data in events] == sum((expected(frame, rois, mask) for frame in frames), [])
    assert sizes == [5, 4]


def test_sums_follow_frame_end_one_per_cycle():
    """From the word that ends the frame (its last bit arrived): sentinel 7 cycles later, then one
    result per cycle."""
    frame = np.arange(6).reshape(2, 3)
    words = [0] * 90 + frame_words(frame, frame_gap=20)
    events, _ = play(Bench(rois=16), [(0, 0, 3, 2)] * 16, 0xFFFF, lane_samples(words, 56.0))
    last = 7 * (len(words) - 20) + 6  # a bit lasts a cycle
    assert events == [(last + 7, 1 << 31)] + [(last + 8 + n, 15) for n in range(16)]


@pytest.mark.parametrize("res_width, shift, bits", [(4, 0, 24), (12, 0, 31), (3, 13, 9), (2, 12, 8)])
def test_sentinel_is_the_bit_above_results(res_width, shift, bits):
    assert result_bits(res_width, shift) == bits
    frame = np.full((3, 3), 0xFFFF)
    rois = [(0, 0, 3, 3), (0, 1, 3, 2), (1, 1, 2, 2)]
    dut = Bench(rois=3, res_width=res_width, count_shift=shift)
    events, _ = play(dut, rois, 7, lane_samples([0] * 90 + frame_words(frame), 24.0))
    assert [data for _, data in events] == expected(frame, rois, 7, shift, bits)


@pytest.mark.parametrize(
    "options, text",
    [
        ({"res_width": 17}, "camera: res_width of a grabber is 1 to 16, not 17"),
        ({"rois": 65}, "camera: rois of a grabber is 1 to 64, not 65"),
        ({"count_shift": 16}, "camera: count_shift of a grabber is 0 to 15, not 16"),
    ],
)
def test_impossible_grabber_parameters_are_refused(options, text):
    with pytest.raises(ValueError, match=text):
        make_phys((ChannelSpec("camera", "grabber", options),))
