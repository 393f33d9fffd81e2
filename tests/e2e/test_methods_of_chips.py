"""Each method of the drivers of single chips on a bus, through the whole chain: a DDS AD9834, an
attenuator HMC542B, a modulator TRF372017, a DAC DAC34H84."""

import pytest

from kairos.coredevice.ad9834 import AD9834
from kairos.coredevice.dac34h84 import DAC34H84
from kairos.coredevice.hmc542b import HMC542B
from kairos.coredevice.trf372017 import TRF372017
from kairos.devices import DeviceDB
from tests.support.chain import Chain
from tests.support.databases import entry, written

WORD_MU = ((16 + 1) * 13 + 1) * 8
STEP = 75e6 / 2**28
"""Hz"""
SOURCE = """
[source.rf]
hz = 110e6
dbm = 10.0

[hmc542b.dio_spi0]
tone = "rf"
"""


@pytest.fixture
def make(lab, tmp_path):
    """The laboratory with a driver of this name at the bare SPI port: its chain; `bench`: text of a
    bench file."""

    def make(module, cls, bench=None, **arguments):
        entries = DeviceDB.load(lab).entries
        entries["chip"] = entry(module, cls, spi_device="dio_spi0", **arguments)
        wires = tmp_path / "wires.toml"
        wires.write_text(bench or "")
        return Chain(written(entries, tmp_path), None if bench is None else wires)

    return make


def test_ad9834_methods_change_the_chip_as_documented(make):
    with make("ad9834", "AD9834") as chain:
        dds = chain.get("chip")
        part = lambda: chain.bench.part("chip")  # noqa: E731
        tone = lambda: chain.bench.dds("chip").at(1.0)  # noqa: E731
        chain(dds.init)
        assert chain.advance_mu == 8 + WORD_MU
        assert part()["reset"] and part()["words"] == 1 and chain.bench.dds("chip").changes == []

        chain(dds.set_frequency_reg, 0, dds.frequency_to_ftw(10e6))
        chain(dds.set_frequency_reg, 1, dds.frequency_to_ftw(20e6))
        assert part()["frequencies_hz"] == [pytest.approx(hz, abs=STEP) for hz in (10e6, 20e6)]
        chain(dds.set_phase_reg, 0, 0x400)
        chain(dds.write, 0xE800)
        assert part()["phases_turns"] == [0.25, 0.5], "the second by a plain word"
        chain(dds.select_frequency_reg, 1)
        chain(dds.select_phase_reg, 1)
        assert (part()["frequency_register"], part()["phase_register"]) == (1, 1)
        assert chain.bench.dds("chip").changes == [], "it is held in reset"
        chain(dds.output_enable)
        assert tone().frequency == pytest.approx(20e6, abs=STEP) and tone().power == 0.0
        chain(dds.select_frequency_reg, 0)
        chain(dds.select_phase_reg, 0)
        assert tone().frequency == pytest.approx(10e6, abs=STEP) and part()["phase_turns"] == 0.25
        chain(dds.enable_reset)
        assert part()["reset"] and tone().power is None

        # Halves of a frequency word
        chain(dds.set_frequency_reg_msb, 1, 0x1ABC)
        chain(dds.set_frequency_reg_lsb, 1, 0x0DEF)
        assert part()["frequencies_hz"][1] == pytest.approx((0x1ABC << 14 | 0x0DEF) * STEP, abs=1e-6)

        ftw, turns = chain(dds.frequency_to_ftw, 12.5e6), chain(dds.turns_to_pow, 1.25)
        assert (ftw, turns) == (dds.frequency_to_ftw(12.5e6), 0x400) == (int(12.5e6 / STEP), dds.turns_to_pow(1.25))
        with pytest.raises(ValueError, match="at most half of its clock's"):
            chain(dds.frequency_to_ftw, 40e6)
        chain(dds.set_mu, ftw, 0x800, 1, 1)
        assert tone().frequency == pytest.approx(12.5e6, abs=STEP) and part()["phase_turns"] == 0.5
        chain(dds.set, 5e6, 0.75, 0, 0)
        assert tone().frequency == pytest.approx(5e6, abs=STEP) and part()["phase_turns"] == 0.75

        for method, arguments, off in [
            (dds.sleep, (True, False), ("dac_off",)),
            (dds.sleep, (False, True), ("clock_stopped",)),
        ]:
            chain(method, *arguments)
            assert tone().power is None
            assert [name for name in ("dac_off", "clock_stopped") if part()[name]] == list(off)
            chain(dds.awake)
            assert tone().frequency == pytest.approx(5e6, abs=STEP)
        chain(dds.enable_triangular_waveform)
        assert part()["waveform"] == "triangle" and tone().power == pytest.approx(-1.824, abs=1e-3)
        chain(dds.disable_triangular_waveform)
        assert part()["waveform"] == "sine" and tone().power == 0.0
        for named, shown in [
            ("msb", "msb"),
            ("high_z", "off"),
            ("msb_2", "msb/2"),
            ("comp_out", "comparator"),
            ("", "off"),
        ]:
            chain(dds.config_sign_bit_out, **({named: True} if named else {}))
            assert part()["sign_bit_out"] == shown
        assert chain.uncalled(AD9834) == set() and chain.bench.warnings == []


def test_ad9834_sign_bit_output_and_triangle_exclude_each_other(make):
    """The combination is reserved (data sheet, "SIGN BIT OUT"): the last setting takes precedence."""
    with make("ad9834", "AD9834", clk_freq=50e6) as chain:
        dds = chain.get("chip")
        part = lambda: chain.bench.part("chip")  # noqa: E731
        chain(dds.init)
        assert part()["clock_hz"] == 50e6
        chain(dds.enable_triangular_waveform)
        chain(dds.config_sign_bit_out)
        assert (part()["waveform"], part()["sign_bit_out"]) == ("triangle", "off")
        chain(dds.config_sign_bit_out, msb=True)
        assert (part()["waveform"], part()["sign_bit_out"]) == ("sine", "msb")
        chain(dds.enable_triangular_waveform)
        assert (part()["waveform"], part()["sign_bit_out"]) == ("triangle", "off")
        assert chain.bench.warnings == []


def test_ad9834_tone_starts_8_clock_cycles_after_its_word(make):
    with make("ad9834", "AD9834") as chain:
        dds = chain.get("chip")
        chain(dds.init)
        chain(dds.set_mu, 1 << 24, 0, 0, 0, pins=True)
        (tone,) = chain.bench.dds("chip").changes
        # The last bit is sampled at the clock's last falling edge; the word reaches the chip 8 ns
        # later.
        falls = [time for time, level in chain.pin("dio_spi0_clk").changes if level == 0]
        assert tone.time == pytest.approx(falls[-1] + 8e-9 + 107e-9, abs=1e-12)
        assert tone.frequency == 75e6 / 16


def test_hmc542b_methods_set_the_attenuation(make):
    with make("hmc542b", "HMC542B", SOURCE) as chain:
        attenuator = chain.get("chip")
        part = lambda: chain.bench.part("chip")  # noqa: E731
        assert part()["attenuation_db"] == 31.5, "after power-up"
        for att in (0.0, 0.5, 7.0, 16.0, 31.5):
            code = chain(attenuator.att_to_mu, att)
            assert code == attenuator.att_to_mu(att) == 255 - 8 * att
            assert chain(attenuator.mu_to_att, code) == attenuator.mu_to_att(code) == att
            chain(attenuator.set_att, att)
            expected = {"chip": "HMC542B", "attenuation_db": att, "code": code, "registers": {"SETTING": code}}
            assert part() | {"settings": 0} == expected | {"settings": 0}
            tone = chain.bench.dds("chip").changes[-1]
            assert (tone.frequency, tone.power) == (110e6, 10.0 - att)
        chain(attenuator.set_att_mu, 0x7F, pins=True)
        assert chain.advance_mu == 8 + ((8 + 1) * 5 + 1) * 8 and part()["attenuation_db"] == 16.0
        for att in (-0.5, 32.0):
            with pytest.raises(ValueError, match="Invalid HMC542B attenuation!"):
                chain(attenuator.set_att, att)
        assert chain.uncalled(HMC542B) == set() and chain.bench.warnings == []


@pytest.mark.parametrize("external", [False, True])
def test_trf372017_methods_tune_the_chip(make, external):
    with make("trf372017", "TRF372017", refclk=100e6, use_external_lo=external) as chain:
        modulator = chain.get("chip")
        part = lambda: chain.bench.part("chip")  # noqa: E731
        assert not part()["locked"], "after power-up"
        chain(modulator.init)
        if external:
            assert not part()["registers"]["REGISTER4"] >> 12 & 3, "the output of the local oscillator is on"
            return
        assert part()["locked"] and part()["local_oscillator_hz"] == pytest.approx(2.875e9, abs=10)
        chain(modulator.set_mixer_frequency, 612.5e6)
        assert part()["local_oscillator_hz"] == pytest.approx(612.5e6, abs=10)
        assert part()["oscillator_hz"] == pytest.approx(4 * 612.5e6, abs=40) and part()["output_hz"] == 0.0
        chain(modulator.enable_lo_output, True)
        assert chain.bench.dds("chip").at(1.0).frequency == part()["output_hz"] == pytest.approx(2.45e9, abs=40)
        chain(modulator.enable_mixer_rf_output, False)
        assert part()["local_oscillator_hz"] == 0.0
        chain(modulator.enable_mixer_rf_output, True)
        word = chain(modulator.read, 4)
        assert word == modulator.mmap[3]
        chain(modulator.write, word)
        chain(modulator.calibrate_vco)
        assert part()["locked"] and int(chain(modulator.calculate_cal_clk_sel, 100e6, 1)) == 15
        assert chain(modulator.calculate_pll, 100e6, 2.875e9) == modulator.calculate_pll(100e6, 2.875e9)
        assert chain.uncalled(TRF372017) == set() and chain.bench.warnings == []


@pytest.mark.parametrize("rate", [500e6, 250e6])
def test_dac34h84_methods_configure_the_chip(make, rate):
    with make("dac34h84", "DAC34H84", input_sample_rate=rate) as chain:
        dac = chain.get("chip")
        part = lambda: chain.bench.part("chip")  # noqa: E731
        chain(dac.init)
        assert part()["locked"] and chain(dac.read_temperature) == 35
        if rate == 250e6:
            return
        assert chain(dac.tune_fifo_offset) == 4
        chain(dac.enable_mixer, True)
        chain(dac.stage_nco_mixer_frequency, 0, 100e6)
        chain(dac.stage_nco_mixer_frequency_mu, 1, -(1 << 30))
        assert part()["mixer_hz"] == [0.0, 0.0], "before they are synchronised"
        chain(dac.sync)
        assert part()["mixer_hz"] == [pytest.approx(100e6, abs=1), -250e6]
        chain(dac.stage_nco_mixer_phase_offset, 0, 0.25)
        chain(dac.stage_nco_mixer_phase_offset_mu, 1, 0x8000)
        assert [part()["registers"][f"CONFIG{n}"] for n in (18, 19)] == [0x4000, 0x8000]
        chain(dac.write, 0x14, 0x1234)
        assert chain(dac.read, 0x14) == 0x1234
        assert chain(dac.frequency_to_ftw, 1e6) == dac.frequency_to_ftw(1e6)
        assert chain(dac.turns_to_pow, -0.25) == dac.turns_to_pow(-0.25) == 0xC000
        with pytest.raises(ValueError, match="Invalid channel number"):
            chain(dac.stage_nco_mixer_phase_offset_mu, 2, 0)
        assert chain.uncalled(DAC34H84) == set() and chain.bench.warnings == []
