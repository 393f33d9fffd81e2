"""Two ends of a line, with clock-domain crossing and coders, on clocks that are not in step."""

import pytest
from migen import *

from kairos_gateware.boards.links import LineEnd
from kairos_gateware.testbenches.simulator import run_simulation

COUNT = 40
"""Words in each direction: more than 32, one of which waits."""
CLOCKS = {"sys_a": (8, 0), "tx_a": (8, 3), "rx_b": (8, 3), "sys_b": (8, 2), "tx_b": (8, 5), "rx_a": (8, 5)}
CLOCKS |= {"half_a": (8, 4), "half_b": (8, 6)}
"""Transmitters have the logic's clock, receivers that of the other board, all with different
phases."""


class Pair(Module):
    """Two boards whose lines are connected to each other, `skew` bits late."""

    def __init__(self, skew):
        self.ends = []
        for letter in "ab":
            names = {"sys": f"sys_{letter}", "sys_half": f"half_{letter}"}
            end = ClockDomainsRenamer(names)(LineEnd("transmit", "receive"))
            self.submodules += ClockDomainsRenamer({"transmit": f"tx_{letter}", "receive": f"rx_{letter}"})(end)
            self.ends.append(end)
        # A receiver has the clock of the other board's transmitter.
        for sender, receiver, domain in zip(self.ends, reversed(self.ends), ("rx_b", "rx_a"), strict=True):
            kept = Signal(64)
            into = getattr(self.sync, domain)
            into += [kept.eq(sender.line_out), receiver.line_into.eq(Cat(kept, sender.line_out) >> 64 - skew)]
            self.comb += receiver.ready.eq(1)


def send(end, words):
    for word in words:
        yield end.out.valid.eq(1)
        yield end.out.word.eq(word)
        yield
        while not (yield end.out.ready):
            yield
    yield end.out.valid.eq(0)


@pytest.mark.parametrize("half", [0, 1])
def test_words_sent_by_both_ends_arrive_in_order(half):
    pair = Pair(skew=17)
    for end in pair.ends:
        end.half.reset = C(half)
    sent = {letter: [n * 0x9E3779B97F4A7C15 + ord(letter) & 2**64 - 1 for n in range(COUNT)] for letter in "ab"}
    came = {"a": [], "b": []}

    def use(letter, end):
        while not ((yield pair.ends[0].up) and (yield pair.ends[1].up)):
            yield
        yield from send(end, sent[letter])

    @passive
    def listen(letter, end):
        while True:
            if (yield end.into.valid):
                came[letter].append((yield end.into.word))
            yield

    def until_all(end):
        for _ in range(4000):
            if all(len(words) == COUNT for words in came.values()):
                return
            yield

    processes = {"sys_a": [], "sys_b": []}
    for letter, end in zip("ab", pair.ends, strict=True):
        processes[f"sys_{letter}"] += [use(letter, end), listen(letter, end)]
    processes["sys_a"].append(until_all(pair.ends[0]))
    run_simulation(pair, processes, clocks=CLOCKS)
    assert came == {"a": sent["b"], "b": sent["a"]}


def test_urgent_word_overtakes_queued_words():
    """The line takes fewer words than an end can provide: words wait in the multiplexer, where the
    highest-priority one goes first, not in the FIFO in front of the line. And each end knows at
    which bit of its cycles those of the other one begin."""
    pair, cycles = Pair(skew=17), 1200
    left, took = [], []

    def use(end):
        while not ((yield end.up) and (yield pair.ends[1].up)):
            yield
        for now in range(cycles):
            yield end.out.valid.eq(1)
            yield end.out.word.eq(now)
            yield
            if (yield end.out.ready):
                left.append(now)
        yield end.out.valid.eq(0)
        for _ in range(50):
            yield
        for end in pair.ends:
            assert (yield end.begin) == 17

    @passive
    def listen(end):
        now = 0
        while True:
            if (yield end.into.valid):
                took.append(now - (yield end.into.word))
            now += 1
            yield

    run_simulation(pair, {"sys_a": [use(pair.ends[0])], "sys_b": [listen(pair.ends[1])]}, clocks=CLOCKS)
    assert len(took) == len(left) > cycles * 31 / 33
    assert max(took) - min(took) <= 2
