"""A channel's FIFO: the events it keeps, and marks where events were lost."""

from migen import *

from kairos_gateware.rtio.link import InputLink
from kairos_gateware.rtio.marking import MarkingFifo
from kairos_gateware.rtio.timing import INPUT_LATENCY, TimeBase
from kairos_gateware.testbenches.simulator import run_simulation

DEPTH = 4


class Bench(Module):
    def __init__(self):
        self.submodules.timebase = timebase = TimeBase()
        self.link = InputLink(8)
        self.submodules.fifo = MarkingFifo(self.link, timebase, DEPTH)


def play(strobes, taken_from, cycles=80):
    """strobes: {counter: data}. Everything is taken from the counter `taken_from` on, in every
    other cycle. Returns [(timestamp, data) or None for a gap]."""
    dut = Bench()
    fifo, now = dut.fifo, dut.timebase.coarse
    got = []

    def process():
        for _ in range(cycles):
            following = (yield now) + 1
            yield dut.link.stb.eq(following in strobes)
            yield dut.link.data.eq(strobes.get(following, 0))
            yield fifo.re.eq(0)
            yield
            if (yield now) >= taken_from and (yield fifo.readable):
                got.append(None if (yield fifo.lost) else ((yield fifo.timestamp), (yield fifo.data)))
                yield fifo.re.eq(1)
                yield
                yield fifo.re.eq(0)
                yield dut.link.stb.eq((yield now) + 1 in strobes)
                yield dut.link.data.eq(strobes.get((yield now) + 1, 0))
                yield

    run_simulation(dut, process())
    return got


def event(counter, data):
    return 8 * (counter - INPUT_LATENCY), data


def test_events_are_stamped_with_the_cycle_of_their_edge():
    strobes = {20: 7, 21: 8, 30: 9}
    assert play(strobes, 40) == [event(*item) for item in strobes.items()]


def test_mark_of_lost_events_follows_kept_ones():
    strobes = {20 + n: n for n in range(8)}
    got = play(strobes, 40)
    kept = got[: got.index(None)]
    assert kept == [event(20 + n, n) for n in range(len(kept))] and DEPTH <= len(kept) < 8
    assert got[len(kept) :] == [None]
