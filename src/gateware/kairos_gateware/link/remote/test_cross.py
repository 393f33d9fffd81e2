"""A cross link between two boards: both learn whose other end it is, and how many boards are behind that."""

from migen import *

from kairos_gateware.link.remote.cross import CrossLink
from kairos_gateware.testbenches.fibre import Joined
from kairos_gateware.testbenches.simulator import run_simulation

DELAY = 5
SOON = 400
"""Cycles within which a link is established and both ends know of each other."""

BEHIND = [2, 7]
"""Boards behind each of the two."""


class Pair(Module):
    """Two boards joined by a cross link. `plugged`: its fibre; `numbers`: of the boards, 0 until they have one."""

    def __init__(self):
        self.numbers, self.plugged = [Signal(8), Signal(8)], Signal(reset=1)
        self.ends = [
            CrossLink(number, number != 0, behind) for number, behind in zip(self.numbers, BEHIND, strict=True)
        ]
        self.submodules += self.ends
        self.submodules.joined = Joined([end.endpoint for end in self.ends], DELAY, self.plugged)
        self.comb += [end.line_up.eq(self.plugged) for end in self.ends]


def known(pair):
    """Of each end: where it leads, or None; and the last known number of the other one, or None."""
    found = []
    for end in pair.ends:
        number = yield end.destination
        found.append((number if (yield end.leads) else None, number if (yield end.known) else None))
    return found


def until_settled(pair):
    for _ in range(SOON):
        yield
    for end in pair.ends:
        assert (yield end.settled)


def test_end_of_a_cross_link_reports_its_peer_once_that_has_a_number():
    pair = Pair()

    def play():
        yield from until_settled(pair)
        assert (yield from known(pair)) == [(None, None), (None, None)]
        yield pair.numbers[0].eq(2)
        yield from until_settled(pair)
        assert (yield from known(pair)) == [(None, None), (2, 2)]
        yield pair.numbers[1].eq(7)
        yield from until_settled(pair)
        assert (yield from known(pair)) == [(7, 7), (2, 2)]
        yield pair.numbers[0].eq(3)
        yield from until_settled(pair)
        assert (yield from known(pair)) == [(7, 7), (3, 3)]
        sizes = []
        for end in pair.ends:
            sizes.append((yield end.size))
        assert sizes == [1 + behind for behind in reversed(BEHIND)]

    run_simulation(pair, play())


def test_unplugged_cross_link_leads_to_no_board_until_one_is_plugged_in():
    pair = Pair()

    def play():
        yield pair.numbers[0].eq(1)
        yield pair.numbers[1].eq(2)
        yield from until_settled(pair)
        yield pair.plugged.eq(0)
        yield from until_settled(pair)
        assert (yield from known(pair)) == [(None, 2), (None, 1)]
        yield pair.numbers[1].eq(5)
        yield pair.plugged.eq(1)
        yield from until_settled(pair)
        assert (yield from known(pair)) == [(5, 5), (1, 1)]

    run_simulation(pair, play())
