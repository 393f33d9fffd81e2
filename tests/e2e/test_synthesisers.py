"""A Mirny with its ADF5356 and an Almazny on the bench, through driver, firmware, gateware and the card's logic."""

from pathlib import Path

import numpy as np
import pytest

from kairos.devices import DeviceDB
from kairos.testing import Bench
from tests.support.databases import entry, written

EXPERIMENTS = Path(__file__).with_name("experiments") / "synthesisers.py"


@pytest.fixture(scope="module")
def make(lab, tmp_path_factory):
    """The laboratory with a Mirny at the bare SPI port, and one of the Almaznys on top: a file."""

    def make(**almazny):
        entries = DeviceDB.load(lab).entries
        entries["mirny0_cpld"] = entry("mirny", "Mirny", spi_device="dio_spi0", refclk=100e6, clk_sel=0)
        entries["mirny0_ch1"] = entry("adf5356", "ADF5356", cpld_device="mirny0_cpld", sw_device="ttl16", channel=1)
        entries |= almazny
        return written(entries, tmp_path_factory.mktemp("mirny"))

    return make


@pytest.fixture(scope="module")
def database(make):
    return make(almazny0=entry("almazny", "AlmaznyLegacy", host_mirny="mirny0_cpld"))


@pytest.fixture
def bench(database):
    with Bench(database) as made:
        yield made


def test_synthesiser_locks_and_outputs_its_frequency(bench):
    bench.run(EXPERIMENTS, "Mirny")
    assert bench.warnings == []
    assert bench.datasets["locked"] == [False, True]
    part = bench.part("mirny0_cpld")
    chip = part["ch1"]
    assert chip["frequency_hz"] == pytest.approx(1.2345678e9, abs=1e-3)
    assert (chip["attenuation_db"], chip["locked"], chip["output"]) == (11.5, True, True)
    assert part["ch2"]["almazny"] == {"attenuation_db": 10.5, "output": True}
    assert part["ch0"]["almazny"]["output"] is False
    tones = bench.dds("dio_spi0.ch1").changes
    assert [tone.power for tone in tones[-2:]] == [pytest.approx(5 - 11.5), None]
    assert tones[-2].frequency == pytest.approx(1.2345678e9, abs=1e-3)
    # 8 ns of cable after the switch
    assert tones[-1].time == pytest.approx(bench.pin("ttl16").changes[-1][0] + 8e-9, abs=1e-12)


def test_later_almazny_revision_is_driven(make):
    entries = {"almazny0_ch3": entry("almazny", "AlmaznyChannel", host_mirny="mirny0_cpld", channel=3)}
    with Bench(make(**entries)) as bench:
        bench.run(EXPERIMENTS, "Almazny")
        assert bench.warnings == []
        on_top = bench.part("mirny0_cpld")["ch3"]["almazny"]
        assert on_top == {"attenuation_db": 31.5, "output": True, "led": True}


@pytest.mark.parametrize(
    "what, text",
    [
        ("frequency", "the frequency of an ADF5356 is between 53.125 MHz and 6.8 GHz"),
        ("power", "the output power of an ADF5356 is 0 to 3"),
        ("attenuation", "Invalid mirny attenuation!"),
        ("on_top", "the attenuation of an Almazny is between 0 and 31.5 dB"),
    ],
)
def test_synthesiser_drivers_reject_invalid_arguments(bench, what, text):
    with pytest.raises(ValueError, match=text):
        bench.run(EXPERIMENTS, "Refused", what=what)


def test_init_of_a_missing_synthesiser_is_reported(kairos, database):
    for what, text in [("card", None), ("init", "MUXOUT not high: the ADF5356 does not answer")]:
        done = kairos("run", EXPERIMENTS, "-c", "Refused", "--no-bench", f"what='{what}'", device_db=database)
        # All bits of a missing card are 0, which is a valid revision: the logic alone cannot tell.
        assert (done.returncode == 0) == (text is None), done.stderr
        assert text is None or text in done.stderr


def test_missing_clock_and_wrong_length_are_reported(database, tmp_path):
    bench_file = tmp_path / "bench.toml"
    bench_file.write_text("[mirny.dio_spi0]\nclocks_hz = [0, 0, 0, 0]\n")
    with Bench(database, bench_file) as bench:
        bench.run(EXPERIMENTS, "Unlocked")
        texts = bench.warnings
    assert "dio_spi0: ch1: it has no reference: check clk_sel of the card and its clocks here" in texts
    assert "dio_spi0: a message of 39 bits for number 5, which takes 40: ignored" in texts


def test_scope_page_shows_synthesiser_tone(page_of, database):
    found = page_of(EXPERIMENTS, "-c", "Mirny", device_db=database)
    times, powers = found["bench/dio_spi0.ch1/power"]
    _, frequencies = found["bench/dio_spi0.ch1/frequency"]
    assert powers[-2] == pytest.approx(5 - 11.5) and np.isnan(powers[-1])
    assert frequencies[-2] == pytest.approx(1.2345678e9, abs=1e-3) and np.isnan(frequencies[-1])
    # 8 ns of cable after the switch
    assert times[-1] == found["pins/ttl16"][0][-1] + 8
