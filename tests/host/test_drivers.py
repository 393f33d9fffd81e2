"""RTIO outputs of drivers: times, addresses and words, from their kernels run on this machine."""

import pytest
from numpy import int64

from kairos.compiler.tests.jit import Compiled
from kairos.devices import DeviceDB, DeviceManager

SPI, UPDATE, SWITCH, LDAC = 1, 2, 3, 4


def local(module, driver, **arguments):
    return {"type": "local", "module": f"kairos.coredevice.{module}", "class": driver, "arguments": arguments}


ENTRIES = {
    "core": local("core", "Core", host=None, ref_period=1e-9, target="cortexa9"),
    "spi": local("spi2", "SPIMaster", channel=SPI),
    "update": local("ttl", "TTLOut", channel=UPDATE),
    "switch": local("ttl", "TTLOut", channel=SWITCH),
    "ldac": local("ttl", "TTLOut", channel=LDAC),
    "clock": local("ttl", "TTLClockGen", channel=5),
    "cpld": local("urukul", "CPLD", spi_device="spi", io_update_device="update"),
    "cpld8": local("urukul", "CPLD", spi_device="spi", io_update_device="update", proto_rev=8, clk_sel=2, rf_sw=5),
    "registers": local("urukul", "CPLD", spi_device="spi"),
    "dds": local("ad9910", "AD9910", chip_select=5, cpld_device="cpld", sw_device="switch", pll_n=32),
    "late_dds": local("ad9910", "AD9910", chip_select=5, cpld_device="cpld", pll_n=32, io_update_delay=19),
    "zotino": local("zotino", "Zotino", spi_device="spi", ldac_device="ldac"),
    "sampler": local("sampler", "Sampler", spi_adc_device="spi", spi_pgia_device="spi", cnv_device="switch"),
    "counter": local("edge_counter", "EdgeCounter", channel=6),
    "fastino": local("fastino", "Fastino", channel=7),
    "grabber": local("grabber", "Grabber", channel_base=8),
}


@pytest.fixture
def devices():
    return DeviceManager(DeviceDB(ENTRIES))


def run(method, *args):
    """Runs a driver's kernel from time 0; returns outputs (time, channel, address, data) and the final cursor."""
    result = Compiled(method, args, method.__self__.core).run()
    assert result.exception is None, result.exception
    outputs = [args for name, args in result.calls if name == "rtio_output"]
    return [(time, target >> 8, target & 0xFF, data & 0xFFFFFFFF) for time, target, data in outputs], result.now


def transfers(outputs, channel=SPI):
    """Returns (chip select, length, divider, ends, data) of each SPI transfer."""
    found, config = [], None
    for _, number, address, data in outputs:
        if number == channel and address == 1:
            config = (data >> 24, (data >> 8 & 31) + 1, (data >> 16 & 255) + 2, bool(data & 2))
        elif number == channel:
            cs, length, div, ends = config
            found.append((cs, length, div, ends, data >> (32 - length)))
    return found


def test_ad9910_methods_write_their_registers(devices):
    dds = devices.get("dds")
    outputs, now = run(dds.write32, 0x07, 0x12345678)
    assert (transfers(outputs), now) == ([(5, 8, 2, False, 7), (5, 32, 2, True, 0x12345678)], 704)
    outputs, now = run(dds.write64, 0x0E, 0x11112222, 0x33334444)
    words = [(5, 8, 2, False, 0x0E), (5, 32, 2, False, 0x11112222), (5, 32, 2, True, 0x33334444)]
    assert (transfers(outputs), now) == (words, 1248)
    outputs, now = run(dds.write16, 0x08, 0xABCD)
    assert transfers(outputs) == [(5, 24, 2, True, 0x08ABCD)]
    outputs, _ = run(dds.set_cfr1, 0, 1)
    assert transfers(outputs)[1][4] == 1 << 13 | 2
    outputs, _ = run(dds.set_cfr2)
    assert transfers(outputs)[1][4] == 1 << 24 | 1 << 16
    outputs, _ = run(dds.set_profile_ram, 3, 1023, 5, 2)
    assert transfers(outputs) == [
        (5, 8, 2, False, 0x10),
        (5, 32, 2, False, 5 << 8 | 1023 >> 2),
        (5, 32, 2, True, (1023 << 30 | 3 << 14 | 1) & 0xFFFFFFFF),
    ]


def test_ad9910_output_is_set_with_exact_times(devices):
    dds = devices.get("dds")
    outputs, now = run(dds.set, 80e6, 0.25, 0.5)
    ftw, asf = round(80e6 * 2**32 / 1e9), round(0.5 * 0x3FFF)
    assert [word for *_, word in transfers(outputs)] == [0x15, asf << 16 | 0x4000, ftw]
    pulses = [(time, data) for time, channel, _, data in outputs if channel == UPDATE]
    assert (pulses, now) == ([(1248, 1), (1256, 0)], 1256)
    # Delayed by 19 mu rounded down to the 8 mu grid
    _, now = run(devices.get("late_dds").set, 80e6)
    assert now == 1256 + 16
    # Absolute phase: control register written before and after
    outputs, now = run(dds.set_mu, 1 << 20, 5, 0x3FFF, 1)
    assert now == 2664 and [word for *_, word in transfers(outputs)][:2] == [0, 1 << 13 | 2]
    # Tracking phase: accumulated since time 0, taken after the control register write
    result = Compiled(dds.set_mu, (1 << 20, 5, 0x3FFF, 2), dds.core).run()
    assert result.value == 5 + (704 * (1 << 20) >> 16)


def test_ad9910_conversions_are_exact_or_refused(devices):
    dds = devices.get("dds")
    assert dds.frequency_to_ftw(250e6) == 1 << 30 and dds.ftw_to_frequency(1 << 30) == pytest.approx(250e6)
    assert dds.turns_to_pow(1.25) == 0x4000 and dds.pow_to_turns(0x4000) == 0.25
    assert dds.amplitude_to_asf(1.0) == 0x3FFF
    with pytest.raises(ValueError, match="Invalid AD9910 fractional amplitude!"):
        dds.amplitude_to_asf(1.1)
    ram = [0, 0]
    dds.turns_amplitude_to_ram([0.5, 0.25], [1.0, 0.0], ram)
    assert [int(word) & 0xFFFFFFFF for word in ram] == [0x8000 << 16 | 0x3FFF << 2, 0x4000 << 16]


def test_urukul_configuration_word_has_changed_fields(devices):
    cpld = devices.get("cpld")
    start = 0o7777 << 8 | 0xF << 47
    assert cpld.cfg_reg == start
    outputs, now = run(cpld.cfg_sw, 2, True)
    cfg = start | 4
    assert transfers(outputs) == [(1, 24, 2, False, cfg >> 28), (1, 28, 2, True, cfg & 0xFFFFFFF)] and now == 896
    outputs, _ = run(cpld.set_profile, 1, 2)
    cfg = start & ~(7 << 11) | 2 << 11
    assert [word for *_, word in transfers(outputs)] == [cfg >> 28, cfg & 0xFFFFFFF]
    outputs, _ = run(cpld.cfg_att_en_all, 0)
    assert transfers(outputs)[0][4] == (start & ~(0xF << 47)) >> 28
    old = devices.get("cpld8")
    assert old.cfg_reg == 5 | 7 << 8 | 1 << 21
    outputs, now = run(old.cfg_switches, 0b1010)
    assert (transfers(outputs), now) == ([(1, 24, 2, True, 0b1010 | 7 << 8 | 1 << 21)], 416)


def test_urukul_attenuations_are_written_or_refused(devices):
    cpld = devices.get("cpld")
    outputs, _ = run(cpld.set_att, 3, 10.5)
    assert transfers(outputs) == [(2, 32, 6, True, (255 - 84) << 24)]
    assert cpld.mu_to_att(255 - 84) == 10.5
    with pytest.raises(ValueError, match="Invalid urukul.CPLD attenuation!"):
        cpld.att_to_mu(32.0)


def test_zotino_voltages_are_written_with_exact_times(devices):
    zotino = devices.get("zotino")
    outputs, now = run(zotino.write_dac_mu, 3, 0x1234)
    assert [data for _, _, _, data in outputs] == [(3 << 22 | 11 << 16 | 0x1234) << 8] and now == 808
    outputs, now = run(zotino.load)
    assert outputs == [(0, LDAC, 0, 0), (16, LDAC, 0, 1)] and now == 16
    outputs, now = run(zotino.set_dac, [1.0, -1.0], [5, 6])
    begin = -1500 - 2 * 808
    assert now == 0 and [time for time, *_ in outputs] == pytest.approx([begin, begin + 808, 0, 16], abs=1)
    codes = [round(65536 / 20) + 0x8000, round(-65536 / 20) + 0x8000]
    assert [data >> 8 for _, channel, _, data in outputs if channel == SPI] == [
        3 << 22 | (channel + 8) << 16 | code for channel, code in zip((5, 6), codes, strict=True)
    ]
    assert zotino.voltage_to_mu(-10.0) == 0
    for volts in (10.0, -10.001):
        with pytest.raises(ValueError, match="Invalid DAC voltage!"):
            zotino.voltage_to_mu(volts)


def test_zotino_calibration_compensates_offset_and_gain(devices):
    """A channel with an offset of 0.1 V and a gain error of 1 % is compensated."""
    zotino = devices.get("zotino")
    lsb = 20 / 65536
    zero, full = -10 + 0.1, (-10 + 0.1) + 65535 * lsb * 1.01
    outputs, _ = run(zotino.calibrate, 2, zero, full)
    offset, gain = (data >> 8 & 0xFFFF for *_, data in outputs)
    assert offset == 0x8000 - round(0.1 / lsb) and (gain + 1) / 65536 == pytest.approx(0.99, abs=1e-3)


def test_outputs_of_other_drivers_have_exact_words_and_times(devices):
    outputs, now = run(devices.get("clock").set, 10e6)
    assert outputs == [(0, 5, 0, round(2**24 * 10e6 * 8e-9))] and now == 0
    outputs, now = run(devices.get("counter").gate_rising_mu, int64(1000))
    assert outputs == [(0, 6, 0, 0b1001), (1000, 6, 0, 0b0100)] and now == 1000
    outputs, now = run(devices.get("grabber").setup_roi, 2, 1, 2, 3, 4)
    assert outputs == [(0, 8, 8, 1), (8, 8, 9, 2), (16, 8, 10, 3), (24, 8, 11, 4)] and now == 32
    outputs, now = run(devices.get("fastino").set_dac, 3, 5.0)
    assert outputs == [(0, 7, 3, 0xC000)] and now == 0
    outputs, now = run(devices.get("sampler").set_gain_mu, 2, 3)
    assert [data for *_, data in outputs] == [3 << 4 << 16]


@pytest.mark.parametrize(
    "entry, text",
    [
        (local("urukul", "CPLD", spi_device="spi", proto_rev=7), "proto_rev of an Urukul is 8 or 9, not 7"),
        (local("ad9910", "AD9910", chip_select=4, cpld_device="cpld", pll_n=200), "pll_n of an AD9910 is between"),
        (local("ad9910", "AD9910", chip_select=4, cpld_device="cpld", pll_n=20), "outside of the range of its"),
        (
            local("ad9910", "AD9910", chip_select=4, cpld_device="cpld", pll_n=32, sync_delay_seed="x"),
            "both numbers or the",
        ),
        (local("kasli_i2c", "KasliEEPROM", port="EEM99"), "no connector EEM99; there are EEM0"),
    ],
)
def test_wrong_constructor_arguments_are_rejected(entry, text):
    with pytest.raises(Exception, match=text):
        DeviceManager(DeviceDB(ENTRIES | {"wrong": entry})).get("wrong")
