"""The storage of an emulated device that keeps running: its configuration can be written, and is kept in a
file if one is named."""

import pytest

from kairos.cli import main
from kairos.emulator import Emulator, Options
from kairos.errors import UsageError
from kairos.network.management import PORT, Management, ManagementError


@pytest.fixture
def device():
    started = []

    def start(storage):
        device = Emulator("demo", Options(forward={PORT: 0}, storage=storage))
        started.append(device)
        device.wait_ready()
        return device

    yield start
    for one in started:
        one.stop()


def config(device):
    return Management("localhost", device.port(PORT))


def test_configuration_can_be_written(device):
    with config(device("")) as management:
        management.config_write("startup_kernel", bytes(200_000))
        management.config_write("log_level", b"DEBUG")
        assert management.config_read("log_level") == b"DEBUG"
        assert management.config_read("startup_kernel") == bytes(200_000)
        management.config_remove("log_level")
        with pytest.raises(ManagementError):
            management.config_read("log_level")


def test_named_file_keeps_configuration(device, tmp_path):
    file = tmp_path / "lab.card"
    first = device(str(file))
    with config(first) as management:
        management.config_write("mac", b"02:00:00:00:00:07")
    with pytest.raises(UsageError, match="lab.card is in use by another device: name another file"):
        device(str(file))
    first.stop()
    assert file.stat().st_blocks * 512 < 4 << 20, "what is not written takes no space"
    with config(device(str(file))) as management:
        assert management.config_read("mac") == b"02:00:00:00:00:07"


def test_unusable_file_is_one_line(tmp_path, capsys):
    assert main(["emulate", "--offset", "100", "--storage", str(tmp_path / "no" / "card")]) == 1
    assert "card cannot be used: No such file or directory" in capsys.readouterr().err
    assert main(["emulate", "pair", "--storage", str(tmp_path / "card")]) == 1
    assert "--storage is for a single board" in capsys.readouterr().err
