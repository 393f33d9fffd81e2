"""Devices of a rehearsal, without a device: what an experiment sees of controllers and of files with experiments."""

import sys

import pytest

from kairos.devices import DeviceDB
from kairos.errors import UsageError
from kairos.twin.folder import experiments_in
from kairos.twin.standins import NoStandIn, TwinDevices, twin_database

LASER = {"type": "controller", "host": "192.0.2.1", "port": 3300, "command": "laser -p {port}"}
LISTENS = (
    "import socket, sys; s = socket.create_server(('127.0.0.1', int(sys.argv[1]))); [s.accept() for _ in range(9)]"
)


def manager_of(**entries):
    return TwinDevices(twin_database(DeviceDB(entries)))


def test_experiment_sees_addresses_of_stand_ins_only():
    command = f'{sys.executable} -c "{LISTENS}" {{port}}'
    devices = manager_of(
        absent=LASER, camera={**LASER, "rehearsal": {"image": [1]}}, stage={**LASER, "rehearsal": command}
    )
    try:
        seen = devices.get_device_db()
        assert [entry.get("port", 0) for entry in seen.values()] == [0, 0, 0], "none of the laboratory"
        for name in ("absent", "camera"):
            with pytest.raises(NoStandIn, match=f"'{name}' is needed, and its 'host'"):
                seen[name]["host"]
        found = seen["stage"]
        assert found["host"] == "127.0.0.1" and found["port"] not in (0, 3300) and seen.get("stage") == found
    finally:
        devices.close_devices()


def test_changed_reply_is_not_seen_by_the_next_call():
    devices = manager_of(camera={**LASER, "rehearsal": {"image": [[1, 2]]}})
    devices.get("camera").image()[0][0] = 99
    assert devices.get("camera").image() == [[1, 2]]


def test_experiments_of_a_file_leave_out_bases_without_run(tmp_path):
    path = tmp_path / "bases.py"
    path.write_text(
        "from artiq.experiment import *\nclass Base(EnvExperiment):\n    pass\n"
        "class Own(Base):\n    def run(self):\n        pass\n"
    )
    assert [name for name, _ in experiments_in(str(path))] == ["Own"]
    path.write_text("import sys\nsys.exit(3)\n")
    with pytest.raises(UsageError, match="ends when it is imported"):
        experiments_in(str(path))
