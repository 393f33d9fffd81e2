"""Pads on pins, verilated with a behavioural model of the serialisers: order of the samples, equal
latency of all."""

import subprocess
from pathlib import Path

import pytest
from migen import *

from kairos_gateware.boards.io import FAST_DOMAIN, INPUT_CYCLES, OUTPUT_CYCLES, PadIo, Pin
from kairos_gateware.pad import Pad
from kairos_gateware.testbenches.timed import compile_bench
from kairos_gateware.verilog import convert

pytestmark = pytest.mark.long
CYCLES = 200
BENCH = """
`timescale 1ns / 1ps
module bench;
    reg sys_clk = 0, fast_clk = 0;
    reg [7:0] o = 0;
    wire [7:0] i_serialised, i_simple;
    wire serialised, simple;
    dut dut(.sys_clk(sys_clk), .fast_clk(fast_clk), .sys_rst(1'b0), .fast_rst(1'b0), .o(o),
        .i_serialised(i_serialised), .i_simple(i_simple), .out_serialised(serialised), .in_serialised(serialised),
        .out_simple(simple), .in_simple(simple));
    always #4 sys_clk = !sys_clk;
    always #1 fast_clk = !fast_clk;
    reg [15:0] noise = 16'hace1;
    always @(posedge sys_clk) begin
        $display("%02x %02x %02x", o, i_serialised, i_simple);
        noise <= {noise[14:0], noise[15] ^ noise[13] ^ noise[12] ^ noise[10]};
        o <= noise[7:0] ^ noise[15:8];
    end
    initial #CYCLES $finish;
endmodule
"""


class Dut(Module):
    """A serialised and a simple output and input on one board; both outputs get the same samples."""

    def __init__(self):
        self.clock_domains.cd_sys = ClockDomain("sys")
        self.clock_domains.cd_fast = ClockDomain(FAST_DOMAIN)
        self.o = Signal(8, name_override="o")
        self.ios = {self.o, self.cd_sys.clk, self.cd_sys.rst, self.cd_fast.clk, self.cd_fast.rst}
        for kind in ["serialised", "simple"]:
            for direction in ["out", "in"]:
                pad = Pad(kind, direction, 0, kind == "serialised")
                pin = Signal(name_override=f"{direction}_{kind}")
                self.ios.add(pin)
                self.submodules += PadIo(pad, Pin(pin), serialisers=True)
                if direction == "out":
                    self.comb += [pad.o.eq(self.o), pad.oe.eq(1)]
                else:
                    seen = Signal(8, name_override=f"i_{kind}")
                    self.comb += seen.eq(pad.i)
                    self.ios.add(seen)


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """[(o, i of the serialised pad, i of the simple pad)] for each cycle; outputs are wired to
    inputs."""
    dut = Dut()
    text, bench = convert(dut, dut.ios, name="dut").main_source, BENCH.replace("#CYCLES", f"#{8 * CYCLES}")
    model = Path(__file__).with_name("serdes_model.v")
    compiled = compile_bench(tmp_path_factory.mktemp("serdes"), text, bench, model)
    done = subprocess.run([compiled], capture_output=True, text=True, check=True)
    lines = [line.split() for line in done.stdout.splitlines()]
    return [tuple(int(word, 16) for word in line) for line in lines if len(line) == 3]


def test_samples_keep_their_order_and_latency(words):
    distance = OUTPUT_CYCLES + INPUT_CYCLES
    assert len(words) > CYCLES - 5
    assert len({o for o, _, _ in words}) > 100
    for (o, _, _), (_, i, _) in list(zip(words, words[distance:], strict=False))[5:]:
        assert i == o


def test_simple_and_serialised_pads_have_equal_latency(words):
    distance = OUTPUT_CYCLES + INPUT_CYCLES
    for (o, _, _), (_, _, i) in list(zip(words, words[distance:], strict=False))[5:]:
        assert i == 255 * (o & 1)
