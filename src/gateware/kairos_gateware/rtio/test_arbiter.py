"""Arbitration: every event once, in its initiator's order, each status to its own initiator, fair
alternation."""

from hypothesis import given, settings
from hypothesis import strategies as st
from migen import *

from kairos_gateware.rtio.arbiter import CriArbiter
from kairos_gateware.rtio.cri import Cri
from kairos_gateware.testbenches.simulator import run_simulation


def run(offers, ready, cycles, read_done=(), early=0):
    """offers: for each port, a list of (cycle from which it is offered, timestamp). The core
    answers with the timestamp's low bits as status. `soon` rises `early` cycles before the first
    initiator offers. Returns the core's log [(cycle, timestamp)] and each port's [(cycle,
    status)]."""
    core = Cri(16)
    dut = CriArbiter(core)
    log, statuses = [], ([], [])

    def initiator(port, todo):
        cri = dut.ports[port]
        todo = list(todo)
        for cycle in range(cycles):
            valid = bool(todo) and todo[0][0] <= cycle
            yield cri.output.valid.eq(valid)
            if port == 0:
                yield dut.soon.eq(valid or (todo != [] and todo[0][0] <= cycle + early))
            if valid:
                yield cri.output.timestamp.eq(todo[0][1])
            yield
            if valid and (yield cri.output.ready):
                todo.pop(0)
            if (yield cri.response.done):
                statuses[port].append((cycle, (yield cri.response.status)))

    def serve():
        taken = None
        for cycle in range(cycles):
            yield core.output.ready.eq(ready(cycle))
            yield core.output_done.eq(taken is not None)
            yield core.output_status.eq((taken or 0) & 15)
            yield core.input_done.eq(cycle in read_done)
            yield core.input_status.eq(9)
            yield
            taken = None
            if ready(cycle) and (yield core.output.valid):
                taken = yield core.output.timestamp
                log.append((cycle, taken))

    run_simulation(dut, [initiator(0, offers[0]), initiator(1, offers[1]), serve()])
    return log, statuses


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.integers(0, 40), max_size=12),
    st.lists(st.integers(0, 40), max_size=12),
    st.sampled_from([1, 2, 3, 5]),
    st.integers(0, 2),
)
def test_each_event_passes_once_and_its_status_reaches_its_initiator(first, second, divisor, early):
    offers = [[(c, 2 * n) for n, c in enumerate(sorted(first))], [(c, 2 * n + 1) for n, c in enumerate(sorted(second))]]
    log, statuses = run(offers, lambda cycle: cycle % divisor == 0, 200, early=early)
    for port in (0, 1):
        own = [(cycle, time) for cycle, time in log if time % 2 == port]
        assert [time for _, time in own] == [time for _, time in offers[port]]
        assert statuses[port] == [(cycle + 1, time & 15) for cycle, time in own]


def test_two_busy_initiators_share_the_cycles_equally():
    """One alone gets all cycles, with no latency."""
    log, _ = run([[(5, 2 * n) for n in range(10)], [(5, 2 * n + 1) for n in range(10)]], lambda cycle: True, 40)
    assert [cycle for cycle, _ in log] == list(range(5, 25))
    assert [time % 2 for _, time in log] in ([0, 1] * 10, [1, 0] * 10)
    log, _ = run([[], [(5, n) for n in range(10)]], lambda cycle: True, 40)
    assert [cycle for cycle, _ in log] == list(range(5, 15))


def test_end_of_a_read_goes_to_the_first_port():
    """Also while the other one's outputs are being answered."""
    log, statuses = run([[], [(5, n) for n in range(10)]], lambda cycle: True, 40, read_done=[10])
    assert statuses[0] == [(10, 9)]
    assert len(statuses[1]) == 10
