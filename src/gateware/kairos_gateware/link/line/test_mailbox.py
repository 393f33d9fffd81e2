"""Auxiliary packets between two mailboxes, over a line that loses words."""

import random

import pytest
from migen import *

from kairos_gateware.link.line.mailbox import BUFFERS, WORDS, Mailbox, MailboxRegisters, auxiliary_stream
from kairos_gateware.testbenches.simulator import run_simulation


class Pair(Module):
    """Two mailboxes connected directly. `lose`: vectors from the first are lost; `cut`: the link is
    down."""

    def __init__(self):
        self.lose, self.cut = Signal(), Signal()
        layout = [("valid", 1), ("ready", 1), *auxiliary_stream(1).forms.layout()]
        there, back = [Record(layout) for _ in range(2)], [Record(layout) for _ in range(2)]
        self.boxes = [Mailbox(there[0], back[1], ~self.cut), Mailbox(back[0], there[1], ~self.cut)]
        self.registers = [MailboxRegisters(box) for box in self.boxes]
        self.submodules += self.boxes, self.registers
        for (sink, source), lost in [(there, self.lose), (back, 0)]:
            self.comb += [
                sink.ready.eq(1),
                source.form.eq(sink.form),
                source.data.eq(sink.data),
                source.valid.eq(sink.valid & ~lost & ~self.cut),
            ]


def send(box, words):
    """As the firmware does it, through the registers."""
    for word in words:
        yield from box.send.write(word)
    yield from box.go.write(1)
    yield


def sent(box):
    while (yield box.state.status) & 2:
        yield


def received(box):
    """The oldest packet, or None."""
    length = yield box.waiting.status
    if not length:
        return None
    words = []
    for _ in range(length):
        yield box.receive.we.eq(1)
        words.append((yield box.receive.status))
        yield
        yield box.receive.we.eq(0)
        yield
        yield
    yield from box.release.write(1)
    for _ in range(3):  # register accesses are at least so far apart
        yield
    return words


def packets(seed, count):
    source = random.Random(seed)
    return [[source.getrandbits(32) for _ in range(source.choice([1, 2, 3, 7, WORDS]))] for _ in range(count)]


def test_packets_sent_by_both_mailboxes_arrive():
    dut, sets = Pair(), [packets(1, 4), packets(2, 4)]

    def play(here, there, mine, expected):
        for words, other in zip(mine, expected, strict=True):
            yield from send(here, words)
            got = None
            while got is None:
                yield
                got = yield from received(here)
            assert got == other

    a, b = dut.registers
    run_simulation(dut, [play(a, b, *sets), play(b, a, *reversed(sets))])


def test_packet_without_buffer_is_dropped_and_counted():
    dut = Pair()

    def play():
        here, there = dut.registers
        for n in range(BUFFERS + 2):
            yield from send(here, [n, 100 + n])
            yield from sent(here)
        for _ in range(30):
            yield
        assert (yield there.dropped.status) == 2
        for n in range(BUFFERS):
            assert (yield from received(there)) == [n, 100 + n]
        assert (yield from received(there)) is None
        yield from send(here, [7])
        for _ in range(30):
            yield
        assert (yield from received(there)) == [7]

    run_simulation(dut, play())


@pytest.mark.parametrize("seed", range(2))
def test_lossy_line_delivers_only_complete_packets(seed):
    dut, source = Pair(), random.Random(seed)
    mine, got = [[n] + words for n, words in enumerate(packets(seed, 40))], []
    mine = [words[:WORDS] for words in mine]
    done = []

    def play():
        for words in mine:
            yield from send(dut.registers[0], words)
            yield from sent(dut.registers[0])
        for _ in range(2000):
            yield
        done.append(True)

    def take():
        while not done:
            yield
            words = yield from received(dut.registers[1])
            if words:
                got.append(words)

    @passive
    def line():
        while True:
            yield dut.lose.eq(source.random() < 0.02)
            yield

    run_simulation(dut, [play(), take(), line()])
    assert len(got) > 5
    assert len(got) < len(mine)
    assert all(words == mine[words[0]] for words in got)
    assert [words[0] for words in got] == sorted({words[0] for words in got})


def test_cut_link_discards_the_packet_in_transit():
    dut = Pair()

    def play():
        here, there = dut.registers
        yield from send(here, [5] * WORDS)
        for _ in range(100):
            yield
        yield dut.cut.eq(1)
        yield
        yield
        assert (yield here.state.status) == 0
        for _ in range(10):
            yield
        yield dut.cut.eq(0)
        yield
        yield from send(here, [1, 2, 3])
        for _ in range(30):
            yield
        assert (yield from received(there)) == [1, 2, 3]
        assert (yield from received(there)) is None

    run_simulation(dut, play())


def test_too_long_packet_is_truncated_and_empty_one_is_ignored():
    dut = Pair()

    def play():
        here, there = dut.registers
        yield from here.go.write(1)
        for _ in range(10):
            yield
        assert (yield here.state.status) == 1
        yield from send(here, range(WORDS + 3))
        for _ in range(WORDS + 30):
            yield
        assert (yield from received(there)) == list(range(WORDS))

    run_simulation(dut, play())
