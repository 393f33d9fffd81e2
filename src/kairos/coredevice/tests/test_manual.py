"""The drivers in docs/experiments.md compile, and behave as the page states."""

import linecache
import re
from pathlib import Path

import pytest

from kairos.compiler.tests.jit import Compiled
from kairos.coredevice.core import Core
from kairos.coredevice.spi2 import SPIMaster

PAGE = Path(__file__).parents[4] / "docs" / "experiments.md"


@pytest.fixture
def supply():
    """The card of the page, on channel 6; its bus is channel 7."""
    (source,) = (code for code in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S) if "class Supply" in code)
    linecache.cache["supply"] = (len(source), None, source.splitlines(True), "supply")
    scope = {"__name__": "supply"}
    exec(compile(source, "supply", "exec"), scope)

    class Devices:
        def get(self, name):
            return self.core if name == "core" else SPIMaster(self, 7)

    devices = Devices()
    devices.core = Core(devices, host=None, ref_period=1e-9)
    return scope["Supply"](devices, 6, "spi")


def run(method, *args):
    result = Compiled(method, args, method.__self__.core).run()
    return [call for _, call in result.calls], result.now


def test_driver_of_the_manual_behaves_as_stated(supply):
    assert run(supply.enable) == ([(0, 6 << 8, 1)], 0) and run(supply.disable) == ([(0, 6 << 8, 0)], 0)
    config = 1 << 24 | 2 << 16 | 23 << 8 | 2
    assert run(supply.set_code, 0x1234) == ([(0, 7 << 8 | 1, config), (8, 7 << 8, 0x1234 << 8)], 8 + 101 * 8)
    assert supply.limit == 6 << 8 | 2 and supply.get_rtio_channels(channel=6) == [(6, None)]
