"""Emulated devices, one per test module, and the command `kairos`."""

import os

import pytest

from tests.support import sd_card
from tests.support.command import Kairos
from tests.support.device import Device, RemoteDevice
from tests.support.paths import BUILD, EXAMPLES

ARTIFACTS = ("emulator/kairos-emulator", "firmware/runtime.elf", "gateware/demo/libkairos_pl.so")

# Kernels compiled by an earlier run would not test the current compiler.
os.environ["KAIROS_CACHE"] = "off"


@pytest.fixture(scope="session")
def start_device():
    """The class of emulated devices, for tests with their own device, which they must close."""
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
    """An emulated device with an SD card that stores a configuration."""
    directory = tmp_path_factory.mktemp("device")
    device = Device(directory, sd=sd_card.make(directory / "card"))
    yield device
    device.close()


@pytest.fixture
def kairos(tmp_path):
    """The command `kairos`, run in its own directory."""
    missing = [name for name in ARTIFACTS if not (BUILD / name).exists()]
    if missing:
        pytest.fail(f"not built: {', '.join(missing)} in {BUILD}. Run `make build` first.", pytrace=False)
    return Kairos(tmp_path)


@pytest.fixture
def device_db(device, tmp_path):
    """A device database whose core is this test module's device, which persists between runs."""
    path = tmp_path / "device_db.py"
    text = (EXAMPLES / "device_db.py").read_text()
    assert '"emulator://demo"' in text
    path.write_text(text.replace('"emulator://demo"', f'"{device.host}:{device.port}"'))
    return path
