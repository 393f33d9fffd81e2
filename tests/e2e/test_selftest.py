"""`kairos selftest`: the cards of the default benches pass, faults are found, and the page says both."""

import json

import pytest

from kairos.devices import DeviceDB
from kairos.errors import DeviceUnreachable
from kairos.selftest import command
from kairos.selftest.calibration import _stored
from kairos.selftest.cards import Session
from kairos.selftest.observers import ByHand, Unattended
from kairos.selftest.report import Report
from tests.support.databases import calibrated, entry, written
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
    assert found["sampler0"][0]["value"] == "0xe4e4", "no answer of a card that is not there"
    assert [check["value"] for check in found["sampler0"] if check["unit"] == "V"][2] == pytest.approx(3.0, abs=1e-3)
    assert {f"frequency of output {n}" for n in range(4)} <= {check["what"] for check in found["urukul0_cpld"]}
    assert {"ttl0", "ttl0_counter", "ttl4", "ttl12", "grabber0", "eeprom_urukul0"} <= found.keys()
    assert not {"ttl_urukul0_sync", "ttl_sampler0_cnv"} & found.keys(), "they belong to their cards"
    page = (kairos.directory / "lab.html").read_text()
    assert "urukul0_cpld" in page and "0 failed" in page and "http" not in page


@pytest.mark.parametrize("revision", ["AlmaznyLegacy", "AlmaznyChannel", "HMC542B"])
def test_attenuators_pass_on_their_bench(kairos, lab, revision):
    entries = DeviceDB.load(lab).entries
    if revision == "HMC542B":
        entries["card"] = entry("hmc542b", revision, spi_device="dio_spi0")
        channels, settings = [0], 3
    else:
        place = {"channel": 2} if revision == "AlmaznyChannel" else {}
        entries["mirny"] = entry("mirny", "Mirny", spi_device="dio_spi0", refclk=100e6, clk_sel="xo")
        entries["card"] = entry("almazny", revision, host_mirny="mirny", **place)
        channels, settings = ([2] if place else range(4)), 2
    done = kairos("selftest", "--json", "card", device_db=written(entries, kairos.directory))
    found = checks(done)["card"]
    assert done.returncode == 0, found
    assert {check["what"].split(" set ")[0] for check in found} == {f"attenuation of channel {n}" for n in channels}
    assert len(found) == settings * len(channels)
    assert all(check["value"] == pytest.approx(check["low"] + 1.0) for check in found), "not only within the limits"


def test_pulse_core_plays_its_gates_on_the_bench(kairos, pulse):
    done = kairos("selftest", "--json", "pulse0", device_db=pulse)
    found = checks(done)["pulse0"]
    assert done.returncode == 0, found
    outputs = DeviceDB.load(pulse).arguments("pulse0").get("channels", 8)
    assert len([check for check in found if check["unit"] == "Hz"]) == outputs


@pytest.mark.parametrize("variant", ["cards", pytest.param("servo", marks=pytest.mark.long), "songbird", "mtdds"])
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
    wanted = {
        "cards": {"phaser0", "phaser1", "shuttler0", "dds", "relay", "adc"},
        "servo": {"suservo0", "urukul1_cpld"},
        "songbird": {"songbird0"},
        "mtdds": {"mtdds0"},
    }
    assert wanted[variant] <= found.keys()


@pytest.mark.parametrize("variant", ["lab", pytest.param("servo", marks=pytest.mark.long)])
def test_calibrations_are_written_to_eeproms_and_used(kairos, tmp_path, variant):
    """That of a chip of an Urukul, whose others have theirs in the database; the one word of an SU-Servo's."""
    built(variant)
    entries = DeviceDB.load(database(variant, tmp_path)).entries
    for number in (0, 2, 3) if variant == "lab" else ():
        entries[f"urukul0_ch{number}"]["arguments"] |= {"sync_delay_seed": -1, "io_update_delay": 0}
    name = {"lab": "urukul0_ch1", "servo": "urukul0_dds"}[variant]
    done = kairos("selftest", "--json", "--write-eeprom", "urukul0", device_db=written(entries, kairos.directory))
    found = checks(done)["urukul0_cpld"]
    assert done.returncode == 0, [check for check in found if check["passed"] is False]
    stored = {"lab": "eeprom_urukul0:68", "servo": "eeprom_urukul0:64"}[variant]
    made = [check["what"] for check in found if check["what"].startswith("calibration of ")]
    assert made == [
        f"calibration of {name} written to {stored} and read back",
        f"calibration of {name} as the driver reads it",
    ]


def test_calibration_needs_a_place_in_an_eeprom(kairos, lab):
    done = kairos("selftest", "--write-eeprom", device_db=calibrated(lab, kairos.directory))
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and '"EEPROM_DEVICE:OFFSET"' in done.stderr


class Card:
    """A session in which nobody agrees, and the kernels that it gives: an EEPROM with one word."""

    observer = Unattended()

    def __init__(self, word):
        self.report, self.word = Report(), word

    def get(self, name):
        assert name == "eeprom_urukul0"

    def kernels(self, device):
        return self

    def eeprom(self, addresses, found):
        assert addresses == [68]
        found[0] = self.word


@pytest.mark.parametrize("word, there, state", [(0x0B030000, True, "passed"), (-1, False, "open")])
def test_calibration_is_not_written_without_an_answer(word, there, state):
    card = Card(word)
    assert _stored(card, "urukul0_cpld", "calibration of urukul0_ch1", "eeprom_urukul0:68", 0x0B030000) is there
    (check,) = card.report.checks
    assert check.state == state and "0x0b030000" in check.value


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
    (light,) = found["light"]
    assert light["passed"] is False and "CXP Grabber is not available on destination 0" in light["value"]


def test_database_of_another_gateware_is_refused_before_the_test(kairos, lab):
    entries = DeviceDB.load(lab).entries
    entries["ttl8"]["class"] = "TTLInOut"
    done = kairos("selftest", device_db=written(entries, kairos.directory))
    assert done.returncode == 1 and "selftest.toml" not in done.stderr
    assert "does not fit the gateware: cable4 cannot drive ttl8: it is an output of the device" in done.stderr


def test_cards_after_a_lost_device_are_not_tested(monkeypatch):
    def gone(session, name):
        if name != "ttl4":
            raise DeviceUnreachable("nobody is there")
        session.report.fact(name, "pulses", True)

    monkeypatch.setattr(command, "_test", gone)
    report = Report()
    command._test_all(Session(None, None, None, report), ["ttl4", "ttl5", "ttl6", "ttl7"])
    assert [check.state for check in report.checks] == ["passed", "failed", "open", "open"]
    assert report.checks[1].value == "nobody is there" and "before the test of ttl5" in report.checks[3].value


def test_cards_are_chosen_by_name_or_its_beginning(kairos, lab):
    done = kairos("selftest", "--list", "urukul0", "ttl4", device_db=lab)
    assert [line.partition(":")[0] for line in done.stdout.splitlines()] == ["ttl4", "urukul0_cpld"]
    done = kairos("selftest", "nothing", device_db=lab)
    assert done.returncode == 1 and "the device database has no card of this name; it has ttl4, " in done.stderr


def test_person_may_measure_or_skip(capsys):
    answers = iter(["", "much", "2.5", "80", "9", "s", "", "", "y"])
    asked = []
    person = ByHand(lambda text: asked.append(text) or next(answers))
    assert person.volts("zotino0", 3) is None
    assert person.volts("zotino0", 4) == 2.5 and "'much' is not a number" in capsys.readouterr().err
    assert person.tone("urukul0", 1) == (80e6, 9.0)
    assert not person.cable("ttl4", "ttl0") and person.cable("ttl4", "ttl1")
    assert not person.agreed("write it") and person.agreed("write it") and asked[-1] == "write it? y or N: "
    assert asked[0] == "zotino0: measure the voltage at output 3, in V (Enter: skip): "
