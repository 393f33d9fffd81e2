"""Place and route: the registers around a block, and the clock of a known circuit."""

import pytest
from migen import *

from kairos_gateware.figures.route import Route, _measured, route, wrapped
from kairos_gateware.verilog import convert


class Sum(Module):
    """`total` is the sum of all products of `a` and `b` so far."""

    def __init__(self):
        self.a = Signal(8)
        self.b = Signal((8, True))
        self.total = Signal(24)
        self.busy = Signal()

        # # #

        self.sync += [self.total.eq(self.total + self.a * self.b), self.busy.eq(self.a != 0)]


def test_block_is_between_registers_with_all_its_ports():
    dut = Sum()
    source = convert(dut, {dut.a, dut.b, dut.total, dut.busy}, name="block").main_source
    text = wrapped(source, "block")
    assert text.startswith("module top(input clk, input in, output out);")
    assert "reg [16:0] given;" in text and "wire [24:0] got;" in text, "8 + 8 and the reset, 24 + 1"
    for port in (".sys_clk(clk)", ".a(given[", ".b(given[", ".sys_rst(given[", ".total(got[", ".busy(got["):
        assert port in text
    assert "level1[1] <= ^level0[24:16];" in text and text.count("level2[0] <= ") == 1


def test_longest_path_is_the_clocks_own():
    def path(start, end, *delays):
        steps = [("clk-to-q" if n == 0 else "routing" if n % 2 else "logic", delay) for n, delay in enumerate(delays)]
        found = [{"type": kind, "delay": delay, "to": {"cell": f"a.cell{n}"}} for n, (kind, delay) in enumerate(steps)]
        return {"from": start, "to": end, "path": found}

    report = {
        "fmax": {"clk": {"achieved": 123.456}},
        "critical_paths": [
            path("<async>", "clk", 9.0),
            path("clk", "clk", 0.5, 1.25, 0.25),
            path("clk", "clk", 0.1, 0.1),
        ],
    }
    assert _measured(report) == Route(123.5, 0.75, 1.25, ["cell0 500", "wire 1250", "cell2 250"])


@pytest.mark.long
def test_small_sum_reaches_its_clock_with_wires():
    dut = Sum()
    found = route(dut, {dut.a, dut.b, dut.total, dut.busy})
    assert 50 < found.mhz < 600 and found.wires_ns > 0
    assert 1000 / found.mhz == pytest.approx(found.logic_ns + found.wires_ns, abs=1)
