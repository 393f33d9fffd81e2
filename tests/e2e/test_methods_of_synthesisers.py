"""Each method of the drivers of a Mirny, its ADF5356 and both Almaznys, through the whole chain."""

import pytest

from kairos.coredevice.adf5356 import ADF5356
from kairos.coredevice.almazny import AlmaznyChannel, AlmaznyLegacy
from kairos.coredevice.mirny import Mirny
from kairos.devices import DeviceDB
from tests.support.chain import Chain, attenuation_db
from tests.support.databases import entry, written


@pytest.fixture
def make(lab, tmp_path):
    """The laboratory with a Mirny at the bare SPI port: its chain; `more` are entries."""

    def make(refclk=100e6, doubler=False, **more):
        entries = DeviceDB.load(lab).entries
        entries["mirny"] = entry("mirny", "Mirny", spi_device="dio_spi0", refclk=refclk, clk_sel=2)
        arguments = {"cpld_device": "mirny", "sw_device": "ttl16", "channel": 1, "ref_doubler": doubler}
        entries["tone"] = entry("adf5356", "ADF5356", **arguments)
        for name, (cls, arguments) in more.items():
            entries[name] = entry("almazny", cls, host_mirny="mirny", **arguments)
        bench = tmp_path / "mirny.toml"
        bench.write_text(f"[mirny.dio_spi0]\nclocks_hz = [0, 0, {refclk}, 0]\nhw_rev = 2\n")
        return Chain(written(entries, tmp_path), bench)

    return make


def test_mirny_methods_change_the_card_as_documented(make):
    with make() as chain:
        mirny = chain.get("mirny")
        part = lambda: chain.bench.part("mirny")  # noqa: E731
        chain(mirny.init)
        assert part()["control"] == 2 << 4 and part()["ch0"]["detector_hz"] == 100e6
        assert chain(mirny.read_reg, 0) & 0b1111 == 2
        chain(mirny.write_reg, 1, 3 << 4)
        assert chain(mirny.read_reg, 1) == 3 << 4 == part()["control"] and part()["ch0"]["detector_hz"] == 0
        chain(mirny.set_att_mu, 2, 100)
        assert part()["ch2"]["attenuation_db"] == attenuation_db(100)
        chain(mirny.set_att, 3, 10.5)
        assert part()["ch3"]["attenuation_db"] == 10.5
        assert chain(mirny.att_to_mu, 10.5) == 255 - 84 and chain(mirny.mu_to_att, 255 - 84) == 10.5
        chain(mirny.write_ext, 4, 32, 0x12345670)
        # 8 and 32 bits, each after a cycle that configures the bus
        assert chain.advance_mu == 2 * 8 + ((8 + 1) * 4 + 1) * 8 + ((32 + 1) * 4 + 1) * 8
        assert part()["ch0"]["writes"] == 1
        assert chain.uncalled(Mirny) == set()


# A fast phase detector is calibrated in two steps
@pytest.mark.parametrize(
    "refclk, doubler, pfd",
    [(50e6, True, 100e6), *(pytest.param(pfd, False, pfd, marks=pytest.mark.long) for pfd in (50e6, 100e6))],
)
def test_adf5356_methods_change_the_chip_as_documented(make, refclk, doubler, pfd):
    with make(refclk, doubler) as chain:
        tone = chain.get("tone")
        chip = lambda: chain.bench.part("mirny")["ch1"]  # noqa: E731
        chain(tone.cpld.init)
        chain(tone.init)
        assert not chain(tone.read_muxout) and not chip()["muxout"]
        # Both prescalers, and the ends of the range
        for hz in (53.125e6, 457.31e6, 3.4e9, 5.9999999e9, 6.2e9, 6.8e9):
            chain(tone.set_frequency, hz)
            chain(chain.core.break_realtime, slack_mu=300_000)
            assert chip()["frequency_hz"] == pytest.approx(hz, abs=1e-3) and chip()["detector_hz"] == (
                50e6 if hz > 6e9 else pfd
            )
            assert chip()["locked"] and chain(tone.read_muxout)
            on_device = {
                method.__name__: chain(method)
                for method in (tone.f_pfd, tone.f_vco, tone.pll_n, tone.pll_frac1, tone.pll_frac2, tone.pll_mod2)
                + (tone.output_divider, tone.ref_counter)
            }
            info = tone.info()
            assert {name: info[name] for name in on_device} == on_device
            assert on_device["f_vco"] == pytest.approx(chip()["oscillator_hz"], abs=1e-3)
            assert on_device["f_vco"] / on_device["output_divider"] == pytest.approx(hz, abs=1e-3)
        for power, dbm in enumerate((-4, -1, 2, 5)):
            chain(tone.set_output_power_mu, power)
            assert chip()["power_dbm"] == dbm and chain(tone.output_power_mu) == power
        chain(tone.disable_output)
        assert not chip()["output"]
        chain(tone.enable_output)
        assert chip()["output"]
        chain(tone.set_att_mu, 200)
        assert chip()["attenuation_db"] == attenuation_db(200)
        chain(tone.set_att, 3.5)
        assert chip()["attenuation_db"] == 3.5
        writes = chip()["writes"]
        chain(tone.write, tone.regs[6])
        assert chip()["writes"] == writes + 1
        chain(tone.sync)
        assert not chip()["locked"], "it is calibrated"
        chain(chain.core.break_realtime, slack_mu=300_000)
        assert chip()["locked"]
        assert chain.uncalled(ADF5356) == set() and chain.bench.warnings == []


def test_almazny_methods_of_first_revision_set_outputs(make):
    with make(almazny=("AlmaznyLegacy", {})) as chain:
        almazny, mirny = chain.get("almazny"), chain.get("mirny")
        on_top = lambda n: chain.bench.part("mirny")[f"ch{n}"]["almazny"]  # noqa: E731
        chain(mirny.init)
        chain(almazny.init)
        chain(almazny.output_toggle, True)
        for n, att in enumerate((0.0, 5.5, 16.0, 31.5)):
            chain(almazny.set_att, n, att, True)
            assert on_top(n) == {"attenuation_db": att, "output": True}
            mu = chain(almazny.att_to_mu, att)
            assert mu == almazny.att_to_mu(att) and chain(almazny.mu_to_att, mu) == att
        chain(almazny.set_att, 1, 5.5, False)
        assert on_top(1) == {"attenuation_db": 5.5, "output": False}
        chain(almazny.set_att_mu, 1, almazny.att_to_mu(7.0), True)
        assert on_top(1) == {"attenuation_db": 7.0, "output": True}
        chain(almazny.output_toggle, False)
        assert [on_top(n)["output"] for n in range(4)] == [False] * 4
        assert chain.uncalled(AlmaznyLegacy) == set() and chain.bench.warnings == []


def test_almazny_methods_of_later_revision_set_outputs(make):
    with make(almazny=("AlmaznyChannel", {"channel": 3})) as chain:
        channel, mirny = chain.get("almazny"), chain.get("mirny")
        on_top = lambda: chain.bench.part("mirny")["ch3"]["almazny"]  # noqa: E731
        chain(mirny.init)
        for att, enable, led in [(0.0, True, False), (31.5, False, True), (12.5, True, True)]:
            word = chain(channel.to_mu, att, enable, led)
            assert word == channel.to_mu(att, enable, led)
            chain(channel.set, att, enable, led)
            assert on_top() == {"attenuation_db": att, "output": enable, "led": led}
            chain(channel.set_mu, word ^ 1)
            assert on_top()["attenuation_db"] != att
        assert chain.uncalled(AlmaznyChannel) == set() and chain.bench.warnings == []
