"""Links over EEM connectors, bit by bit: two ends as boards have them, verilated with a model of the chip's cells, with
lanes of any delay between them."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from migen import *
from migen.build.xilinx.common import xilinx_s7_special_overrides, xilinx_special_overrides

from kairos_gateware.boards.eem import EemEnd, EemLine, LaneClocks, Lanes
from kairos_gateware.boards.io import Pin
from kairos_gateware.link.drtio.card import CardServer
from kairos_gateware.link.drtio.end import DrtioEnd
from kairos_gateware.link.line.eem import LANES, Silence
from kairos_gateware.link.line.word import WORD_BITS
from kairos_gateware.rtio.core import RtioCore
from kairos_gateware.rtio.link import Channel, OutputLink
from kairos_gateware.rtio.timing import TimeBase
from kairos_gateware.testbenches.timed import compile_bench
from kairos_gateware.verilog import convert

pytestmark = pytest.mark.long
PERIOD_PS, BIT_PS = 8000, 1600
TIMEOUT, WINDOW = 600, 128
SEARCH = dict(window=WINDOW, pause=2000, patience=8000)
ODD = 0x9E3779B97F4A7C15
BENCH = """
`timescale 1ps / 1ps
module bench;
    reg a_clk = 0, b_clk = 0, send = 0;
    reg [3:0] a_cut = 0, b_cut = 0;
    integer phase, jitter, cut_at, cut, back_at, length, seed, n;
    integer skew [0:3];
    wire [3:0] a_p, a_n, b_p, b_n;
    reg [3:0] to_a = 0, to_b = 0;
    wire a_up, b_up, a_silent, b_silent;
    wire [19:0] a_taps, b_taps;
    wire [31:0] a_right, a_wrong, b_right, b_wrong;
    wire [3:0] at_a = to_a & ~a_cut, at_b = to_b & ~b_cut;
    dut a(.sys_clk(a_clk), .sys_rst(1'b0), .boot_clk(a_clk), .receive_p(at_a), .receive_n(~at_a), .transmit_p(a_p),
        .transmit_n(a_n), .up(a_up), .silent(a_silent), .taps(a_taps), .right(a_right), .wrong(a_wrong));
    dut b(.sys_clk(b_clk), .sys_rst(1'b0), .boot_clk(b_clk), .receive_p(at_b), .receive_n(~at_b), .transmit_p(b_p),
        .transmit_n(b_n), .up(b_up), .silent(b_silent), .taps(b_taps), .right(b_right), .wrong(b_wrong));
    always #4000 a_clk = !a_clk;
    initial begin
        if (!$value$plusargs("phase=%d", phase)) phase = 0;
        #phase;
        forever #4000 b_clk = !b_clk;
    end
    genvar lane;
    generate
        for (lane = 0; lane < 4; lane = lane + 1) begin
            // In two parts, each shorter than a bit
            reg half_a = 0, half_b = 0;
            always @(a_p[lane]) half_b <= #(500 + skew[lane] / 2 + $urandom_range(jitter)) a_p[lane];
            always @(half_b) to_b[lane] <= #(500 + skew[lane] / 2) half_b;
            always @(b_p[lane]) half_a <= #(500 + skew[3 - lane] / 2 + $urandom_range(jitter)) b_p[lane];
            always @(half_a) to_a[lane] <= #(500 + skew[3 - lane] / 2) half_a;
        end
    endgenerate
    task show;
        $display("%0d a %b %b %0d %0d %h b %b %b %0d %0d %h", $time / 8000, a_up, a_silent, a_right, a_wrong, a_taps,
            b_up, b_silent, b_right, b_wrong, b_taps);
    endtask
    initial begin
        if (!$value$plusargs("jitter=%d", jitter)) jitter = 0;
        if (!$value$plusargs("skew0=%d", skew[0])) skew[0] = 0;
        if (!$value$plusargs("skew1=%d", skew[1])) skew[1] = 0;
        if (!$value$plusargs("skew2=%d", skew[2])) skew[2] = 0;
        if (!$value$plusargs("skew3=%d", skew[3])) skew[3] = 0;
        if (!$value$plusargs("cut=%b", cut)) cut = 0;
        if (!$value$plusargs("cut_at=%d", cut_at)) cut_at = 0;
        if (!$value$plusargs("back_at=%d", back_at)) back_at = 0;
        if (!$value$plusargs("length=%d", length)) length = 9000;
        for (n = 0; n < length; n = n + 100) begin
            if (cut != 0) b_cut = n >= cut_at && !(back_at != 0 && n >= back_at) ? cut[3:0] : 4'd0;
            #800000;
            show;
        end
        $finish;
    end
endmodule
"""


class Chip(Module):
    """Pads, clocks and cells, for the line `make()`. `seen`: signals for the bench, by name."""

    def __init__(self, make):
        self.clock_domains.cd_sys = ClockDomain("sys")
        self.clock_domains.cd_boot = ClockDomain("boot", reset_less=True)
        pads = {
            name: Signal(LANES, name_override=name) for name in ["receive_p", "receive_n", "transmit_p", "transmit_n"]
        }
        seen = {name: Signal(bits, name_override=name) for name, bits in [("up", 1), ("silent", 1), ("taps", 20)]}
        seen |= {name: Signal(32, name_override=name) for name in ["right", "wrong"]}
        self.ios = {*pads.values(), *seen.values(), self.cd_sys.clk, self.cd_sys.rst, self.cd_boot.clk}
        pairs = {w: [Pin(pads[f"{w}_p"][n], pads[f"{w}_n"][n]) for n in range(LANES)] for w in ("receive", "transmit")}
        self.submodules.clocks = clocks = LaneClocks("boot")
        self.submodules.lanes = lanes = Lanes(pairs["receive"], pairs["transmit"])
        self.submodules.line = line = make(TIMEOUT, **SEARCH)
        self.submodules.silence = silence = Silence(cycles=1024, active=64)
        self.seen = seen

        # # #

        self.comb += [
            *line.connect(lanes, clocks),
            seen["up"].eq(line.up),
            seen["taps"].eq(Cat(*line.taps)),
            silence.level.eq(pads["receive_p"][0]),
            seen["silent"].eq(silence.silent),
        ]


class Dut(Chip):
    """An end that sends numbers, times an odd constant, as fast as the line takes them, and checks those that come."""

    def __init__(self):
        super().__init__(EemEnd)
        end, seen = self.line, self.seen

        # # #

        sent, expected, known = Signal(WORD_BITS), Signal(WORD_BITS), Signal()
        self.comb += [end.out.valid.eq(end.up), end.out.word.eq(sent)]
        same = end.into.word == expected
        self.sync += [
            If(end.out.valid & end.out.ready, sent.eq(sent + ODD)),
            If(
                end.into.valid,
                known.eq(1),
                expected.eq(end.into.word + ODD),
                If(known, If(same, seen["right"].eq(seen["right"] + 1)).Else(seen["wrong"].eq(seen["wrong"] + 1))),
            ),
            If(~end.up, known.eq(0)),
        ]


class CardDut(Chip):
    """An end of either kind of a link that speaks DRTIO: with `card` the card's. The other asks again and again for an
    echo, by both kinds of packets, and sets the time. `right` counts what comes, `wrong` wrong words."""

    def __init__(self):
        super().__init__(EemLine)
        line, seen, card = self.line, self.seen, Signal(name_override="card")
        self.ios.add(card)
        self.submodules.timebase = timebase = TimeBase()
        self.submodules.end = end = DrtioEnd(timebase, 32, 1, 1)
        self.submodules.core = core = RtioCore([Channel(0, OutputLink(32))], lanes=1, depth=4, loadable=True)
        self.submodules.server = server = CardServer(core, plain=False)

        # # #

        time, echoes, was_due = Signal(9), Signal(), Signal()
        sender, receiver, answered = end.mailbox.sender, end.mailbox.receiver, Signal()
        self.comb += [
            [part.received.eq(line.received) for part in (end, server)],
            [part.invalid.eq(line.invalid) for part in (end, server)],
            [part.up.eq(line.up) for part in (end, server)],
            line.sent.eq(Mux(card, server.sent, end.sent)),
            end.near.echo.eq(~card & line.up & (time == 1)),
            end.near.set_time.eq(~card & line.up & (time == 60)),
            sender.append.eq(~card & line.up & (time == 120)),
            sender.go.eq(~card & line.up & (time == 121)),
            # Answers to the time too
            receiver.release.eq((receiver.waiting != 0) & ~answered),
            echoes.eq(Mux(card, server.time_load, was_due & ~end.near.echo_due)),
        ]
        self.sync += [
            time.eq(time + 1),
            answered.eq(receiver.release),
            was_due.eq(end.near.echo_due),
            seen["right"].eq(seen["right"] + echoes + (receiver.release & ~card)),
            seen["wrong"].eq(seen["wrong"] + Mux(card, server.receiver.wrong, end.wrong)),
        ]


@dataclass
class End:
    up: bool
    silent: bool
    right: int
    wrong: int
    taps: list[int]


def player(dut, bench, folder):
    """As `play`, for these ends in this bench."""
    overrides = xilinx_special_overrides | xilinx_s7_special_overrides
    text = convert(dut, dut.ios, name="dut", special_overrides=overrides).main_source
    model = Path(__file__).with_name("eem_model.v")
    bench = compile_bench(folder, text, bench, model, "1ps/1ps", fast="-O1")

    def end(up, silent, right, wrong, taps):
        taps = int(taps, 16)
        return End(up == "1", silent == "1", int(right), int(wrong), [taps >> 5 * n & 31 for n in range(LANES)])

    def run(**options):
        program = [bench, *[f"+{name}={value}" for name, value in options.items()]]
        done = subprocess.run(program, capture_output=True, text=True, check=True)
        lines = [line.split() for line in done.stdout.splitlines() if line[:1].isdigit()]
        return [(int(line[0]), end(*line[2:7]), end(*line[8:13])) for line in lines]

    return run


@pytest.fixture(scope="module")
def play(tmp_path_factory):
    """`play(phase=…)`: [(cycle, `End` a, `End` b)] each 100 cycles. phase: by which b's clock is later than a's, in ps.
    skew0 to skew3: by which
    lanes 0 to 3 to b are later, and lanes 3 to 0 to a. jitter: greatest of each edge. cut: mask of
    the lanes to b that are open, from cycle cut_at to back_at. length: in cycles."""
    return player(Dut(), BENCH, tmp_path_factory.mktemp("eem"))


def check(run, words=300):
    """Both ends are up at the end, and no word was wrong."""
    _, a, b = run[-1]
    for end in (a, b):
        assert end.up and end.wrong == 0 and end.right > words, run[-1]


@pytest.mark.parametrize("phase", range(0, PERIOD_PS, 1000))
def test_words_pass_both_ways_with_clocks_of_any_phase(play, phase):
    check(play(phase=phase, jitter=100, skew0=100, skew1=250, skew2=0, skew3=200))


@pytest.mark.parametrize("late", range(100, BIT_PS, 300))
def test_words_pass_with_any_delay_of_all_lanes(play, late):
    """The same for all lanes, so that the delays found are at each place of the taps, their ends included."""
    run = play(phase=700, jitter=100, **{f"skew{n}": late for n in range(LANES)})
    check(run)
    for end in run[-1][1:]:
        assert end.taps[0] >= 5 and max(end.taps) - min(end.taps) <= 1


@pytest.mark.parametrize("cut", ["1111", "0001", "0100"])
def test_line_without_a_lane_is_not_up_and_comes_up_with_it(play, cut):
    run = play(cut=cut, back_at=9000, length=24000)
    assert not any(b.up for cycle, _, b in run if cycle <= 9000)
    assert run[-1][1].up and run[-1][2].up and run[-1][2].wrong == 0


def test_unplugged_line_goes_down_and_comes_back(play):
    run = play(cut="1111", cut_at=7000, back_at=10000, length=30000)
    found = {cycle: end for cycle, _, end in run}
    assert found[7000].up and not found[8000].up and found[30000].up
    assert found[30000].wrong <= 1, "the word that was cut"
    assert found[30000].right > found[8000].right


def test_card_is_in_reset_while_its_line_is_silent(play):
    run = play(cut="1111", cut_at=4000, back_at=7000, length=10000)
    found = {cycle: end.silent for cycle, _, end in run}
    assert found[500] and not found[3000] and found[6000] and not found[10000]


def test_lanes_too_far_apart_are_not_taken(play):
    """More than the search allows (375 ps): rather none than a wrong bit."""
    _, a, b = play(skew0=0, skew1=0, skew2=700, skew3=0)[-1]
    assert not b.up and b.wrong == 0 and b.right == 0


def test_card_that_speaks_drtio_answers_over_the_lanes(tmp_path):
    """Packets of both kinds, both ways, until the line is unplugged."""
    bench = BENCH.replace("dut a(", "dut a(.card(1'b0), ").replace("dut b(", "dut b(.card(1'b1), ")
    play = player(CardDut(), bench, tmp_path)
    run = play(phase=3100, jitter=100, skew0=100, skew1=250, skew2=0, skew3=200, length=24000, cut="1111", cut_at=12000)
    found = {cycle: (a, b) for cycle, a, b in run}
    for end in found[11900]:
        assert end.up and end.wrong == 0
    near, card = found[11900]
    # In 512 cycles an echo, the answers to two auxiliary packets, and for the card its time
    assert card.right >= 5 and near.right >= 3 * card.right - 4
    assert not found[14000][1].up
