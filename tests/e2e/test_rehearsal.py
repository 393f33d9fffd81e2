"""`kairos rehearse` and `kairos check --timing`: what would happen, found on the emulated device."""

import json
import re
import sys

import pytest

from kairos import emulator
from kairos.cli.sarif import sarif
from kairos.contracts.session import PORT
from kairos.devices import DeviceDB
from kairos.diagnostics import Diagnostic, Range
from kairos.experiment.store import DatasetStore
from kairos.network import analyzer
from kairos.twin.rehearsal import Twin
from tests.support.command import HEAD
from tests.support.gateware import built
from tests.support.paths import EXAMPLES
from tests.support.published_structures import check_sarif

PLANTED = """
    @kernel
    def run(self):
        self.core.reset()
        for i in range(2000):
            if i == 999:
                at_mu(self.core.get_rtio_counter_mu() - 1000)
            self.ttl4.pulse(1 * us)
            delay(1 * us)
"""
LOST = """
    @kernel
    def run(self):
        self.core.reset()
        self.ttl4.on()
        delay_mu(1)
        self.ttl4.off()
        delay(1 * us)
        self.ttl5.pulse(1 * us)
"""
ENDLESS = """
    def run(self):
        self.set_dataset("points", [])
        while True:
            self.once()
            self.append_to_dataset("points", 1)

    @kernel
    def once(self):
        self.core.reset()
        self.ttl4.pulse(1 * us)
"""
DEVICES = EXAMPLES / "device_db.py"


def line_of(text, source):
    """Return the number of the line of a file that contains a text."""
    return next(number for number, line in enumerate(source.read_text().splitlines(), 1) if text in line)


def rehearsed(kairos, body, *words, **options):
    done = kairos("rehearse", kairos.write(body), *words, "--json", **options)
    return done, json.loads(done.stdout)


def test_rehearsal_reports_points_duration_and_least_slack(kairos):
    done = kairos("rehearse", EXAMPLES / "blink.py", "pulses=7", "--lines")
    assert done.returncode == 0, done.stderr
    pattern = (
        r"rehearsed in [\d.]+ m?s: [\d.]+ [µm]s on the device, least slack ([\d.]+) µs at line (\d+), no underflow"
    )
    found = re.fullmatch(pattern, done.stdout.splitlines()[-1])
    assert found, done.stdout
    assert line_of("self.ttl4.pulse", EXAMPLES / "blink.py") == int(found[2])
    assert re.search(r"blink\.py:\d+ +self\.ttl4\.pulse\(.* +14 +7 ", done.stdout)
    assert "blinked" not in done.stdout
    assert "blinked" in kairos("rehearse", EXAMPLES / "blink.py", "-v").stdout


def test_planted_underflow_is_found_in_its_pass(kairos):
    done, found = rehearsed(kairos, PLANTED)
    line = line_of("pulse", kairos.directory / "exp.py")
    assert done.returncode == 1 and not found["passed"]
    assert (found["failure"]["kind"], found["failure"]["line"]) == ("RTIOUnderflow", line)
    assert found["failure"]["at_pass"] == 1000
    assert f"exp.py:{line}: RTIOUnderflow in pass 1,000" in found["sentence"]
    assert found["least_slack_ns"] < 0
    shown = kairos("rehearse", "exp.py")
    assert shown.returncode == 1 and "in pass 1,000" in shown.stderr and "begin later" in shown.stderr


def test_lost_outputs_are_reported_with_their_lines(kairos):
    done, found = rehearsed(kairos, LOST)
    (lost,) = found["lost"]
    path = kairos.directory / "exp.py"
    assert done.returncode == 1 and (lost["error"], lost["channel"]) == ("collision", "ttl4")
    assert [line for _, line in lost["places"]] == [line_of("self.ttl4.on()", path)]


def test_rehearsal_that_takes_too_long_reports_its_beginning(kairos):
    done, found = rehearsed(kairos, ENDLESS, "--within", "2s")
    assert done.returncode == 0 and found["stopped"] and found["points"] > 0
    assert found["sentence"].startswith("stopped after ") and "no underflow until then" in found["sentence"]


def test_limit_that_ends_as_another_exception_is_no_failure(kairos):
    body = ENDLESS.replace(
        "            self.once()",
        """            try:
                self.once()
            except Exception as error:
                raise RuntimeError("no more") from error""",
    )
    done, found = rehearsed(kairos, body, "--within", "2s")
    assert done.returncode == 0 and found["stopped"] and found["failure"] is None


def test_endless_kernel_is_stopped_and_its_outputs_are_known(kairos):
    body = PLANTED.replace("range(2000)", "range(1 << 40)").replace("i == 999", "i < 0")
    done, found = rehearsed(kairos, body, "--within", "2s")
    assert done.returncode == 0 and found["stopped"], done.stderr
    assert found["lines"][-1]["passes"] > 1000


def test_slack_equals_that_of_the_analyzer(tmp_path):
    ddb = DeviceDB.load(DEVICES)
    options = emulator.Options(entries=ddb.entries, forward={PORT: 0, analyzer.PORT: 0})
    device = emulator.acquire("emulator://demo", options)
    path = tmp_path / "exp.py"
    path.write_text(HEAD + PLANTED.replace("i == 999", "i < 0").replace("2000", "300"))
    with Twin(ddb) as twin:
        found = twin.rehearse(path)
        dump = analyzer.decode(analyzer.fetch("127.0.0.1", device.port(analyzer.PORT)))
        outputs = device.sources().outputs
    origin = device.trace_start_ns
    seen = {(m.channel, m.timestamp): m.timestamp - m.rtio_counter for m in dump.messages if hasattr(m, "address")}
    assert len(seen) >= 600 and origin > 0 and len(outputs) >= 600
    least = min(slack for (channel, _), slack in seen.items() if channel == found.least.channel)
    # The counter of a message is that of a coarse cycle.
    assert abs(found.least.slack_ns - least) <= 8, (found.least, least)


ASKING = """
    def run(self):
        with self.interactive("power") as more:
            more.setattr_argument("power", NumberValue({default}))
        self.set_dataset("n", [more.power])
        self.append_to_dataset("n", self.get_device("scheduler").expid["arguments"].get("start", 2))
"""


def test_questions_are_answered_by_defaults_or_end_the_rehearsal(kairos):
    done, found = rehearsed(kairos, ASKING.format(default=1.5))
    assert done.returncode == 0 and found["points"] == 1, done.stderr
    done, found = rehearsed(kairos, ASKING.format(default=""))
    assert done.returncode == 0 and "a value of 'power' is asked for, which has no default" in found["sentence"]


def test_persistent_datasets_and_files_are_unchanged(kairos):
    body = """
    def run(self):
        assert open("given.txt").read() == "given"
        assert self.get_dataset("kept") == 3
        self.set_dataset("kept", 4, persist=True)
        open("given.txt", "w").write("changed")
        open("made.txt", "w").write("made")
"""
    (kairos.directory / "given.txt").write_text("given")
    store = DatasetStore(kairos.directory / "dataset_db.mdb")
    store.set("kept", 3, True, {})
    store.close_db()
    done = kairos("rehearse", kairos.write(body))
    assert done.returncode == 0, done.stderr
    assert (kairos.directory / "given.txt").read_text() == "given"
    assert not (kairos.directory / "made.txt").exists()
    assert store.get("kept") == 3
    store.close_db()


CONTROLLER = """
import asyncio, sys
from kairos.controllers import Server

class Laser:
    def power(self):
        return 0.25

async def main():
    server = Server({"laser": Laser()}, builtin_terminate=True)
    await server.start("127.0.0.1", int(sys.argv[1]))
    await server.wait_terminate()

asyncio.run(main())
"""
USES = """
    def run(self):
        self.once()
        self.set_dataset("power", self.get_device("laser").power())

    @kernel
    def once(self):
        self.core.reset()
        self.ttl4.pulse(1 * us)
"""


@pytest.fixture
def with_laser(kairos):
    """`with_laser(**entry)` returns a device database with the controller `laser`."""

    def with_laser(**entry):
        path = kairos.directory / "lab_db.py"
        laser = {"type": "controller", "host": "192.0.2.1", "port": 3300, "command": "laser -p {port}", **entry}
        path.write_text(DEVICES.read_text() + f"\ndevice_db['laser'] = {laser!r}\n")
        return path

    return with_laser


def test_controller_without_stand_in_ends_the_rehearsal_at_its_line(kairos, with_laser):
    done = kairos("rehearse", kairos.write(USES), device_db=with_laser())
    line = line_of("get_device", kairos.directory / "exp.py")
    assert done.returncode == 0
    assert done.stdout.startswith(f"cannot be rehearsed beyond line {line}: 'laser' is needed: its controller has no")
    assert "least slack" in done.stdout
    in_kernel = USES.replace("self.ttl4.pulse(1 * us)", "self.laser.on()")
    in_kernel = in_kernel.replace("self.once()\n", "self.setattr_device('laser')\n        self.once()\n")
    _, found = rehearsed(kairos, in_kernel, device_db=with_laser())
    assert found["failure"]["line"] == line_of("laser.on", kairos.directory / "exp.py"), found["sentence"]


def test_stand_ins_of_controllers_answer(kairos, with_laser):
    program = kairos.directory / "laser.py"
    program.write_text(CONTROLLER)
    command = f"{sys.executable} {program} {{port}}"
    for entry in (
        {"rehearsal": command},
        {"command": f"{command} --simulation"},
        {"rehearsal": {"power": 0.25}},
        {"best_effort": True},
    ):
        done, found = rehearsed(kairos, USES, device_db=with_laser(**entry))
        assert done.returncode == 0 and found["failure"] is None, (entry, done.stderr, found)


def test_own_driver_is_used_only_if_it_is_declared_harmless(kairos):
    (kairos.directory / "mine.py").write_text(
        "class Laser:\n    def __init__(self, dmgr):\n        pass\n    def power(self):\n        return 1\n"
    )
    entry = {"type": "local", "module": "mine", "class": "Laser"}
    for more, expected in (({}, "NoStandIn"), ({"rehearsal": True}, None)):
        path = kairos.directory / "lab_db.py"
        path.write_text(DEVICES.read_text() + f"\ndevice_db['laser'] = {entry | more!r}\n")
        done, found = rehearsed(kairos, USES, device_db=path)
        assert (found["failure"] or {}).get("kind") == expected, found
        assert done.returncode == 0


def test_core_device_that_is_not_emulated_needs_a_named_twin(kairos):
    path = kairos.directory / "lab_db.py"
    path.write_text(DEVICES.read_text().replace("emulator://demo", "192.0.2.7"))
    done = kairos("rehearse", EXAMPLES / "blink.py", device_db=path)
    assert done.returncode == 1 and "--twin emulator://VARIANT" in done.stderr
    assert kairos("rehearse", EXAMPLES / "blink.py", "--twin", "emulator://demo", device_db=path).returncode == 0


def test_compile_errors_are_reported_with_their_line(kairos):
    done, found = rehearsed(kairos, "\n    @kernel\n    def run(self):\n        self.ttl4.pulze(1)\n")
    assert done.returncode == 1 and found["failure"]["kind"] == "CompileError"
    assert found["failure"]["line"] == line_of("pulze", kairos.directory / "exp.py")


def test_slower_network_is_part_of_the_prediction(kairos):
    body = """
    def ask(self) -> TInt32:
        return 1

    @kernel
    def run(self):
        self.core.reset()
        self.ask()
        self.ttl4.on()
"""
    quick, slow = (rehearsed(kairos, body, "--network", time)[1] for time in ("20us", "2ms"))
    assert quick["passed"] and slow["failure"]["kind"] == "RTIOUnderflow"


def test_check_with_timing_shows_slack_of_each_line(kairos):
    path = kairos.write(PLANTED.replace("i == 999", "i < 0"))
    done = kairos("check", "--timing", path)
    assert done.returncode == 0 and re.search(r"exp\.py:\d+ +self\.ttl4\.pulse\(1 \* us\) +4,000 +2,000 ", done.stdout)
    found = json.loads(kairos("check", "--timing", path, "--json", "--least-slack", "1s").stdout)
    line = line_of("pulse", path)
    assert [own["line"] for own in found["timing"][0]["lines"]][-1] == line
    assert any("least slack" in each["message"] and each["range"]["start"]["line"] == line - 1
               for each in found["diagnostics"])  # fmt: skip
    strict = kairos("check", "--timing", "--strict", "--least-slack", "1s", path)
    assert strict.returncode == 1
    assert kairos("check", path, "n=1").returncode == 2


def test_check_as_sarif_names_rule_level_and_place(kairos):
    path = kairos.write(PLANTED)
    log = json.loads(kairos("check", "--timing", path, "--sarif").stdout)
    check_sarif(log)
    (run,) = log["runs"]
    (result,) = [each for each in run["results"] if each["level"] == "error"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert log["version"] == "2.1.0" and region["startLine"] == line_of("pulse", path)
    assert "RTIOUnderflow in pass 1,000" in result["message"]["text"]
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} >= {result["ruleId"]}
    wrong = kairos.write("\n    @kernel\n    def run(self):\n        self.ttl4.pulze(1)\n", name="wrong.py")
    log = json.loads(kairos("check", wrong, "--sarif").stdout)
    check_sarif(log)
    (result,) = log["runs"][0]["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region["startLine"] == line_of("pulze", wrong) and region["endColumn"] > region["startColumn"]


CALLED = """
    @kernel
    def pulse(self):
        self.ttl4.pulse(1 * us)
        delay(1 * us)

    @kernel
    def run(self):
        self.core.reset()
        for i in range(3):
            self.pulse()
        at_mu(now_mu() - 100000000)
        self.pulse()  # late
"""


def test_line_of_a_function_has_the_places_of_its_calls(kairos):
    path = kairos.write(CALLED)
    log = json.loads(kairos("check", "--timing", path, "--least-slack", "1s", "--sarif").stdout)
    check_sarif(log)
    places = [
        [
            each["physicalLocation"]["region"]["startLine"]
            for each in (*result["locations"], *result["relatedLocations"])
        ]
        for result in log["runs"][0]["results"]
    ]
    here = [line_of("ttl4.pulse", path), line_of("# late", path)]
    assert places == [here, here]
    failed, slow = [result["message"]["text"] for result in log["runs"][0]["results"]]
    assert "RTIOUnderflow in pass 1: " in failed and slow.endswith("in pass 1 of 1")
    assert f"called from {path}:{here[1]}" in kairos("check", "--timing", path).stdout


@pytest.mark.parametrize(
    "name, uri",
    [
        ("a b#1%.py", "a%20b%231%25.py"),
        ("a:b.py", "a%3Ab.py"),
        ("below/é😀.py", "below/%C3%A9%F0%9F%98%80.py"),
        ("caf\udce9.py", "caf%E9.py"),
        ("/labor/é.py", "file:///labor/%C3%A9.py"),
    ],
)
def test_names_of_files_in_sarif_are_uris(name, uri):
    place = Range(name, (0, 1), (0, 2))
    found = sarif([Diagnostic(f"{name}: wrong", place, "wrong", related=((place, f"from {name}"),))])
    check_sarif(json.loads(json.dumps(found)))
    (result,) = found["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri


SLOW = """
    @kernel
    def run(self):
        self.core.reset()
        self.ttl4.pulse(1 * us)
        self.asked(1)
        self.core.break_realtime()
        self.ttl5.pulse(1 * us)

    def asked(self, n):
        import time
        time.sleep(PAUSE)
"""


def test_device_time_does_not_follow_a_slow_host(tmp_path):
    times = []
    for pause in (0, 2.5):  # the emulator follows the clock after 2 s if nobody says otherwise
        file = tmp_path / f"slow{pause}.py"
        file.write_text(HEAD + SLOW.replace("PAUSE", str(pause)))
        with Twin(DeviceDB.load(DEVICES)) as twin:
            times.append(twin.rehearse(file).device_ns)
    assert times[0] == times[1]


SUBKERNELS = """
import time

from artiq.experiment import *

class Exp(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("sat_ttl4")

    def sleep(self):
        time.sleep(2.2)

    @subkernel(destination=1)
    def far(self):
        self.sat_ttl4.pulse(2 * us)

    @kernel
    def run(self):
        self.core.reset()
        delay(20 * ms)
        self.far()
        CALL
        subkernel_await(self.far)
"""


@pytest.mark.parametrize("call", ["", "self.sleep()"])
def test_kernel_that_waits_for_another_board_is_rehearsed_in_the_same_time_with_a_slow_host(kairos, call):
    """The device's time does not follow the clock of the wall, on which the host takes longer than `host_wait_ms`."""
    built("pair", "satellite")
    path = kairos.write(SUBKERNELS.replace("CALL", call), head="")
    done = kairos("rehearse", path, "--json", device_db=EXAMPLES / "two_boards_device_db.py")
    found = json.loads(done.stdout)
    assert done.returncode == 0 and "no underflow" in found["sentence"], done.stdout + done.stderr
    assert found["device_ns"] < 30e6, "the kernel waits for a message of the other board, not for the host"
