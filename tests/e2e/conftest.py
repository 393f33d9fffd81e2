"""The device databases that the command runs with."""

import pytest
from kairos_gateware import build

from tests.support.paths import BUILD


def _database(variant, folder):
    """The device database of a gateware variant, which is built if it is not up to date."""
    output = BUILD / "gateware" / variant
    assert build.main(["--variant", variant, "--board", "sim", "--output", str(output)]) == 0
    path = folder / f"{variant}_db.py"
    path.write_text((output / "device_db.py").read_text().replace("'emulator://'", f"'emulator://{variant}'"))
    return path


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """The device database of the gateware variant `lab`."""
    return _database("lab", tmp_path_factory.mktemp("lab"))


@pytest.fixture(scope="session")
def pulse(tmp_path_factory):
    """The device database of the gateware variant `pulse`."""
    return _database("pulse", tmp_path_factory.mktemp("pulse"))


@pytest.fixture(scope="session")
def pulse8(tmp_path_factory):
    """The device database of the gateware variant `pulse8`, which takes minutes to build."""
    return _database("pulse8", tmp_path_factory.mktemp("pulse8"))
