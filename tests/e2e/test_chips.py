"""A DDS AD9834, an attenuator HMC542B and a Novogorny of a device database: each gets its model
automatically, and the page of a run, `kairos bench check` and `kairos bench draw` show it."""

from pathlib import Path

import pytest

from kairos.devices import DeviceDB
from tests.support.databases import entry, written

EXPERIMENTS = Path(__file__).with_name("experiments") / "chips.py"
SOURCE = '[source.rf]\nhz = 110e6\ndbm = 10.0\n[hmc542b.dio_spi0]\ntone = "rf"\n'
WIRE = '[novogorny.dio_spi0]\nch3 = "fastino0.ch1"\n'


@pytest.fixture
def database(lab, kairos):
    """`database(driver)`: the laboratory with one of them at its bare SPI port."""

    def database(driver):
        arguments = {"cnv_device": "ttl16"} if driver == "Novogorny" else {}
        entries = DeviceDB.load(lab).entries
        entries["chip"] = entry(driver.lower(), driver, spi_device="dio_spi0", **arguments)
        return written(entries, kairos.directory)

    return database


def test_page_shows_messages_to_ad9834_and_its_tone(page_of, database):
    found = page_of(EXPERIMENTS, "-c", "AD9834", device_db=database("AD9834"))
    _, words = found["pins/dio_spi0/chip"]
    assert words[0] == "CONTROL: core_reset 1" and "PHASE0: 0.25 turns" in words
    times, hertz = found["bench/dio_spi0.ch0/frequency"]
    assert hertz == [pytest.approx(12.5e6, abs=0.2)]
    assert times[0] > found["pins/dio_spi0/chip"][0][-1]


def test_page_shows_attenuation_and_attenuated_tone(page_of, kairos, database):
    bench = kairos.directory / "wires.toml"
    bench.write_text(SOURCE)
    found = page_of(EXPERIMENTS, "-c", "HMC542B", "--bench", bench, device_db=database("HMC542B"))
    assert found["pins/dio_spi0/chip"][1] == ["7 dB"]
    assert found["bench/dio_spi0.ch0/power"][1] == [10.0 - 31.5, 3.0], "from power-up on"


def test_page_shows_messages_to_novogorny_and_results(page_of, database):
    found = page_of(EXPERIMENTS, "-c", "Novogorny", device_db=database("Novogorny"))
    assert found["pins/dio_spi0/chip amplifiers"][1] == ["gains 1, 1, 1, 10, 1, 1, 1, 1"]
    _, words = found["pins/dio_spi0/chip"]
    assert words == ["next ch3 range 7", "result"]


@pytest.mark.parametrize(
    "driver, file, shown",
    [
        ("AD9834", "", "dio_spi0: AD9834 of chip; from dio_spi0; to "),
        ("HMC542B", SOURCE, "dio_spi0: HMC542B of chip; from dio_spi0, rf (ch0); to "),
        ("Novogorny", WIRE, "dio_spi0: Novogorny of chip; from dio_spi0, fastino0 (fastino0.ch1 to ch3); to "),
    ],
)
def test_wiring_of_each_chip_is_checked_and_drawn(kairos, database, driver, file, shown):
    bench = kairos.directory / "wires.toml"
    bench.write_text(file)
    done = kairos("bench", "check", bench, device_db=database(driver))
    assert done.returncode == 0 and shown in done.stdout, done.stdout + done.stderr
    done = kairos("bench", "draw", bench, "-o", "wiring.svg", device_db=database(driver))
    assert done.returncode == 0 and driver in (kairos.directory / "wiring.svg").read_text(), done.stderr
