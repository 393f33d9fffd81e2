"""AXI transactions from one end of the link to the other."""

from random import Random

import pytest
from migen import *

from kairos_gateware.link.line.bridge import bridge_streams
from kairos_gateware.link.line.credits import count_bits
from kairos_gateware.link.line.endpoint import Endpoint
from kairos_gateware.link.line.multiplexer import Multiplexer
from kairos_gateware.testbenches.link import BridgePair
from kairos_gateware.testbenches.simulator import run_simulation


def put(channel, **fields):
    for name, value in fields.items():
        yield getattr(channel, name).eq(value)
    yield channel.valid.eq(1)
    yield
    while not (yield channel.ready):
        yield
    yield channel.valid.eq(0)


def get(channel, names, random):
    """Accepts a beat some time after it is offered; returns its fields."""
    while True:
        yield channel.ready.eq(random.random() < 0.7)
        yield
        if (yield channel.ready) and (yield channel.valid):
            values = []
            for name in names.split():
                values.append((yield getattr(channel, name)))
            yield channel.ready.eq(0)
            return tuple(values)


@pytest.mark.parametrize("delay, depth", [(1, 64), (10, 2)])
def test_writes_cross_the_link_and_are_answered(delay, depth):
    dut, random = BridgePair(delay=delay, depth=depth), Random(delay)
    near, far = dut.near.axi, dut.far.axi
    bursts = [(random.getrandbits(32), random.choice([1, 2, 9]), random.randrange(64)) for _ in range(5)]
    beats = [
        (random.getrandbits(64), random.choice([255, 255, 255, 0, 0x0F]), int(n == count - 1))
        for _, count, _ in bursts
        for n in range(count)
    ]
    answers = [(id_, random.choice([0, 0, 2, 3])) for *_, id_ in bursts]
    seen = {name: [] for name in ("aw", "w", "b")}

    def addresses():
        for address, count, id_ in bursts:
            yield from put(near.aw, addr=address, len=count - 1, size=3, burst=1, id=id_)

    def data():
        for value, strobes, last in beats:
            yield from put(near.w, data=value, strb=strobes, last=last)

    def far_addresses():
        for _ in bursts:
            seen["aw"].append((yield from get(far.aw, "addr len id size burst", random)))

    def far_data():
        answer = iter(answers)
        for _ in beats:
            beat = yield from get(far.w, "data strb last", random)
            seen["w"].append(beat)
            if beat[2]:
                id_, response = next(answer)
                yield from put(far.b, id=id_, resp=response)

    def near_answers():
        for _ in bursts:
            seen["b"].append((yield from get(near.b, "id resp", random)))

    run_simulation(dut, [addresses(), data(), far_addresses(), far_data(), near_answers()])
    assert seen["aw"] == [(address, count - 1, id_, 3, 1) for address, count, id_ in bursts]
    assert seen["w"] == beats
    assert seen["b"] == answers


@pytest.mark.parametrize("depth", [64, 2])
def test_write_beats_of_axi3_have_identifications_and_may_be_interleaved(depth):
    dut, random = BridgePair(delay=3, depth=depth, axi3=True), Random(depth)
    near, far = dut.near.axi, dut.far.axi
    beats = [
        (
            random.getrandbits(64),
            random.choice([255, 255, 255, 15]),
            random.choice([0, 1]),
            random.choice([0, 7, 7, 63]),
        )
        for _ in range(40)
    ]
    seen = []

    def near_side():
        yield from put(near.aw, addr=0x40, len=15, size=3, burst=1, lock=2, id=7)
        for value, strobes, last, id_ in beats:
            yield from put(near.w, data=value, strb=strobes, last=last, id=id_)

    def far_side():
        assert (yield from get(far.aw, "addr len lock id", random)) == (0x40, 15, 2, 7)
        for _ in beats:
            seen.append((yield from get(far.w, "data strb last id", random)))

    run_simulation(dut, [near_side(), far_side()])
    assert seen == beats


@pytest.mark.parametrize("delay, depth", [(1, 64), (10, 3)])
def test_reads_across_the_link_return_all_beats(delay, depth):
    dut, random = BridgePair(delay=delay, depth=depth), Random(delay)
    near, far = dut.near.axi, dut.far.axi
    beats = [
        (random.getrandbits(64), random.choice([0, 0, 0, 2]), random.choice([0, 5, 5, 5]), random.choice([0, 1]))
        for _ in range(30)
    ]
    seen = []

    def near_side():
        yield from put(near.ar, addr=0x1234_5678, len=3, id=5)
        for _ in beats:
            seen.append((yield from get(near.r, "data resp id last", random)))

    def far_side():
        assert (yield from get(far.ar, "addr len id", random)) == (0x1234_5678, 3, 5)
        for value, response, id_, last in beats:
            yield from put(far.r, data=value, resp=response, id=id_, last=last)

    run_simulation(dut, [near_side(), far_side()])
    assert seen == beats


def test_one_bit_error_in_every_word_changes_no_result():
    dut, random = BridgePair(), Random(5)
    near, far = dut.near.axi, dut.far.axi
    beats, seen, corrected = [random.getrandbits(64) for _ in range(40)], [], []

    @passive
    def disturb():
        while True:
            yield dut.flips_there.eq(1 << random.randrange(64))
            yield
            corrected.append((yield dut.far.endpoint.corrected))
            assert not (yield dut.far.endpoint.broken)

    def send():
        for value in beats:
            yield from put(near.w, data=value, strb=255)

    def receive():
        for _ in beats:
            seen.append((yield from get(far.w, "data", random))[0])

    run_simulation(dut, [send(), receive(), disturb()])
    assert seen == beats
    assert sum(corrected) >= 40


def test_newest_interrupt_levels_arrive_while_data_fill_the_link():
    dut = BridgePair(delay=2)
    near, far = dut.near.axi, dut.far.axi
    took = []

    @passive
    def data():
        yield far.r.valid.eq(1)
        yield near.r.ready.eq(1)
        while True:
            yield

    def levels():
        for value in [1, 0x8000, 0, 0xFFFF]:
            for _ in range(5):
                yield
            yield dut.far.interrupts.eq(value)
            yield
            cycles = 0
            while (yield dut.near.interrupts) != value:
                cycles += 1
                yield
            took.append(cycles)

    run_simulation(dut, [levels(), data()])
    assert took == [7] * 4


def test_streams_of_one_rank_take_turns_and_ranks_are_strict():
    dut, seen = Multiplexer([[4], [1, 2, 3]]), []

    def play():
        yield dut.word_ready.eq(1)
        for number in (1, 2, 3):
            yield dut.valid[number].eq(1)
        yield
        for cycle in range(12):
            yield dut.valid[4].eq(cycle % 4 == 3)
            yield
            seen.append((yield dut.word.stream))

    run_simulation(dut, play())
    assert seen[3::4] == [4, 4, 4]
    shared = [stream for stream in seen if stream != 4]
    assert all(shared[n : n + 3] in ([1, 2, 3], [2, 3, 1], [3, 1, 2]) for n in range(len(shared) - 2))


def test_multiplexer_with_invalid_parameters_is_refused():
    with pytest.raises(ValueError, match="numbers of their own from 1 to 7"):
        Multiplexer([[1], [1, 2]])
    with pytest.raises(ValueError, match="7 pools of 9 bits do not fit"):
        count_bits([256] * 7)
    downstream, upstream = bridge_streams(BridgePair().near.axi, 16, 64)
    Endpoint(downstream, upstream)
