"""Words through blocks, a line with any bit offset, and back: both directions of the coder,
verilated."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from migen import *

from kairos_gateware.figures.place import root
from kairos_gateware.link.line.coding import STATE_EVERY, LineReceiver, LineTransmitter
from kairos_gateware.verilated.lockstep import build_lockstep

ALIGNED = 2000
"""Cycles within which alignment is found in the worst case."""


class Bench(Module):
    """`offset`: bits by which the line is late; `flips`: bits of it to invert; `noise`: replaces
    it. `restart`: resets the transmitter."""

    def __init__(self):
        self.submodules.transmitter = transmitter = ResetInserter()(LineTransmitter())
        self.restart = transmitter.reset
        self.submodules.receiver = receiver = LineReceiver()
        self.offset, self.flips, self.noise = Signal(6), Signal(64), Signal(64)
        earlier = Signal(64)
        self.sync += earlier.eq(transmitter.line)
        late = Signal(128)
        self.comb += [
            late.eq(Cat(earlier, transmitter.line) >> self.offset),
            receiver.line.eq(Mux(self.noise != 0, self.noise, late[:64] ^ self.flips)),
        ]


@pytest.fixture(scope="module")
def coder():
    dut = Bench()
    word, received = dut.transmitter.word, dut.receiver.word
    inputs = {"valid": word.valid, "word": word.word, "restart": dut.restart}
    inputs |= {"offset": dut.offset, "flips": dut.flips, "noise": dut.noise}
    outputs = {"ready": word.ready, "line": dut.transmitter.line, "up": dut.receiver.up}
    outputs |= {"come": received.valid, "received": received.word, "begin": dut.receiver.begin}
    return build_lockstep(root() / "link_coding", dut, inputs, outputs)


def rows(coder, cycles, seed=1, offered=1.0):
    """Random words, offered in a share of the cycles."""
    rng, into = np.random.default_rng(seed), np.zeros(cycles, coder.inputs)
    into["word"] = rng.integers(0, 2**64, cycles, dtype="u8")
    into["valid"] = rng.random(cycles) < offered
    return into


def sent_and_received(into, out, begin=0, end=None):
    """Words sent and words received within a span of cycles."""
    span = slice(begin, end)
    moved = (into["valid"] & out["ready"]).astype(bool)[span]
    return into["word"][span][moved], out["received"][span][out["come"].astype(bool)[span]]


def where(sent, received):
    """Index among the sent words at which the received ones begin."""
    (found,) = np.nonzero(sent == received[0])
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("offset", range(64))
def test_words_arrive_for_any_begin_bit(coder, offset):
    into = rows(coder, ALIGNED + 2000, offset, [1.0, 0.5][offset % 2])
    into["offset"] = offset
    out = coder.play(into)
    assert out["up"][ALIGNED:].all()
    sent, received = sent_and_received(into, out)
    at = where(sent, received)
    assert len(received) > 900 and len(sent) - at - len(received) <= 6, "those on their way at the end"
    assert (sent[at : at + len(received)] == received).all()


def all_take_the_same_time(into, out, offset, begin):
    """Checks that, from cycle `begin` on, all words have the same latency and the sender's cycle
    boundary is known."""
    assert out["up"][begin:].all() and (out["begin"][begin:] == -offset % 64).all()
    left = {word: n for n, word in enumerate(into["word"]) if into["valid"][n] and out["ready"][n]}
    came = [int(n) for n in np.flatnonzero(out["come"]) if n > begin]
    # The bench's line has a latency of one cycle less `offset` bits
    assert {n - left[out["received"][n]] for n in came} == {6 if offset == 0 else 5}
    return len(came)


@pytest.mark.parametrize("offset", range(64))
def test_latency_of_words_is_constant(coder, offset):
    """At all places of a block, with pauses and without."""
    offered = [1.0, 0.3, 0.05][offset % 3]
    into = rows(coder, ALIGNED + 3000, offset, offered)
    into["offset"] = offset
    assert all_take_the_same_time(into, coder.play(into), offset, ALIGNED) > 2500 * offered


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 2**32),
    st.floats(0.02, 1),
    st.integers(0, 63),
    st.integers(0, 63),
    st.integers(1, 66),
    st.floats(0, 1e-3),
)
def test_alignment_recovers_after_slip_restart_and_noise(coder, seed, offered, before, after, pause, rate):
    """As when a board's logic is reloaded, or a transceiver reset: reception recovers."""
    into, rng = rows(coder, 4 * ALIGNED + 4000, seed, offered), np.random.default_rng(seed)
    moves = ALIGNED + 500
    into["offset"][:moves], into["offset"][moves:] = before, after
    into["restart"][moves : moves + pause] = seed & 1
    errors = rng.random((moves, 64)) < rate
    into["flips"][:moves] = np.packbits(errors, axis=1, bitorder="little").view("u8")[:, 0]
    assert all_take_the_same_time(into, coder.play(into), after, len(into) - 2000) > 0


def test_words_are_accepted_in_32_of_33_cycles(coder):
    into = rows(coder, 33 * 256)
    taken = (into["valid"] & coder.play(into)["ready"]).sum()
    assert taken == pytest.approx(32 * 256 * (1 - 1 / STATE_EVERY), abs=2)


def test_line_is_balanced_and_has_frequent_transitions(coder):
    for words in (0, 2**64 - 1):
        into = rows(coder, 20_000)
        into["word"] = words
        bits = np.unpackbits(coder.play(into)["line"][100:].copy().view("u1"), bitorder="little")
        assert bits.mean() == pytest.approx(0.5, abs=0.002)
        assert np.diff(np.nonzero(np.diff(bits))[0]).max() < 40


def test_bit_error_changes_one_bit_and_keeps_alignment(coder):
    """In all places of a block, headers included: a block moves by two bits each cycle."""
    into = rows(coder, ALIGNED + 40_000, 3)
    wrong = np.arange(ALIGNED, len(into) - 10, 97)
    into["flips"][wrong] = np.left_shift(1, np.arange(len(wrong), dtype="u8") % 64)
    out = coder.play(into)
    assert out["up"][ALIGNED:].all()
    sent, received = sent_and_received(into, out)
    at = where(sent, received)
    differing = sent[at : at + len(received)] ^ received
    bits = np.unpackbits(differing.view("u1")).reshape(-1, 64).sum(axis=1)
    assert bits.max() == 1
    assert 0.94 * len(wrong) < bits.sum() < 0.99 * len(wrong), "all but those in headers and states"


@pytest.mark.parametrize("rate", [1e-5, 1e-4, 1e-3])
def test_bit_errors_keep_the_alignment(coder, rate):
    into, rng = rows(coder, 30_000, 4), np.random.default_rng(4)
    errors = rng.random((len(into) - ALIGNED, 64)) < rate
    into["flips"][ALIGNED:] = np.packbits(errors, axis=1, bitorder="little").view("u8")[:, 0]
    assert coder.play(into)["up"][ALIGNED:].all()


def test_shifted_line_is_aligned_again(coder):
    into = rows(coder, 4 * ALIGNED, 5)
    into["offset"][: 2 * ALIGNED], into["offset"][2 * ALIGNED :] = 9, 10
    out = coder.play(into)
    up = out["up"].astype(bool)
    assert up[ALIGNED : 2 * ALIGNED].all() and not up[2 * ALIGNED + 5 : 3 * ALIGNED].all() and up[3 * ALIGNED :].all()
    sent, received = sent_and_received(into, out, 3 * ALIGNED)
    at = where(sent, received[5:])
    assert (sent[at : at + len(received) - 5] == received[5:]).all()


def test_noise_takes_the_line_down(coder):
    into = rows(coder, 20_000, 6)
    into["noise"][ALIGNED:] = np.random.default_rng(6).integers(1, 2**64, len(into) - ALIGNED, dtype="u8")
    out = coder.play(into)
    assert out["up"][ALIGNED - 1] and not out["up"][ALIGNED + 200 :].any()
