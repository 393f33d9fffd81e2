"""Input FIFOs and reader, in Migen's simulator."""

from migen import *

from kairos_gateware.rtio.inputs import InputFifo, InputReader
from kairos_gateware.rtio.link import InputLink
from kairos_gateware.rtio.timing import INPUT_LATENCY, INPUT_VISIBLE, TimeBase
from kairos_gateware.testbenches.simulator import run_simulation

FOREVER = 2**64 - 1


class Bench(Module):
    def __init__(self, depth=4):
        self.submodules.timebase = timebase = TimeBase()
        self.links = {n: InputLink(4) for n in (1, 5)}
        self.fifos = {n: InputFifo(link, timebase, depth) for n, link in self.links.items()}
        self.submodules += self.fifos.values()
        self.submodules.reader = InputReader(timebase, self.fifos)


def play(pulses, reads, cycles=100, abort_at=None):
    """pulses: (counter at the strobe, channel, fine, data). reads: (counter at the request,
    channel, timeout). Returns for each read (counter at acceptance, counter at the answer, status,
    timestamp, data)."""
    dut = Bench()
    results = []

    def phy():
        for _ in range(cycles):
            now = (yield dut.timebase.coarse) + 1  # value in the cycle for which signals are set here
            for number, link in dut.links.items():
                found = [p for p in pulses if p[0] == now and p[1] == number]
                yield link.stb.eq(bool(found))
                if found:
                    yield link.fine.eq(found[0][2])
                    yield link.data.eq(found[0][3])
            yield dut.reader.abort.eq(now == abort_at)
            yield

    def cpu():
        request = dut.reader.request
        for start, channel, timeout in reads:
            while (yield dut.timebase.coarse) + 1 < start:
                yield
            yield request.valid.eq(1)
            yield request.channel.eq(channel)
            yield request.timeout.eq(timeout)
            yield
            while not (yield request.ready):
                yield
            accepted = yield dut.timebase.coarse
            yield request.valid.eq(0)
            yield
            while not (yield dut.reader.done):
                yield
            reader = dut.reader
            answer = [(yield reader.status), (yield reader.timestamp), (yield reader.data)]
            results.append((accepted, (yield dut.timebase.coarse), *answer))

    run_simulation(dut, [phy(), cpu()])
    return results


def test_waiting_event_is_answered_in_two_cycles():
    result = play([(10, 5, 3, 9)], [(30, 5, FOREVER)])
    assert result == [(30, 32, 0, (10 - INPUT_LATENCY) * 8 + 3, 9)]


def test_event_during_a_wait_is_returned_at_once():
    """The event is readable INPUT_VISIBLE after its stamp, and answered in the next cycle."""
    stamp = 40
    result = play([(stamp + INPUT_LATENCY, 1, 0, 1)], [(20, 1, FOREVER)])
    assert result == [(20, stamp + INPUT_VISIBLE + 1, 0, 8 * stamp, 1)]


def test_events_up_to_the_timeout_are_returned():
    for stamp, timeout, expected in [(40, 40, 0), (40, 39, 1), (41, 40, 1)]:
        (result,) = play([(stamp + INPUT_LATENCY, 1, 0, 1)], [(20, 1, 8 * timeout)])
        assert result[2] == expected
        if expected == 1:
            assert result[1:] == (timeout + INPUT_VISIBLE + 1, 1, 2**64 - 1, 0)


def test_queued_event_is_returned_after_its_timeout():
    assert play([(10, 1, 0, 1)], [(50, 1, 8 * 2)])[0][2:] == (0, 64, 1)
    assert play([], [(50, 1, 2**64 - 2)])[0][1:3] == (52, 1)  # negative, but not -1: has expired


def test_channels_are_separate_and_unknown_ones_refused():
    result = play([(10, 1, 0, 1), (12, 5, 0, 2)], [(30, 5, 0), (40, 1, 0), (50, 2, FOREVER)])
    assert [r[2:] for r in result[:2]] == [(0, 80, 2), (0, 64, 1)]
    assert result[2][2] == 8


def test_overflow_is_reported_by_one_read():
    """Depth 4 and one in the output register: the sixth event is lost, five remain."""
    pulses = [(10 + n, 1, 0, n) for n in range(7)]
    result = play(pulses, [(30 + 5 * n, 1, 0) for n in range(7)])
    assert [r[2] for r in result] == [2, 0, 0, 0, 0, 0, 1]
    assert [r[4] for r in result[1:6]] == [0, 1, 2, 3, 4]


def test_abort_ends_a_wait_with_timeout():
    assert play([], [(20, 1, FOREVER)], abort_at=50)[0][1:3] == (51, 1)
