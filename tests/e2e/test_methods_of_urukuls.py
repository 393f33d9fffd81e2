"""Each method of the drivers of an Urukul, through compiler, firmware, gateware and chip: the chips
have the settings, and the bus is busy for the stated time."""

import pytest
from numpy import int64

from kairos.coredevice.ad9910 import AD9910, PHASE_MODE_ABSOLUTE, RAM_DEST_ASF
from kairos.coredevice.ad9912 import AD9912
from kairos.coredevice.urukul import CPLD, ProtoRev9, RegIOUpdate
from kairos.devices import DeviceDB
from tests.support.chain import Chain, attenuation_db
from tests.support.databases import calibrated, written


@pytest.fixture(scope="module")
def database(lab, tmp_path_factory):
    return calibrated(lab, tmp_path_factory.mktemp("urukul"))


@pytest.fixture
def chain(database):
    with Chain(database) as chain:
        yield chain


@pytest.fixture
def part(chain):
    return lambda: chain.bench.part("urukul0_cpld")


def field(part, name, channel=0, width=1):
    """Extract a field from the configuration held by the card's logic."""
    return part["configuration"] >> getattr(ProtoRev9, f"CFG_{name}") + channel * width & (1 << width) - 1


def test_cpld_methods_change_the_card_as_documented(chain, part):
    cpld = chain.get("urukul0_cpld")
    chain(cpld.init)
    assert part()["configuration"] == cpld.cfg_reg
    assert [field(part(), "PROFILE", n, 3) for n in range(4)] == [7] * 4
    assert field(part(), "ATT_EN", 0, 4) == 0xF

    chain(cpld.cfg_write, int64(cpld.cfg_reg | 5))
    assert chain.advance_mu == 896
    assert field(part(), "RF_SW", 0, 4) == 5 and chain(cpld.sta_read) & 0xF == 5
    for name in ("RF_SW", "MASK_NU", "ATT_EN", "OSK", "DRCTL", "DRHOLD", "IO_UPDATE"):
        method = {"RF_SW": ("sw", "switches")}.get(name, (name.lower(), f"{name.lower()}_all"))
        one, every = (getattr(cpld, f"cfg_{end}") for end in method)
        chain(every, 0)
        assert field(part(), name, 0, 4) == 0, name
        chain(one, 2, True)
        assert chain.advance_mu == 896 and field(part(), name, 0, 4) == 4, name
        chain(every, 0b1010)
        assert field(part(), name, 0, 4) == 0b1010, name
        chain(every, 0)
    chain(cpld.set_profile, 2, 3)
    assert [part()[f"ch{n}"]["profile"] for n in range(4)] == [7, 7, 3, 7]
    chain(cpld.set_all_profiles, 5)
    assert [part()[f"ch{n}"]["profile"] for n in range(4)] == [5] * 4
    with pytest.raises(ValueError, match="^the channels of an Urukul are 0 to 3$"):
        chain(cpld.set_profile, 4, 3)
    chain(cpld.io_rst)
    assert chain.advance_mu == 2 * 896 and field(part(), "IO_RST") == 0

    chain(cpld.set_all_att_mu, 0x10203040)
    assert [part()[f"ch{n}"]["attenuation_db"] for n in range(4)] == [
        attenuation_db(mu) for mu in (0x40, 0x30, 0x20, 0x10)
    ]
    chain(cpld.set_att_mu, 1, 0x80)
    chain(cpld.set_att, 3, 12.5)
    assert int(chain(cpld.get_att_mu)) & 0xFFFFFFFF == (255 - 100) << 24 | 0x20 << 16 | 0x80 << 8 | 0x40
    assert chain(cpld.get_channel_att_mu, 1) == 0x80
    assert chain(cpld.get_channel_att, 3) == 12.5 == part()["ch3"]["attenuation_db"]
    assert chain(cpld.att_to_mu, 12.5) == 155 and chain(cpld.mu_to_att, 155) == 12.5

    # A word of 4 bits in each coarse cycle
    assert part()["ch0"]["sync_in_hz"] == 125e6 / 2
    chain(cpld.set_sync_div, 4)
    assert part()["ch0"]["sync_in_hz"] == 125e6 / 4
    never = (
        "urukul0: ch0: its switch was closed and nothing sent to its chip: initialise it with init() and set its tone"
    )
    assert chain.uncalled(CPLD) == set() and complaints(chain) == [never]


def test_update_methods_of_register_update_one_chip(chain, part):
    cpld = chain.get("urukul0_cpld")
    chain(cpld.init)
    update = RegIOUpdate(cpld, 6)
    for method, arguments in [
        (update.set_o, (True,)),
        (update.off, ()),
        (update.on, ()),
        (update.set_o, (False,)),
        (update.pulse_mu, (int64(10_000),)),
        (update.pulse, (10e-6,)),
    ]:
        chain(method, *arguments)
    assert chain.advance_mu == 2 * 896 + 10_000
    assert [part()[f"ch{n}"]["updates"] for n in range(4)] == [0, 0, 4, 0]
    assert chain.uncalled(RegIOUpdate) == set()


def complaints(chain):
    """Return the warnings except those about disabled attenuators, whose behaviour is unknown."""
    return [text for text in chain.bench.warnings if "its attenuator is disabled (att_en)" not in text]


def close(found, *wanted):
    return found == tuple(pytest.approx(one, abs=1e-3) for one in wanted)


def check_tones(chain, dds, chip):
    """Tones, set and read in words and in units."""
    word, pow_, asf = 0x12345678, 0x4000, 0x2000
    chain(dds.set_phase_mode, PHASE_MODE_ABSOLUTE)
    assert chain(dds.set_mu, word, pow_, asf, pins=True) == pow_
    assert chain.advance_mu in range(2664, 2672) and chain.pulses("ttl_urukul0_io_update") == [8]
    assert chain(dds.get_mu) == (word, pow_, asf)
    chain(dds.set_phase_mode, 0)
    assert chain(dds.set, 80e6, 0.25, 0.5, profile=7) == 0.25
    assert chain.advance_mu in range(1256, 1264)
    assert close(chain(dds.get), 80e6, 0.25, 0.5) or chain(dds.get)[0] == pytest.approx(80e6, abs=0.2)
    assert chip()["frequency_hz"] == pytest.approx(80e6, abs=0.2)
    assert (chip()["phase_turns"], chip()["amplitude"]) == (0.25, pytest.approx(0.5, abs=1e-4))


def check_conversions(chain, dds):
    """Conversions are the same on the device as on the host."""
    for method, value in [
        (dds.frequency_to_ftw, 81.25e6),
        (dds.ftw_to_frequency, 0x1000_0000),
        (dds.turns_to_pow, 0.375),
        (dds.pow_to_turns, 0x6000),
        (dds.amplitude_to_asf, 0.75),
        (dds.asf_to_amplitude, 0x3000),
    ]:
        assert chain(method, value) == method(value)
    for method, values in [
        (dds.frequency_to_ram, ([10e6, 20e6],)),
        (dds.turns_to_ram, ([0.25, 0.75],)),
        (dds.amplitude_to_ram, ([0.5, 1.0],)),
        (dds.turns_amplitude_to_ram, ([0.25, 0.75], [0.5, 1.0])),
    ]:
        here, there = [0, 0], [0, 0]
        method(*values, here)
        chain(method, *values, there)
        assert here == there and here[0] != 0


def check_registers(chain, dds, chip):
    """Registers not given by profiles: without `effective_ftw` the frequency register returns the
    value written."""
    chain(dds.set_cfr2, effective_ftw=0)
    assert chain.advance_mu == 704
    update = dds.io_update.pulse_mu
    chain(update, int64(8))
    for setter, getter, value in [
        (dds.set_ftw, dds.get_ftw, 0x23456789),
        (dds.set_pow, dds.get_pow, 0x1234),
        (dds.set_asf, dds.get_asf, 0x1234),
        (dds.set_frequency, dds.get_frequency, 62.5e6),
        (dds.set_phase, dds.get_phase, 0.125),
        (dds.set_amplitude, dds.get_amplitude, 0.5),
    ]:
        chain(setter, value)
        assert chip()["waits_for_update"]
        chain(update, int64(8))
        assert chain(getter) == pytest.approx(value, abs=1e-4), getter
    chain(dds.write16, 0x08, 0xABC)
    chain(dds.write32, 0x07, 0x7654321)
    chain(dds.write64, 0x0E, 0x0123_4567, 0x89AB_CDE)
    assert chain.advance_mu == 1248
    chain(update, int64(8))
    assert (chain(dds.read16, 0x08), chain(dds.read32, 0x07)) == (0xABC, 0x7654321)
    assert chain(dds.read64, 0x0E) == 0x0123_4567_089A_BCDE
    chain(dds.ask, 0x07)
    chain(dds.cpld.io_rst)  # the answer is discarded


def check_ram(chain, dds, chip):
    """The RAM."""
    chain(dds.set_profile_ram, 4, 7, step=5, profile=1, mode=1)
    chain(dds.io_update.pulse_mu, int64(8))
    assert chain(dds.read64, 0x0F) == 5 << 40 | 7 << 30 | 4 << 14 | 1
    chain(dds.set_profile, 1)
    chain(dds.write_ram, [1, -2, 3, 4])
    words = [0] * 4
    chain(dds.read_ram, words)
    assert words == [1, -2, 3, 4]
    chain(dds.set_cfr1, ram_enable=1, ram_destination=RAM_DEST_ASF)
    chain(dds.io_update.pulse_mu, int64(8))
    assert chip()["ram_word"] in range(4, 8)
    chain(dds.set_cfr1)
    chain(dds.io_update.pulse_mu, int64(8))


def check_channel_on_its_card(chain, dds, part, chip):
    """The channel on its card."""
    chain(dds.set_att_mu, 0x55)
    assert chain(dds.get_att_mu) == 0x55 and chip()["attenuation_db"] == attenuation_db(0x55)
    chain(dds.set_att, 7.5)
    assert chain(dds.get_att) == 7.5
    for method, name in [(dds.cfg_sw, "RF_SW"), (dds.cfg_osk, "OSK"), (dds.cfg_drctl, "DRCTL")] + [
        (dds.cfg_drhold, "DRHOLD"),
        (dds.cfg_mask_nu, "MASK_NU"),
        (dds.cfg_att_en, "ATT_EN"),
    ]:
        for on in (True, False):
            chain(method, on)
            assert field(part(), name, 2) == on, name


def check_synchronisation(chain, dds, chip):
    """Synchronisation."""
    assert chain(dds.tune_sync_delay) == (16, 6)
    chain(dds.set_sync, 16, 7)
    chain(dds.clear_smp_err)
    assert chip()["out_of_step"]
    chain(dds.set_sync, 16, 5)
    chain(dds.clear_smp_err)
    assert not chip()["out_of_step"]
    found = chain(dds.tune_io_update_delay)
    # Half a period of SYNC_CLK, 2 ns, away from the unit with an odd number of cycles
    odd = [chain(dds.measure_io_update_alignment, int64(n), int64(n + 1)) for n in range(4)]
    assert sum(odd) == 1 and found == (odd.index(1) + 3) % 4


def test_ad9910_methods_change_the_chip_as_documented(chain, part):
    dds = chain.get("urukul0_ch2")
    chain(dds.cpld.init)
    chain(dds.init)
    assert chain(dds.is_ready, 2) and not chain(dds.is_ready, 1)
    assert chain(dds.becomes_ready, 2, 1, 1e-6) and not chain(dds.becomes_ready, 1, 2, 1e-4)
    chip = lambda: part()["ch2"]  # noqa: E731
    assert chip()["clock_hz"] == 1_000_000_000
    check_tones(chain, dds, chip)
    check_conversions(chain, dds)
    check_registers(chain, dds, chip)
    check_ram(chain, dds, chip)
    check_channel_on_its_card(chain, dds, part, chip)
    check_synchronisation(chain, dds, chip)
    chain(dds.power_down)
    assert chip()["amplitude"] == 0.0
    assert chain.uncalled(AD9910) == set() and complaints(chain) == []


def test_ad9912_methods_change_the_chip_as_documented(lab, tmp_path):
    entries = DeviceDB.load(lab).entries
    del entries["urukul0_cpld"]["arguments"]["sync_device"]
    for n in range(4):
        del entries[f"urukul0_ch{n}"]
    entries["dds"] = {
        "type": "local",
        "module": "artiq.coredevice.ad9912",
        "class": "AD9912",
        "arguments": {"chip_select": 5, "cpld_device": "urukul0_cpld", "sw_device": "ttl_urukul0_sw1", "pll_n": 8},
    }
    with Chain(written(entries, tmp_path)) as chain:
        dds, cpld = chain.get("dds"), chain.get("urukul0_cpld")
        chip = lambda: chain.bench.part("urukul0_cpld")["ch1"]  # noqa: E731
        chain(cpld.init)
        chain(dds.init)
        assert chip()["clock_hz"] == 1e9
        ftw = int64(0x1234_5678_9ABC)
        chain(dds.set_mu, ftw, 0x1000, pins=True)
        # Words of 16, 32 and 32 bits, each after a cycle that configures the bus, and an update
        assert chain.advance_mu == 3 * 8 + sum(((n + 1) * 2 + 1) * 8 for n in (16, 32, 32)) + 10
        assert chain.pulses("ttl_urukul0_io_update") == [10]
        assert chain(dds.get_mu) == (ftw, 0x1000)
        assert chip()["frequency_hz"] == pytest.approx(int(ftw) / 2**48 * 1e9, abs=1e-5)
        chain(dds.set, 123.456789e6, 0.25)
        assert chain(dds.get) == (pytest.approx(123.456789e6, abs=1e-5), 0.25)
        assert (chip()["frequency_hz"], chip()["phase_turns"]) == (pytest.approx(123.456789e6, abs=1e-5), 0.25)
        # Half of the clock divider's register
        chain(dds.write, 0x020, 3, 1)
        assert chip()["waits_for_update"] and chain(dds.read, 0x020, 1) == 2
        chain(dds.write, 0x020, 2, 1)
        chain(cpld.cfg_io_update, 1, True)
        chain(cpld.cfg_io_update, 1, False)
        for method, value in [
            (dds.frequency_to_ftw, 200e6),
            (dds.ftw_to_frequency, int64(1 << 40)),
            (dds.turns_to_pow, 0.5),
            (dds.pow_to_turns, 0x2000),
        ]:
            assert chain(method, value) == method(value)
        chain(dds.set_att_mu, 0x55)
        assert chain(dds.get_att_mu) == 0x55
        chain(dds.set_att, 7.5)
        assert chain(dds.get_att) == 7.5 == chip()["attenuation_db"]
        chain(dds.set_profile, 5)
        part = chain.bench.part("urukul0_cpld")
        assert field(part, "PROFILE", 1, 3) == 5
        for name in ("cfg_sw", "cfg_osk", "cfg_drctl", "cfg_drhold", "cfg_mask_nu", "cfg_att_en"):
            for on in (True, False):
                chain(getattr(dds, name), on)
                part = chain.bench.part("urukul0_cpld")
                assert field(part, name.replace("sw", "rf_sw").removeprefix("cfg_").upper(), 1) == on, name
        assert chain.uncalled(AD9912) == set() and complaints(chain) == []


def test_methods_missing_in_protocol_revision_8_are_refused(lab, tmp_path):
    entries = DeviceDB.load(calibrated(lab, tmp_path)).entries
    entries["urukul0_cpld"]["arguments"]["proto_rev"] = 8
    with Chain(written(entries, tmp_path)) as chain:
        cpld = chain.get("urukul0_cpld")
        chain(cpld.init)
        chain(cpld.cfg_write, cpld.cfg_reg)
        assert chain.advance_mu == 416
        for setter in (cpld.cfg_sw, cpld.cfg_io_update, cpld.cfg_mask_nu):
            chain(setter, 1, True)
            assert chain.bench.part("urukul0_cpld")["configuration"] == cpld.cfg_reg
            chain(setter, 1, False)
        chain(cpld.set_profile, 1, 2)
        assert [chain.bench.part("urukul0_cpld")[f"ch{n}"]["profile"] for n in range(4)] == [2] * 4
        for name in ("osk", "drctl", "drhold", "att_en"):
            for end, argument in ((name, (0, True)), (f"{name}_all", (1,))):
                with pytest.raises(NotImplementedError, match="needs an Urukul with protocol revision 9"):
                    chain(getattr(cpld, f"cfg_{end}"), *argument)
