"""Each method of the drivers of TTL channels, edge counters and SPI buses, through the whole chain."""

import pytest
from numpy import int32, int64, uint32

from kairos.coredevice.ad53xx import AD53XX_READ_X1A, AD53XX_SPECIAL_READ
from kairos.coredevice.edge_counter import EdgeCounter
from kairos.coredevice.spi2 import SPI_CLK_PHASE, SPI_END, SPI_INPUT, SPIMaster
from kairos.coredevice.ttl import TTLClockGen, TTLInOut, TTLOut
from kairos.devices import DeviceDB
from tests.support.chain import Chain
from tests.support.databases import written

BENCH = """
[line.clock]      # an edge in each 10 us
pin = "ttl0"
hz = 100e3
pulse_ns = 2000

[loopback.cable]
from = "ttl5"
to = "ttl1"
"""


@pytest.fixture
def chain(lab, tmp_path):
    bench = tmp_path / "inputs.toml"
    bench.write_text(BENCH)
    with Chain(lab, bench) as chain:
        yield chain


def test_ttl_output_methods_change_the_pin(chain):
    ttl = chain.get("ttl4")
    chain(ttl.output)
    for method, arguments, level in [
        (ttl.on, (), 1),
        (ttl.off, (), 0),
        (ttl.set_o, (True,), 1),
        (ttl.set_o, (False,), 0),
    ]:
        chain(method, *arguments, pins=True)
        assert [value for _, value in chain.pin("ttl4").changes][-1] == level
    chain(ttl.pulse_mu, int64(123), pins=True)
    assert chain.advance_mu == 123 and chain.pulses("ttl4") == [123]
    chain(ttl.pulse, 2.5e-6, pins=True)
    assert chain.advance_mu == 2500 and chain.pulses("ttl4") == [2500]
    assert chain.uncalled(TTLOut) == set() and chain.bench.lost_outputs() == []


def test_clock_generator_methods_set_the_wave(chain):
    clock = chain.get("ttl12")
    word = chain(clock.frequency_to_ftw, 1e6)
    assert word == clock.frequency_to_ftw(1e6) and chain(clock.ftw_to_frequency, word) == pytest.approx(1e6, abs=4)
    for method, argument, hz in [(clock.set, 1e6, 1e6), (clock.set_mu, 1 << 20, 7.8125e6)]:
        chain(method, argument, pins=True)
        chain(clock.stop)
        (wave,) = chain.pin("ttl12")._channel.waves
        assert wave.frequency_hz == pytest.approx(hz, rel=1e-5)
        # Also the level at a time
        middles = [(wave.time_of(n) + wave.time_of(n + 1)) / 2e9 for n in range(6)]
        levels = [chain.pin("ttl12").at(seconds) for seconds in middles]
        assert levels in ([0, 1] * 3, [1, 0] * 3)
    assert chain.uncalled(TTLClockGen) == set()


def test_ttl_input_methods_count_and_stamp_edges(chain):
    ttl = chain.get("ttl0")
    chain(ttl.input)
    for edges, most in [("rising", 21), ("falling", 21), ("both", 42)]:
        for unit, length in [("_mu", int64(200_000)), ("", 200e-6)]:
            gate = getattr(ttl, f"gate_{edges}{unit}")
            end = chain(gate, length)
            assert chain.advance_mu == 200_000
            assert chain(ttl.count, end) in (most - 1, most, most - 2)
            assert chain(ttl.timestamp_mu, end) == -1
    end = chain(ttl.gate_rising, 25e-6)
    first, second = chain(ttl.timestamp_mu, end), chain(ttl.timestamp_mu, end)
    assert second - first == 10_000 and 0 <= end - second < 25_000

    chain(ttl.sample_input)
    assert chain(ttl.sample_get) in (0, 1)
    assert chain(ttl.sample_get_nonrt) in (0, 1)
    for watch in (ttl.watch_stay_on, ttl.watch_stay_off):
        chain(watch)
        assert not chain(ttl.watch_done), "pulses come"
    quiet = chain.get("ttl1")
    assert chain(quiet.watch_stay_off) and chain(quiet.watch_done)
    assert not chain(quiet.watch_stay_on)

    # As an output
    pin = chain.get("ttl3")
    chain(pin.output, pins=True)
    chain(pin.set_o, True)
    chain(pin.off)
    chain(pin.on)
    chain(pin.off)
    chain(pin.pulse_mu, int64(48))
    chain(pin.pulse, 1e-6)
    assert chain.pulses("ttl3")[-2:] == [48, 1000] and len(chain.pulses("ttl3")) == 4
    chain(pin.set_oe, False)
    assert chain.pin("ttl3").changes[-1][1] is None, "it is not driven"
    assert chain.uncalled(TTLInOut) == set()


def test_edge_counter_methods_count_in_their_gates(chain):
    counter, cable = chain.get("ttl0_counter"), chain.get("ttl5")
    for edges, most in [("rising", 20), ("falling", 20), ("both", 40)]:
        for unit, length in [("_mu", int64(200_000)), ("", 200e-6)]:
            end = chain(getattr(counter, f"gate_{edges}{unit}"), length)
            time, count = chain(counter.fetch_timestamped_count, int64(end + 10_000))
            # `seconds_to_mu` may round down
            assert chain.advance_mu == 0 and abs(time - end) < 200 and abs(count - most) <= 2
    counter = chain.get("ttl1_counter")
    chain(counter.set_config, True, False, False, True)
    for _ in range(3):
        chain(cable.pulse, 1e-6)
    chain(counter.set_config, True, False, True, False)
    assert chain(counter.fetch_count) == 3
    assert chain.uncalled(EdgeCounter) == set()


def word(bits):
    """Return 24 bits in the bus's format: left-aligned in 32."""
    return uint32(bits << 8).astype(int32)


def test_spi_methods_write_and_read_a_dac_register(lab, tmp_path):
    """A DAC answers, whose register X1A of channel 0 is written and read."""
    entries = DeviceDB.load(lab).entries
    arguments = {"spi_device": "dio_spi0", "ldac_device": "ttl16"}
    entries["zotino0"] = entries["sampler0"] | {"module": "artiq.coredevice.zotino", "class": "Zotino"}
    entries["zotino0"]["arguments"] = arguments
    with Chain(written(entries, tmp_path)) as chain:
        bus = chain.get("dio_spi0")
        assert chain(bus.frequency_to_div, 31.25e6) == 4 == bus.frequency_to_div(31.25e6)
        chain(bus.set_config, SPI_CLK_PHASE | SPI_END, 24, 31.25e6, 1)
        assert chain.advance_mu == 8
        chain(bus.update_xfer_duration_mu, 4, 24)
        assert bus.xfer_duration_mu == ((24 + 1) * 4 + 1) * 8
        chain(bus.write, word(3 << 22 | 8 << 16 | 0x1234), pins=True)
        assert chain.advance_mu == bus.xfer_duration_mu
        assert len(chain.pulses("dio_spi0_clk")) == 24
        chain(bus.write, word(AD53XX_SPECIAL_READ | AD53XX_READ_X1A | 8 << 7))
        chain(bus.set_config_mu, SPI_CLK_PHASE | SPI_END | SPI_INPUT, 24, 16, 1)
        chain(bus.write, 0)
        assert chain(bus.read) & 0xFFFF == 0x1234
        assert chain.uncalled(SPIMaster) == {"configure"}, "which the others call"
        assert chain.bench.warnings == []
