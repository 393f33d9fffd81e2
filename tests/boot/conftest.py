"""Bootable devices, boot images and SD cards."""

import pytest

from kairos.boot import boot_image
from tests.support import sd_card
from tests.support.boot_device import BootDevice
from tests.support.paths import FIRMWARE, GATEWARE


@pytest.fixture
def boot_device(tmp_path):
    """Starts a device with the given emulator arguments."""
    devices = []

    def start(*arguments, **options):
        missing = [p for p in (FIRMWARE / "boot.elf", GATEWARE / "kairos_sim.bit") if not p.exists()]
        if missing:
            pytest.fail(f"not built: {missing}. Run `make build` first.", pytrace=False)
        devices.append(BootDevice(tmp_path, *arguments, **options))
        return devices[-1]

    yield start
    for device in devices:
        device.close()


@pytest.fixture
def image():
    """The boot image of the current build, with the gateware `demo`."""
    return boot_image(FIRMWARE / "boot.elf", FIRMWARE / "runtime.elf", GATEWARE / "kairos_sim.bit")


@pytest.fixture
def card(tmp_path):
    """Creates an SD card from (11-character name, bytes) pairs for its root directory."""
    return lambda *files: sd_card.make(tmp_path / "card", files)
