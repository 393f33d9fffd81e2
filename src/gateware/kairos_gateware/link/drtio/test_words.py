"""DRTIO's link layer against a model of the other end: packets of both kinds at any times, noise, a beginning in the
middle of a stream, lanes of an EEM connector at any alignment."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from migen import *

from kairos_gateware.link.drtio.words import CHARACTER_BITS, WordReceiver, WordTransmitter
from kairos_gateware.link.line.eem import LANE_BITS, LANES, Receiver, Transmitter
from kairos_gateware.testbenches.drtio_card import CardLine
from kairos_gateware.testbenches.simulator import run_simulation

SETTLING = 24
"""Cycles until 23 bits have passed, three in each at least."""
SIZES = st.sampled_from([1, 2, 4])


def kinds(characters):
    """Lists of (cycles before it, whether it is of real time, words)."""
    real_time = st.lists(st.integers(0, 2 ** (8 * characters) - 1), min_size=1, max_size=5)
    auxiliary = st.lists(st.integers(0, 2 ** (2 * characters) - 1), min_size=1, max_size=12)
    pauses = st.integers(0, 12)
    one = st.one_of(st.tuples(pauses, st.just(True), real_time), st.tuples(pauses, st.just(False), auxiliary))
    return st.lists(one, max_size=12)


def offered(sink, name, packets):
    """A bench that offers the words of packets, each after its pause."""
    for pause, words in packets:
        for _ in range(pause):
            yield
        for n, word in enumerate(words):
            yield sink.valid.eq(1)
            yield sink.last.eq(n == len(words) - 1)
            yield getattr(sink, name).eq(word)
            yield
            while not (yield sink.ready):
                yield
        yield sink.valid.eq(0)


@given(st.data())
@settings(max_examples=8, deadline=None)
def test_packets_sent_arrive_complete_and_apart_from_each_other(data):
    characters = data.draw(SIZES)
    items = data.draw(kinds(characters))
    dut, line = WordTransmitter(characters), CardLine(characters)
    expected = {real: [words for _, kind, words in items if kind == real] for real in (True, False)}

    def sends(real, sink, name):
        for _ in range(SETTLING):
            yield
        yield from offered(sink, name, [(pause, words) for pause, kind, words in items if kind == real])

    def watches():
        for _ in range(2 * SETTLING + sum(pause + len(words) + 4 for pause, _, words in items)):
            yield
            line.receive((yield dut.line))

    run_simulation(dut, [sends(True, dut.realtime, "word"), sends(False, dut.auxiliary, "bits"), watches()])
    assert line.errors == [] and line.packets == expected[True]
    width = 2 * characters
    rows = [sum(word << width * n for n, word in enumerate(words)) for words in expected[False]]
    sizes = [-(-width * len(words) // 8) for words in expected[False]]
    assert line.auxiliary == [row.to_bytes(size, "little") for row, size in zip(rows, sizes, strict=True)]


def received(characters, words, valid=()):
    """Packets of real time, auxiliary packets, and whether a word was wrong, of these words of the line. valid: for
    each word whether its characters are, by default yes."""
    dut, packets, auxiliary, wrong = WordReceiver(characters), [], [], []

    def bench():
        inside, between = False, True
        yield dut.aligned.eq(1)
        for n, word in enumerate([*words, 0]):
            yield dut.line.eq(word)
            yield dut.invalid.eq(n < len(valid) and not valid[n])
            yield
            if (yield dut.realtime.valid):
                packets.append([*(packets.pop() if inside else []), (yield dut.realtime.word)])
            inside = yield dut.realtime.valid
            if (yield dut.auxiliary.valid):
                auxiliary.append([*([] if between else auxiliary.pop()), (yield dut.auxiliary.bits)])
            between = (yield dut.idle) or (between and not (yield dut.auxiliary.valid))
            wrong.append((yield dut.wrong))

    run_simulation(dut, bench())
    return packets, auxiliary, any(wrong)


def stream(line, items):
    """Words of the line for packets, one after the other, with a packet of real time in the middle of each auxiliary
    one."""
    for pause, real, words in items:
        yield from (line.control() for _ in range(pause + 2))
        for n, word in enumerate(words):
            if real:
                yield line.data(word)
            else:
                yield line.control(word)
                if n == len(words) // 2:
                    yield line.data(n)
    yield from (line.control() for _ in range(3))


def split(items):
    """(packets of real time, auxiliary packets) of such a stream."""
    packets = [words if real else [len(words) // 2] for _, real, words in items]
    return packets, [words for _, real, words in items if not real]


@given(st.data())
@settings(max_examples=8, deadline=None)
def test_packets_are_received_from_the_middle_of_a_stream_on(data):
    characters, history = data.draw(SIZES), data.draw(st.integers(0, 2**23 - 1))
    items = data.draw(kinds(characters))
    line = CardLine(characters, history)
    words = [*(line.control() for _ in range(SETTLING)), *stream(line, items)]
    assert received(characters, words) == (*split(items), False)


@given(st.data())
@settings(max_examples=8, deadline=None)
def test_packets_after_noise_are_received_unharmed(data):
    """Noise of characters of any kind, some of them marked as invalid; nothing of it may spoil what comes 23 bits
    later. In between there may be packets, of which nothing is said."""
    characters = data.draw(SIZES)
    before, after = data.draw(kinds(characters)), data.draw(kinds(characters))
    line = CardLine(characters)
    words = [*(line.control() for _ in range(SETTLING)), *stream(line, before)]
    noise = data.draw(st.lists(st.integers(0, 2 ** (CHARACTER_BITS * characters) - 1), min_size=1, max_size=6))
    valid = [*[True] * len(words), *data.draw(st.lists(st.booleans(), min_size=len(noise), max_size=len(noise)))]
    words += noise
    words += [line.control() for _ in range(2 * SETTLING)]
    words += stream(line, after)
    packets, auxiliary, _ = received(characters, words, valid)
    for found, (first, last) in zip((packets, auxiliary), zip(split(before), split(after), strict=True), strict=True):
        assert found[: len(first)] == first
        assert found[len(found) - len(last) :] == last


def test_word_of_characters_that_do_not_go_together_is_wrong():
    line = CardLine()
    words = [line.control() for _ in range(SETTLING)]
    mixed = words[-1] & 0x1FF | 0x55 << CHARACTER_BITS
    assert received(2, [*words, mixed])[2]
    assert received(2, words, [True] * 9 + [False])[2]


@pytest.mark.parametrize("late", [0, 7])
def test_packets_pass_over_the_lanes_of_a_connector(late):
    """From transmitter to receiver through the codes of the four pairs, `late` bits later: alignment by what the link
    sends when it is idle."""
    sends, lanes, back, receives = WordTransmitter(2), Transmitter(), Receiver(patience=80), WordReceiver(2)
    dut, found, packet = Module(), [], [0x1234, 0xFFFF, 0, 0xBCBC, 0x3C3C]
    dut.submodules += sends, lanes, back, receives
    for sent, got in zip(lanes.lanes, back.lanes, strict=True):
        row = Signal(3 * LANE_BITS)
        dut.sync += row.eq(Cat(row[LANE_BITS:], sent))
        first = 3 * LANE_BITS - late
        dut.comb += got.eq(Cat(row, sent)[first : first + LANE_BITS])
    assert len(lanes.lanes) == LANES
    dut.comb += [
        lanes.word.eq(sends.line),
        receives.line.eq(back.word),
        receives.invalid.eq(back.invalid),
        receives.aligned.eq(back.aligned),
    ]

    def feeds():
        for _ in range(1000):
            yield
        yield from offered(sends.realtime, "word", [(n % 4, packet) for n in range(20)])

    def watches():
        for _ in range(1240):
            yield
            if (yield receives.realtime.valid):
                found.append((yield receives.realtime.word))

    run_simulation(dut, [feeds(), watches()])
    assert found == 20 * packet
