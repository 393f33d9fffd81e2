"""Words of AD9834, Novogorny, Shuttler, Phaser and camera grabbers."""

import pytest
from numpy import int64

from kairos.coredevice.novogorny import adc_ctrl, adc_value
from kairos.coredevice.shuttler import shuttler_volt_to_mu

from .traffic import KernelError, cycles, devices, run

SPI, CNV, CARD = 1, 2, 10
ENTRIES = {
    "spi": ("spi2.SPIMaster", {"channel": SPI}),
    "cnv": ("ttl.TTLOut", {"channel": CNV}),
    "dds": ("ad9834.AD9834", {"spi_device": "spi"}),
    "novogorny": ("novogorny.Novogorny", {"spi_device": "spi", "cnv_device": "cnv", "gains": 0b0100}),
    "level": ("shuttler.DCBias", {"channel": CARD}),
    "tone": ("shuttler.DDS", {"channel": CARD}),
    "trigger": ("shuttler.Trigger", {"channel": CARD}),
    "settings": ("shuttler.Config", {"channel": CARD}),
    "relay": ("shuttler.Relay", {"spi_device": "spi"}),
    "adc": ("shuttler.ADC", {"spi_device": "spi"}),
    "phaser": ("phaser.Phaser", {"channel_base": CARD}),
    "late": ("phaser.Phaser", {"channel_base": CARD, "miso_delay": 0, "gw_rev": 2}),
    "cxp": ("cxp_grabber.CXPGrabber", {"channel": CARD}),
    "grabber": ("grabber.Grabber", {"channel_base": CARD}),
}


@pytest.fixture(scope="module")
def get():
    return devices(ENTRIES).get


# AD9834


def ad9834(method, *args):
    traffic = run(method, *args)
    assert all(word[:4] == (1, 16, 13, True) for word in traffic.words(SPI) if word)
    return [word[4] for word in traffic.words(SPI)]


def words(method, *args):
    """Return the words of a method of the AD9834 after its initialisation, with the configuration
    then in force."""
    return [data >> 16 for _, data in run(method, *args).on(SPI)]


def test_ad9834_init_holds_it_in_reset(get):
    dds = get("dds")
    assert dds.div == 13
    assert ad9834(dds.init) == [0x0100]
    # The clock is high while idle
    assert run(dds.init).on(SPI)[0] == (1, 1 << 24 | 11 << 16 | 15 << 8 | 0x12)


def test_ad9834_methods_write_the_documented_words(get):
    dds = devices(ENTRIES).get("dds")
    ftw = round(10e6 / 75e6 * 2**28)
    low, high = ftw & 0x3FFF, ftw >> 14
    assert words(dds.write, 0xE123) == [0xE123]
    assert words(dds.set_frequency_reg, 0, ftw) == [0x2000, 0x4000 | low, 0x4000 | high]
    assert words(dds.set_frequency_reg, 1, ftw) == [0x2000, 0x8000 | low, 0x8000 | high]
    assert words(dds.set_frequency_reg_msb, 0, 0x1234) == [0x1000, 0x5234]
    assert words(dds.set_frequency_reg_lsb, 1, 0x1234) == [0x0000, 0x9234]
    assert words(dds.set_phase_reg, 1, 0xABC) == [0xEABC]
    assert words(dds.select_frequency_reg, 1) == [0x0800] and words(dds.select_phase_reg, 1) == [0x0400]
    written = [0x0000, 0x8000 | low, 0x1000, 0x8000 | high, 0xE400, 0x1800, 0x1C00, 0x1C00]
    assert words(dds.set, 10e6, 0.25, 1, 1) == written
    assert words(dds.set_mu, 5, 6) == [0x0000, 0x4005, 0x1000, 0x4000, 0xC006, 0x1000, 0x1000, 0x1000]
    assert dds.frequency_to_ftw(37.5e6) == 1 << 27 and dds.turns_to_pow(1.5) == 0x800
    with pytest.raises(ValueError, match="at most half of its clock's"):
        dds.frequency_to_ftw(38e6)


@pytest.mark.parametrize(
    "method, args, control",
    [
        ("enable_reset", (), 0x0100),
        ("output_enable", (), 0x0000),
        ("sleep", (True, True), 0x00C0),
        ("sleep", (True,), 0x0040),
        ("awake", (), 0x0000),
        ("enable_triangular_waveform", (), 0x0002),
        ("disable_triangular_waveform", (), 0x0000),
        ("config_sign_bit_out", (True,), 0x0000),
        ("config_sign_bit_out", (False, True), 0x0020),
        ("config_sign_bit_out", (False, False, True), 0x0028),
        ("config_sign_bit_out", (False, False, False, True), 0x0038),
        ("config_sign_bit_out", (True, True, True, True), 0x0000),
        ("config_sign_bit_out", (), 0x0000),
    ],
)
def test_ad9834_control_bits_are_set(get, method, args, control):
    assert words(getattr(get("dds"), method), *args) == [control]


# Novogorny


def test_novogorny_converts_samples_in_their_ranges(get):
    card = get("novogorny")
    assert adc_ctrl(5, 6) == 1 << 7 | 5 << 3 | 6 and adc_ctrl() == 0x8F
    assert run(card.set_gain_mu, 2, 3).words(SPI) == [(2, 16, 8, True, 0b110100)]
    controls = [adc_ctrl(channel) for channel in (1, 2, 3)]
    ends = [False, False, True]
    assert run(card.configure, controls).words(SPI) == [
        (1, 8, 8, end, word) for word, end in zip(controls, ends, strict=True)
    ]
    traffic = run(card.sample_mu, 0x8F, data=[0x123456])
    assert [event for event in traffic.outputs if event[1] == CNV] == [(8, CNV, 0, 1), (48, CNV, 0, 0)]
    assert traffic.transfers(SPI) == [(608, 1, 24, 8, True, 0x8F0000)]
    assert (traffic.value, traffic.now) == (0x123456, 600 + cycles(24, 8))
    # -1/4 of 10.24 V (range 7 at 4.096 V), channel 1, whose gain of 10 is not taken back
    assert adc_value(0xC000 << 8 | 1 << 3 | 7, 4.096) == pytest.approx(-5.12)
    assert run(card.sample, data=[0xC000 << 8 | 1 << 3 | 7]).value == pytest.approx(-6.25)
    assert adc_value(0xC000 << 8 | 5, 4.096) == pytest.approx(7.68)
    found = [0] * 3
    traffic = run(card.burst_mu, found, int64(5000), 0x8F, data=[1, 2, 3])
    assert [time for time, *_ in traffic.transfers(SPI)] == [608, 5608, 10608] and traffic.now == 15008
    with pytest.raises(KernelError, match="ValueError: a burst has at most 60 samples"):
        run(card.burst_mu, [0] * 61, int64(5000))


# Shuttler


def pieces(value, count):
    return [value >> 16 * place & 0xFFFF for place in range(count)]


def test_shuttler_waveform_words_are_written_in_order(get):
    a = (-2, 0x1234_5678, -0x1234_5678_9ABC, 0x7654_3210_FEDC)
    traffic = run(get("level").set_waveform, a[0], a[1], int64(a[2]), int64(a[3]))
    expected = [word for value, count in zip(a, (1, 2, 3, 3), strict=True) for word in pieces(value, count)]
    assert traffic.outputs == [(8 * n, CARD, n, word) for n, word in enumerate(expected)] and traffic.now == 72
    b = (*a, 5, -6, 7)
    traffic = run(get("tone").set_waveform, b[0], b[1], int64(b[2]), int64(b[3]), *b[4:])
    expected = [word for value, count in zip(b, (1, 2, 3, 3, 1, 2, 2), strict=True) for word in pieces(value, count)]
    assert traffic.outputs == [(8 * n, CARD, n, word) for n, word in enumerate(expected)] and traffic.now == 112
    assert run(get("trigger").trigger, 0x8001).outputs == [(0, CARD, 0, 0x8001)]
    assert [shuttler_volt_to_mu(volt) for volt in (5.0, -10.0, -0.1)] == [0x4000, 0x8000, round(65536 - 327.68)]


def test_shuttler_gain_and_offset_are_written_and_read(get):
    settings = get("settings")
    assert run(settings.set_clr, 0x8001).outputs == [(0, CARD, 0x20, 0x8001)]
    assert run(settings.set_gain, 15, -2).outputs == [(0, CARD, 0x0F, 0xFFFE)]
    assert run(settings.set_offset, 3, -0x8000).outputs == [(0, CARD, 0x13, 0x8000)]
    for method, address in ((settings.get_gain, 0x45), (settings.get_offset, 0x55)):
        for word, value in ((0x7FFF, 0x7FFF), (0x8000, -0x8000), (0xFFFE, -2)):
            traffic = run(method, 5, data=[word])
            assert traffic.outputs == [(0, CARD, address, 0)] and traffic.value == value


def test_shuttler_relays_are_set_over_spi(get):
    relay = get("relay")
    assert run(relay.init).on(SPI) == [(1, 3 << 24 | 2 << 16 | 15 << 8 | 2)]
    assert run(relay.enable, 0x8001).on(SPI) == [(0, 0x8001 << 16)]


def test_shuttler_adc_registers_are_accessed(get):
    adc = get("adc")
    for size in (8, 16, 24):
        traffic = run(getattr(adc, f"read{size}"), 0x13, data=[0x5A])
        assert traffic.words(SPI) == [(1, 8 + size, 16, True, 0x53 << size)] and traffic.value == 0x5A
        traffic = run(getattr(adc, f"write{size}"), 0x13, 0x7EDCBA)
        assert traffic.words(SPI) == [(1, 8 + size, 4, True, 0x13 << size | 0x7EDCBA & 2**size - 1)]
    # The clock is high while idle, and data change with its falling edge
    assert {data & 0x30 for address, data in run(adc.read8, 0, data=[0]).on(SPI) if address == 1} == {0x30}
    assert run(adc.read_id, data=[0x38DF]).words(SPI)[0][4] == 0x47 << 16
    assert run(adc.read_data, data=[7]).words(SPI)[0][4] == 0x44 << 24
    ones = [(1, 32, 4, end, 0xFFFFFFFF) for end in (False, False, True)]
    traffic = run(adc.reset)
    assert traffic.words(SPI) == ones and traffic.now == 3 * cycles(32, 4)
    for mode, code in {"single_conversion": 1, "standby": 2, "power_down": 3}.items():
        traffic = run(getattr(adc, mode))
        assert [word[4] for word in traffic.words(SPI)] == [1 << 16 | 0x8000 | code << 4]
    traffic = run(adc.power_up)
    assert traffic.words(SPI) == ones and traffic.now == 3 * cycles(32, 4) + 2_500_000


# Phaser


def test_phaser_registers_are_written_and_read_bytewise(get):
    phaser = get("phaser")
    traffic = run(phaser.write8, 0x32, 0x1A5)
    assert traffic.outputs == [(0, CARD, 0xB2, 0xA5)] and traffic.now == 320
    traffic = run(phaser.read8, 0x32, data=[0xA5 << 1 | 1])
    assert (traffic.outputs, traffic.value, traffic.now) == ([(0, CARD, 0x32, 0)], 0xA5, 0)
    assert run(get("late").read8, 0x32, data=[0xA5]).value == 0xA5
    for bits, value in {16: 0x1234, 32: 0x1234_5678}.items():
        content = list(value.to_bytes(bits // 8, "big"))
        expected = [(320 * n, CARD, 0x92 + n, byte) for n, byte in enumerate(content)]
        assert run(getattr(phaser, f"write{bits}"), 0x12, value).outputs == expected
        traffic = run(getattr(phaser, f"read{bits}"), 0x12, data=[byte << 1 for byte in content])
        assert traffic.value == value and traffic.on(CARD) == [(0x12 + n, 0) for n in range(bits // 8)]


def test_phaser_settings_are_written_or_refused(get):
    phaser = get("phaser")
    for method, args, expected in [
        (phaser.set_leds, (0x2A,), (0x86, 0x2A)),
        (phaser.set_fan_mu, (100,), (0x87, 100)),
        (phaser.set_fan, (0.5,), (0x87, 128)),
        (phaser.set_cfg, (), (0x83, 0b11001010)),
        (phaser.set_cfg, (1, 0, 1, 0, 1, 1, 0, 0), (0x83, 0b00110101)),
        (phaser.set_sync_dly, (5,), (0x8F, 5)),
        (phaser.duc_stb, (), (0x88, 0)),
        (phaser.spi_write, (0x5A,), (0x8D, 0x5A)),
    ]:
        assert run(method, *args).on(CARD) == [expected]
    for method, address in [(phaser.get_sta, 4), (phaser.get_crc_err, 5), (phaser.spi_read, 14)]:
        traffic = run(method, data=[0x54])
        assert traffic.on(CARD) == [(address, 0)] and traffic.value == 0x2A
    assert run(phaser.check_board, data=[19 << 1, 4 << 1, 1 << 1]).on(CARD) == [(0, 0), (1, 0), (2, 0)]
    for method, args, data in [
        (phaser.check_board, (), [20 << 1]),
        (phaser.check_board, (), [19 << 1, 4 << 1, 2 << 1]),
        (phaser.set_fan, (1.1,), ()),
        (phaser.set_sync_dly, (8,), ()),
    ]:
        with pytest.raises(KernelError, match="ValueError"):
            run(method, *args, data=data)


def test_phaser_actions_are_aligned_to_frames(get):
    phaser = devices(ENTRIES).get("phaser")
    assert run(phaser.measure_frame_timestamp, times=[1000]).on(CARD) == [(0, 0)]
    with pytest.raises(KernelError, match="ValueError"):
        run(phaser.measure_frame_timestamp)
    phaser.frame_tstamp = int64(-1000)
    assert run(phaser.get_next_frame_mu).value == -1000 + 4 * 320


def test_phaser_channel_settings_are_written_bytewise(get):
    channel = get("phaser").channel[1]
    for method, args, address, content in [
        (channel.set_duc_cfg, (1, 1, 2), 0xA0, [0b1011]),
        (channel.set_duc_frequency_mu, (-2,), 0xA2, [0xFF, 0xFF, 0xFF, 0xFE]),
        (channel.set_duc_frequency, (-31.25e6,), 0xA2, [0xF0, 0, 0, 0]),
        (channel.set_duc_phase_mu, (0x1234,), 0xA6, [0x12, 0x34]),
        (channel.set_duc_phase, (0.25,), 0xA6, [0x40, 0]),
        (channel.set_dac_test, (0x01020304,), 0xAC, [1, 2, 3, 4]),
    ]:
        assert run(method, *args).on(CARD) == [(address + n, byte) for n, byte in enumerate(content)]
    traffic = run(channel.get_dac_data, data=[2, 4, 6, 8])
    assert traffic.value == 0x01020304 and traffic.on(CARD) == [(0x28 + n, 0) for n in range(4)]


def test_phaser_oscillator_words_are_output_or_refused(get):
    for channel, frequency in enumerate([CARD + 1, CARD + 3]):
        oscillator = get("phaser").channel[channel].oscillator[3]
        assert run(oscillator.set_frequency_mu, -5).outputs == [(0, frequency, 3, 0xFFFFFFFB)]
        assert run(oscillator.set_frequency, 3.125e6).outputs == [(0, frequency, 3, 1 << 29)]
        assert run(oscillator.set_amplitude_phase_mu).outputs == [(0, frequency + 1, 3, 0x7FFF)]
        traffic = run(oscillator.set_amplitude_phase, 0.5, -0.25, 1)
        assert traffic.outputs == [(0, frequency + 1, 3, 0xC000 << 16 | 1 << 15 | 0x4000)] and traffic.now == 0
    with pytest.raises(KernelError, match="ValueError"):
        run(get("phaser").channel[0].oscillator[0].set_amplitude_phase, 1.5)
    assert get("late").channel[0].oscillator == []
    assert len(type(get("phaser")).get_rtio_channels(CARD)) == 5
    assert len(type(get("phaser")).get_rtio_channels(CARD, gw_rev=2)) == 3


# Cameras


def test_cxp_grabber_sets_regions_and_gates(get):
    cxp = get("cxp")
    traffic = run(cxp.setup_roi, 2, 1, 2, 3, 4)
    assert traffic.outputs == [(8 * n, CARD + 1, 8 + n, n + 1) for n in range(4)] and traffic.now == 32
    assert run(cxp.gate_roi, 5).outputs == [(0, CARD + 2, 0, 5)]
    assert run(cxp.gate_roi_pulse, 5, 1e-6).outputs == [(0, CARD + 2, 0, 5), (1000, CARD + 2, 0, 0)]
    assert (cxp.results, cxp.sentinel) == (CARD + 2, -(2**31)) and len(type(cxp).get_rtio_channels(CARD)) == 3
