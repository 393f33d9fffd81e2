"""The example PHY of docs/gateware/adding_a_phy.md works as that page says."""

import re
import textwrap
from pathlib import Path

from migen import *

from kairos_gateware.pad import Pad
from kairos_gateware.rtio.core import RtioCore
from kairos_gateware.rtio.link import Channel, OutputLink
from kairos_gateware.testbenches.simulator import run_simulation


class Bench(Module):
    def __init__(self, make):
        self.pad = Pad("toggle", "out", 0)
        self.submodules.phy = make(0, self.pad)
        self.submodules.core = RtioCore([self.phy.channel], lanes=2, depth=4)


def test_example_phy_is_on_time():
    page = Path(__file__).parents[4] / "docs" / "gateware" / "adding_a_phy.md"
    (code,) = re.findall(r"^ +class Toggle\(Module\):\n(?: +.*\n|\n)+?(?=   `link)", page.read_text(), re.M)
    scope = dict(globals(), Channel=Channel, OutputLink=OutputLink)
    exec(textwrap.dedent(code), scope)
    dut = Bench(scope["Toggle"])
    changes = []

    def cpu():
        request = dut.core.cri.output
        for coarse in [40, 45]:
            yield request.timestamp.eq(8 * coarse)
            yield request.valid.eq(1)
            yield
        yield request.valid.eq(0)

    def watch():
        before = 0
        for _ in range(60):
            level = yield dut.pad.o
            if level != before:
                changes.append(((yield dut.core.timebase.coarse), level))
            before = level
            yield

    run_simulation(dut, [cpu(), watch()])
    assert changes == [(40, 255), (45, 0)]
