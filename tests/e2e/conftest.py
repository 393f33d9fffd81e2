"""The device databases that the command runs with."""

import pytest

from tests.support.gateware import database


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
