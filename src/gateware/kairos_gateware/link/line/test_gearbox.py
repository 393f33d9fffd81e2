"""Vectors of every form through words and back."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from migen import *

from kairos_gateware.link.line.gearbox import PLACES, Depacketiser, Forms, Packetiser
from kairos_gateware.link.line.simple import SimpleDepacketiser, SimplePacketiser, make_depacketiser, make_packetiser
from kairos_gateware.link.line.word import PAYLOAD_BITS
from kairos_gateware.testbenches.simulator import run_simulation

WRITE_BEATS = Forms(beat=64, last=64, strobed=73)
ADDRESSES = Forms(address=99)
ANSWERS = Forms(answer=8)
STREAMS = [WRITE_BEATS, ADDRESSES, ANSWERS, Forms(a=53), Forms(a=52, b=80, c=111, d=60)]


class Bench(Module):
    def __init__(self, forms, packetiser, depacketiser):
        self.submodules.packetiser = packetiser(forms)
        self.submodules.depacketiser = depacketiser(forms)
        self.comb += [
            self.depacketiser.word.payload.eq(self.packetiser.word.payload),
            self.depacketiser.word.valid.eq(self.packetiser.word.valid & self.packetiser.word_ready),
        ]


def transfer(forms, vectors, offered=1.0, taken=1.0, seed=0, make=(Packetiser, Depacketiser)):
    """Sends (name, data). offered, taken: share of the cycles in which a vector is offered and a
    word is taken. Returns (vectors received, words used, cycles)."""
    dut, random = Bench(forms, *make), Random(seed)
    received, words, cycles = [], [], []
    names = {tag: name for name, tag in forms.tags.items()}
    vector = dut.packetiser.vector

    def send():
        for name, data in vectors:
            while random.random() >= offered:
                yield
            yield vector.valid.eq(1)
            yield vector.form.eq(forms.tags[name])
            yield vector.data.eq(data)
            yield
            while not (yield dut.packetiser.vector_ready):
                yield
            yield vector.valid.eq(0)
        cycle = 0
        while len(received) < len(vectors):
            cycle += 1
            assert cycle < 2000, "vectors are missing"
            yield

    @passive
    def observe():
        while True:
            yield dut.packetiser.word_ready.eq(random.random() < taken)
            yield
            cycles.append(1)
            if (yield dut.depacketiser.word.valid):
                words.append((yield dut.depacketiser.word.payload))
            if (yield dut.depacketiser.vector.valid):
                name = names[(yield dut.depacketiser.vector.form)]
                received.append((name, (yield dut.depacketiser.vector.data) & 2 ** forms.widths[name] - 1))

    run_simulation(dut, [send(), observe()])
    return received, len(words), len(cycles)


def some(forms, count, seed, names=None):
    random = Random(seed)
    chosen = [random.choice(names or list(forms.widths)) for _ in range(count)]
    return [(name, random.getrandbits(forms.widths[name])) for name in chosen]


@pytest.mark.parametrize("forms", STREAMS, ids=lambda forms: "-".join(forms.widths))
@pytest.mark.parametrize("offered, taken", [(1, 1), (0.5, 1), (1, 0.5), (0.3, 0.7), (0.05, 1)])
def test_vectors_of_every_form_arrive_unchanged(forms, offered, taken):
    vectors = some(forms, 60, seed=3)
    assert transfer(forms, vectors, offered, taken)[0] == vectors


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32), st.floats(0.05, 1), st.floats(0.05, 1), st.sampled_from(STREAMS))
def test_random_traffic_arrives_unchanged_and_in_order(seed, offered, taken, forms):
    vectors = some(forms, 30, seed)
    assert transfer(forms, vectors, offered, taken, seed)[0] == vectors


def test_consecutive_vectors_leave_no_gap():
    vectors = some(WRITE_BEATS, 90, seed=1, names=["beat"])
    received, words, cycles = transfer(WRITE_BEATS, vectors)
    assert received == vectors
    assert words == 90 * WRITE_BEATS.units["beat"] / PLACES == 110
    assert cycles <= words + 6


def test_forms_beyond_the_gearbox_use_separate_words():
    for packed, forms in [
        (True, WRITE_BEATS),
        (True, Forms(a=52)),
        (False, Forms(short=8, long=64)),
        (False, Forms(data=128)),
    ]:
        assert forms.packed == packed
        assert isinstance(make_packetiser(forms), Packetiser) == packed
        assert isinstance(make_depacketiser(forms), Depacketiser) == packed


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(1, 300), min_size=1, max_size=6),
    st.integers(0, 2**32),
    st.floats(0.05, 1),
    st.floats(0.05, 1),
    st.booleans(),
)
def test_forms_of_any_width_arrive_unchanged(widths, seed, offered, taken, simple):
    """With the choice of `make_packetiser`, and with words of their own, which support all."""
    forms = Forms(**{f"form{n}": width for n, width in enumerate(widths)})
    vectors = some(forms, 12, seed)
    make = (SimplePacketiser, SimpleDepacketiser) if simple else (make_packetiser, make_depacketiser)
    received, words, _ = transfer(forms, vectors, offered, taken, seed, make)
    assert received == vectors
    if simple:
        assert words == sum(-(-(forms.tag_bits + forms.widths[name]) // PAYLOAD_BITS) for name, _ in vectors)
