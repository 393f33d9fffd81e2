"""A laboratory as clients of ARTIQ's master find it, over bare sockets and from the description of the protocols."""

import ast
import json
import random
import socket
import time
from contextlib import suppress

import pytest

from tests.support import TIMEOUT
from tests.support.laboratory import Laboratory
from tests.support.raw_master import Lines, Target, notified
from tests.support.waiting import until

HOSTS = ("127.0.0.1", "::1")
DEVICES = """device_db = {
    "core": {"type": "local", "module": "artiq.coredevice.core", "class": "Core", "arguments": {"host": None,
             "ref_period": 1e-9, "satellite_cpu_targets": {1: "cortexa9"}}},
    "laser": {"type": "controller", "host": "::1", "port": 3300},
    "beam": "laser",
}
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab")
    laboratory = Laboratory(folder, 'name = "trap"\nlog_submissions = "submitted.csv"\n', DEVICES).start()
    until(lambda: laboratory.experiments()["experiments"])
    yield laboratory
    laboratory.close()


TARGETS = ["dataset_db", "device_db", "experiment_db", "schedule"]
ALL = sorted([*TARGETS, *(f"master_{name}" for name in TARGETS), "interactive_arg_db", "master_management"])


def expid(class_name, **arguments):
    return {"log_level": 30, "file": "lab.py", "class_name": class_name, "arguments": arguments, "repo_rev": None}


def test_every_port_is_served_at_both_local_addresses(lab):
    for host in HOSTS:
        for name, first in [
            ("control", ["ARTIQ pc_rpc"]),
            ("notify", ["ARTIQ sync_struct", "schedule"]),
        ]:
            lines = Lines(lab.ports[name], *first, host=host)
            assert lines.line()
            lines.close()
        for name in ("broadcast", "logging"):
            socket.create_connection((host, lab.ports[name]), TIMEOUT).close()


def test_control_greets_with_targets_under_both_names(lab):
    lines = Lines(lab.ports["control"], "ARTIQ pc_rpc")
    assert json.loads(lines.line()) == {"targets": ALL, "description": "trap", "features": ["pyon_v2"]}
    lines.close()


@pytest.mark.parametrize("first", [["ARTIQ pc"], ["ARTIQ pc_rpc", "nonsense pyon_v2"], ["ARTIQ pc_rpc", "schedule x"]])
def test_wrong_greeting_is_answered_by_closing(lab, first):
    lines = Lines(lab.ports["control"], *first)
    received = [line for line in lines.stream]
    assert len(received) == len(first) - 1
    lines.close()


@pytest.mark.parametrize("name", ["schedule", "master_schedule"])
def test_submitted_run_is_published_in_each_state(lab, name):
    target = Target(lab, name)
    until(lambda: target.call("get_status") == {})  # runs of other tests have ended
    follower, before = notified(lab, "schedule")
    assert {
        "submit",
        "delete",
        "request_termination",
        "get_status",
        "check_pause",
        "check_termination",
    } <= target.methods
    rid = target.call("submit", "main", expid("Quick", n=2), 3, None, False)
    added = follower.value()
    assert (added["action"], added["path"], added["key"]) == ("setitem", [], rid)
    run = added["value"]
    assert {**run, "expid": None} == {
        "pipeline": "main",
        "expid": None,
        "repo_msg": None,
        "priority": 3,
        "due_date": None,
        "flush": False,
        "status": "pending",
    }
    assert run["expid"]["repo_rev"] == "N/A" and run["expid"]["arguments"] == {"n": 2}
    states = []
    while (change := follower.value())["action"] != "delitem":
        assert change["path"] == [rid] and change["key"] == "status"
        states.append(change["value"])
    assert (change["path"], change["key"]) == ([], rid)
    assert states == ["preparing", "prepare_done", "running", "run_done", "analyzing", "deleting"]
    assert target.call("get_status") == {} and target.call("check_termination", rid) is False
    assert target.failure("check_pause", rid) == "KeyError"
    assert target.call("delete", 12345) is None and target.call("request_termination", 12345) is None
    assert target.failure("submit", "main", {}) == "ValueError"
    assert target.failure("no_such_method") == "AttributeError"
    assert lab.run(rid)["status"] == "completed"
    assert f"\n{rid}," in "\n" + (lab.folder / "submitted.csv").read_text()
    target.close(), follower.close()


def test_run_deleted_with_its_submission_leaves_the_queue(lab):
    target = Target(lab, "schedule")
    until(lambda: target.call("get_status") == {})
    rid = target.call("submit", "main", expid("Quick", n=2)) + 1
    until(lambda: target.call("get_status") == {})
    calls = ("submit", ["main", expid("Quick", n=2)]), ("delete", [rid])
    # Read at once, so that nothing of the run has been done when it is deleted.
    target.send(
        "\n".join(json.dumps({"action": "call", "name": name, "args": args, "kwargs": {}}) for name, args in calls)
    )
    assert [target.value()["ret"], target.value()["ret"]] == [rid, None]
    until(lambda: target.call("get_status") == {})
    assert lab.run(rid)["status"] == "deleted"
    target.close()


def test_submission_without_repository_has_an_absolute_path(lab):
    target = Target(lab, "schedule")
    given = {"log_level": 30, "file": "repository/lab.py", "class_name": "Quick", "arguments": {}}
    rid = target.call("submit", "main", given, 0, time.time() + 1000)
    status = target.call("get_status")[rid]
    assert status["expid"]["file"] == str(lab.folder / "repository" / "lab.py") and "repo_rev" not in status["expid"]
    target.call("request_termination", rid)
    until(lambda: rid not in target.call("get_status"))
    target.close()


OVERRIDDEN = """from artiq.experiment import *
class Shown(EnvExperiment):
    def run(self):
        self.set_dataset("core", self.get_device_db()["core"]["arguments"], broadcast=True, archive=False)
"""


@pytest.mark.parametrize(
    "given", [{"core": {"ref_period": 2e-9, "host": "::2"}}, 'core:ref_period=2e-9 core:host="::2"']
)
def test_submission_replaces_arguments_of_devices(lab, given):
    target = Target(lab, "schedule")
    submitted = {"log_level": 30, "content": OVERRIDDEN, "class_name": None, "arguments": {}, "devarg_override": given}
    rid = target.call("submit", "main", submitted)
    assert lab.ends(rid)["status"] == "completed"
    shown = lab.datasets()["core"][1]
    assert (shown["ref_period"], shown["host"], shown["satellite_cpu_targets"]) == (2e-9, "::2", {1: "cortexa9"})
    assert target.failure("submit", "main", submitted | {"devarg_override": {"core": 5}}) == "ValueError"
    target.close()


@pytest.mark.parametrize("name", ["dataset_db", "master_dataset_db"])
def test_datasets_are_set_and_followed(lab, name):
    follower, struct = notified(lab, "datasets")
    target = Target(lab, name)
    target.call("set", f"{name}.x", [1, 2], metadata={"unit": "ms"})
    entry = (False, [1, 2], {"unit": "ms"})
    assert follower.value() == {"action": "setitem", "path": [], "key": f"{name}.x", "value": entry}
    target.call("set", f"{name}.x", [1], persist=True)
    assert follower.value()["value"] == (True, [1], {"unit": "ms"})
    target.call("set", f"{name}.x", [2])
    assert follower.value()["value"] == (True, [2], {"unit": "ms"})
    append = {"action": "append", "path": [f"{name}.x", 1], "x": 5}
    target.call("update", append)
    assert follower.value() == append
    element = {"action": "setitem", "path": [f"{name}.x", 1], "key": 0, "value": 7}
    target.call("update", element)
    assert follower.value() == element
    assert target.call("get", f"{name}.x") == [7, 5] and target.call("get_metadata", f"{name}.x") == {"unit": "ms"}
    target.call("update", {"action": "setitem", "path": [], "key": "new", "value": (False, 1, {})})
    assert follower.value()["key"] == "new"
    target.call("delete", "new")
    assert follower.value() == {"action": "delitem", "path": [], "key": "new"}
    assert target.failure("get", "none") == target.failure("delete", "none") == "KeyError"
    target.close(), follower.close()


def test_datasets_of_a_run_are_followed_point_by_point(lab):
    follower, _ = notified(lab, "datasets")
    lab.run_of("Quick", n=3)
    changes = []
    while not changes or changes[-1].get("key") != "total":
        changes.append(follower.value())
    first = {"action": "setitem", "path": [], "key": "points", "value": (False, [], {"unit": "ms", "scale": 0.001})}
    assert changes[0] == first
    assert changes[1:4] == [{"action": "append", "path": ["points", 1], "x": number} for number in range(3)]
    assert changes[4]["value"] == (True, 3, {}) and len(changes) == 5
    follower.close()


@pytest.mark.parametrize("name", ["device_db", "master_device_db"])
def test_devices_are_read_and_followed(lab, name):
    follower, struct = notified(lab, "devices")
    target = Target(lab, name)
    assert struct["beam"] == "laser" and struct == target.call("get_device_db")
    assert target.call("get", "beam") == "laser" and target.call("get", "beam", True)["port"] == 3300
    assert target.call("get_satellite_cpu_target", 1) == "cortexa9"
    assert target.failure("get", "none") == "KeyError"
    (lab.folder / "device_db.py").write_text(DEVICES + "device_db['new'] = 'beam'\ndel device_db['laser']\n")
    target.call("scan")
    changes = sorted([follower.value(), follower.value()], key=lambda change: change["action"])
    assert changes == [
        {"action": "delitem", "path": [], "key": "laser"},
        {"action": "setitem", "path": [], "key": "new", "value": "beam"},
    ]
    (lab.folder / "device_db.py").write_text(DEVICES)
    target.call("scan")
    target.close(), follower.close()


@pytest.mark.parametrize("name", ["experiment_db", "master_experiment_db"])
def test_experiments_are_listed_examined_and_followed(lab, name):
    follower, experiments = notified(lab, "explist")
    status, state = notified(lab, "explist_status")
    target = Target(lab, name)
    assert state == {"scanning": False, "cur_rev": "N/A"}
    entry = experiments["Quick scan"]
    assert {*entry} == {"file", "class_name", "arginfo", "argument_ui", "scheduler_defaults"}
    assert (entry["file"], entry["class_name"], entry["scheduler_defaults"]) == ("lab.py", "Quick", {})
    described, group, tooltip = entry["arginfo"]["n"]
    assert described["ty"] == "NumberValue" and (group, tooltip) == ("group", "tip")
    folder = lab.folder / "repository" / name
    folder.mkdir()
    (folder / "more.py").write_text((lab.folder / "repository" / "lab.py").read_text().partition("class Patient")[0])
    target.call("scan_repository")
    change = follower.value()
    assert (change["action"], change["path"], change["key"]) == ("setitem", [], f"{name}/Quick scan")
    assert change["value"]["file"] == f"{name}/more.py"
    assert [status.value()["value"] for _ in range(2)] == [True, False]
    assert target.call("scan_repository_async") is None
    assert [status.value()["value"] for _ in range(2)] == [True, False]
    found = target.call("examine", f"{name}/more.py")
    assert {*found} == {"Quick"} and {*found["Quick"]} == {"name", "arginfo", "argument_ui", "scheduler_defaults"}
    assert target.call("examine", str(folder / "more.py"), False) == found
    assert target.failure("examine", "none.py") == "GenericRemoteException"
    assert target.call("root") == str(lab.folder / "repository")
    assert f"{name}/" in target.call("list_directory", str(lab.folder / "repository"))
    assert "/tmp/" in target.call("list_directory", "")
    target.close(), follower.close(), status.close()


def test_interactive_arguments_are_followed_and_supplied(lab):
    follower, struct = notified(lab, "interactive_args")
    target = Target(lab, "interactive_arg_db")
    assert struct == {}
    rid = lab.run_of("Asks")
    asked = follower.value()
    assert (asked["action"], asked["path"], asked["key"]) == ("setitem", [], rid)
    assert asked["value"]["title"] == "Which one?"
    ((key, described, group, tooltip),) = asked["value"]["arglist_desc"]
    assert (key, described["unit"], group, tooltip) == ("power", "mW", None, None)
    assert target.failure("supply", rid, {"x": 1}) == target.failure("supply", 99999, {}) == "ValueError"
    target.call("supply", rid, {"power": 2.5})
    assert follower.value() == {"action": "delitem", "path": [], "key": rid}
    assert lab.ends(rid)["status"] == "completed" and lab.datasets()["power"][1] == 2.5
    rid = lab.run_of("Asks")
    follower.value()
    target.call("cancel", rid)
    record = lab.ends(rid)
    assert record["status"] == "failed" and "CancelledArgsError" in record["error"]
    assert target.failure("cancel", rid) == "ValueError"
    target.close(), follower.close()


def test_management_names_the_laboratory(lab):
    target = Target(lab, "master_management")
    assert target.call("get_name") == "trap" and "terminate" in target.methods
    target.close()


def test_client_without_feature_is_served_in_version_1(lab):
    lines = Lines(lab.ports["control"], "ARTIQ pc_rpc")
    lines.line()
    lines.send("master_dataset_db")
    assert "get_metadata" in ast.literal_eval(lines.line())
    lines.send("""{"action": "call", "name": "set", "args": ("old", (1, null, true)), "kwargs": {}}""")
    assert lines.line() == '{"status": "ok", "ret": null}\n'
    lines.send("""{"action": "call", "name": "get", "args": ("old", ), "kwargs": {}}""")
    assert lines.line() == '{"status": "ok", "ret": (1, null, true, )}\n'
    lines.close()


def test_methods_are_listed_with_their_arguments(lab):
    target = Target(lab, "schedule")
    target.send('{"action": "get_rpc_method_list"}')
    methods = target.value()["ret"]["methods"]
    arguments, text = methods["submit"]
    assert arguments["args"] == ["self", "pipeline_name", "expid", "priority", "due_date", "flush"] and text
    assert arguments["defaults"] == (0, None, False) and not any(name.startswith("_") for name in methods)
    target.close()


def test_blocked_client_does_not_block_another(lab):
    """A scan takes until a file is there; meanwhile others are served."""
    slow, quick = Target(lab, "experiment_db"), Target(lab, "master_management")
    gate = lab.folder / "gate"
    waits = f"import time\nfrom pathlib import Path\nwhile not Path({str(gate)!r}).exists():\n    time.sleep(0.02)\n"
    (lab.folder / "repository" / "slow.py").write_text(waits)
    slow.send('{"action": "call", "name": "scan_repository", "args": [], "kwargs": {}}')
    assert quick.call("get_name") == "trap"
    gate.touch()
    assert slow.value()["status"] == "ok"
    slow.close(), quick.close()


def test_random_lines_disturb_no_other_client(lab):
    until(lambda: not lab.queue())  # runs of other tests have ended
    chance = random.Random(1)
    parts = [
        "ARTIQ pc_rpc",
        "schedule pyon_v2",
        "schedule",
        '{"action": "call"',
        '"name": "submit"',
        '"args": [',
        "]}",
        "\x00",
    ]
    for _ in range(150):
        port = lab.ports[chance.choice(["control", "notify", "broadcast", "logging"])]
        first = [chance.choice(parts) + chance.choice(parts) for _ in range(chance.randrange(4))]
        first += ["ARTIQ pc_rpc\nschedule pyon_v2"] * chance.randrange(2)
        first += [", ".join(chance.choices(parts, k=3)) for _ in range(chance.randrange(4))]
        with suppress(OSError):  # it is disconnected while it sends
            Lines(port, *first).close()
    target = Target(lab, "schedule")
    assert target.call("get_status") == {}
    target.close()


def test_two_hundred_clients_follow_the_datasets(lab):
    target = Target(lab, "dataset_db")
    followers = [notified(lab, "datasets")[0] for _ in range(200)]
    target.call("set", "common", 7)
    assert all(follower.value()["key"] == "common" for follower in followers)
    for lines in (*followers, target):
        lines.close()


def test_line_longer_than_artiq_takes_is_taken(lab):
    target = Target(lab, "dataset_db")
    text = "x" * (5 << 20)
    assert target.call("set", "large", text) is None
    assert target.call("get", "large") == text
    assert target.call("delete", "large") is None
    target.close()


def test_log_and_commands_are_broadcast(lab):
    log = Lines(lab.ports["broadcast"], "ARTIQ broadcast", "log")
    commands = Lines(lab.ports["broadcast"], "ARTIQ broadcast", "ccb")
    sender = Lines(lab.ports["logging"], "ARTIQ logging")
    # Subscription is not acknowledged: it is there once a record comes through.
    log.socket.settimeout(0.2)
    begun = time.time()
    while True:
        sender.send("laser:ERROR<2>:driver:it is off")
        sender.send("because of the interlock")
        try:
            level, source, moment, text = log.value()
            break
        except TimeoutError:
            log = Lines(lab.ports["broadcast"], "ARTIQ broadcast", "log")
            log.socket.settimeout(1)
    assert (level, source, text) == (40, "laser", "driver:it is off\nbecause of the interlock")
    assert begun - 1 <= moment <= time.time() + 1
    log.socket.settimeout(TIMEOUT)
    rid = lab.run_of("Submits")
    command = commands.value()
    assert command == {
        "service": "create_applet",
        "args": ("plot", "${artiq_applet}plot_xy points"),
        "kwargs": {"group": "a"},
    }
    while (record := log.value())[1] == "laser":
        pass
    assert record[:2] == [20, f"worker({rid + 1},lab.py)"] or record[1].startswith("worker(")
    log.close(), commands.close(), sender.close()


def test_start_is_announced_once_all_ports_listen(lab):
    assert "ARTIQ master is now ready.\n" in (lab.folder / "output").read_text()


def test_laboratory_ends_on_request(tmp_path):
    laboratory = Laboratory(tmp_path).start()
    target = Target(laboratory, "master_management")
    assert target.call("terminate") is None
    assert laboratory.process.wait(TIMEOUT) == 0
    target.close()
