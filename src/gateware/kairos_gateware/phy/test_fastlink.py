"""Fast link against a receiver in plain Python: frames arrive, at their times, with any geometry;
skipping time keeps the phase."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from migen import *

from kairos_gateware.pad import Pad
from kairos_gateware.phy.fastino_card import FrameReceiver, payload_of
from kairos_gateware.phy.fastlink import LANES, FastLink, arranged, frame_cycles, payload_bits
from kairos_gateware.testbenches.simulator import run_simulation


class Bench(Module):
    """A link with its pads only."""

    def __init__(self, lanes=LANES, **geometry):
        self.clock = Pad("clock", "out", 0, True)
        self.lanes = [Pad(f"lane{i}", "out", 0, True) for i in range(lanes)]
        self.back = Pad("back", "in", 0)
        self.submodules.link = FastLink(self.clock, self.lanes, self.back, **geometry)

    def sample(self):
        result = []
        for pad in [self.clock, *self.lanes]:
            result.append((yield pad.o))
        return result


def transmit(dut, receiver, payloads, fresh=lambda n: 1, begin=None):
    """Offers a payload during each frame; it is in the next one. Everything is as in the cycle of
    that number. begin: the cycle from which on the receiver listens, by default that of the first frame."""
    begin = dut.link.length if begin is None else begin

    def bench():
        for cycle in range(dut.link.length * (len(payloads) + 2) + 1):
            samples = yield from dut.sample()
            if cycle >= begin:
                receiver.feed(cycle, samples)
            assert (yield dut.link.begin) == (cycle % dut.link.length == dut.link.length - 1)
            n = cycle // dut.link.length
            known = n < len(payloads)
            yield dut.link.payload.eq(payloads[n] if known else 0)
            yield dut.link.fresh.eq(fresh(n) if known else 0)
            yield

    run_simulation(dut, bench())


@settings(max_examples=5, deadline=None)
@given(st.lists(st.integers(0, 2**568 - 1), min_size=1, max_size=4))
def test_fastino_frames_arrive_every_49_cycles(payloads):
    """98 bits on six lanes in 49 cycles (392 ns), back to back."""
    receiver = FrameReceiver()
    transmit(Bench(), receiver, payloads)
    assert not receiver.errors
    assert receiver.frames[: len(payloads)] == [(49 * (n + 1), p) for n, p in enumerate(payloads)]
    assert [start for start, _ in receiver.frames] == [49 * (n + 1) for n in range(len(payloads) + 1)]


@pytest.mark.parametrize("place", [358, 526])
def test_receiver_that_listens_since_the_reset_loses_the_first_frame_at_most(place):
    """Before the first frame nothing was loaded: there the lanes have no markers, so that a one of the first payload,
    at the end of a word, looks like one."""
    receiver, after = FrameReceiver(), [2**568 - 1, 21]
    transmit(Bench(), receiver, [1 << place, *after], begin=0)
    assert receiver.frames == [(98, after[0]), (147, after[1]), (196, 0)] and len(receiver.errors) == 1


PHASER = {"words": 10, "word_bits": 8, "pattern": 0x0F}


@pytest.mark.parametrize(
    "geometry, crc",
    [(PHASER, 0x6F), ({"words": 4, "word_bits": 5, "pattern": 0b11000}, 0x80F | 0x1000)],
)
def test_frames_of_other_geometries_arrive_complete(geometry, crc):
    """320 ns, as for a Phaser, and others."""
    width = crc.bit_length() - 1
    dut = Bench(**geometry, crc=crc ^ 1 << width, crc_width=width)
    receiver = FrameReceiver(**geometry, polynomial=crc)
    payloads = [(0x123456789ABCDEF << 400 | 0xFEDCBA987654321 << 7 * n) % 2 ** len(dut.link.payload) for n in range(3)]
    length = frame_cycles(geometry["words"], geometry["word_bits"])
    transmit(dut, receiver, payloads)
    assert receiver.frames[:3] == [(length * (n + 1), p) for n, p in enumerate(payloads)] and not receiver.errors


@settings(max_examples=30, deadline=None)
@given(st.sampled_from([(14, 7, 12), (10, 8, 6)]), st.integers(0, 2**600 - 1))
def test_payload_is_found_in_an_arranged_frame(geometry, bits):
    count = payload_bits(*geometry)
    assert count == {12: 568, 6: 468}[geometry[2]]
    frame = arranged([bits >> n & 1 for n in range(count)], *geometry)
    whole = sum((bit or 0) << n for n, bit in enumerate(frame))
    assert payload_of(whole, *geometry) == bits % 2**count
    assert sum(bit is None for bit in frame) == geometry[2] and len(frame) == 6 * geometry[0] * geometry[1]


def test_wrong_bit_is_detected_by_the_crc():
    receiver = FrameReceiver()
    dut = Bench()

    def bench():
        yield dut.link.payload.eq(3**300)
        for cycle in range(150):
            samples = yield from dut.sample()
            if cycle == 60:
                samples[2] ^= 0xF0
            receiver.feed(cycle, samples)
            yield

    run_simulation(dut, bench())
    assert receiver.errors == [49] and [start for start, _ in receiver.frames] == [98]


def test_answer_is_one_bit_for_each_word():
    dut = Bench()
    answer = 0b10110011100101
    seen, answered = [], []

    def bench():
        for cycle in range(49 * 3):
            answered.append((yield dut.link.answered))
            seen.append((yield dut.link.answer))
            # The bit of a word from the word's second cycle to its last
            yield dut.back.i.eq(255 * (answer >> 13 - (cycle + 1) % 49 * 2 // 7 & 1))
            yield

    run_simulation(dut, bench())
    assert seen[49] == answer and seen[48] == 0 and set(seen[49:]) == {answer}
    assert [cycle for cycle, new in enumerate(answered) if new] == [49, 98]


def test_simulation_shows_fresh_frames_only():
    dut = Bench()
    dut.comb += dut.link.free_running.simulated.eq(1)
    receiver = FrameReceiver()
    payloads = [n + 1 for n in range(4)]
    transmit(dut, receiver, payloads, fresh=lambda n: n in (0, 2))
    assert receiver.frames == [(49, 1), (147, 3)] and not receiver.errors


def test_reset_keeps_the_phase_of_frames():
    """Like the counter, it is reset with the clock domain only."""
    dut = ResetInserter()(Bench())
    starts = []

    def bench():
        for cycle in range(200):
            if (yield dut.link.begin):
                starts.append(cycle + 1)
            yield dut.reset.eq(60 <= cycle < 75)
            yield

    run_simulation(dut, bench())
    assert starts == [49, 98, 147, 196]


@settings(max_examples=10, deadline=None)
@given(st.sampled_from([(14, 7), (10, 8), (6, 11)]), st.lists(st.integers(1, 2**61 - 1), min_size=5, max_size=5))
def test_time_skip_keeps_phase_and_count_of_frames(geometry, jumps):
    dut = Bench(words=geometry[0], word_bits=geometry[1], pattern=0b1100011)
    running, length = dut.link.free_running, dut.link.length

    def agrees(now):
        assert (yield dut.link.begin) == (now % length == length - 1)
        if length % 2:
            assert (yield dut.link.frames) == now // length % 16

    def bench():
        now = 0
        for steps, jump in enumerate(jumps):
            for _ in range(steps):
                yield
                now += 1
                yield from agrees(now)
            yield running.stb.eq(1)
            yield running.cycles.eq(jump)
            yield
            yield running.stb.eq(0)
            now += 1  # the cycle with the jump
            yield
            now += jump
            yield from agrees(now)

    run_simulation(dut, bench())


@pytest.mark.parametrize(
    "geometry, text",
    [
        ({"words": 3, "word_bits": 7}, "a frame of 3 words of 7 bits does not end with a cycle"),
        ({"crc_width": 13}, "the CRC's 13 bits do not fit into the last cycle's 12"),
        ({"lanes": 5}, "a fast link has 6 data lanes, not 5"),
        ({"words": 14, "word_bits": 2}, "a word has more than 2 bits, not 2"),
    ],
)
def test_impossible_frame_geometry_is_refused(geometry, text):
    with pytest.raises(ValueError, match=text):
        Bench(**geometry)
