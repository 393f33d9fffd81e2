"""The change between clocks, verilated with models of the chip's cells: no runt pulse, no event
early or lost."""

import subprocess
from pathlib import Path

import pytest
from migen import *
from migen.build.xilinx.common import xilinx_s7_special_overrides, xilinx_special_overrides

from kairos_gateware.boards.clocking import BOOT_DOMAIN, SwitchedClock
from kairos_gateware.pad import Pad
from kairos_gateware.phy.ttl import Output
from kairos_gateware.rtio.core import RtioCore
from kairos_gateware.rtio.timing import FINE_BITS
from kairos_gateware.soc.clock import GATE_CYCLES, ClockControl, Frequency
from kairos_gateware.testbenches.simulator import run_simulation
from kairos_gateware.testbenches.timed import compile_bench
from kairos_gateware.verilog import convert

PERIOD, HALF = 8.0, 4.0
SYNTHESISER_HALF = 3.9
EVERY = 64
"""Cycles from event to event; each is submitted half of that ahead."""
BENCH = """
`timescale 1ns / 1ps
module bench;
    reg fclk = 0, synthesiser = 0, running = 0, select = 0, switch = 0, acknowledge = 0;
    wire sys_clk, hold, selected, switching, lost, pad;
    wire [60:0] coarse;
    dut dut(.fclk(fclk), .synthesiser(synthesiser), .select(select), .switch(switch), .acknowledge(acknowledge),
        .sys_clk_out(sys_clk), .hold(hold), .selected(selected), .switching(switching), .lost(lost), .pad_out(pad),
        .coarse_out(coarse));
    always #HALF fclk = !fclk;
    always #SYNTH synthesiser = running && !synthesiser;
    always @(posedge sys_clk)
        $display("cycle %0.3f %0d %b%b%b%b%b", $realtime, coarse, hold, selected, switching, lost, pad);
    always @(sys_clk) $display("edge %0.3f %b", $realtime, sys_clk);
    task write(input to);
        @(posedge sys_clk) begin select <= to; switch <= 1; end
        @(posedge sys_clk) switch <= 0;
    endtask
    task tell;
        @(posedge sys_clk) acknowledge <= 1;
        @(posedge sys_clk) acknowledge <= 0;
    endtask
    integer run;
    initial begin
        if (!$value$plusargs("run=%d", run)) $finish;
        case (run)
            STIMULI
        endcase
        $finish;
    end
endmodule
"""


class Dut(Module):
    """An RTIO core on switched clocks. It plays the events that it submits itself: the level of the
    one at `coarse` = EVERY k is bit 0 of k."""

    def __init__(self):
        fclk, synthesiser = Signal(name_override="fclk"), Signal(name_override="synthesiser")
        self.submodules.control = control = ClockControl(BOOT_DOMAIN)
        self.submodules.clocks = clocks = SwitchedClock(fclk, 1, control, synthesiser)
        pad = Pad("ttl", "out", 0)
        self.submodules.phy = phy = ResetInserter()(Output(0, pad))
        self.submodules.core = core = RtioCore([phy.channel], lanes=2, depth=16)
        self.ios = {fclk, synthesiser}

        # # #

        self.comb += [phy.reset.eq(control.hold), core.reset.eq(control.discard)]
        coarse, output = core.timebase.coarse, core.cri.output
        ahead = coarse + EVERY // 2
        self.sync += [
            If(
                coarse[: log2_int(EVERY)] == EVERY // 2,
                output.valid.eq(1),
                output.timestamp.eq(ahead << FINE_BITS),
                output.data.eq(ahead[log2_int(EVERY)]),
            ).Elif(output.ready, output.valid.eq(0)),
        ]
        for name in ["select", "switch", "acknowledge", "hold", "selected", "switching", "lost"]:
            port = Signal(name_override=name)
            inward = name in ["select", "switch", "acknowledge"]
            self.comb += getattr(control, name).eq(port) if inward else port.eq(getattr(control, name))
            self.ios.add(port)
        for name, value in [("sys_clk", clocks.cd_sys.clk), ("pad", pad.o[0]), ("coarse", coarse)]:
            port = Signal(len(value), name_override=f"{name}_out")
            self.comb += port.eq(value)
            self.ios.add(port)


class Run:
    """cycles: [(time in ns, coarse, hold, selected, switching, lost, pad)] at sys' edges; edges:
    [(time, level)]."""

    def __init__(self, text):
        self.cycles, self.edges = [], []
        for line in text.splitlines():
            kind, time, *rest = line.split()
            if kind == "edge":
                self.edges.append((float(time), int(rest[0])))
            elif kind == "cycle":
                self.cycles.append((float(time), int(rest[0]), *(int(bit) for bit in rest[1])))

    def check(self, shortest):
        """Checks the invariants. shortest: least time between edges of sys, in ns."""
        times = [time for time, _ in self.edges]
        assert min(b - a for a, b in zip(times, times[1:], strict=False)) > shortest - 0.01
        counts = [coarse for _, coarse, *_ in self.cycles if coarse > 0]  # 0 as long as the logic is in reset
        assert counts == list(range(counts[0], counts[0] + len(counts))), "the time base has slipped"
        held = {coarse for _, coarse, hold, *_ in self.cycles if hold}
        played = 0
        for _, coarse, hold, *_, pad in self.cycles:
            if hold:
                continue
            # An event counts if nothing was held from its submission on; some cycles are allowed
            # for the reset of the core.
            begin = coarse - coarse % EVERY
            if held.isdisjoint(range(begin - EVERY // 2 - 4, coarse + 1)) and begin >= 2 * EVERY:
                assert pad == begin // EVERY % 2, coarse
                played += 1
        assert played > 1000

    def at(self, time):
        """(hold, selected, switching, lost) in the first cycle from a time in ns on."""
        return next(state[2:6] for state in self.cycles if state[0] >= time)


STIMULI = {
    "there and back": "#20000 running = 1; #2003 write(1); #20000 write(0); #20000 write(1); #20000;",
    "stops": "running = 1; #2000 write(1); #20000 running = 0; #20000 running = 1; #10000 tell; #10000 write(1);"
    "#20000;",
    "absent": "#20000 write(1); #300000 tell; #20000;",
}


@pytest.fixture(scope="module")
def play(tmp_path_factory):
    """`play(stimulus, shortest)`: a checked `Run`."""
    dut = Dut()
    overrides = xilinx_special_overrides | xilinx_s7_special_overrides
    text = convert(dut, dut.ios, name="dut", special_overrides=overrides).main_source
    cases = "".join(f"{n}: begin {stimulus} end\n" for n, stimulus in enumerate(STIMULI.values()))
    bench = BENCH.replace("STIMULI", cases).replace("#HALF", f"#{HALF}").replace("#SYNTH", f"#{SYNTHESISER_HALF}")
    model = Path(__file__).with_name("clocking_model.v")
    compiled = compile_bench(tmp_path_factory.mktemp("clocking"), text, bench, model)

    def run(stimulus, shortest=SYNTHESISER_HALF):
        program = [compiled, f"+run={list(STIMULI).index(stimulus)}"]
        done = subprocess.run(program, capture_output=True, text=True, check=True)
        run = Run("\n".join(line for line in done.stdout.splitlines() if line.startswith(("edge", "cycle"))))
        run.check(shortest)
        return run

    return run


@pytest.mark.long
def test_requested_clock_switch_continues_where_it_stopped(play):
    """To the synthesiser's clock and back, on request; sys is stopped meanwhile, and continues
    where it was."""
    run = play("there and back")
    assert run.at(20000) == (0, 0, 0, 0)
    assert run.at(40000) == (0, 1, 0, 0)
    assert run.at(60000) == (0, 0, 0, 0)
    assert run.cycles[-1][2:6] == (0, 1, 0, 0)
    steps = list(zip(run.cycles, run.cycles[1:], strict=False))
    on_synthesiser = [b[0] - a[0] for a, b in steps if a[3] and b[3] and not a[4]]
    assert sum(on_synthesiser) / len(on_synthesiser) == pytest.approx(2 * SYNTHESISER_HALF, rel=1e-3)
    pauses = [b[0] - a[0] for a, b in steps if b[0] - a[0] > 4 * PERIOD]
    expected = (2 * GATE_CYCLES + 100) * PERIOD  # including the model's lock time
    assert len(pauses) == 3 and all(expected < pause < 1.3 * expected for pause in pauses)


@pytest.mark.long
def test_stopped_clock_holds_reset_until_acknowledged(play):
    """The logic continues on the processing system's clock, in reset until that is acknowledged."""
    run = play("stops", shortest=3.2)  # of the model's clock manager when its input has stopped
    assert run.at(20000) == (0, 1, 0, 0)
    assert run.at(35000) == (1, 0, 0, 1)
    assert run.at(50000) == (1, 0, 0, 1), "nothing changes back by itself"
    assert run.at(60000) == (0, 0, 0, 0)
    assert run.cycles[-1][2:6] == (0, 1, 0, 0)


@pytest.mark.long
def test_switch_to_absent_clock_is_undone_and_reported(play):
    """After the attempt the logic runs as before, and the loss is reported."""
    run = play("absent")
    assert run.at(310000) == (1, 0, 0, 1)
    assert run.cycles[-1][2:6] == (0, 0, 0, 0)


def test_toggles_in_a_window_are_counted():
    """Changes of the toggle in a window are counted; none if it stands still."""
    toggle = Signal()
    dut = Frequency(toggle, window=100)
    counts = []

    def bench():
        for cycle in range(900):
            if cycle < 500:
                yield toggle.eq(cycle // 5 % 2)
            yield
            counts.append((yield dut.count))

    run_simulation(dut, bench())
    assert set(counts[210:500]) == {20} and counts[-1] == 0 and 0 in counts[700:]
