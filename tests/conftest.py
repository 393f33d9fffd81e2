"""Devices for tests, one for each test module, and the command."""

import os

import pytest

from tests.support import sd_card
from tests.support.command import Kairos
from tests.support.device import Device, RemoteDevice
from tests.support.paths import BUILD, EXAMPLES

ARTIFACTS = ("emulator/kairos-emulator", "firmware/runtime.elf", "gateware/demo/libkairos_pl.so")

# What an earlier run has compiled proves nothing of today's compiler.
os.environ["KAIROS_CACHE"] = "off"


@pytest.fixture(scope="session")
def start_device():
    """Class of emulated devices, for tests that need one of their own: whoever starts one closes it."""
    return Device


@pytest.fixture(scope="module")
def device(tmp_path_factory):
    """An emulated device with the gateware `demo`, booted and ready."""
    address = os.environ.get("KAIROS_TEST_DEVICE")
    device = RemoteDevice(address) if address else Device(tmp_path_factory.mktemp("device"))
    yield device
    device.close()


@pytest.fixture(scope="module")
def device_with_card(tmp_path_factory):
    """The same with an SD card, on which a configuration can be kept."""
    directory = tmp_path_factory.mktemp("device")
    device = Device(directory, sd=sd_card.make(directory / "card"))
    yield device
    device.close()


@pytest.fixture
def kairos(tmp_path):
    """The command, in a directory of its own."""
    missing = [name for name in ARTIFACTS if not (BUILD / name).exists()]
    if missing:
        pytest.fail(f"not built: {', '.join(missing)} in {BUILD}. Run `make build` first.", pytrace=False)
    return Kairos(tmp_path)


@pytest.fixture
def device_db(device, tmp_path):
    """A device database whose core is the device of this test module, which outlives a run."""
    path = tmp_path / "device_db.py"
    text = (EXAMPLES / "device_db.py").read_text()
    assert '"emulator://demo"' in text
    path.write_text(text.replace('"emulator://demo"', f'"{device.host}:{device.port}"'))
    return path
