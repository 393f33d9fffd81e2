"""The device databases that the command runs with, and the hub of the device under test."""

import pytest

from tests.support.gateware import database
from tests.support.hub import demo_hub


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """The device database of the gateware variant `lab`."""
    return database("lab", tmp_path_factory.mktemp("lab"))


@pytest.fixture(scope="session")
def pulse(tmp_path_factory):
    """The device database of the gateware variant `pulse`."""
    return database("pulse", tmp_path_factory.mktemp("pulse"))


@pytest.fixture(scope="session")
def pulse8(tmp_path_factory):
    """The device database of the gateware variant `pulse8`, which takes minutes to build."""
    return database("pulse8", tmp_path_factory.mktemp("pulse8"))


@pytest.fixture(scope="module")
def hub(device, tmp_path_factory):
    """A hub of the device under test, and of one that does not answer."""
    with demo_hub(device, tmp_path_factory.mktemp("hub")) as hub:
        yield hub
