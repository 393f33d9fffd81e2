"""Each method of the drivers of DACs and ADCs, through compiler, firmware, gateware and chip."""

import pytest
from numpy import int64

from kairos.coredevice.ad53xx import (
    AD53XX_READ_CONTROL,
    AD53XX_READ_GAIN,
    AD53XX_READ_OFFSET,
    AD53XX_READ_X1A,
    AD53xx,
)
from kairos.coredevice.fastino import Fastino
from kairos.coredevice.novogorny import Novogorny, adc_channel, adc_ctrl, adc_data, adc_softspan, adc_value
from kairos.coredevice.sampler import Sampler, adc_mu_to_volt
from kairos.coredevice.zotino import Zotino
from kairos.devices import DeviceDB
from tests.support.chain import Chain
from tests.support.databases import entry, written

WORD_MU = ((24 + 1) * 4 + 1) * 8
STEP = 20 / 2**16
"""Volts"""


@pytest.mark.parametrize("kind", [AD53xx, Zotino])
def test_ad53xx_methods_set_codes_and_voltages(lab, tmp_path, kind):
    entries = DeviceDB.load(lab).entries
    module = kind.__module__.replace("kairos", "artiq")
    arguments = {"spi_device": "dio_spi0", "ldac_device": "ttl16"}
    entries["dac"] = {"type": "local", "module": module, "class": kind.__name__, "arguments": arguments}
    with Chain(written(entries, tmp_path)) as chain:
        dac = chain.get("dac")
        channel = lambda n: chain.bench.part("dac")[f"ch{n}"]  # noqa: E731
        chain(dac.init)
        begin = channel(3)["code"]
        assert chain(dac.voltage_to_mu, 2.5) == dac.voltage_to_mu(2.5) == 0x8000 + 0x2000

        chain(dac.write_dac_mu, 3, 0xA000)
        assert chain.advance_mu == WORD_MU
        assert (channel(3)["code"], chain(dac.read_reg, 3, AD53XX_READ_X1A)) == (begin, 0xA000)
        chain(dac.load, pins=True)
        assert chain.advance_mu == 16 and chain.pulses("ttl16") == []  # low for 16 ns, and high from the beginning
        assert channel(3)["volts"] == pytest.approx(2.5, abs=STEP)
        chain(dac.write_dac, 4, -1.25)
        chain(dac.load)
        assert channel(4)["volts"] == pytest.approx(-1.25, abs=STEP)

        chain(dac.set_dac_mu, [0x9000, 0x7000], [5, 6], slack_mu=10_000)
        assert chain.advance_mu == 0
        assert [channel(n)["code"] for n in (5, 6)] == [0x9000, 0x7000]
        # The codes arrive 1.5 us before LDAC falls, which is at the cursor
        chain(dac.set_dac, [1.0, 2.0], [5, 6], slack_mu=10_000, pins=True)
        assert [channel(n)["volts"] for n in (5, 6)] == [pytest.approx(volts, abs=STEP) for volts in (1.0, 2.0)]
        low = [at for at, level in chain.pin("ttl16").changes if level == 0][-1]
        assert chain.bench.dac("dac", 5).changes[-1][0] == pytest.approx(low + 8e-9, abs=1e-12)

        chain(dac.write_gain_mu, 7, 0x7FFF)
        chain(dac.write_offset_mu, 7, 0x8100)
        assert chain(dac.read_reg, 7, AD53XX_READ_GAIN) == 0x7FFF
        assert chain(dac.read_reg, 7, AD53XX_READ_OFFSET) == 0x8100
        chain(dac.write_dac_mu, 7, 0x8000)
        chain(dac.load)
        assert channel(7)["code"] == (0x8000 * 0x8000 >> 16) + 0x100
        chain(dac.write_offset, 8, 1.0)
        assert chain(dac.read_reg, 8, AD53XX_READ_OFFSET) == dac.voltage_to_mu(1.0)
        # A channel whose zero is 10 mV off, and whose span is 20 mV too large
        chain(dac.calibrate, 9, -9.99, 10.03)
        assert chain(dac.read_reg, 9, AD53XX_READ_OFFSET) == 0x8000 - round(0.01 / STEP)
        gain = chain(dac.read_reg, 9, AD53XX_READ_GAIN)
        assert 0xFFFF - gain == pytest.approx(20e-3 / STEP, abs=2)
        assert chain(dac.read_reg, 0, AD53XX_READ_CONTROL) == 2

        # Both offset DACs: the same codes are 2.5 V lower
        chain(dac.write_offset_dacs_mu, 0x2000 + 0x800)
        chain(dac.write_dac_mu, 0, 0x8000)
        chain(dac.load)
        assert channel(0)["volts"] == pytest.approx(-2.5, abs=STEP)
        assert chain(dac.voltage_to_mu, -2.5) == 0x8000
        if kind is Zotino:
            chain(dac.set_leds, 0x5A)
            assert chain.bench.part("dac")["leds"] == 0x5A
        assert chain.uncalled(kind) == set() and chain.bench.warnings == []


def test_fastino_methods_set_codes_and_voltages(lab):
    with Chain(lab) as chain:
        fastino = chain.get("fastino0")
        part = lambda: chain.bench.part("fastino0")  # noqa: E731
        codes = lambda *numbers: [part()[f"ch{n}"]["code"] for n in numbers]  # noqa: E731
        chain(fastino.init)
        assert chain.advance_mu == 7 * 392
        chain(fastino.write, 35, 0xC3)
        assert chain.advance_mu == 0 and part()["leds"] == 0xC3
        chain(fastino.set_leds, 0x3C)
        assert part()["leds"] == 0x3C
        assert chain(fastino.voltage_to_mu, -2.5) == fastino.voltage_to_mu(-2.5) == 0x6000
        here, there = [0, 0], [0, 0]
        fastino.voltage_group_to_mu([0.0, 2.5, -2.5], here)
        chain(fastino.voltage_group_to_mu, [0.0, 2.5, -2.5], there)
        assert [[int(word) & 0xFFFFFFFF for word in data] for data in (here, there)] == 2 * [[0xA000_8000, 0x6000]]
        # The gateware's channel takes four DACs at once
        chain(fastino.set_group_mu, 4, [0x1111 | 0x2222 << 16, 0x3333 | 0x4444 << 16])
        assert codes(4, 5, 6, 7) == [0x1111, 0x2222, 0x3333, 0x4444]
        chain(fastino.set_group, 8, [1.0, 2.0, 3.0, 4.0])
        assert codes(8, 9, 10, 11) == [fastino.voltage_to_mu(volts) for volts in (1.0, 2.0, 3.0, 4.0)]
        for method, value in [(fastino.set_dac_mu, 0x1234), (fastino.set_dac, 5.0)]:
            with pytest.raises(ValueError, match="DACs of this Fastino are grouped"):
                chain(method, 4, value)
        volts = [[0.0] * length for length in (0, 2, 3, 5, 8)]
        groups = [(fastino.set_group, group) for group in volts] + [(fastino.set_group_mu, [0] * n) for n in (1, 3)]
        refused = r"a group of this Fastino has 2 \*\* log2_width DACs: give a value for each of them"
        for method, values in groups:
            with pytest.raises(ValueError, match=refused):
                chain(method, 4, values)
        assert codes(4, 5, 6, 7) == [0x1111, 0x2222, 0x3333, 0x4444]
        chain(fastino.set_hold, 1 << 9)
        chain(fastino.set_group, 8, [-1.0, -2.0, 3.0, 4.0])
        assert codes(8, 9) == [fastino.voltage_to_mu(volts) for volts in (-1.0, 2.0)]
        chain(fastino.update, 1 << 9)
        assert codes(9) == [fastino.voltage_to_mu(-2.0)]
        chain(fastino.set_hold, 0)
        chain(fastino.set_continuous, 1 << 16)
        chain(fastino.set_continuous, 0)
        chain(fastino.stage_cic_mu, 3, 2, 1)
        chain(fastino.apply_cic, 1 << 20)
        assert [part()[f"ch{n}"]["interpolator"] for n in (20, 21)] == [3 | 2 << 6 | 1 << 10, 0]
        assert chain(fastino.stage_cic, 1000) == 992
        chain(fastino.apply_cic, 1 << 21)
        assert [part()[f"ch{n}"]["interpolator"] for n in (20, 21)] == [3 | 2 << 6 | 1 << 10, 0x793D]
        chain(fastino.set_cfg, afe_power_down=1)
        assert part()["ch9"]["volts"] == 0.0 and part()["configuration"] == 2
        chain(fastino.set_cfg)
        assert part()["ch9"]["volts"] == pytest.approx(-2.0, abs=STEP)
        with pytest.raises(NotImplementedError):
            chain(fastino.read, 0)
        assert chain.uncalled(Fastino) == set() and chain.bench.warnings == []


def test_single_dac_methods_of_fastino_set_one_output(lab, tmp_path):
    """With gateware that takes one DAC per event; that of the laboratory would set the first one of
    a group."""
    entries = DeviceDB.load(lab).entries
    entries["fastino0"]["arguments"]["log2_width"] = 0
    with Chain(written(entries, tmp_path)) as chain:
        fastino = chain.get("fastino0")
        code = lambda n: chain.bench.part("fastino0")[f"ch{n}"]["code"]  # noqa: E731
        chain(fastino.init)
        chain(fastino.set_dac_mu, 12, 0x1234)
        assert code(12) == 0x1234
        chain(fastino.set_dac, 16, 5.0)
        assert code(16) == fastino.voltage_to_mu(5.0)
        for method, value in [(fastino.set_dac_mu, 0x1234), (fastino.set_group_mu, [0x1234])]:
            for dac in (-1, 32, 256):
                with pytest.raises(ValueError, match="the DACs of a Fastino are 0 to 31"):
                    chain(method, dac, value)


def test_sampler_methods_set_gains_and_return_samples(lab, tmp_path):
    wires = tmp_path / "wires.toml"
    volts = [0.01, -0.5, 3.0, -9.0, 0.0, 0.05, 10.0, 0.001]
    wires.write_text("[sampler.sampler0]\n" + "".join(f"ch{n} = {value}\n" for n, value in enumerate(volts)))
    with Chain(lab, wires) as chain:
        sampler = chain.get("sampler0")
        chain(sampler.init)
        gains = [3, 1, 0, 0, 0, 2, 0, 3]
        for n, gain in enumerate(gains):
            chain(sampler.set_gain_mu, n, gain)
        assert chain(sampler.get_gains_mu) == sum(gain << 2 * n for n, gain in enumerate(gains))
        assert [chain.bench.part("sampler0")[f"ch{n}"]["gain"] for n in range(8)] == [10**gain for gain in gains]
        codes, found = [0] * 8, [0.0] * 8
        chain(sampler.sample_mu, codes, pins=True)
        assert chain.pulses("ttl_sampler0_cnv") == [30]
        assert chain.advance_mu == 30 + 450 + 4 * ((32 + 1) * 8 + 1) * 8
        assert codes == [round(value * 10**gain / 20.48 * 65536) for value, gain in zip(volts, gains, strict=True)]
        chain(sampler.sample, found)
        assert found == [adc_mu_to_volt(code, gain) for code, gain in zip(codes, gains, strict=True)]
        # For two channels: the last two, which are transferred first
        last = [0.0] * 2
        chain(sampler.sample, last)
        assert last == found[6:]
        assert chain.uncalled(Sampler) == set() and chain.bench.warnings == []


def test_novogorny_methods_return_samples_and_bursts(lab, tmp_path):
    entries = DeviceDB.load(lab).entries
    entries["adc"] = entry("novogorny", "Novogorny", spi_device="dio_spi0", cnv_device="ttl16")
    wires = tmp_path / "wires.toml"
    volts = [0.01, -0.5, 3.0, -9.0, 0.0, 0.05, 10.0]
    file = "[novogorny.dio_spi0]\n" + "".join(f"ch{n} = {value}\n" for n, value in enumerate(volts))
    wires.write_text(file + 'ch7 = "fastino0.ch8"\n')
    with Chain(written(entries, tmp_path), wires) as chain:
        adc, fastino = chain.get("adc"), chain.get("fastino0")
        part = lambda: chain.bench.part("adc")  # noqa: E731
        chain(fastino.init)
        chain(fastino.set_group, 8, [-2.5, 0.0, 0.0, 0.0])
        gains = [3, 1, 0, 0, 0, 2, 0, 0]
        for n, gain in enumerate(gains):
            chain(adc.set_gain_mu, n, gain)
        assert [part()[f"ch{n}"]["gain"] for n in range(8)] == [10**gain for gain in gains]

        # A table of channels and ranges, which successive conversions step through
        table = [(7, 7), (0, 7), (2, 5), (1, 3)]
        chain(adc.configure, [adc_ctrl(channel, span) for channel, span in table])
        assert part()["table"] == [{"channel": channel, "range": span} for channel, span in table]
        given = part()["ch7"]["volts"]
        assert given == pytest.approx(-2.5, abs=STEP)
        for place, (channel, span) in enumerate([*table, table[0]]):
            if place == 0:
                found = chain(adc.sample_mu, pins=True)
                assert chain.pulses("ttl16") == [40]
                assert chain.advance_mu == 8 + 40 + 560 + ((24 + 1) * 8 + 1) * 8
            else:
                found = chain(adc.sample_mu)
            assert (adc_channel(found), adc_softspan(found)) == (channel, span)
            at_input = [*volts, given][channel]
            full = {7: 25.0, 5: 12.5, 3: 12.5}[span]
            code = round(at_input * 10 ** gains[channel] / full * 65536)
            assert adc_data(found) == code & 0xFFFF == part()[f"ch{channel}"]["code"]
            assert adc_value(found) == pytest.approx(at_input * 10 ** gains[channel], abs=full / 65536)
        # A conversion may select the next one; volts are those at the ADC, behind the amplifier
        chain(adc.sample_mu, adc_ctrl(3, 7))
        assert chain(adc.sample) == pytest.approx(-9.0, abs=25 / 65536)
        assert chain(adc.sample, adc_ctrl(5, 6)) == pytest.approx(-9.0, abs=25 / 65536)
        assert chain(adc.sample) == pytest.approx(5.0, abs=25 / 65536)

        chain(adc.configure, [adc_ctrl(channel, 7) for channel in range(8)])
        data = [0] * 60
        chain(adc.burst_mu, data, int64(4000))
        assert chain.advance_mu == 8 + 60 * 4000
        assert [adc_channel(word) for word in data] == [n % 8 for n in range(60)]
        on_input = [adc_value(word) / 10 ** gains[adc_channel(word)] for word in data[:8]]
        assert on_input == [pytest.approx(value, abs=25 / 65536) for value in [*volts, given]]
        with pytest.raises(ValueError, match="a burst has at most 60 samples"):
            chain(adc.burst_mu, [0] * 61, int64(4000))
        assert chain.uncalled(Novogorny) == set() and chain.bench.warnings == []
