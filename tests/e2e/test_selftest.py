"""`kairos selftest`: the cards of the default benches pass, faults are found, and the page says both."""

import json

import pytest

from kairos.devices import DeviceDB
from kairos.selftest.observers import ByHand
from tests.support.databases import entry, written
from tests.support.gateware import built, database
from tests.support.paths import EXAMPLES


def checks(done) -> dict[str, list[dict]]:
    """The checks of a run with --json, by card."""
    found: dict[str, list[dict]] = {}
    for line in done.stdout.splitlines():
        check = json.loads(line)
        found.setdefault(check["card"], []).append(check)
    return found


def passed(found) -> set:
    return {check["passed"] for some in found.values() for check in some}


def test_laboratory_passes_with_every_output_and_input(kairos, lab):
    entries = DeviceDB.load(lab).entries
    arguments = {"spi_device": "dio_spi0", "ldac_device": "ttl16"}
    entries["zotino0"] = entry("zotino", "Zotino", **arguments)
    done = kairos("selftest", "--json", "-o", "lab.html", device_db=written(entries, kairos.directory))
    found = checks(done)
    assert done.returncode == 0, [check for some in found.values() for check in some if check["passed"] is False]
    assert len([check for check in found["fastino0"] if check["unit"] == "V"]) == 32
    assert len([check for check in found["zotino0"] if check["unit"] == "V"]) == 32
    assert [check["value"] for check in found["sampler0"] if check["unit"] == "V"][2] == pytest.approx(3.0, abs=1e-3)
    assert {f"frequency of output {n}" for n in range(4)} <= {check["what"] for check in found["urukul0_cpld"]}
    assert {"ttl0", "ttl0_counter", "ttl4", "ttl12", "grabber0", "eeprom_urukul0"} <= found.keys()
    assert not {"ttl_urukul0_sync", "ttl_sampler0_cnv"} & found.keys(), "they belong to their cards"
    page = (kairos.directory / "lab.html").read_text()
    assert "urukul0_cpld" in page and "0 failed" in page and "http" not in page


@pytest.mark.parametrize("variant", ["cards", "servo"])
def test_other_cards_pass_on_their_bench(kairos, tmp_path, variant):
    built(variant)
    file = EXAMPLES / "servo" / "device_db.py" if variant == "servo" else database(variant, tmp_path)
    entries = DeviceDB.load(file).entries
    if variant == "cards":
        entries["dds"] = entry("ad9914", "AD9914", sysclk=3e9, bus_channel=2, channel=1)
        entries["relay"] = entry("shuttler", "Relay", spi_device="spi_shuttler0_relay")
        entries["adc"] = entry("shuttler", "ADC", spi_device="spi_shuttler0_adc")
    done = kairos("selftest", "--json", device_db=written(entries, tmp_path))
    found = checks(done)
    assert done.returncode == 0, [check for some in found.values() for check in some if check["passed"] is False]
    wanted = {"cards": {"phaser0", "shuttler0", "dds", "relay", "adc"}, "servo": {"suservo0", "urukul1_cpld"}}
    assert wanted[variant] <= found.keys()


def test_faults_are_failed_checks_and_the_other_cards_are_tested(kairos, lab):
    entries = DeviceDB.load(lab).entries
    entries["ttl0"]["arguments"]["channel"] = entries["ttl4"]["arguments"]["channel"]
    entries["mirny"] = entry("mirny", "Mirny", spi_device="spi_sampler0_pgia")
    entries["light"] = entry("cxp_grabber", "CXPGrabber", channel=1)
    done = kairos("selftest", "--json", device_db=written(entries, kairos.directory))
    found = checks(done)
    assert done.returncode == 1
    assert found["mirny"][-1]["passed"] is False and "ValueError" in found["mirny"][-1]["value"]
    assert passed({"sampler0": found["sampler0"]}) == passed({"fastino0": found["fastino0"]}) == {True}
    assert found["light"][0]["value"] == "there is no test for a CXPGrabber"


def test_cards_are_chosen_by_name_or_its_beginning(kairos, lab):
    done = kairos("selftest", "--list", "urukul0", "ttl4", device_db=lab)
    assert [line.partition(":")[0] for line in done.stdout.splitlines()] == ["ttl4", "urukul0_cpld"]
    done = kairos("selftest", "nothing", device_db=lab)
    assert done.returncode == 1 and "the device database has no card of this name; it has ttl4, " in done.stderr


def test_person_may_measure_or_skip(capsys):
    answers = iter(["", "much", "2.5", "80", "9", "s", ""])
    asked = []
    person = ByHand(lambda text: asked.append(text) or next(answers))
    assert person.volts("zotino0", 3) is None
    assert person.volts("zotino0", 4) == 2.5 and "'much' is not a number" in capsys.readouterr().err
    assert person.tone("urukul0", 1) == (80e6, 9.0)
    assert not person.cable("ttl4", "ttl0") and person.cable("ttl4", "ttl1")
    assert asked[0] == "zotino0: measure the voltage at output 3, in V (Enter: skip): "
