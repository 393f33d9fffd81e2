"""Controllers of a laboratory: started, kept running and logged by it, and managed at their port."""

import os
import socket
import sys

import pytest

from kairos.controllers import Client, ControllerError
from tests.support.laboratory import Laboratory
from tests.support.ports import free_port
from tests.support.waiting import until

PROGRAM = """
import os, signal, sys
from kairos.controllers import serve

class Laser:
    def power(self):
        return float(sys.argv[2])
    def pid(self):
        return os.getpid()
    def ping(self):
        return True

print("WARNING:laser:it is bright", flush=True)
serve({"laser": Laser()}, "127.0.0.1", int(sys.argv[1]))
"""


def database(lab_folder, power, port, **more):
    program = lab_folder / "laser.py"
    program.write_text(PROGRAM)
    command = f"{sys.executable} {program} {{port}} {power}"
    entry = {"type": "controller", "host": "127.0.0.1", "port": port, "command": command, **more}
    return f"device_db = {{'laser': {entry!r}, 'bad': {{'type': 'controller', 'host': '::1', 'command': 'x'}}}}\n"


@pytest.fixture
def port():
    return free_port()


@pytest.fixture
def lab(tmp_path, port):
    laboratory = Laboratory(tmp_path, device_db=database(tmp_path, 1, port)).start()
    yield laboratory
    laboratory.close()


def reached(port):
    """Returns a client of the controller once it answers."""

    def attempt():
        try:
            return Client("127.0.0.1", port, "laser")
        except ControllerError:
            return None

    return until(attempt)


def test_controller_lives_with_the_laboratory_and_follows_its_database(lab, port):
    laser = reached(port)
    assert laser.power() == 1.0
    until(lambda: ("controller(laser)", "laser:it is bright") in [(record[1], record[3]) for record in lab.log()])
    assert any("controller 'bad': 'port' is missing" in record[3] for record in lab.log())
    manager = Client("::1", lab.ports["controllers"], "ctlmgr")
    assert manager.retry_now("laser") is None
    pid = laser.pid()
    devices = Client("::1", lab.ports["control"], "device_db")
    devices.scan()
    assert laser.pid() == pid, "an entry that is the same does not disturb its controller"
    (lab.folder / "device_db.py").write_text(database(lab.folder, 2, port))
    devices.scan()
    until(lambda: not os.path.exists(f"/proc/{pid}"))
    laser = reached(port)
    assert laser.power() == 2.0
    (lab.folder / "device_db.py").write_text("device_db = {}\n")
    pid = laser.pid()
    devices.scan()
    until(lambda: not os.path.exists(f"/proc/{pid}"))
    for client in (devices, manager):
        client.close_rpc()


@pytest.mark.parametrize("end", ["end", "kill"])
def test_no_controller_is_left_when_its_laboratory_has_ended(lab, port, end):
    pid = reached(port).pid()
    getattr(lab, end)()
    until(lambda: not os.path.exists(f"/proc/{pid}"))
    lab.start()
    assert reached(port).pid() != pid


def test_controllers_are_left_to_a_manager_that_runs_already(tmp_path, port):
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        laboratory = Laboratory(tmp_path, device_db=database(tmp_path, 1, port))
        settings = (tmp_path / "lab.toml").read_text().replace("controllers = 0", f"controllers = {taken}")
        (tmp_path / "lab.toml").write_text(settings)
        laboratory.start()
        assert any("left to the manager that runs already" in record[3] for record in laboratory.log())
        assert laboratory.ends(laboratory.run_of("Quick"))["status"] == "completed"
        with pytest.raises(ControllerError):
            Client("127.0.0.1", port)
        laboratory.close()


def test_disabled_controllers_are_not_started(tmp_path, port):
    laboratory = Laboratory(tmp_path, "controllers = false\n", database(tmp_path, 1, port)).start()
    assert "controllers" not in laboratory.ports
    with pytest.raises(ControllerError):
        Client("127.0.0.1", port)
    laboratory.close()
