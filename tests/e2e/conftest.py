"""The command, and the device databases that it runs with."""

import pytest
from kairos_gateware import build

from tests.support.command import Kairos
from tests.support.paths import BUILD, EXAMPLES

ARTIFACTS = ("emulator/kairos-emulator", "firmware/runtime.elf", "gateware/demo/libkairos_pl.so")


@pytest.fixture
def kairos(tmp_path):
    missing = [name for name in ARTIFACTS if not (BUILD / name).exists()]
    if missing:
        pytest.fail(f"not built: {', '.join(missing)} in {BUILD}. Run `make build` first.", pytrace=False)
    return Kairos(tmp_path)


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """The device database of the gateware variant `lab`, which is built if it is not up to date."""
    output = BUILD / "gateware" / "lab"
    assert build.main(["--variant", "lab", "--board", "sim", "--output", str(output)]) == 0
    path = tmp_path_factory.mktemp("lab") / "lab_db.py"
    path.write_text((output / "device_db.py").read_text().replace("'emulator://'", "'emulator://lab'"))
    return path


@pytest.fixture
def device_db(device, tmp_path):
    """A device database whose core is the device of this test module, which outlives a run."""
    path = tmp_path / "device_db.py"
    text = (EXAMPLES / "device_db.py").read_text()
    assert '"emulator://demo"' in text
    path.write_text(text.replace('"emulator://demo"', f'"{device.host}:{device.port}"'))
    return path
