"""DMA, analyzer and monitor/injector in the verilated whole, through their registers, with and
without time skip."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kairos_gateware.analyzer.format import EXCEPTION, INPUT, OUTPUT, STOPPED, UNDERFLOW, decode
from kairos_gateware.dma.engine import ERROR_BUS, ERROR_UNDERFLOW, ERROR_UNREACHABLE
from kairos_gateware.dma.format import COMPACT, RECORDED, compact, recorded
from kairos_gateware.verilated.hp_port import HpPort

ENCODERS = {RECORDED: recorded, COMPACT: compact}
BOTH = pytest.mark.parametrize("format", [RECORDED, COMPACT], ids=["recorded", "compact"])
TRACE, RING, RING_SIZE = 0x1000, 0x8_0000, 0x4_0000
LOG = 12


class Device:
    """A booted `Ps` with its registers by name."""

    def __init__(self, boot, registers, **options):
        self.ps, self.registers = boot(**options), registers

    def write(self, name, value, wide=False):
        address = self.registers[name]
        if wide:
            self.ps.write(address, value >> 32 & 0xFFFF_FFFF)
            address += 4
        self.ps.write(address, value & 0xFFFF_FFFF)

    def read(self, name, wide=False):
        address = self.registers[name]
        value = self.ps.read(address)
        return value << 32 | self.ps.read(address + 4) if wide else value

    def now(self):
        return 8 * self.ps.out.sim_tsc

    def play(self, events, format, offset):
        trace = ENCODERS[format](events)
        self.ps.hp.memory[TRACE : TRACE + len(trace)] = trace
        self.write("dma_base", HpPort.BASE + TRACE)
        self.write("dma_time_offset", offset, wide=True)
        self.write("dma_format", format)
        self.write("dma_enable", 1)

    def wait(self, name="dma_busy"):
        for _ in range(3000):
            if not self.read(name):
                return
        raise TimeoutError(name)

    def record(self, pack=0, lossless=0):
        self.write("analyzer_base", HpPort.BASE + RING)
        self.write("analyzer_last", HpPort.BASE + RING + RING_SIZE - 1)
        self.write("analyzer_pack", pack)
        self.write("analyzer_lossless", lossless)
        self.write("analyzer_enable", 1)

    def recorded(self):
        self.write("analyzer_enable", 0)
        self.wait("analyzer_busy")
        count = self.read("analyzer_byte_count", wide=True)
        messages = decode(bytes(self.ps.hp.memory[RING : RING + count]))
        assert self.read("analyzer_message_count", wide=True) == len(messages)
        assert messages[-1].type == STOPPED
        return messages[:-1]


@pytest.fixture
def device(boot, registers):
    device = Device(boot, registers)
    yield device
    device.ps.close()


def square(count, period):
    """Pad 4 toggles every `period` machine units."""
    return [(4, 0, period * (n + 1), bytes([1 - n % 2, 0, 0, 0])) for n in range(count)]


@BOTH
def test_playback_reaches_the_pads_on_time(device, format):
    offset = device.now() + 8 * 400
    device.play(square(50, 80), format, offset)
    device.wait()
    assert device.read("dma_error") == 0 and device.read("dma_events") == 50
    device.ps.advance(offset // 8 + 1000)
    assert [(c[0], c[2][0] & 1) for c in device.ps.changes] == [
        (offset // 8 + 10 * (n + 1), 1 - n % 2) for n in range(50)
    ]


@BOTH
def test_errors_report_channel_and_time(device, format):
    offset = device.now() + 8 * 400
    events = square(10, 80)
    late = [*events[:5], (5, 0, -9000, bytes(4)), *events[5:]]
    device.play(late, format, offset)
    device.wait()
    assert device.read("dma_error") == ERROR_UNDERFLOW and device.read("dma_events") == 6
    assert device.read("dma_error_channel") == 5
    assert device.read("dma_error_timestamp", wide=True) == (offset - 9000) % 2**64
    device.write("dma_error", 1)
    assert device.read("dma_error") == 0
    offset = device.now() + 8 * 400
    device.play([(0x0123, 7, 80, bytes(4))], format, offset)
    device.wait()
    assert device.read("dma_error") == ERROR_UNREACHABLE
    assert (device.read("dma_error_channel"), device.read("dma_error_address")) == (0x123, 7)
    device.write("dma_base", HpPort.BASE + len(device.ps.hp.memory))
    device.write("dma_enable", 1)
    device.wait()
    assert device.read("dma_error") == ERROR_BUS


@BOTH
@pytest.mark.parametrize("delay", [0, 5, 31, 40, 55, 100, 300])
def test_stopped_playback_leaves_the_core_usable(device, format, delay):
    """Stopped at any moment: submitted events are executed, the kernel's outputs and another
    playback continue to work."""
    ps = device.ps
    offset = device.now() + 8 * 600
    device.play(square(200, 80), format, offset)
    for _ in range(delay):
        ps.step()
    device.write("dma_enable", 0)
    device.wait()
    count = device.read("dma_events")
    assert ps.hp.idle() or not [beat for beat in ps.hp.beats]
    time = offset + 8 * 4000
    assert ps.output(6, time, 1) == 0
    device.play([(7, 0, 0, bytes([1]))], format, time + 8)
    device.wait()
    ps.advance(time // 8 + 20)
    assert len([c for c in ps.changes if c[1] == 4]) == count
    assert [c[:2] for c in ps.changes if c[1] > 4] == [(time // 8, 6), (time // 8 + 1, 7)]
    assert device.read("rtio_async_error") == 0


def test_kernel_outputs_during_playback_are_on_time(device):
    """Both initiators at once; each event and each status is right."""
    ps = device.ps
    offset = device.now() + 8 * 3000
    device.play(square(900, 80), COMPACT, offset)
    for n in range(5):
        assert ps.output(6, offset + 800 * n, 1 - n % 2) == 0
        assert ps.output(6, offset - 10**6, 0) == 2
    device.wait()
    assert device.read("dma_error") == 0 and device.read("dma_events") == 900
    ps.advance(offset // 8 + 9100)
    assert [c[0] for c in ps.changes if c[1] == 4] == [offset // 8 + 10 * (n + 1) for n in range(900)]
    assert [c[0] for c in ps.changes if c[1] == 6] == [offset // 8 + 100 * n for n in range(5)]


def test_kernel_waits_for_an_input_during_playback(device):
    ps = device.ps
    offset = device.now() + 8 * 1000
    assert ps.output(0, offset, 1, address=3) == 0
    device.play(square(100, 80), COMPACT, offset)
    assert ps.input(0, offset + 100) == (0, offset, 0)
    device.wait()
    assert device.read("dma_error") == 0


def test_analyzer_records_kernel_and_dma_events(device):
    ps = device.ps
    device.record()
    offset = device.now() + 8 * 1000
    assert ps.output(4, offset, 1) == 0
    assert ps.output(5, 80, 1) == 2
    assert ps.output(0, offset + 8, 1, address=3) == 0
    assert ps.output(LOG, 0, 0x4B61_6972) == 0  # "Kair", at any time
    assert ps.input(0, offset + 80)[0] == 0
    assert ps.input(0, 0)[0] == 1  # a timeout leaves no message
    device.play(square(3, 8), RECORDED, offset + 8 * 1000)
    device.wait()
    messages = device.recorded()
    assert [(m.type, m.channel, m.timestamp, m.address, m.data) for m in messages] == [
        (OUTPUT, 4, offset, 0, 1),
        (OUTPUT, 5, 80, 0, 1),
        (EXCEPTION, 5, 0, UNDERFLOW, 0),
        (OUTPUT, 0, offset + 8, 3, 1),
        (OUTPUT, LOG, 0, 0, 0x4B61_6972),
        (INPUT, 0, offset + 8, 0, 0),
        *[(OUTPUT, 4, offset + 8 * 1000 + 8 * (n + 1), 0, 1 - n % 2) for n in range(3)],
    ]
    counters = [m.counter for m in messages]
    assert counters == sorted(counters)
    assert counters[2] == counters[1] + 8
    assert not device.read("analyzer_overflow") and not device.read("analyzer_bus_error")


def test_lossless_analyzer_beside_dma_loses_no_event(device):
    """Packed and lossless: two cycles per event indefinitely, and nothing is lost. Otherwise the
    overflow is reported."""
    events = [(LOG, 0, 8 * n, bytes([n % 64])) for n in range(4000)]
    for lossless in [1, 0]:
        device.record(pack=1, lossless=lossless)
        device.play(events, COMPACT, 8_000_000)
        device.wait()
        assert device.read("dma_events") == 4000
        messages = device.recorded()
        assert device.read("analyzer_overflow") == 1 - lossless
        numbers = [(m.timestamp - 8_000_000) // 8 for m in messages]
        assert [m.data for m in messages] == [n % 64 for n in numbers]
        if lossless:
            assert numbers == list(range(4000))
            cycles = [m.counter // 8 for m in messages]
            assert cycles[1000] - cycles[0] <= 1010  # the buffer is filling
            assert 1990 <= cycles[3900] - cycles[2900] <= 2010


def test_monitor_reads_levels_and_injector_overrides_pins(device):
    ps = device.ps

    def probe(channel, number):
        device.write("moninj_channel", channel)
        device.write("moninj_probe", number)
        device.write("moninj_update", 1)
        return device.read("moninj_value", wide=True)

    def inject(channel, number, value):
        device.write("moninj_inject_channel", channel)
        device.write("moninj_inject_override", number)
        device.write("moninj_inject_value", value)
        return device.read("moninj_inject_value")

    assert ps.output(4, device.now() + 8 * 100, 1) == 0
    ps.advance(ps.out.sim_tsc + 120)
    assert probe(4, 0) == 1 and probe(5, 0) == 0
    assert inject(4, 0, 1) == 1
    assert probe(4, 0) == 0 and ps.out.pads_o[4] == 0
    assert inject(4, 1, 1) == 1
    assert probe(4, 0) == 1 and ps.out.pads_o[4] == 255
    assert inject(4, 0, 0) == 0
    assert (probe(0, 0), probe(0, 1)) == (0, 0)
    ps.inputs.pads_i[0] = 255
    assert (probe(0, 0), probe(0, 1)) == (1, 0)
    # A driven pin has the injector's level, whatever is applied from outside.
    assert inject(0, 2, 1) == 1 and inject(0, 0, 1) == 1
    assert (probe(0, 0), probe(0, 1)) == (0, 1) and ps.out.pads_oe[0] == 1
    assert inject(0, 1, 1) == 1
    assert (probe(0, 0), probe(0, 1)) == (1, 1)


_EVENT = st.tuples(
    st.sampled_from([0, 1, 4, 4, 5, 11, LOG, LOG, 20]),
    st.just(0),
    st.one_of(st.integers(0, 3000), st.integers(0, 10**7)),
    st.integers(0, 1).map(lambda value: value.to_bytes(4, "little")),
)


_TRACE = (st.lists(_EVENT, max_size=60), st.sampled_from([RECORDED, COMPACT]), st.booleans(), st.integers(0, 300))


def check_trace(boot, registers, events, format, pack, slack):
    events.sort(key=lambda event: event[2])
    results = []
    for skip in [False, True]:
        if not skip and events and events[-1][2] > 10**5:
            continue  # a long time without skip is slow
        device = Device(boot, registers, skip=skip)
        device.record(pack)
        offset = device.now() + 8 * (150 + slack)
        device.play(events, format, offset)
        for _ in range(400):
            device.ps.step()
        device.ps.advance(offset // 8 + (events[-1][2] // 8 if events else 0) + 100)
        result = [device.read(f"dma_{name}") for name in ["busy", "error", "error_channel", "events"]]
        results.append((result, device.ps.changes, device.recorded()))
        device.ps.close()
    assert all(result == results[0] for result in results)
    (busy, error, channel, count), _, messages = results[0]
    assert not busy
    unreachable = [n for n, event in enumerate(events) if event[0] == 20]
    if not error:
        assert not unreachable and count == len(events)
    elif error == ERROR_UNREACHABLE:
        assert channel == 20 and count == unreachable[0] + 1
    outputs = [m for m in messages if m.type == OUTPUT]
    assert [(m.channel, m.timestamp, m.data) for m in outputs] == [
        (c, offset + t, d[0]) for c, _, t, d in events[:count]
    ]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(*_TRACE)
def test_random_traces_are_equal_with_skipped_time(boot, registers, events, format, pack, slack):
    """Pads, statuses, counters and analyzer messages are the same when time is skipped."""
    check_trace(boot, registers, events, format, pack, slack)


@pytest.mark.long
@settings(max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(*_TRACE)
def test_many_random_traces_are_equal_with_skipped_time(boot, registers, events, format, pack, slack):
    check_trace(boot, registers, events, format, pack, slack)
