"""AD9912, Mirny, ADF5356, Almazny, HMC542B: their messages."""

from fractions import Fraction

import pytest
from numpy import int64

from kairos.coredevice.adf5356 import calculate_pll, gcd, split_msb_lsb_28b

from .traffic import KernelError, cycles, devices, run

SPI, UPDATE = 1, 2
ENTRIES = {
    "spi": ("spi2.SPIMaster", {"channel": SPI}),
    "update": ("ttl.TTLOut", {"channel": UPDATE}),
    "cpld": ("urukul.CPLD", {"spi_device": "spi", "io_update_device": "update", "refclk": 100e6}),
    "slow": ("urukul.CPLD", {"spi_device": "spi", "io_update_device": "update", "refclk": 10e6}),
    "dds": ("ad9912.AD9912", {"chip_select": 6, "cpld_device": "cpld", "pll_n": 10}),
    "slow_dds": ("ad9912.AD9912", {"chip_select": 4, "cpld_device": "slow", "pll_n": 40}),
    "no_pll": ("ad9912.AD9912", {"chip_select": 4, "cpld_device": "slow", "pll_en": 0}),
    "mirny": ("mirny.Mirny", {"spi_device": "spi", "clk_sel": 2}),
    "slow_mirny": ("mirny.Mirny", {"spi_device": "spi", "refclk": 50e6}),
    "sma": ("mirny.Mirny", {"spi_device": "spi", "clk_sel": "SMA"}),
    "mmcx": ("mirny.Mirny", {"spi_device": "spi", "clk_sel": "mmcx"}),
    "xo": ("mirny.Mirny", {"spi_device": "spi"}),
    "pll": ("adf5356.ADF5356", {"cpld_device": "mirny", "sw_device": "update", "channel": 2}),
    "slow_pll": ("adf5356.ADF5356", {"cpld_device": "slow_mirny", "sw_device": "update", "channel": 2}),
    "legacy": ("almazny.AlmaznyLegacy", {"host_mirny": "mirny"}),
    "almazny": ("almazny.AlmaznyChannel", {"host_mirny": "mirny", "channel": 3}),
    "att": ("hmc542b.HMC542B", {"spi_device": "spi"}),
}


@pytest.fixture(scope="module")
def get():
    return devices(ENTRIES).get


# AD9912


def test_ad9912_messages_have_instruction_and_data(get):
    dds = get("dds")
    traffic = run(dds.write, 0x1234, 0xABCDEF, 3)
    assert traffic.words(SPI) == [(6, 16, 2, False, 2 << 13 | 0x1234), (6, 24, 2, True, 0xABCDEF)]
    assert traffic.now == cycles(16, 2) + cycles(24, 2)
    traffic = run(dds.read, 0x20, 1, data=[0x5A])
    assert traffic.words(SPI) == [(6, 16, 2, False, 0x8020), (6, 8, 16, True, 0)] and traffic.value == 0x5A
    # Only the last transfer is read
    assert [data & 4 for address, data in traffic.on(SPI) if address == 1] == [0, 4]


def test_ad9912_init_checks_and_configures(get):
    def settings(name, part):
        traffic = run(get(name).init, data=[part])
        assert len([data for _, data in traffic.on(UPDATE) if data]) == len(traffic.words(SPI)) // 2 - 1
        return [(head[4], body[4]) for head, body in zip(*[iter(traffic.words(SPI))] * 2, strict=True)]

    start = [(0x0000, 0x99), (1 << 15 | 1 << 13 | 3, 0)]
    assert settings("dds", 0x1982) == [*start, (0x010, 0x80), (0x020, 3), (0x022, 0x05)]
    assert settings("slow_dds", 0x1902) == [*start, (0x010, 0x80), (0x020, 18), (0x022, 0x0D)]
    assert settings("no_pll", 0x1902) == [*start, (0x010, 0x90)]
    with pytest.raises(KernelError, match="ValueError: Urukul AD9912 product id mismatch"):
        run(get("dds").init, data=[0xFFFF])


def test_ad9912_frequency_and_phase_are_set_and_read(get):
    dds = get("dds")
    ftw = 0x1234_8765_4321
    traffic = run(dds.set_mu, int64(ftw), 0x2BCD)
    assert traffic.words(SPI) == [
        (6, 16, 2, False, 3 << 13 | 0x1AD),
        (6, 32, 2, False, 0x2BCD_1234),
        (6, 32, 2, True, 0x8765_4321),
    ]
    end = cycles(16, 2) + 2 * cycles(32, 2)
    assert [event for event in traffic.outputs if event[1] == UPDATE] == [(end, UPDATE, 0, 1), (end + 10, UPDATE, 0, 0)]
    traffic = run(dds.get_mu, data=[0x2BCD_1234, 0x8765_4321])
    assert traffic.value == (ftw, 0x2BCD)
    assert [word[4] for word in traffic.words(SPI)] == [0x8000 | 3 << 13 | 0x1AD, 0, 0x8000 | 3 << 13 | 0x1A9, 0]
    traffic = run(dds.set, 100e6, 0.75)
    ftw = round(0.1 * 2**48)
    assert [word[4] for word in traffic.words(SPI)][1:] == [0x3000 << 16 | ftw >> 32, ftw & 0xFFFFFFFF]
    traffic = run(dds.get, data=[0x1000_0000 | ftw >> 32, ftw & 0xFFFFFFFF])
    assert traffic.value == pytest.approx((100e6, 0.25), rel=1e-12)


def test_ad9912_conversions_are_exact_or_refused(get):
    dds = get("dds")
    assert (dds.sysclk, get("slow_dds").sysclk, get("no_pll").sysclk) == (1e9, 800e6, 10e6)
    assert dds.frequency_to_ftw(250e6) == 1 << 46 and dds.ftw_to_frequency(1 << 46) == pytest.approx(250e6)
    assert dds.turns_to_pow(0.5) == 0x2000 and dds.pow_to_turns(0x1000) == 0.25
    with pytest.raises(Exception, match="at most 1 GHz"):
        devices(ENTRIES | {"x": ("ad9912.AD9912", {"chip_select": 4, "cpld_device": "cpld", "pll_n": 12})}).get("x")


# Mirny


def test_mirny_registers_are_accessed_and_revision_checked(get):
    mirny = get("mirny")
    traffic = run(mirny.write_reg, 1, 0xBEEF)
    assert traffic.words(SPI) == [(1, 24, 4, True, 1 << 17 | 1 << 16 | 0xBEEF)] and traffic.now == cycles(24, 4)
    traffic = run(mirny.read_reg, 5, data=[0xBEEF])
    assert traffic.words(SPI) == [(1, 24, 16, True, 5 << 17)] and traffic.value == 0xBEEF
    traffic = run(mirny.init, data=[0b01])
    assert [word[4] for word in traffic.words(SPI)] == [0, 1 << 17 | 1 << 16 | 2 << 4]
    assert [word[4] for word in run(mirny.init, True).words(SPI)] == [1 << 17 | 1 << 16 | 2 << 4]
    with pytest.raises(KernelError, match="ValueError: Mirny proto_rev mismatch"):
        run(mirny.init, data=[0b0100])


@pytest.mark.parametrize(
    "name, revision, number",
    [("xo", 3, 0), ("xo", 2, 0), ("mmcx", 3, 2), ("mmcx", 2, 3), ("sma", 3, 3), ("sma", 2, 2), ("mirny", 0, 2)],
)
def test_mirny_source_has_the_number_of_its_revision(get, name, revision, number):
    assert [word[4] for word in run(get(name).init, data=[revision]).words(SPI)] == [0, 3 << 16 | number << 4]


def test_mirny_sources_that_are_not_known_are_refused(get):
    assert [word[4] for word in run(get("xo").init, True).words(SPI)] == [3 << 16]
    for name in ("xo", "sma"):
        with pytest.raises(KernelError, match="ValueError: Hardware revision not supported"):
            run(get(name).init, data=[1])
    with pytest.raises(KernelError, match="the number of a Mirny's clk_sel depends on its revision"):
        run(get("sma").init, True)
    refused = [("si", "Invalid clk_sel: that of a Mirny is 0 to 3, or one of xo, mmcx, sma"), (4, "Invalid clk_sel")]
    for clk_sel, text in [*refused, (-1, "Invalid clk_sel"), (1.5, "Invalid clk_sel")]:
        with pytest.raises(Exception, match=text):
            devices(ENTRIES | {"x": ("mirny.Mirny", {"spi_device": "spi", "clk_sel": clk_sel})}).get("x")
    for refclk in (9.9e6, 601e6):
        with pytest.raises(Exception, match="Invalid refclk: that of a Mirny is 10 to 600 MHz"):
            devices(ENTRIES | {"x": ("mirny.Mirny", {"spi_device": "spi", "refclk": refclk})}).get("x")


def test_mirny_attenuators_and_external_writes_reach_the_bus(get):
    mirny = get("mirny")
    traffic = run(mirny.set_att_mu, 3, 0x5A)
    assert traffic.words(SPI) == [(1, 16, 4, True, (3 | 8) << 9 | 0x5A)]
    assert run(mirny.set_att, 1, 10.5).words(SPI)[0][4] == (1 | 8) << 9 | 255 - 84
    traffic = run(mirny.write_ext, 13, 8, 0xA5, 32)
    assert traffic.words(SPI) == [(1, 8, 4, False, 13 << 1), (1, 8, 32, True, 0xA5)]
    # Chip select is active high
    assert {data & 8 for address, data in traffic.on(SPI) if address == 1} == {8}
    with pytest.raises(ValueError, match="Invalid mirny attenuation!"):
        mirny.att_to_mu(32.0)


# ADF5356


def written(traffic):
    """Return the words received by the synthesiser of channel 2."""
    words = traffic.words(SPI)
    heads = [place for place, word in enumerate(words) if word[1:] == (8, 4, False, 6 << 1)]
    assert all(words[place + 1][:4] == (1, 32, 4, True) for place in heads)
    return [words[place + 1][4] for place in heads]


@pytest.mark.parametrize("f_vco, f_pfd", [(3.4e9, 100_000_000), (4567890123.5, 50_000_000), (6.8e9 - 1, 33_333_333)])
def test_pll_dividers_give_the_exact_frequency(f_vco, f_pfd):
    n, frac1, frac2, mod2 = calculate_pll(f_vco, int64(f_pfd))
    frac2, mod2 = (upper << 14 | lower for upper, lower in (frac2, mod2))
    assert 1 <= mod2 < 2**28 and frac2 < mod2 and frac1 < 2**24
    assert f_pfd * (n + (frac1 + Fraction(int(frac2), int(mod2))) / 2**24) == Fraction(f_vco)
    assert gcd(48, 36) == 12 and split_msb_lsb_28b(0xABCDEF1) == (0xABCDEF1 >> 14, 0xABCDEF1 & 0x3FFF)


def test_synthesiser_init_checks_and_writes_registers(get):
    pll = get("pll")
    traffic = run(pll.init, data=[1 << 10, 0])
    fixed = 1 << 15 | 2 << 10 | 1 << 8 | 1 << 7 | 4
    loaded = written(run(pll.init, True))
    assert [word & 15 for word in loaded] == [*range(13, -1, -1), 13, 4, 2, 1, 0] and loaded[13] == 1 << 21
    assert written(traffic) == [*loaded, 1 << 27 | fixed, 2 << 27 | fixed, 6 << 27 | fixed]
    for levels, text in [([1 << 9], "MUXOUT not high"), ([1 << 10, 1 << 10], "MUXOUT not low")]:
        with pytest.raises(KernelError, match=f"ValueError: {text}"):
            run(pll.init, data=levels)
    assert run(pll.read_muxout, data=[1 << 10]).value and not run(pll.read_muxout, data=[0xB << 8]).value


def test_frequency_with_fast_phase_detector_is_set(get):
    """100 MHz, so the calibration is done at 50 MHz: 4567.89 MHz / 100 MHz and / 50 MHz."""
    traffic = run(get("pll").set_frequency, 4567.89e6 / 4)
    words = written(traffic)
    assert [word & 15 for word in words] == [*range(13, -1, -1), 13, 4, 2, 1, 0]
    half, full = Fraction(4567890000, 50_000_000), Fraction(4567890000, 100_000_000)
    by_number = {word & 15: word for word in words[:14]}
    assert by_number[0] == 1 << 21 | int(half) << 4
    assert by_number[1] == int((half - int(half)) * 2**24) << 4 | 1
    assert by_number[4] >> 15 & 0x3FF == 2
    assert by_number[6] == 0x14000006 | 1 << 29 | 1 << 24 | 2 << 21 | 39 << 13 | 1 << 11 | 1 << 6 | 3 << 4
    assert [by_number[n] for n in (5, 7, 8, 11, 12)] == [0x800025, 0x12000067, 0x102D0428, 0x61200B, 0x15FC]
    assert by_number[9] == (625 & 0xFF) << 24 | 0x67 << 14 | 31 << 9 | 13 << 4 | 9
    assert by_number[10] == 0xC0000A | 3 << 4
    assert words[-1] == int(full) << 4 and words[-2] == int((full - int(full)) * 2**24) << 4 | 1
    assert words[-4] >> 15 & 0x3FF == 1
    for frequency in (53e6, 6.801e9):
        with pytest.raises(KernelError, match="ValueError"):
            run(get("pll").set_frequency, frequency)


def test_frequency_with_slow_phase_detector_is_set(get):
    words = written(run(get("slow_pll").set_frequency, 6.5e9))
    assert [word & 15 for word in words] == list(range(13, -1, -1))
    assert words[-1] == 1 << 21 | 1 << 20 | 130 << 4


def test_synthesiser_registers_are_decoded():
    """On the host, without a device."""
    pll = devices(ENTRIES).get("pll")
    n, frac1, frac2, mod2 = calculate_pll(4567890000.0, pll.f_pfd())
    pll.regs[0] |= n << 4
    pll.regs[1] |= frac1 << 4
    pll.regs[2] = frac2[1] << 18 | mod2[1] << 4 | 2
    pll.regs[13] |= frac2[0] << 18 | mod2[0] << 4
    pll.regs[6] |= 2 << 21
    assert (pll.f_pfd(), pll.ref_counter(), pll.output_divider(), pll.output_power_mu()) == (100_000_000, 1, 4, 3)
    assert pll.f_vco() == pytest.approx(4567.89e6, abs=1e-5)
    found = pll.info()
    assert found["f_out"] == pytest.approx(4567.89e6 / 4, abs=1e-5)
    assert (found["pll_n"], found["pll_frac1"]) == (45, frac1)
    assert found["pll_frac2"] / found["pll_mod2"] == (frac2[0] << 14 | frac2[1]) / (mod2[0] << 14 | mod2[1])


def test_synthesiser_output_and_attenuation_are_set(get):
    pll = get("pll")
    base = pll.regs[6]
    for method, args, word in [
        (pll.disable_output, (), base & ~(1 << 6)),
        (pll.enable_output, (), base),
        (pll.set_output_power_mu, (1,), base & ~(3 << 4) | 1 << 4),
    ]:
        words = written(run(method, *args))
        assert [word & 15 for word in words] == [*range(13, -1, -1), 13, 4, 2, 1, 0] and words[7] == word
    for power in (-1, 4):
        with pytest.raises(KernelError, match="ValueError: invalid power setting"):
            run(pll.set_output_power_mu, power)
    assert run(pll.set_att_mu, 7).words(SPI)[0][4] == (2 | 8) << 9 | 7
    assert run(pll.set_att, 1.0).words(SPI)[0][4] == (2 | 8) << 9 | 247
    assert written(run(pll.write, 0x1234567)) == [0x1234567]


# Almazny, HMC542B


def test_almazny_attenuations_are_written_or_refused(get):
    legacy, channel = get("legacy"), get("almazny")
    traffic = run(legacy.set_att, 2, 1.5)
    assert traffic.words(SPI) == [(1, 8, 4, False, 14 << 1), (1, 8, 32, True, 0b110000 | 1 << 6)]
    assert [run(legacy.set_att_mu, 0, 0b100000, off).words(SPI)[1][4] for off in (False, 0)] == [1, 1]
    traffic = run(legacy.output_toggle, True, data=[2 << 4])
    assert traffic.words(SPI)[1][4] == 1 << 17 | 1 << 16 | 1 << 12 | 2 << 4
    assert run(legacy.init, data=[1 << 12 | 3]).words(SPI)[1][4] == 1 << 17 | 1 << 16 | 3
    assert legacy.att_to_mu(31.5) == 63 and legacy.mu_to_att(3) == 1.5
    traffic = run(channel.set, 1.5, True)
    assert traffic.words(SPI) == [(1, 8, 4, False, 15 << 1), (1, 8, 32, True, 0b110000 | 1 << 6)]
    for led in (True, 1):
        assert run(channel.set, 1.5, 1, led).words(SPI)[1][4] == 0b110000 | 1 << 6 | 1 << 7
    assert run(channel.set_mu, 0x85).words(SPI)[1][4] == 0x85
    assert channel.to_mu(31.5, False, True) == 63 | 1 << 7
    for refused in (lambda: legacy.att_to_mu(32.0), lambda: channel.to_mu(-0.5, True, True)):
        with pytest.raises(ValueError, match="between 0 and 31.5 dB"):
            refused()


def test_hmc542b_attenuation_is_written_or_refused(get):
    att = get("att")
    assert run(att.set_att, 10.5).words(SPI) == [(1, 8, 5, True, 255 - 84)]
    assert run(att.set_att_mu, 0xA5).words(SPI)[0][4] == 0xA5
    assert att.mu_to_att(255 - 84) == 10.5
    with pytest.raises(ValueError, match="Invalid HMC542B attenuation!"):
        att.att_to_mu(-0.2)
