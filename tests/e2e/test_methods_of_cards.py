"""Each method of the drivers of AD9914, Phaser, Shuttler, grabber and I2C devices, through the
whole chain."""

import pytest
from numpy import int64

from kairos.coredevice.ad9914 import AD9914
from kairos.coredevice.chips.shuttler import LEVEL_BITS, OUTPUT_SPAN, TONE_GAIN
from kairos.coredevice.exceptions import I2CError
from kairos.coredevice.grabber import Grabber, GrabberTimeoutException
from kairos.coredevice.i2c import I2CSwitch
from kairos.coredevice.kasli_i2c import KasliEEPROM
from kairos.coredevice.phaser import Phaser, PhaserChannel, PhaserOscillator
from kairos.coredevice.shuttler import ADC, DDS, Config, DCBias, Relay, Trigger, shuttler_volt_to_mu
from kairos.devices import DeviceDB
from tests.support.chain import Chain
from tests.support.databases import entry, written
from tests.support.gateware import database

SYSCLK = 3e9


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    """The gateware `cards` with drivers for the devices on its buses: a file."""
    folder = tmp_path_factory.mktemp("cards")
    entries = DeviceDB.load(database("cards", folder)).entries
    entries["dds"] = entry("ad9914", "AD9914", sysclk=SYSCLK, bus_channel=2, channel=1)
    entries["relay"] = entry("shuttler", "Relay", spi_device="spi_shuttler0_relay")
    entries["adc"] = entry("shuttler", "ADC", spi_device="spi_shuttler0_adc")
    return written(entries, folder)


def test_ad9914_methods_change_the_chip_as_documented(db, tmp_path):
    bench = tmp_path / "bench.toml"
    bench.write_text("[ddsbus.ddsbus0]\nclock_hz = 3e9\nsync_in = true\n")
    with Chain(db, bench) as chain:
        dds = chain.get("dds")
        chip = lambda: chain.bench.part("dds")["ch1"]  # noqa: E731
        chain(dds.reset_all, pins=True)
        assert chain.advance_mu == 3 * 40 and chain.pulses("ddsbus0_rst") == [80]
        chain(dds.init_sync, 3)
        assert chip()["calibrated"]
        chain(dds.reset_all)
        assert not chip()["calibrated"]
        chain(dds.init)
        assert chip()["calibrated"]
        ftw = 0x1234_5678
        chain(dds.set_phase_mode, 1)
        assert chain(dds.set_mu, ftw, 0x2000, asf=0x800, slack_mu=10_000, pins=True) == 0x2000
        assert chain.advance_mu == 0 and chain.pulses("ddsbus0_fud") == [16]
        assert (chip()["ftw"], chip()["phase_turns"], chip()["amplitude"]) == (ftw, 0.125, 0x800 / 0xFFF)
        chain(dds.set_phase_mode, 0)
        assert chain(dds.set, 400e6, 0.25, amplitude=0.5, slack_mu=10_000) == 0.25
        assert chip()["frequency_hz"] == pytest.approx(400e6, abs=0.4)
        word = dds.frequency_to_xftw(123456789.015625)
        chain(dds.set_x_mu, word, 0xABC, slack_mu=10_000)
        assert chip()["frequency_hz"] == pytest.approx(123456789.015625, abs=1e-6)
        assert chip()["amplitude"] == 0xABC / 0xFFF
        chain(dds.set_x, 700e6, 1.0, slack_mu=10_000)
        assert chip()["frequency_hz"] == pytest.approx(700e6, abs=1e-6) and chip()["amplitude"] == 1.0
        chain(dds.exit_x, slack_mu=10_000)
        assert chip()["frequency_hz"] == pytest.approx(400e6, abs=0.4)
        for method, value in [
            (dds.frequency_to_ftw, 1e9),
            (dds.ftw_to_frequency, 0x4000_0000),
            (dds.frequency_to_xftw, 1e9),
            (dds.xftw_to_frequency, int64(1 << 60)),
            (dds.turns_to_pow, 0.75),
            (dds.pow_to_turns, 0x4000),
            (dds.amplitude_to_asf, 0.25),
            (dds.asf_to_amplitude, 0x400),
        ]:
            assert chain(method, value) == pytest.approx(method(value), rel=1e-15)
        assert chain.uncalled(AD9914) == set() and chain.bench.warnings == []


def test_phaser_methods_change_the_card_as_documented(db):
    with Chain(db) as chain:
        phaser = chain.get("phaser0")
        part = lambda: chain.bench.part("phaser0")  # noqa: E731
        chain(phaser.init)
        chain(phaser.check_board)
        chain(phaser.measure_frame_timestamp)
        frame = phaser.frame_tstamp
        assert (chain(phaser.get_next_frame_mu) - frame) % phaser.t_frame == 0
        chain(phaser.write8, 6, 0x15)
        assert chain.advance_mu == 320
        assert part()["leds"] == 0x15 == chain(phaser.read8, 6)
        chain(phaser.set_leds, 0x2A)
        assert part()["leds"] == 0x2A
        chain(phaser.set_fan_mu, 51)
        assert part()["fan"] == 0.2
        chain(phaser.set_fan, 0.6)
        assert part()["fan"] == 0.6
        chain(phaser.set_cfg, clk_sel=1, trf0_ps=1)
        assert part()["configuration"] == 0b11011011
        assert chain(phaser.get_sta) == 0x24, "the first upconverter saves power"
        chain(phaser.set_cfg)
        chain(phaser.set_sync_dly, 6)
        assert part()["sync_delay"] == 6
        assert (chain(phaser.get_sta), chain(phaser.get_crc_err)) == (0x26, 0)
        # A test sample of channel 0, in two registers and in four
        chain(phaser.write32, 0x1C, 0x12345678)
        assert chain.advance_mu == 4 * 320 and chain(phaser.read32, 0x1C) == 0x12345678
        chain(phaser.write16, 0x1E, 0x9ABC)
        assert chain.advance_mu == 2 * 320 and chain(phaser.read16, 0x1C) == 0x1234
        assert chain(phaser.read16, 0x1E) == 0x9ABC

        channel, oscillator = phaser.channel[1], phaser.channel[1].oscillator[3]
        mixer = lambda: part()["channel1"]  # noqa: E731
        chain(channel.set_duc_frequency_mu, 1 << 28)
        chain(channel.set_duc_phase_mu, 0x4000)
        chain(channel.set_duc_cfg, clr_once=1)
        assert mixer()["upconverter_hz"] == 0.0, "it waits for the strobe"
        chain(phaser.duc_stb)
        assert (mixer()["upconverter_hz"], mixer()["upconverter_turns"]) == (125e6 / 4, 0.25)
        chain(channel.set_duc_frequency, -10e6)
        chain(channel.set_duc_phase, 0.5)
        chain(phaser.duc_stb)
        assert (mixer()["upconverter_hz"], mixer()["upconverter_turns"]) == (pytest.approx(-10e6, abs=0.1), 0.5)
        tone = lambda: mixer()["oscillators"][3]  # noqa: E731
        chain(oscillator.set_frequency_mu, 1 << 27)
        chain(oscillator.set_amplitude_phase_mu, 0x4000, 0x2000)
        assert (tone()["frequency_hz"], tone()["phase_turns"]) == (6.25e6 / 8 * 2**27 / 2**27, 0.125)
        assert tone()["amplitude"] == 0x4000 / 0x7FFF
        chain(oscillator.set_frequency, -1e6)
        chain(oscillator.set_amplitude_phase, 0.25, 0.75)
        assert tone()["frequency_hz"] == pytest.approx(-1e6, abs=0.01)
        assert (tone()["amplitude"], tone()["phase_turns"]) == (pytest.approx(0.25, abs=1e-4), 0.75)
        chain(channel.set_dac_test, 0x00110022)
        chain(channel.set_duc_cfg, select=1)
        chain(phaser.duc_stb)
        assert mixer()["source"] == 1 and chain(channel.get_dac_data) == 0x00110022
        assert chain.bench.warnings == []
        chips_of_phaser(chain, phaser, part)
        # Servos: test_methods_of_miqro.py
        elsewhere = {"set_servo", "set_iir_mu", "set_iir", "begin", "begin_samples"}
        for cls in (Phaser, PhaserChannel, PhaserOscillator):
            assert chain.uncalled(cls) <= elsewhere


def chips_of_phaser(chain, phaser, part):
    """Call the methods for the chips on the SPI bus of an initialised card."""
    channel, mixer = phaser.channel[1], lambda: part()["channel1"]
    assert (chain(phaser.get_dac_temperature), chain(phaser.get_dac_alarms)) == (35, 0)
    chain(phaser.dac_write, 0x14, 0x4321)
    assert chain(phaser.dac_read, 0x14) == 0x4321
    assert chain(phaser.dac_tune_fifo_offset) == 4
    assert chain(phaser.dac_iotest, [0x1234, 0x5678, 0x9ABC, 0xDEF0]) == 0
    chain(phaser.clear_dac_alarms)
    chain(phaser.dac_write, 2, 0x70D2)
    chain(channel.set_nco_frequency_mu, 1 << 28)
    chain(phaser.dac_sync)
    assert mixer()["mixer_hz"] == 1e9 / 16
    chain(channel.set_nco_frequency, -100e6)
    chain(channel.set_nco_phase_mu, 0x4000)
    assert mixer()["mixer_hz"] == pytest.approx(-100e6, abs=0.3), "writing the phase applies both"
    chain(channel.set_nco_phase, 0.75)
    assert part()["dac"]["registers"]["CONFIG19"] == 0xC000
    chain(phaser.set_dac_cmix, -2)
    assert mixer()["mixer_hz"] == pytest.approx(-350e6, abs=0.3)
    chain(channel.set_att_mu, 0x7F)
    assert chain(channel.get_att_mu) == 0x7F and mixer()["attenuation_db"] == 16.0
    chain(channel.set_att, 3.0)
    assert mixer()["attenuation_db"] == 3.0
    assert chain(channel.trf_read, 0) & 0x7F == 0x68
    chain(channel.trf_write, 0x9190100E)
    assert mixer()["local_oscillator_hz"] == 2.875e9 / 2
    chain(channel.trf_write, 0x082002CA)
    assert not mixer()["locked"], "22 times 125 MHz, not calibrated"
    chain(channel.cal_trf_vco)
    assert mixer()["locked"]
    chain(channel.en_trf_out, rf=0, lo=1)
    assert mixer()["local_oscillator_hz"] == 0.0 and chain(channel.trf_read, 4) >> 12 & 7 == 4
    chain(phaser.spi_cfg, 8, 34, 1)
    chain(phaser.spi_write, 0xA5)
    chain(phaser.spi_transfer, 0xC3)
    assert chain(phaser.spi_read) == 0xA5, "what the attenuator had"
    assert chain.bench.warnings == []


def test_shuttler_relay_and_adc_methods_act_as_documented(db, tmp_path):
    bench = tmp_path / "bench.toml"
    bench.write_text("[shuttler.shuttler0]\nadc_volts = [5.0]\n")
    with Chain(db, bench) as chain:
        relay, adc = chain.get("relay"), chain.get("adc")
        part = lambda: chain.bench.part("shuttler0")  # noqa: E731
        chain(relay.init)
        chain(relay.enable, 0xA5C3)
        assert part()["relays"] == 0xA5C3
        chain(adc.reset)
        assert chain(adc.read_id) & 0xFFF0 == 0x38D0 == chain(adc.read16, 0x07) & 0xFFF0
        chain(adc.write16, 0x28, 0x0500)
        assert chain(adc.read16, 0x28) == 0x0500
        chain(adc.write24, 0x30, 0x800000)
        assert chain(adc.read24, 0x30) == 0x800000
        chain(adc.write16, 0x20, 0x1020)  # the internal reference
        chain(adc.write16, 0x10, 0x8010)  # VIN0 against VINCOM
        chain(adc.single_conversion)
        chain(chain.core.break_realtime, slack_mu=1_000_000)
        assert not chain(adc.read8, 0x00) & 0x80
        assert (chain(adc.read_data) / 2**23 - 1) * 25 == pytest.approx(5.0, abs=1e-5)
        chain(adc.standby)
        assert part()["adc"]["mode"] == "standby"
        chain(adc.power_down)
        assert part()["adc"]["mode"] == "power-down"
        chain(adc.power_up)
        assert part()["adc"]["mode"] != "power-down"
        assert chain(adc.read_ch, 0) == pytest.approx(5.0, abs=1e-5)
        # Nothing on the bench connects the outputs to the ADC
        levels = [chain.get(f"shuttler0_dcbias{n}") for n in range(1)]
        start, config = chain.get("shuttler0_trigger"), chain.get("shuttler0")
        with pytest.raises(ValueError, match="does not follow its level"):
            chain(adc.calibrate, levels, start, config)
        assert chain.bench.warnings == []
        chain(adc.write8, 0x00, 1)
        assert "cannot be written" in chain.bench.warnings[0]
        for cls in (Relay, ADC):
            assert chain.uncalled(cls) == set()


def test_shuttler_waveform_methods_act_as_documented(db):
    step = OUTPUT_SPAN / 2**LEVEL_BITS
    with Chain(db) as chain:
        config, start = chain.get("shuttler0"), chain.get("shuttler0_trigger")
        bias, tone = chain.get("shuttler0_dcbias7"), chain.get("shuttler0_dds7")
        part = lambda: chain.bench.part("shuttler0")["ch7"]  # noqa: E731
        chain(chain.get("relay").enable, 0x80)
        chain(bias.set_waveform, shuttler_volt_to_mu(-2.5), 0, int64(0), int64(0))
        assert chain.advance_mu == 9 * 8
        chain(tone.set_waveform, 1000, 0, int64(0), int64(0), 0x4000, 1 << 20, 0)
        assert chain.advance_mu == 14 * 8 and part()["triggers"] == 0
        chain(config.set_clr, 0x80)
        chain(start.trigger, 0x80)
        assert (part()["level_v"], part()["tone_turns"]) == (-2.5, 0.25)
        assert part()["tone_v"] == pytest.approx(1000 * step * TONE_GAIN)
        chain(config.set_gain, 7, -3)
        chain(config.set_offset, 7, 5)
        assert (chain(config.get_gain, 7), chain(config.get_offset, 7)) == (-3, 5)
        for method, value in [(config.set_gain, [1]), (config.get_offset, [])]:
            for output in (-1, 16):
                with pytest.raises(ValueError, match="the outputs of a Shuttler are 0 to 15"):
                    chain(method, output, *value)
        assert part()["offset_v"] == 5 * step
        chain(bias.write_coefficients, [int64(1)], [1])
        chain(tone.write_coefficients, [int64(1)], [1])
        for cls in (Config, DCBias, DDS, Trigger):
            assert chain.uncalled(cls) == set()
        assert chain.bench.warnings == []


def test_grabber_methods_return_sums_or_time_out(lab, tmp_path):
    bench = tmp_path / "bench.toml"
    # A camera that sees only its dark counts, three thousand per second
    bench.write_text(
        "[ion.ion0]\n[camera.andor]\ngrabber = 'grabber0'\nsees = [{ ion = 'ion0', x = 4, y = 4 }]\nwidth = 8\n"
        "height = 8\ndark = 100.0\nexposure_s = 1e-4\nhz = 3000\n"
    )
    with Chain(lab, bench) as chain:
        grabber = chain.get("grabber0")
        chain(grabber.setup_roi, 0, 0, 0, 8, 8)
        assert chain.advance_mu == 4 * 8
        chain(grabber.setup_roi, 1, 2, 2, 4, 4)
        for n in (-1, 64):
            with pytest.raises(ValueError, match="the regions of a grabber are 0 to 63"):
                chain(grabber.setup_roi, n, 0, 0, 8, 8)
        chain(grabber.gate_roi_pulse, 0b11, 400e-6)
        assert chain.advance_mu == 400_000
        data = [0, 0]
        chain(grabber.input_mu, data)
        assert data == [pytest.approx(6400, abs=7 * 80), pytest.approx(400, abs=7 * 20)]
        # A second frame may have ended within the gate, but no third one
        with pytest.raises(GrabberTimeoutException):
            for _ in range(2):
                chain(grabber.input_mu, data, int64(0))
        chain(grabber.gate_roi, 0b10)
        single = [0]
        chain(grabber.input_mu, single)
        assert single == [pytest.approx(400, abs=7 * 20)]
        chain(grabber.gate_roi, 0)
        assert chain.uncalled(Grabber) == set()


def test_i2c_methods_access_switch_and_eeprom(lab):
    with Chain(lab) as chain:
        switch, eeprom = chain.get("i2c_switch0"), chain.get("eeprom_urukul0")
        chain(eeprom.write_i32, 16, -0x12345678)
        assert chain(eeprom.read_i32, 16) == -0x12345678
        chain(eeprom.select)
        chain(eeprom.write_word, 20, 0x1234, 2)
        assert chain(eeprom.read_word, 20, 2) == 0x1234
        for branch in range(8):
            chain(switch.set, branch)
            # Some of the other cards have an EEPROM, too
            try:
                word = chain(eeprom.read_word, 20, 2)
            except I2CError:
                word = None
            assert (word == 0x1234) == (branch == eeprom.branch)
        for method in (switch.unset, eeprom.deselect):
            chain(eeprom.select)
            chain(method)
            with pytest.raises(I2CError, match="failed to ack bus address"):
                chain(eeprom.read_word, 20, 2)
        assert chain.uncalled(KasliEEPROM) == set()
        # A switch has one register, without a number
        assert chain.uncalled(I2CSwitch) == {"read_word", "write_word"}
