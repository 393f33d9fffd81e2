"""Analyzer: messages decoded from memory match the CRI traffic; overflow, ring, stop, and the
port's utilisation."""

import struct

from hypothesis import given, settings
from hypothesis import strategies as st
from migen import *

from kairos_gateware.analyzer.analyzer import Analyzer
from kairos_gateware.analyzer.format import (
    EXCEPTION,
    INPUT,
    OUTPUT,
    OVERFLOW,
    STOPPED,
    UNDERFLOW,
    Message,
    decode,
    expand,
)
from kairos_gateware.rtio.cri import Cri
from kairos_gateware.testbenches.simulator import run_simulation
from kairos_gateware.verilated.hp_memory import HpMemory

BASE = 0x0E10_0000
START = 10  # cycle in which the analyzer is enabled


class Run:
    """actions: {cycle: ("output", channel, address, timestamp, data, status) or ("read", channel,
    timestamp, data, status)}. The counter of cycle n is first + n."""

    def __init__(self, actions, cycles, stop, pack=0, size=1 << 14, first=1000, depth=64, **memory):
        cri = Cri(512)
        coarse = Signal(61)
        self.dut = dut = Analyzer(cri, coarse, depth=depth)
        self.memory = HpMemory(bytearray(size), BASE, **memory)
        self.busy = []
        self.throttle = []

        def control():
            yield dut.base.eq(BASE)
            yield dut.last.eq(BASE + size - 1)
            yield dut.pack.eq(pack)
            answer = None
            for cycle in range(cycles):
                yield dut.enable.eq(START <= cycle < stop)
                yield coarse.eq(first + cycle)
                yield cri.output_done.eq(0)
                yield cri.input_done.eq(0)
                if answer is not None:
                    yield cri.output_done.eq(1)
                    yield cri.output_status.eq(answer)
                    answer = None
                kind, *fields = actions.get(cycle, (None,))
                yield cri.output.valid.eq(kind == "output")
                yield cri.output.ready.eq(1)
                yield cri.input.ready.eq(1)
                yield cri.input.valid.eq(kind == "read")
                if kind == "output":
                    for signal, value in zip(
                        [cri.output.channel, cri.output.address, cri.output.timestamp, cri.output.data],
                        fields,
                        strict=False,
                    ):
                        yield signal.eq(value)
                    answer = fields[4]
                if kind == "read":
                    yield cri.input.channel.eq(fields[0])
                if actions.get(cycle - 2, (None,))[0] == "read":
                    _, _, timestamp, data, status = actions[cycle - 2]
                    yield cri.input_done.eq(1)
                    yield cri.input_status.eq(status)
                    yield cri.response.timestamp.eq(timestamp)
                    yield cri.response.data.eq(data)
                yield
                self.busy.append((yield dut.busy))
                self.throttle.append((yield dut.throttle))
            self.units, self.count = (yield dut.units), (yield dut.messages)
            self.overflow, self.bus_error = (yield dut.overflow), (yield dut.bus_error)

        run_simulation(dut, [control(), self.memory.write(dut.bus, cycles)])
        self.raw = bytes(self.memory.content)

    def messages(self):
        return decode(self.raw[: 32 * self.units])


def expected(actions, stop, first=1000):
    result = []
    for cycle, (kind, channel, *fields) in sorted(actions.items()):
        if kind == "output":
            address, timestamp, data, status = fields
            result.append(Message(OUTPUT, channel, timestamp, 8 * (first + cycle), address, data & 2**64 - 1))
            if status == 2:
                result.append(Message(EXCEPTION, channel, 0, 8 * (first + cycle + 1), UNDERFLOW))
        else:
            timestamp, data, status = fields
            counter = 8 * (first + cycle + 2)
            if status == 0:
                result.append(Message(INPUT, channel, timestamp, counter, 0, data))
            elif status == 2:
                result.append(Message(EXCEPTION, channel, 0, counter, OVERFLOW))
    return [*result, Message(STOPPED, counter=8 * (first + stop))]


def by_counter(messages):
    return sorted(messages, key=lambda m: (m.counter, m.type))


def test_messages_are_written_in_bytes_of_the_dump_format():
    """Byte for byte the dump format: big-endian messages of 32 bytes."""
    actions = {20: ("output", 0x010203, 0x42, 0x1122334455667788, 0x99AABBCCDDEEFF00, 0)}
    run = Run(actions, 120, 60)
    assert run.raw[:32] == struct.pack(">QIQQI", 0x99AABBCCDDEEFF00, 0x42, 8 * 1020, 0x1122334455667788, 0x010203 << 2)
    assert run.raw[32:64] == struct.pack(">QIQQI", 0, 0, 8 * 1060, 0, 3)
    assert run.units == run.count == 2 and not run.overflow
    assert [address for _, address, _ in run.memory.writes] == [BASE, BASE + 32]
    # first beat 6 cycles after acceptance in cycle 20, last one 3 later
    assert run.memory.writes[0][0] == 20 + 6 + 3
    assert run.busy.index(1) == START and run.busy[-1] == 0


_ACTION = st.one_of(
    st.tuples(
        st.just("output"),
        st.one_of(st.integers(0, 20), st.integers(0, 2**24 - 1)),
        st.integers(0, 255),
        st.one_of(st.integers(8000, 12000), st.integers(0, 2**64 - 1)),
        st.one_of(st.integers(0, 3), st.integers(0, 2**32 - 1), st.integers(0, 2**512 - 1)),
        st.sampled_from([0, 0, 0, 2, 4]),
    ),
    st.tuples(
        st.just("read"),
        st.integers(0, 20),
        st.one_of(st.integers(8000, 12000), st.integers(0, 2**64 - 1)),
        st.integers(0, 2**32 - 1),
        st.sampled_from([0, 0, 1, 2, 8]),
    ),
)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(2, 6), _ACTION), max_size=20),
    st.booleans(),
    st.sampled_from([1, 2, 3]),
    st.sampled_from([1000, 2**15 - 60, 2**61 - 400]),
)
def test_random_traffic_is_decoded_as_submitted(traffic, pack, divisor, first):
    """Packed or not, each message is decoded as submitted, in order of the counter for each kind of
    transaction."""
    actions, cycle = {}, 20
    for gap, action in traffic:
        cycle += gap
        actions[cycle] = action
    stop = cycle + 10
    run = Run(
        actions, stop + 100 + 25 * divisor * len(traffic), stop, pack, first=first, ready=lambda c: c % divisor == 0
    )
    assert not run.overflow and not run.bus_error and run.busy[-1] == 0
    assert by_counter(run.messages()) == by_counter(expected(actions, stop, first))
    assert run.count == len(run.messages())
    assert decode(expand(run.raw[: 32 * run.units])) == run.messages()
    assert pack or run.units == run.count


def burst(count, period=1, data=1):
    return {20 + period * n: ("output", n % 8, 0, 8 * (1100 + n), data, 0) for n in range(count)}


def test_full_load_takes_four_cycles_per_burst():
    """Four cycles per message; packed, four per two."""
    for pack, period in [(0, 4), (1, 2)]:
        run = Run(burst(100, period), 700, 600, pack, depth=16)
        assert run.messages() == expected(burst(100, period), 600) and not run.overflow
        cycles = [cycle for cycle, _, _ in run.memory.writes[:-1]]
        assert max(b - a for a, b in zip(cycles[1:], cycles[2:], strict=False)) <= 4
        assert run.units == (101 if not pack else run.units) and run.units >= 51


def test_overflow_is_reported_and_kept_messages_are_unchanged_and_in_order():
    run = Run(burst(100), 700, 600, depth=32)
    everything = expected(burst(100), 600)
    assert run.overflow
    assert len(run.messages()) < 100
    assert run.messages() == [m for m in everything if m in run.messages()]
    assert run.messages()[-1].type == STOPPED
    assert 1 in run.throttle


def test_exceptions_wait_for_a_cycle_without_output():
    """An underflow among outputs in every cycle: its message follows them, with its own counter."""
    actions = burst(10)
    actions[23] = (*actions[23][:5], 2)
    run = Run(actions, 200, 100)
    assert not run.overflow
    assert [m.type for m in run.messages()] == [OUTPUT] * 10 + [EXCEPTION, STOPPED]
    assert run.messages()[10] == Message(EXCEPTION, 3, 0, 8 * 1024, UNDERFLOW)


def test_ring_wraps_at_its_last_unit():
    run = Run(burst(20, 5), 250, 200, size=8 * 32)
    assert run.units == 21
    ring = run.raw[32 * (21 % 8) :] + run.raw[: 32 * (21 % 8)]
    assert decode(ring) == expected(burst(20, 5), 200)[-8:]


def test_bus_error_ends_recording_and_is_reported():
    run = Run(burst(3, 5), 150, 100, bad={BASE + 32})
    assert run.bus_error and run.units == 4 and run.busy[-1] == 0


def test_disabled_analyzer_records_no_message():
    run = Run({3: ("output", 1, 0, 9000, 1, 2), 70: ("output", 1, 0, 9000, 1, 2)}, 150, 60)
    assert run.messages() == [Message(STOPPED, counter=8 * 1060)]
