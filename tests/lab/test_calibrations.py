"""Calibrations in a laboratory: what is stale is run in order, and values are accepted by rule or by hand."""

import json

import pytest

from kairos.errors import UsageError
from tests.support.command import one_line, run_kairos
from tests.support.waiting import until

EXPERIMENTS = '''"""Calibrations whose results are in files."""
import os
from pathlib import Path
from artiq.experiment import *

HOME = Path(__file__).parents[1]


def measured(name):
    with (HOME / "order").open("a") as file:
        print(name, file=file)
    return float((HOME / name).read_text())


class Detuning(EnvExperiment):
    def build(self):
        self.calibrates("detuning", validity=1000, minimum=0, maximum=10)
        self.set_calibration(attempts=2)

    def run(self):
        self.parameters.detuning = measured("detuning")


class Rabi(EnvExperiment):
    def build(self):
        self.calibrates("rabi", validity=1000, change=0.1)
        self.set_calibration(needs=["detuning"])

    def check_calibration(self):
        return measured("checked") == 1

    def run(self):
        self.value = measured("rabi") + self.parameters.detuning

    def analyze(self):
        self.set_dataset("rabi", self.value, unit="kHz", scale=1e3, broadcast=True, persist=True)


class Gate(EnvExperiment):
    def build(self):
        self.calibrates("gate", by_hand=True)
        self.set_calibration(needs=["rabi"], when=["ions>=1"])

    def run(self):
        self.parameters["gate"] = measured("gate")
        assert self.parameters["gate"] == self.get_dataset("gate")
'''


@pytest.fixture
def place(lab):
    """A laboratory with calibrations; `write` has one find a value."""
    (lab.folder / "repository" / "calibrations.py").write_text(EXPERIMENTS)
    lab.scan()
    for name, value in (("detuning", 5), ("rabi", 100), ("gate", 7), ("checked", 0)):
        (lab.folder / name).write_text(str(value))
    lab.set_dataset("ions", 1, True)
    return lab


def ended(place, number) -> dict:
    """Wait for the end of a session; returns the state of each step."""
    until(lambda: place.session(number)["ended"] is not None)
    return {step["name"]: step["state"] for step in place.session(number)["steps"]}


def order(place) -> list[str]:
    """Return what was measured since the last call, in order."""
    path = place.folder / "order"
    found = path.read_text().split() if path.exists() else []
    path.unlink(missing_ok=True)
    return found


def state_of(place) -> dict:
    return {each["key"]: each["state"] for each in place.parameters()}


def test_stale_parameters_are_calibrated_in_order_and_decided_by_hand(place):
    assert state_of(place) == {"detuning": "missing", "rabi": "missing", "gate": "missing", "ions": "valid"}
    number = place.calibrate()
    until(place.proposals)
    (waiting,) = place.proposals()
    assert (waiting["key"], waiting["value"], waiting["objection"]) == ("gate", "7.0", "it is accepted by hand only")
    until(lambda: [step["state"] for step in place.session(number)["steps"]] == ["done", "done", "deciding"])
    assert "gate" not in place.datasets()
    place.decide(waiting["id"], True, "looks right")
    assert ended(place, number) == {"Detuning": "done", "Rabi": "done", "Gate": "done"}
    assert order(place) == ["detuning", "rabi", "gate"]
    values = place.datasets()
    assert values["rabi"] == (True, 105.0, {"unit": "kHz", "scale": 1e3}) and values["gate"][1] == 7.0
    assert set(state_of(place).values()) == {"valid"}
    (write,) = place.parameter_history("gate")
    assert (write["note"], write["rid"]) == ("looks right", waiting["rid"]) and write["person"]
    (write,) = place.parameter_history("rabi")
    assert (write["validity"], write["person"], write["value"]) == (1000.0, None, "105.0")
    again = place.calibrate()
    assert set(ended(place, again).values()) == {"valid"} and order(place) == []
    with pytest.raises(UsageError, match=f"value {waiting['id']} of gate was accepted already"):
        place.decide(waiting["id"], False)


def test_check_that_passes_spares_the_measurement(place):
    place.set_dataset("rabi", 105.0, True)
    place.set_dataset("detuning", 5.0, True)
    assert state_of(place)["rabi"] == "stale", "what it needs has changed"
    (place.folder / "checked").write_text("1")
    assert ended(place, place.calibrate(["rabi"])) == {"Detuning": "valid", "Rabi": "checked"}
    assert order(place) == ["checked"] and state_of(place)["rabi"] == "valid"
    checked, first = place.parameter_history("rabi")
    assert (checked["kind"], checked["value"], first["kind"]) == ("checked", "105.0", None)
    place.set_dataset("detuning", 6.0, True)
    (place.folder / "checked").write_text("0")
    assert ended(place, place.calibrate(["rabi"]))["Rabi"] == "done"
    assert order(place) == ["checked", "rabi"] and place.datasets()["rabi"][1] == 106.0
    assert ended(place, place.calibrate(["Rabi"], True)) == {"Detuning": "valid", "Rabi": "done"}
    assert order(place) == ["rabi"], "forced, it is not checked first"


def test_value_outside_its_rule_waits_and_its_rejection_fails_the_calibration(place):
    (place.folder / "detuning").write_text("11")
    number = place.calibrate(["rabi"])
    for _ in range(2):
        until(place.proposals)
        (waiting,) = place.proposals()
        assert waiting["objection"] == "it is above 10"
        place.decide(waiting["id"], False, "no")
        until(lambda known=waiting: known["id"] not in [row["id"] for row in place.proposals()])
    assert ended(place, number) == {"Detuning": "failed", "Rabi": "skipped"}
    steps = place.session(number)["steps"]
    assert steps[0]["reason"] == "the value of detuning was rejected" and steps[0]["attempt"] == 2
    assert steps[1]["reason"] == "it needs detuning: it has no value" and order(place) == ["detuning", "detuning"]
    place.set_dataset("ions", 0, True)
    place.set_dataset("detuning", 5.0, True)
    place.set_dataset("rabi", 105.0, True)
    assert ended(place, place.calibrate(["Gate"])) == {"Detuning": "valid", "Rabi": "valid", "Gate": "skipped"}
    assert place.session(number + 1)["steps"][-1]["reason"] == "ions>=1 does not hold"
    with pytest.raises(UsageError, match="no experiment calibrates 'none'; there are Detuning, Rabi, Gate"):
        place.calibrate(["none"])


def test_failed_run_is_named_and_stopped_session_ends(place):
    (place.folder / "detuning").write_text("nonsense")
    number = place.calibrate(["detuning"])
    assert ended(place, number) == {"Detuning": "failed"}
    assert "could not convert" in place.session(number)["steps"][0]["reason"]
    (place.folder / "detuning").write_text("11")
    number = place.calibrate(["detuning"])
    until(place.proposals)
    place.stop_calibration(number)
    assert place.session(number)["steps"][0]["state"] == "stopped"
    until(lambda: not place.queue())
    with pytest.raises(UsageError, match=f"calibration {number} has ended already"):
        place.stop_calibration(number)


def test_session_goes_on_in_the_next_laboratory(place):
    (place.folder / "detuning").write_text("11")
    number = place.calibrate(["rabi"])
    until(place.proposals)
    place.kill()
    place.start()
    (waiting,) = place.proposals()
    place.decide(waiting["id"], True)
    assert ended(place, number) == {"Detuning": "done", "Rabi": "done"}
    assert order(place) == ["detuning", "rabi"], "nothing runs twice"
    assert place.datasets()["rabi"][1] == 111.0


def test_commands_calibrate_and_decide(place):
    def kairos_in(*words):
        return run_kairos(*words, cwd=place.folder)

    listed = kairos_in("calibrate", "--list").stdout.splitlines()
    assert [line.split()[0] for line in listed] == ["calibration", "Detuning", "Rabi", "Gate"]
    assert "detuning: it has no value" in listed[1] and "detuning" in listed[2].split()
    stale = kairos_in("parameters", "stale")
    assert stale.returncode == 1 and "it has no value" in stale.stdout and "ions" not in stale.stdout
    done = kairos_in("calibrate", "rabi")
    assert done.returncode == 0 and "Rabi: done (run 1)" in done.stdout.splitlines()
    assert kairos_in("calibrate", "rabi").stdout == "Detuning: valid\nRabi: valid\nnothing is stale\n"
    started = json.loads(kairos_in("calibrate", "--detach", "--json").stdout)
    until(place.proposals)
    assert "it is accepted by hand only" in kairos_in("parameters", "proposed").stdout
    number = str(place.proposals()[0]["id"])
    assert kairos_in("parameters", "reject", number, "--note", "too small").returncode == 0
    assert ended(place, started["calibration"])["Gate"] == "failed"
    one_line(kairos_in("parameters", "accept", number), f"value {number} of gate was rejected already")
    one_line(kairos_in("calibrate", "none"), "no experiment calibrates 'none'")
    one_line(kairos_in("calibrate", "--stop", "1"), "calibration 1 has ended already")
    one_line(kairos_in("calibrate", "x", "--list"), "--list and --stop take no names", 2)
    assert (
        "valid" in kairos_in("parameters").stdout
        and '"state": "valid"' in kairos_in("parameters", "list", "--json").stdout
    )
    assert kairos_in("alarms").stdout == "lab.toml has no alarms: [[alarm]] declares one\n"
    one_line(kairos_in("alarms", "acknowledge", "RF"), "there is no alarm 'RF'; there are none")
    one_line(kairos_in("alarms", "test"), "no recipient of lab.toml gets 'test'")


def test_dataset_changed_in_place_enters_the_history(lab):
    (lab.folder / "repository" / "grows.py").write_text(
        "from artiq.experiment import *\nclass Grows(EnvExperiment):\n    def run(self):\n"
        "        self.set_dataset('grown', [], broadcast=True, persist=True)\n"
        "        for n in range(5):\n            self.append_to_dataset('grown', n)\n"
        "        self.mutate_dataset('grown', 0, 9)\n"
        "        self.set_dataset('gone', 1, broadcast=True, persist=True)\n"
        "        self.set_dataset('gone', 2, broadcast=True)\n"
    )
    lab.ends(lab.submit({"file": "grows.py", "arguments": {}, "repo_rev": None}))
    assert lab.parameter_history("grown")[0]["value"] == "[9, 1, 2, 3, 4]"
    deleted, set_before = lab.parameter_history("gone")
    assert (deleted["value"], set_before["value"]) == (None, "1")
