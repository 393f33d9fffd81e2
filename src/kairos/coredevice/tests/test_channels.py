"""Methods of digital channels: outputs, reads, and their durations."""

import pytest
from numpy import int64

from kairos.compiler.tests.jit import Compiled
from kairos.coredevice.core import Core
from kairos.coredevice.edge_counter import EdgeCounter
from kairos.coredevice.grabber import Grabber
from kairos.coredevice.spi2 import SPIMaster
from kairos.coredevice.ttl import TTLClockGen, TTLInOut, TTLOut

CHANNEL = 5


class Devices:
    """A device manager with a core."""

    def __init__(self):
        self.core = Core(self, host=None, ref_period=1e-9)

    def get(self, name):
        return getattr(self, name)


@pytest.fixture
def ttl():
    return TTLInOut(Devices(), CHANNEL)


def run(method, *args, times=(), data=()):
    """Run a method; returns outputs (time, address, data), reads, the result and the final cursor.
    `times` and `data` are those of the available events."""
    times, data = iter(times), iter(data)
    firmware = {
        "rtio_input_timestamp": lambda timeout, channel: next(times, -1),
        "rtio_input_data": lambda channel: next(data),
        "rtio_get_counter": lambda: 100,
    }
    result = Compiled(method, args, method.__self__.core).run(firmware=firmware)
    calls = [(name, list(values)) for name, values in result.calls if name != "rtio_get_counter"]
    outputs = [values for name, values in calls if name == "rtio_output"]
    outputs = [(time, target - (CHANNEL << 8), word) for time, target, word in outputs]
    reads = [values for name, values in calls if name.startswith("rtio_input")]
    return outputs, reads, result.value if result.exception is None else result.exception[0], result.now


@pytest.mark.parametrize("cls", [TTLOut, TTLInOut])
def test_levels_and_pulses_are_output(cls):
    ttl = cls(Devices(), CHANNEL)
    for method, args, outputs, now in [
        (ttl.on, (), [(0, 0, 1)], 0),
        (ttl.off, (), [(0, 0, 0)], 0),
        (ttl.set_o, (True,), [(0, 0, 1)], 0),
        (ttl.set_o, (False,), [(0, 0, 0)], 0),
        (ttl.pulse_mu, (int64(20),), [(0, 0, 1), (20, 0, 0)], 20),
        # Rounded to the nearest machine unit, as delay() does
        (ttl.pulse, (20.6e-9,), [(0, 0, 1), (21, 0, 0)], 21),
    ]:
        assert run(method, *args)[::3] == (outputs, now)


def test_direction_methods_write_the_output_enable(ttl):
    assert [run(method)[0] for method in (ttl.output, ttl.input)] == [[(0, 1, 1)], [(0, 1, 0)]]
    assert [run(ttl.set_oe, oe)[0] for oe in (True, False)] == [[(0, 1, 1)], [(0, 1, 0)]]
    assert run(TTLOut(Devices(), CHANNEL).output)[0] == []


def test_gates_open_and_close_after_their_duration(ttl):
    counter = EdgeCounter(Devices(), CHANNEL)
    for edges, mask in {"rising": 1, "falling": 2, "both": 3}.items():
        for unit, duration in {"_mu": int64(1000), "": 1000e-9}.items():
            outputs, _, end, now = run(getattr(ttl, f"gate_{edges}{unit}"), duration)
            assert (outputs, end, now) == ([(0, 2, mask), (1000, 2, 0)], 1000, 1000)
            outputs, _, end, now = run(getattr(counter, f"gate_{edges}{unit}"), duration)
            # A counter's seconds are rounded down.
            last = 1000 if unit else 999
            assert (outputs, end, now) == ([(0, 0, mask | 8), (last, 0, 4)], last, last)


def test_gates_have_names_and_docstrings():
    assert TTLInOut.gate_rising.__name__ == "gate_rising"
    assert TTLInOut.gate_both_mu.__qualname__ == "TTLInOut.gate_both_mu"
    assert "both edges" in EdgeCounter.gate_both_mu.__doc__ and "machine units" in EdgeCounter.gate_both_mu.__doc__


def test_count_consumes_recorded_events(ttl):
    up_to = int64(10_000)
    outputs, reads, count, _ = run(ttl.count, up_to, times=[1, 2, 3])
    assert (outputs, count, reads) == ([], 3, [[up_to + 104, CHANNEL]] * 4)
    assert run(ttl.timestamp_mu, up_to, times=[77])[1:3] == ([[up_to + 104, CHANNEL]], 77)
    assert run(ttl.timestamp_mu, up_to)[2] == -1
    late = TTLInOut(Devices(), CHANNEL, gate_latency_mu=7)
    assert run(late.timestamp_mu, up_to)[1] == [[up_to + 7, CHANNEL]]


def test_levels_are_sampled_and_watched(ttl):
    assert run(ttl.sample_input)[0] == [(0, 3, 0)]
    assert run(ttl.sample_get, data=[1])[1:3] == ([[CHANNEL]], 1)
    outputs, _, value, now = run(ttl.sample_get_nonrt, data=[1])
    assert (outputs, value, now) == ([(0, 3, 0)], 1, 125_100)
    for method, edge, level in [(ttl.watch_stay_on, 2, 1), (ttl.watch_stay_off, 1, 0)]:
        assert [run(method, data=[data])[2] for data in (0, 1)] == [level == 0, level == 1]
        assert run(method, data=[level])[0] == [(0, 3, edge)]
    assert run(ttl.watch_done)[:3] == ([(0, 2, 0)], [[104, CHANNEL]], True)
    assert run(ttl.watch_done, times=[5, 6])[1:3] == ([[104, CHANNEL]] * 3, False)


def test_clock_generator_is_set_and_stopped():
    clock = TTLClockGen(Devices(), CHANNEL, acc_width=16)
    assert clock.frequency_to_ftw(62.5e6) == 1 << 15 and clock.ftw_to_frequency(1 << 15) == pytest.approx(62.5e6)
    assert run(clock.set_mu, 7)[0] == [(0, 0, 7)] and run(clock.stop)[0] == [(0, 0, 0)]
    assert run(clock.set, 1e6)[0] == [(0, 0, round(2**16 * 8e-9 * 1e6))]


def test_counter_is_configured_and_overflow_raises_its_exception():
    counter = EdgeCounter(Devices(), CHANNEL, gateware_width=8)
    for bit in range(4):
        assert run(counter.set_config, *(n == bit for n in range(4)))[0] == [(0, 0, 1 << bit)]
    assert run(counter.fetch_count, data=[126])[2] == 126
    assert run(counter.fetch_count, data=[127])[2] == "kairos.coredevice.edge_counter.CounterOverflow"


def test_rtio_channels_have_name_suffixes():
    for cls in (TTLOut, TTLInOut, TTLClockGen, EdgeCounter, SPIMaster):
        assert cls.get_rtio_channels(channel=3, core_device="core") == [(3, None)]
    assert Grabber.get_rtio_channels(channel_base=3) == [(3, "ROI coordinates"), (4, "ROI mask")]


def test_kernel_invariants_include_addresses():
    assert TTLOut.kernel_invariants >= {"core", "channel", "target_o"}
    assert SPIMaster.kernel_invariants >= {"core", "channel", "ref_period_mu"}
    assert "target_o" not in SPIMaster.kernel_invariants
