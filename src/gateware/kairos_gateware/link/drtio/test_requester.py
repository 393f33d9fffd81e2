"""A card's channels as a destination, against a model of the card: outputs, their room, inputs, time, errors, and the
mailbox beside them."""

import random
from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from migen import *

from kairos_gateware.link.drtio.end import DrtioEnd
from kairos_gateware.link.drtio.requester import least_slack
from kairos_gateware.rtio.cri import (
    INPUT_OVERFLOW,
    INPUT_TIMEOUT,
    INPUT_UNREACHABLE,
    OUTPUT_UNDERFLOW,
    OUTPUT_UNREACHABLE,
)
from kairos_gateware.rtio.timing import FINE_BITS, TimeBase
from kairos_gateware.testbenches.drtio_card import Card, CardLine, auxiliary_packet
from kairos_gateware.testbenches.simulator import run_simulation

DESTINATION, OUTPUTS, WIDTH = 5, 40, 80
READY = 40
TIMEOUT = 300
NEVER = 2**64 - 1


class Bench(Module):
    """The end, with a card behind it. play: functions of the bench that are generators."""

    def __init__(self, characters=2, card=None, line_delay=3):
        self.submodules.timebase = self.timebase = TimeBase()
        self.submodules.end = end = DrtioEnd(self.timebase, WIDTH, OUTPUTS, DESTINATION, characters, TIMEOUT)
        self.near, self.mailbox, self.cri = end.near, end.mailbox, end.near.cri
        self.card = card or Card(CardLine(characters, 0x2A5F3))
        self.delay = line_delay
        self.silent = False
        self.seen = {name: 0 for name in ("malformed", "no_space_reply", "no_read_reply", "lost")}

    def run(self, *benches, cycles=1500):
        done = []

        def ended(bench):
            yield from bench
            done.append(bench)

        def wires():
            on_line = deque([None] * self.delay)
            yield self.end.up.eq(1)
            for cycle in range(cycles):
                # The first word is not one of the transmitter's
                on_line.append((yield self.end.sent) if cycle > 1 else None)
                word = on_line.popleft()
                answer = self.card.line.control() if word is None else self.card.cycle(word)
                yield self.end.received.eq(answer)
                for name in self.seen:
                    self.seen[name] += yield getattr(self.near, name)
                yield
                if len(done) == len(benches):
                    return
            raise AssertionError("the benches have not ended")

        run_simulation(self, [wires(), *map(ended, benches)])
        assert self.card.line.errors == [], self.card.line.errors[:3]

    def start(self):
        for _ in range(READY):
            yield
        yield self.near.reachable.eq(1)
        yield

    def wait(self, cycles):
        for _ in range(cycles):
            yield

    def output(self, timestamp, channel, address=0, data=0):
        """Submits an output; returns its status."""
        sink = self.cri.output
        yield sink.valid.eq(1)
        yield sink.timestamp.eq(timestamp)
        yield sink.channel.eq(DESTINATION << 16 | channel)
        yield sink.address.eq(address)
        yield sink.data.eq(data)
        yield
        while not (yield sink.ready):
            yield
        yield sink.valid.eq(0)
        yield
        assert (yield self.cri.output_done) and (yield self.cri.response.done)
        return (yield self.cri.response.status)

    def input(self, channel, timeout=NEVER):
        """Asks for an input; returns (status, timestamp, data)."""
        sink = self.cri.input
        yield sink.valid.eq(1)
        yield sink.channel.eq(DESTINATION << 16 | channel)
        yield sink.timeout.eq(timeout)
        yield
        while not (yield sink.ready):
            yield
        yield sink.valid.eq(0)
        yield
        while not (yield self.cri.input_done):
            yield
        response = self.cri.response
        return (yield response.status), (yield response.timestamp), (yield response.data)

    def now(self):
        return (yield self.timebase.coarse) << FINE_BITS


@given(st.sampled_from([1, 2, 8]), st.lists(st.integers(0, 2**WIDTH - 1) | st.integers(0, 2**17), max_size=6))
@settings(max_examples=3, deadline=None)
def test_outputs_reach_the_card_with_all_their_data(characters, data):
    bench, statuses, expected = Bench(characters), [], []

    def kernel():
        yield from bench.start()
        for n, value in enumerate(data):
            time = (yield from bench.now()) + (1000 + 3 * n << FINE_BITS) + n
            statuses.append((yield from bench.output(time, 4 + n, 200 + n, value)))
            expected.append((time, DESTINATION << 16 | 4 + n, 200 + n, value))
        yield from bench.wait(60)

    bench.run(kernel(), cycles=3000)
    assert statuses == [0] * len(data) and [output[1:] for output in bench.card.outputs] == expected


def test_outputs_are_refused_when_late_and_arrive_in_time_when_not():
    """At the least slack, behind as many others as there may be, with a read and an echo between them."""
    bench, statuses = Bench(), []
    slack = least_slack(2, WIDTH)

    def kernel():
        yield from bench.start()
        yield bench.near.set_time.eq(1)
        yield
        yield bench.near.set_time.eq(0)
        yield from bench.output(1 << 20, 0)
        yield from bench.wait(100)
        yield bench.near.echo.eq(1)
        yield
        yield bench.near.echo.eq(0)
        for n in range(8):
            time = (yield from bench.now()) + (slack + 3 << FINE_BITS)
            statuses.append((yield from bench.output(time, n, data=2**WIDTH - 1)))
        late = (yield from bench.now()) + (slack - 2 << FINE_BITS)
        statuses.append((yield from bench.output(late, 0)))
        statuses.append((yield from bench.output(1 << 20, OUTPUTS)))
        yield from bench.wait(100)

    def other():
        yield from bench.wait(READY + 130)
        bench.card.inputs.append((7, 8))
        yield from bench.input(1)

    bench.run(kernel(), other())
    assert statuses[-2:] == [OUTPUT_UNDERFLOW, OUTPUT_UNREACHABLE]
    assert set(statuses[:-2]) <= {0, OUTPUT_UNDERFLOW} and statuses.count(0) >= 4
    for came, time, *_ in bench.card.outputs[1:]:
        assert 0 < time - came, "it is late"


def test_card_that_cannot_be_reached_refuses_all():
    bench, found = Bench(), []

    def kernel():
        yield from bench.wait(READY)
        found.append((yield from bench.output(1 << 40, 0)))
        found.append((yield from bench.input(0))[0])

    bench.run(kernel())
    assert found == [OUTPUT_UNREACHABLE, INPUT_UNREACHABLE] and bench.card.requests == []


def test_outputs_wait_for_room_in_the_card_and_none_is_lost():
    bench = Bench()
    bench.card.room = 3
    count = 12

    def kernel():
        yield from bench.start()
        for n in range(count):
            assert (yield from bench.output(1 << 40, n, data=n)) == 0
        yield from bench.wait(60)

    def card():
        for n in range(4):
            yield from bench.wait(300)
            bench.card.room += n + 1

    bench.run(kernel(), card(), cycles=4000)
    assert [output[2] & 0xFFFF for output in bench.card.outputs] == list(range(count))
    assert bench.seen["no_space_reply"] == 0


def test_silent_card_is_an_error_and_is_asked_again():
    bench, found = Bench(), []
    bench.card.mute = True

    def kernel():
        yield from bench.start()
        found.append((yield from bench.output(1 << 40, 0)))

    def card():
        yield from bench.wait(2 * TIMEOUT)
        bench.card.mute = False

    bench.run(kernel(), card())
    assert found == [0] and bench.seen["no_space_reply"] >= 1 and bench.card.requests.count(3) >= 2


def test_inputs_end_as_the_card_answers():
    bench, found = Bench(), []
    bench.card.inputs.extend([(123456789012345, 0xDEADBEEF), (None, 0, True), (None,)])

    def kernel():
        yield from bench.start()
        for channel in (7, 8, 9):
            found.append((yield from bench.input(channel, 5000 * channel)))

    bench.run(kernel())
    assert found == [(0, 123456789012345, 0xDEADBEEF), (INPUT_OVERFLOW, NEVER, 0), (INPUT_TIMEOUT, NEVER, 0)]
    assert bench.card.reads == [(DESTINATION << 16 | channel, 5000 * channel) for channel in (7, 8, 9)]


def test_answer_to_a_read_that_was_ended_is_not_that_of_the_next():
    bench, found = Bench(), []

    def kernel():
        yield from bench.start()
        found.append((yield from bench.input(1)))
        bench.card.reply(11, 1)
        bench.card.inputs.append((22, 2))
        found.append((yield from bench.input(2)))

    def ends():
        yield from bench.wait(READY + 60)
        yield bench.near.abort.eq(1)
        yield
        yield bench.near.abort.eq(0)

    bench.run(kernel(), ends())
    assert [status for status, *_ in found] == [INPUT_TIMEOUT, 0] and found[1][1:] == (22, 2)


@pytest.mark.parametrize("cleared", [False, True])
def test_read_without_an_answer_ends_as_unreachable(cleared):
    """Also one that waits for an answer of an earlier one; after a reset of the card it does not."""
    bench, found = Bench(), []

    def kernel():
        yield from bench.start()
        found.append((yield from bench.input(1, 1000)))
        yield bench.near.cleared.eq(cleared)
        yield
        yield bench.near.cleared.eq(0)
        found.append((yield from bench.input(2, 1000)))

    bench.run(kernel(), cycles=4 * TIMEOUT + 600)
    assert [status for status, *_ in found] == [INPUT_UNREACHABLE] * 2
    assert bench.seen["no_read_reply"] == 2 and len(bench.card.reads) == 1 + cleared


def test_lost_card_ends_a_read_and_reports_waiting_outputs():
    bench, found = Bench(), []
    bench.card.room = 2

    def kernel():
        yield from bench.start()
        found.append((yield from bench.input(1))[0])

    def outputs():
        yield from bench.wait(READY + 40)
        for n in range(2):
            yield from bench.output(1 << 40, 30 + n)
        yield bench.near.reachable.eq(0)
        yield from bench.wait(20)
        found.append((yield bench.near.newest))

    bench.run(kernel(), outputs())
    assert sorted(found) == sorted([INPUT_UNREACHABLE, DESTINATION << 16 | 31]) and bench.seen["lost"] == 1


def test_card_has_the_time_of_this_board_and_the_round_trip_is_measured():
    bench, found = Bench(line_delay=9), {}

    def kernel():
        yield from bench.start()
        yield bench.near.correction.eq(16)
        for name in ("set_time", "echo"):
            yield getattr(bench.near, name).eq(1)
            yield
            yield getattr(bench.near, name).eq(0)
            yield
            while (yield bench.near.time_due) or (yield bench.near.echo_due):
                yield
        yield from bench.wait(10)
        found["own"], found["card"] = (yield bench.timebase.coarse), bench.card.counter
        found["trip"] = yield bench.near.round_trip

    bench.run(kernel())
    assert found["card"] % 8 == 0 and 0 <= found["own"] - found["card"] // 8 < 8, found
    assert 9 < found["trip"] < 24


def test_malformed_packet_from_the_card_is_reported():
    bench = Bench()

    def kernel():
        yield from bench.start()
        bench.card.answers.extend([0x0005, None, None, 0x0002, 0x1111, None, None])
        yield from bench.wait(40)

    bench.run(kernel())
    assert bench.seen["malformed"] == 2


def write(bench, words):
    """Writes a packet into the mailbox, and sends it."""
    sender = bench.mailbox.sender
    for word in words:
        yield sender.word.eq(word)
        yield sender.append.eq(1)
        yield
    yield sender.append.eq(0)
    yield sender.go.eq(1)
    yield
    yield sender.go.eq(0)
    yield
    while (yield sender.busy):
        yield


def read(bench):
    """The words of the oldest packet, which is freed."""
    receiver, words = bench.mailbox.receiver, []
    for _ in range((yield receiver.waiting)):
        yield
        words.append((yield receiver.word))
        yield receiver.take.eq(1)
        yield
        yield receiver.take.eq(0)
        yield
    yield receiver.release.eq(1)
    yield
    yield receiver.release.eq(0)
    yield
    return words


@given(
    st.sampled_from([1, 2, 8]),
    st.lists(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=9), min_size=1, max_size=4),
)
@settings(max_examples=3, deadline=None)
def test_auxiliary_packets_pass_both_ways_beside_outputs(characters, packets):
    bench, found = Bench(characters), []
    contents = [b"".join(word.to_bytes(4, "little") for word in words) for words in packets]

    def firmware():
        yield from bench.start()
        for words in packets:
            yield from write(bench, words)
        for content in contents:
            bench.card.send(auxiliary_packet(content))
        yield from bench.wait(300 * len(packets))
        for _ in packets:
            found.append((yield from read(bench)))

    def kernel():
        yield from bench.wait(READY + 60)
        for n in range(10):
            assert (yield from bench.output(1 << 40, n, data=n)) == 0

    bench.run(firmware(), kernel(), cycles=6000)
    padded = [[*words, *[0] * (1 - len(words) % 2)] for words in packets]
    assert found == padded and bench.card.line.auxiliary == [auxiliary_packet(content) for content in contents]
    assert len(bench.card.outputs) == 10


def test_damaged_and_surplus_auxiliary_packets_are_dropped_and_counted():
    """Wrong CRC, wrong length, too long; then more whole ones than there are buffers."""
    bench, found = Bench(16), []
    whole = [auxiliary_packet(bytes([n]) * 12) for n in range(10)]
    rng = random.Random(1)

    def firmware():
        yield from bench.start()
        bad = bytearray(whole[0])
        bad[5] ^= 4
        for packet in (bad, whole[0][:-4], auxiliary_packet(rng.randbytes(1020 + 8))):
            bench.card.send(bytes(packet))
        longest = auxiliary_packet(rng.randbytes(1020))
        for packet in [longest, *whole[1:]]:
            bench.card.send(packet)
        yield from bench.wait(900)
        for packet in [longest, *whole[1:8]]:
            found.append(((yield from read(bench)), packet))
        found.append(((yield bench.mailbox.dropped), (yield bench.mailbox.receiver.waiting)))

    bench.run(firmware(), cycles=4000)
    last = found.pop()
    assert last == (3 + 2, 0), last
    for words, packet in found:
        assert b"".join(word.to_bytes(4, "little") for word in words) == packet[:-4]
