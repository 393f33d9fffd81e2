"""`kairos device doctor`: every difference is one line with a remedy."""

import json

import pytest

from kairos.cli.doctor import _configuration
from kairos.devices import DeviceDB
from tests.support.command import run_kairos
from tests.support.databases import entry, written
from tests.support.gateware import database
from tests.support.paths import ROOT

DESCRIPTIONS = ROOT / "src/gateware/kairos_gateware/description"


def findings(described, *words):
    """Return what it finds, {subject: [(state, text, remedy)]}, and its exit code."""
    done = run_kairos("device", "--device-db", described, "doctor", "--json", *words)
    found: dict[str, list] = {}
    for line in done.stdout.splitlines():
        one = json.loads(line)
        found.setdefault(one["subject"], []).append((one["state"], one["text"], one["remedy"]))
    return found, done.returncode


def test_undamaged_device_has_no_bad_finding(lab):
    found, code = findings(lab, "--description", DESCRIPTIONS / "lab.json")
    states = {subject: {state for state, *_ in some} for subject, some in found.items()}
    assert code == 0 and states["system description"] == states["device database"] == {"good"}
    assert states["power of the cards"] == {"good"} and not any("bad" in some for some in states.values())
    assert "temperature" in found["sensors"][0][1] and "°C" in found["sensors"][0][1]
    assert "rtio 125000000 Hz" in found["clock"][0][1]
    assert "serial number" in found["eeprom_urukul0"][0][1]


@pytest.mark.long
def test_other_hardware_and_connectors_of_a_description_are_detected(tmp_path):
    ion = database("ion", tmp_path)
    given = json.loads((DESCRIPTIONS / "ion.json").read_text())
    found, code = findings(ion, "--description", DESCRIPTIONS / "ion.json")
    assert code == 0 and found["connectors"][0][0] == found["system description"][0][0] == "good"
    given["peripherals"][1]["ports"].reverse()
    path = tmp_path / "given.json"
    path.write_text(json.dumps(given))
    found, code = findings(ion, "--description", path)
    assert code == 0 and found["connectors"][0][0] == "absent" and "another description" in found["connectors"][0][1]
    path.write_text(json.dumps(given | {"hw_rev": "v1.2"}))
    found, code = findings(ion, "--description", path)
    text = "it describes a kasli_soc v1.2, and the gateware was made for a kasli_soc v1.1 (target, hw_rev)"
    assert code == 1 and found["system description"][0][:2] == ("bad", text) and "connectors" not in found


def test_differences_are_named_with_remedies(lab, tmp_path):
    entries = DeviceDB.load(lab).entries
    entries["ttl0"] = entry("ttl", "TTLOut", channel=0)
    entries["far"] = entry("ttl", "TTLOut", channel=3 << 16)
    entries["eeprom_absent"] = entry("kasli_i2c", "KasliEEPROM", port="EEM9", address=0xA6)
    found, code = findings(written(entries, tmp_path), "--description", DESCRIPTIONS / "all.json")
    assert code == 1
    (wrong, missing) = found["device database"]
    assert wrong[0] == "bad" and wrong[1].startswith("ttl0 is a TTLOut at channel 0x000000, where") and wrong[2]
    assert missing[:2] == ("bad", "it has channels of board 3, which is not there")
    different = found["system description"]
    assert different[0] == ("warning", "it describes all, the device has lab", different[0][2])
    assert different[-1][1].endswith("more differences") and len(different) == 7
    assert found["eeprom_absent"][0][0] == "bad" and "is the card in EEM9" in found["eeprom_absent"][0][2]


def test_settings_that_are_ignored_are_reported():
    line = "[     0.003935s]  WARN(comms::clock): configuration: {} is ignored: this gateware is built for 125 MHz\n"
    log = (
        line.format("rtio_clock=int_100") * 2
        + "[     0.004s]  WARN(x): configuration: ip=1.2.3.400 is invalid and ignored"
    )
    first, second = _configuration(f"[     0.000139s]  INFO(comms::config): configuration: on the SD card\n{log}")
    assert first.state == second.state == "warning" and second.text == "ip=1.2.3.400 is invalid and ignored"
    (found,) = _configuration(
        "WARN(comms::config): configuration: no SD card, or it does not answer; defaults are used"
    )
    assert found.state == "absent" and found.text == "no SD card, or it does not answer; defaults are used"
    assert first.text == "rtio_clock=int_100 is ignored: this gateware is built for 125 MHz"


@pytest.mark.parametrize("form", ["text", "json"])
def test_device_that_does_not_answer_is_one_finding(lab, form):
    words = ["--json"] if form == "json" else []
    done = run_kairos("device", "-D", "127.0.0.1:1", "--device-db", lab, "doctor", *words)
    assert done.returncode == 1 and done.stdout.count("\n") == 1
    assert "cannot reach the management service" in done.stdout and "docs/bring-up.md" in done.stdout
