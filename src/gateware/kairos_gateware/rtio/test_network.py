"""Output network, in Migen's simulator: latency, merging, collisions, busy channels."""

from hypothesis import given, settings
from hypothesis import strategies as st
from migen import *

from kairos_gateware.rtio.dispatcher import event_layout
from kairos_gateware.rtio.link import Channel, OutputLink
from kairos_gateware.rtio.network import OutputNetwork
from kairos_gateware.testbenches.simulator import run_simulation

LAYOUT = event_layout(channel_width=2, address_width=2, data_width=4, lanes=6)


class FakeLane:
    def __init__(self, n):
        self.valid = Signal(name=f"valid_{n}")
        self.event = Record(LAYOUT, name=f"event_{n}")
        self.late = Signal(name=f"late_{n}")


class Bench(Module):
    def __init__(self, lanes=4):
        self.channels = [Channel(n, output=OutputLink(4, 2)) for n in range(3)]
        self.lanes = [FakeLane(n) for n in range(lanes)]
        self.submodules.network = OutputNetwork(self.lanes, LAYOUT, self.channels)


def play(events, late=(), busy=()):
    """events: one cycle's (channel, address, fine, data, position in the order of submission), one
    per lane, or None. Returns {channel: (address, fine, data)} in the cycle of the strobes, and the
    error pulses (collision channel, busy channel) or None."""
    dut = Bench(len(events))
    result = {}
    errors = [None, None]

    def drive():
        for channel in busy:
            yield dut.channels[channel].output.busy.eq(1)
        for n, (lane, event) in enumerate(zip(dut.lanes, events, strict=True)):
            if event:
                yield lane.valid.eq(1)
                yield lane.late.eq(n in late)
                for name, value in zip(["channel", "address", "fine", "data"], event[:4], strict=True):
                    yield getattr(lane.event, name).eq(value)
                younger = sum(1 << m for m, other in enumerate(events) if other and other[4] > event[4])
                yield lane.event.younger.eq(younger)
        yield
        for lane in dut.lanes:
            yield lane.valid.eq(0)
        for cycle in range(6):
            for channel in dut.channels:
                link = channel.output
                if (yield link.stb):
                    assert cycle == 2  # lanes' valid in 0, merged in 1, strobe in 2
                    result[channel.number] = ((yield link.address), (yield link.fine), (yield link.data))
            if (yield dut.network.collision):
                errors[0] = yield dut.network.collision_channel
            if (yield dut.network.busy):
                errors[1] = yield dut.network.busy_channel
            yield
        assert (yield dut.network.settled)

    run_simulation(dut, drive())
    return result, *errors


def test_events_of_different_channels_are_executed_together():
    events = [(2, 1, 5, 9, 3), None, (0, 0, 0, 4, 1), (1, 3, 7, 15, 2)]
    assert play(events) == ({2: (1, 5, 9), 0: (0, 0, 4), 1: (3, 7, 15)}, None, None)


def test_later_event_of_a_channel_replaces_the_earlier():
    assert play([(1, 0, 3, 5, 8), (1, 0, 3, 6, 9)]) == ({1: (0, 3, 6)}, None, None)
    assert play([(1, 0, 3, 5, 9), (1, 0, 3, 6, 8)]) == ({1: (0, 3, 5)}, None, None)


def test_events_with_different_fine_time_or_address_collide():
    assert play([(2, 0, 3, 5, 1), (2, 0, 4, 6, 2)]) == ({2: (0, 4, 6)}, 2, None)
    assert play([(2, 1, 3, 5, 2), (2, 0, 3, 6, 1)]) == ({2: (1, 3, 5)}, 2, None)


def test_late_event_and_busy_channel_are_reported_with_the_channel():
    assert play([None, (1, 0, 0, 1, 1)], late=[1])[2] == 1
    assert play([None, (2, 0, 0, 1, 1)], busy=[2])[2] == 2
    assert play([None, (0, 0, 0, 1, 1)], busy=[2])[2] is None


_EVENT = st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 1), st.integers(0, 15))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.none(), _EVENT), min_size=2, max_size=6), st.randoms())
def test_random_events_keep_the_last_of_each_channel(events, random):
    """The last submitted event of each channel is executed; a collision is reported where address
    or fine time differ."""
    order = list(range(len(events)))
    random.shuffle(order)
    numbered = [e and (*e, order[n]) for n, e in enumerate(events)]
    expected, collisions = {}, set()
    for n in sorted(range(len(events)), key=lambda n: order[n]):
        if events[n]:
            channel, address, fine, data = events[n]
            others = {e[1:3] for e in events if e and e[0] == channel}
            if len(others) > 1:
                collisions.add(channel)
            expected[channel] = (address, fine, data)
    result, collision, busy = play(numbered)
    assert result == expected
    assert busy is None
    assert (collision in collisions) if collisions else collision is None
