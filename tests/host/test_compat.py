"""The ``artiq`` names of Kairos modules, each tried in a fresh interpreter."""

import importlib.util
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(importlib.util.find_spec("artiq") is not None, reason="ARTIQ itself is installed")


def python(code):
    code = "import kairos.compat\nkairos.compat.install()\nkairos.compat.install()\n" + code
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)


def test_names_are_the_same_objects():
    done = python(
        "from artiq.experiment import *\n"
        "from artiq.coredevice import ttl\n"
        "import artiq.coredevice.core as core, artiq.language.environment, artiq.language.core\n"
        "import kairos.coredevice.ttl, kairos.coredevice.core, kairos.language.core\n"
        "import kairos.experiment.environment as environment\n"
        "assert ttl is kairos.coredevice.ttl and core is kairos.coredevice.core\n"
        "assert artiq.language.environment.EnvExperiment is EnvExperiment is environment.EnvExperiment\n"
        "assert artiq.language.core is kairos.language.core\n"
        "assert ttl.__name__ == ttl.__spec__.name == 'kairos.coredevice.ttl'\n"
        "from artiq.coredevice.exceptions import *\n"
        "from artiq.coredevice.exceptions import RTIOUnderflow as again\n"
        "assert RTIOUnderflow is again\n"
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("statement", ["import artiq.coredevice.toaster", "import artiq.gateware.rtio"])
def test_missing_module_names_what_there_is(statement):
    done = python(statement)
    message = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 1
    assert message.startswith("ModuleNotFoundError: Kairos has no counterpart of artiq.")
    assert "artiq.coredevice.ttl" in message


def test_without_the_hook_there_is_no_artiq():
    done = subprocess.run([sys.executable, "-c", "import kairos, artiq"], capture_output=True, text=True, timeout=60)
    assert "No module named 'artiq'" in done.stderr
