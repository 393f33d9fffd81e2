"""The time transfer between boards whose clocks have any phase, in Migen's simulator against a
model of the other board, its clock, and the fibre."""

from math import ceil, floor
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from migen import *
from migen.sim import passive, run_simulation

from kairos_gateware.figures.sync import CYCLE_PS, static_error
from kairos_gateware.link.line.phase import PHASE_BITS, STEP_BITS, STEPS
from kairos_gateware.link.rtio.time import Phase, TimeTransfer
from kairos_gateware.link.rtio.words import CONTROL, ECHO
from kairos_gateware.rtio.timing import TimeBase

TAGS = {name: tag for tag, name in enumerate(CONTROL, 1)}
NEVER_SAME = 1e-9


class _Near(Module):
    def __init__(self):
        self.submodules.timebase = self.timebase = TimeBase()
        width = sum(width for _, width in ECHO)
        self.sink = Record([("valid", 1), ("ready", 1), ("form", 3), ("data", width)])
        self.source = Record([("valid", 1), ("form", 3), ("data", width)])
        self.phase = Phase()
        self.submodules.transfer = TimeTransfer(self.timebase, self.sink, TAGS, self.source, self.phase, moving=100)


class _Far:
    """The satellite; its clock is initially later than the master's by the delay of the words.
    Times are in cycles of the master. delay: of the fibre; begins: the bits of their cycles at
    which the near and the far receiver see the other's cycles begin; words and clock arrive so many
    bits earlier. jitter: of returning vectors, rms, in cycles."""

    def __init__(self, delay, begins, jitter, random):
        self.jitter, self.random = jitter, random
        self.back, self.delay = [delay - begin / 64 for begin in begins]
        self.begin = begins[1]
        self.steps, self.offset = 0, 12345

    def edge(self, time):
        """The number of its first clock edge at that time or later."""
        return ceil(time - self.shift - NEVER_SAME)

    @property
    def shift(self):
        return self.delay % 1 + self.steps / STEPS

    def take(self, left, form, data):
        """The answer to a vector that left then: (arrival time, its data), or None."""
        edge = self.edge(left + self.delay)
        counter = edge + self.offset
        if form == TAGS["time"]:
            # Loaded in the cycle in which it arrives: effective from the next one on
            self.offset = data % 2**61 - (edge + 1)
        if form == TAGS["move"]:
            self.steps = data - (1 << STEP_BITS) * (data >> STEP_BITS - 1)
        if form != TAGS["echo"]:
            return None
        # One cycle later to the transmitter, whose clock is the received one
        leaves = ceil(edge + 1 + self.shift - self.delay % 1 - NEVER_SAME) + self.delay % 1
        return leaves + self.back + self.random.gauss(0, self.jitter), counter | self.begin << 77

    def error(self):
        """Its counter less the master's, which is 0 at time 0, in cycles."""
        return self.offset - self.shift


def transfer(delay, jitter=0.0, seed=1, begins=(0, 0)):
    """(error of the satellite's counter, `one_way_delay`, number of attempts)."""
    dut, random = _Near(), Random(seed)
    far, found = _Far(delay, begins, jitter, random), []
    control = dut.sink

    @passive
    def satellite():
        now, waits, echoes, measured = 0, [], 0, None
        yield control.ready.eq(1)
        yield dut.phase.begin.eq(begins[0])
        while True:
            if (yield dut.transfer.asks):
                form, data = (yield control.form), (yield control.data)
                echoes += form == TAGS["echo"]
                found[:] = [echoes]
                back = far.take(now, form, data)
                if back is not None:
                    when, counter = back
                    # As sampled by the receiver's FIFO: at a rising edge, or half a cycle later
                    late = 0.5 if (yield dut.phase.half) else 0.0
                    waits.append((ceil(when + late), counter))
            if (yield dut.transfer.measures):
                yield dut.phase.done.eq(0)
                measured = now + 50
            if now == measured:
                exact = (far.delay + far.back) % 1 + random.gauss(0, jitter)
                yield dut.phase.value.eq(floor(exact % 1 * 64) << PHASE_BITS - 6)
                yield dut.phase.done.eq(1)
            arrived = [counter for when, counter in waits if when == now + 1]
            yield dut.source.data.eq(arrived[0] if arrived else 0)
            yield dut.transfer.echoed.eq(bool(arrived))
            now += 1
            yield

    def master():
        yield dut.transfer.line_up.eq(1)
        for _ in range(200_000):
            yield
            if (yield dut.transfer.agreed):
                found.append((yield dut.transfer.one_way_delay))
                return

    run_simulation(dut, [master(), satellite()])
    echoes, one_way_delay = found
    return far.error(), one_way_delay, echoes // 2


@pytest.mark.parametrize("eighth", [0, 3, 6, *(pytest.param(n, marks=pytest.mark.long) for n in (1, 2, 4, 5, 7))])
def test_counters_agree_below_a_cycle(eighth):
    """Also where words arrive at a clock edge, with jitter."""
    for around in (-0.01, 0.0, 0.01):
        delay = 20 + eighth / 8 + around
        error, one_way_delay, attempts = transfer(delay, jitter=0.001)
        # A measured phase is the lower end of 1/64 of a cycle
        assert abs(error) < 1 / 64 and attempts == 1
        assert one_way_delay >= delay
    exact = transfer(20 + eighth / 8 + 0.03)[0]
    assert exact * CYCLE_PS == pytest.approx(static_error((20 + eighth / 8 + 0.03) * CYCLE_PS), abs=1)


@settings(max_examples=20, deadline=None)
@given(st.floats(20, 60), st.integers(0, 63), st.integers(0, 63))
def test_time_transfer_is_exact_for_any_begin_bits(delay, near, far):
    """Without accounting for them the counters would be up to half a cycle apart."""
    error, one_way_delay, attempts = transfer(delay, begins=(near, far), jitter=0.001)
    assert abs(error) < 1 / 64 and attempts == 1
    assert one_way_delay >= delay - far / 64
    exact = transfer(delay, begins=(near, far))[0]
    assert exact * CYCLE_PS == pytest.approx(static_error(delay * CYCLE_PS, begins=(near, far)), abs=1)
