"""Devices for tests, one for each test module."""

import os

import pytest

from tests.support.device import Device, RemoteDevice


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
