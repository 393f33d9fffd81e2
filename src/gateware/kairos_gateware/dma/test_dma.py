"""DMA: both formats against their Python encoders, throughput and latency, errors, stopping at any
moment."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from migen import *

from kairos_gateware.dma.engine import (
    ERROR_BUS,
    ERROR_FORMAT,
    ERROR_UNDERFLOW,
    ERROR_UNREACHABLE,
    DmaEngine,
)
from kairos_gateware.dma.format import COMPACT, RECORDED, compact, recorded
from kairos_gateware.testbenches.simulator import run_simulation
from kairos_gateware.verilated.hp_memory import HpMemory, Playback

BASE = 0x0E00_0000
LATENCY = 30
ENCODERS = {RECORDED: recorded, COMPACT: compact}


class Run:
    """One playback. `start`: cycle in which busy rises; `end`: first cycle in which it is low
    again, or None."""

    def __init__(
        self, trace, format, cycles, offset=0, width=32, ready=None, status=None, stop=None, dut=None, **memory
    ):
        self.dut = dut or DmaEngine(width)
        self.memory = HpMemory(bytearray(trace), BASE, LATENCY, **memory)
        self.core = Playback(ready or (lambda cycle: True), status or (lambda *event: 0))
        self.start = self.end = None
        self.format, self.offset, self.cycles, self.stop = format, offset, cycles, stop
        run_simulation(
            self.dut,
            [
                self.memory.read(self.dut.bus, cycles),
                self.core.serve(self.dut.cri, cycles),
                self.control(),
            ],
        )

    def control(self):
        dut = self.dut
        yield dut.base.eq(BASE + 5)  # low bits are ignored
        yield dut.time_offset.eq(self.offset)
        yield dut.format.eq(self.format)
        for cycle in range(self.cycles):
            yield dut.start.eq(cycle == 2)
            yield dut.stop.eq(cycle == self.stop)
            yield
            busy = yield dut.busy
            if busy and self.start is None:
                self.start = cycle
            if not busy and self.start is not None and self.end is None:
                self.end = cycle
        self.error = yield dut.error
        self.failed = (yield dut.error_channel), (yield dut.error_address), (yield dut.error_timestamp)
        self.count = yield dut.events

    def events(self):
        return [event[1:] for event in self.core.events]


def expected(events, offset=0, width=32):
    return [(c, a, (t + offset) % 2**64, int.from_bytes(d, "little") & ((1 << width) - 1)) for c, a, t, d in events]


def ttl(count, period=100):
    return [(n % 8, 0, period * n, (n // 8 % 2).to_bytes(4, "little")) for n in range(count)]


@pytest.mark.parametrize("format, limit", [(COMPACT, 1.0), (RECORDED, 2.5)], ids=["compact", "recorded"])
def test_playback_of_ttl_events_uses_the_full_port(format, limit):
    """TTL events, over the whole trace: the port's 8 bytes per cycle are fully used."""
    events = ttl(400)
    run = Run(ENCODERS[format](events), format, 1250, width=8)
    assert run.events() == expected(events, width=8)
    cycles = [event[0] for event in run.core.events]
    assert cycles[0] == run.start + LATENCY + 10
    assert (cycles[-1] - cycles[0]) / (len(events) - 1) <= limit
    assert run.end is not None and run.error == 0 and run.count == len(events)
    assert max(b - a for a, b in zip(cycles, cycles[1:], strict=False)) <= 3


def test_empty_trace_ends_once_requested_bursts_arrived():
    """A trace without events ends as soon as the first burst, and all that was requested after it,
    have arrived."""
    run = Run(recorded([]), RECORDED, 400)
    assert run.events() == [] and run.error == 0
    assert run.end - run.start <= LATENCY + 8 * 16 + 10
    assert len(run.memory.bursts) <= 9


_EVENT = st.tuples(
    st.one_of(st.integers(0, 20), st.integers(0, 2**24 - 1)),
    st.integers(0, 255),
    st.one_of(st.integers(0, 1000), st.integers(0, 2**64 - 1)),
    st.one_of(
        st.integers(0, 3).map(lambda v: v.to_bytes(4, "little")),
        st.integers(1, 16).flatmap(lambda n: st.binary(min_size=4 * n, max_size=4 * n)),
        st.binary(min_size=1, max_size=64),
    ),
)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(_EVENT, max_size=25),
    st.sampled_from([RECORDED, COMPACT]),
    st.integers(0, 2**64 - 1),
    st.sampled_from([1, 2, 3, 7]),
    st.integers(0, 3),
)
def test_random_traces_are_played_complete_and_in_order(events, format, offset, divisor, stall):
    """Any events, any offset, a core and a port that are not always ready."""
    trace = ENCODERS[format](events) + bytes([0xEE]) * 100
    run = Run(
        trace,
        format,
        500 + 12 * len(events) * divisor,
        offset,
        ready=lambda cycle: (cycle * 7 + stall) % 11 % divisor == 0,
        width=512,
    )
    assert run.events() == expected(events, offset, width=512)
    assert run.error == 0 and run.end is not None and run.count == len(events)


@pytest.mark.parametrize("format", [RECORDED, COMPACT])
@pytest.mark.parametrize("status, error", [(2, ERROR_UNDERFLOW), (4, ERROR_UNREACHABLE)])
def test_error_stops_playback_after_the_failed_event(format, status, error):
    events = ttl(60)
    run = Run(ENCODERS[format](events), format, 400, offset=7, status=lambda c, a, t, d: status if t == 7 + 1700 else 0)
    assert run.error == error
    assert run.failed == (1, 0, 1707)
    assert run.events() == expected(events[:18], 7) and run.count == 18
    assert run.end is not None


@pytest.mark.parametrize(
    "trace, format",
    [
        (recorded(ttl(5), end=False) + bytes([13]) + bytes(40), RECORDED),
        (recorded(ttl(5), end=False) + bytes([78]) + bytes(40), RECORDED),
        (recorded(ttl(5), end=False) + bytes([255]) + bytes(40), RECORDED),
        (compact(ttl(5), end=False) + bytes([2]) + bytes(40), COMPACT),
        (compact(ttl(5), end=False) + bytes([2 | 17 << 2]) + bytes(40), COMPACT),
        (compact(ttl(5), end=False) + bytes([4]) + bytes(40), COMPACT),
    ],
)
def test_malformed_trace_stops_with_format_error(trace, format):
    run = Run(trace, format, 300)
    assert run.error == ERROR_FORMAT and run.end is not None
    assert run.events() == expected(ttl(5))


@pytest.mark.parametrize("format", [RECORDED, COMPACT])
def test_bus_error_stops_after_the_preceding_events(format):
    """Everything before the bad word is played, up to a record in view together with it."""
    events = ttl(100)
    bad = BASE + 8 * 60
    run = Run(ENCODERS[format](events), format, 500, bad={bad})
    assert run.error == ERROR_BUS and run.end is not None
    assert run.events() == expected(events[: run.count])
    assert run.count == {RECORDED: 8 * 58 // 17 + 1, COMPACT: 58}[format]


def test_bus_error_at_the_end_marker_stops():
    run = Run(compact(ttl(16)), COMPACT, 300, bad={BASE + 8 * n for n in range(16, 200)})
    assert run.error == ERROR_BUS and run.events() == expected(ttl(16))[: run.count] and run.count >= 14


def test_bus_error_behind_the_end_is_ignored():
    run = Run(compact(ttl(14)), COMPACT, 300, bad={BASE + 8 * n for n in range(17, 200)})
    assert run.error == 0 and run.events() == expected(ttl(14))


@settings(max_examples=10, deadline=None)
@given(st.integers(2, 160), st.sampled_from([RECORDED, COMPACT]), st.sampled_from([1, 2, 5]))
def test_playback_after_stop_at_any_moment_is_complete(stop, format, divisor):
    """After a stop nothing is submitted, the port has no open transaction, and the next playback is
    complete."""
    events = ttl(40)
    trace = ENCODERS[format](events)
    dut = DmaEngine(32)
    core = Playback(lambda cycle: cycle % divisor == 0)
    memory = HpMemory(bytearray(trace), BASE, LATENCY)
    cycles = 1100
    marks = {}

    def control():
        yield dut.base.eq(BASE)
        yield dut.format.eq(format)
        for cycle in range(cycles):
            restart = "idle" in marks and "again" not in marks
            if restart:
                marks["again"] = cycle
                assert sum(beats for _, _, beats in memory.bursts) == 16 * len(memory.bursts)
                assert not memory._beats and not (yield dut.bus.arvalid)
                marks["events"] = len(core.events)
            yield dut.start.eq(cycle == 2 or restart)
            yield dut.stop.eq(cycle == stop)
            yield
            if cycle > max(4, stop) and "idle" not in marks and not (yield dut.busy):
                marks["idle"] = cycle
            if cycle == stop + 1:
                marks["at_stop"] = len(core.events)

    run_simulation(dut, [memory.read(dut.bus, cycles), core.serve(dut.cri, cycles), control()])
    assert marks["idle"] - stop <= LATENCY + 9 * 16 + 160 * (stop < 4)
    first = marks["events"]
    if stop >= 4:
        assert first <= marks["at_stop"] + 1
    assert [e[1:] for e in core.events[:first]] == expected(events[:first])
    assert [e[1:] for e in core.events[first:]] == expected(events)


def test_hold_pauses_playback_without_losing_events():
    dut = DmaEngine(8)
    core = Playback()
    memory = HpMemory(bytearray(compact(ttl(40))), BASE, LATENCY)

    def control():
        yield dut.base.eq(BASE)
        yield dut.format.eq(COMPACT)
        for cycle in range(300):
            yield dut.start.eq(cycle == 2)
            yield dut.hold.eq(50 <= cycle < 150)
            yield

    run_simulation(dut, [memory.read(dut.bus, 300), core.serve(dut.cri, 300), control()])
    assert [e[1:] for e in core.events] == expected(ttl(40), width=8)
    assert not [e for e in core.events if 51 < e[0] < 150]
