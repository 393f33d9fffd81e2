"""Sub-cycle clock phases: measures by how much one clock is later than another of the same
frequency, and shifts a clock.

`PhaseMeter` samples both clocks with a third one that is slower by 1/65, so each sample sees them
1/64 of a cycle later: 64 samples cover a whole cycle of both, stretched by 64 (a digital dual-mixer
phase detector, Moreira et al., ISPCS 2009). Instead of looking for edges, which jitter multiplies,
it counts over 64 such cycles the samples in which the clocks differ, and those in which one differs
from the other a quarter of a cycle earlier: both counts are piecewise linear in the phase with two
corners each, at different phases, and of each the part far from its corners is used.

`SampledClocks` replaces the third clock and its samples in simulation, where everything has one
clock: the meter behind it is that of the hardware.

`PhaseMover` shifts the outputs of an MMCME2_ADV in its steps of 1/56 of a period of its oscillator
(UG472, "Dynamic Phase Shift"): 1/448 of a cycle of 8 ns at 1 GHz, 17.9 ps.
"""

from migen import *
from migen.genlib.cdc import MultiReg, PulseSynchronizer

__all__ = ["PHASE_BITS", "RATIO", "STEPS", "STEP_BITS", "PhaseMeter", "PhaseMover", "SampledClocks", "helper_clock"]

RATIO = 64
"""Samples that cover all phases once; the sampling clock has 64/65 of the clocks' frequency."""
PHASE_BITS = 12
"""Width of a phase, which is a fraction of a cycle."""
STEPS = 448
"""Steps of a mover per cycle."""
STEP_BITS = 10


class PhaseMeter(Module):
    """clock, reference: signals. helper: domain of the sampling clock.

    A one-cycle `start` (in) begins a measurement; then `done` (out) rises, and until the next start `value`
    (out, 12 bits) is the fraction of a cycle by which `clock` is later than `reference`. Takes slightly
    more than 4096 cycles of `helper`. Clock domain sys.
    """

    def __init__(self, clock, reference, helper="helper"):
        self.start, self.done = Signal(), Signal()
        self.value = Signal(PHASE_BITS)

        # # #

        self.submodules.begin = begin = PulseSynchronizer("sys", helper)
        self.submodules.end = end = PulseSynchronizer(helper, "sys")
        a, b = Signal(), Signal()
        self.specials += [MultiReg(clock, a, helper), MultiReg(reference, b, helper)]
        before = Signal(RATIO // 4)
        total = 2**PHASE_BITS
        left = Signal(max=total + 1)
        differ, apart = Signal(max=total + 1), Signal(max=total + 1)
        sync = getattr(self.sync, helper)
        sync += [
            before.eq(Cat(b, before)),
            If(begin.o, left.eq(total), differ.eq(0), apart.eq(0)).Elif(
                left != 0, left.eq(left - 1), differ.eq(differ + (a ^ b)), apart.eq(apart + (a ^ before[-1]))
            ),
        ]
        self.comb += [begin.i.eq(self.start), end.i.eq(left == 1)]
        half, quarter = total // 2, total // 4
        self.sync += [
            If(end.o, self.done.eq(1)),
            If(self.start, self.done.eq(0)),
            # `differ` is 2 p, or 2 - 2 p beyond half a cycle; `apart` is the same function of p -
            # 1/4
            If(differ < quarter, self.value.eq(quarter - (apart >> 1)))
            .Elif(differ > total - quarter, self.value.eq(quarter + (apart >> 1)))
            .Elif(apart < half, self.value.eq(differ >> 1))
            .Else(self.value.eq(total - (differ >> 1))),
        ]


class SampledClocks(Module):
    """The sampling clock's view of two clocks, sample by sample: `clock` (out) is later than `reference`
    (out) by `later` (in, 12 bits), a fraction of a cycle. Both are low except while `runs` (in), as they
    would be a quarter of a cycle before the first sample. Clock domain sys."""

    def __init__(self):
        self.later, self.runs = Signal(PHASE_BITS), Signal()
        self.clock, self.reference = Signal(), Signal()

        # # #

        place = Signal(log2_int(RATIO))
        reached, seen = Signal(PHASE_BITS), Signal(PHASE_BITS)
        self.sync += If(self.runs, place.eq(place + 1)).Else(place.eq(0))
        self.comb += [
            reached.eq(place << (PHASE_BITS - log2_int(RATIO))),
            seen.eq(reached - self.later),
            # High in the first half of a cycle
            self.reference.eq(self.runs & ~reached[-1]),
            self.clock.eq(self.runs & ~seen[-1]),
        ]


class PhaseMover(Module):
    """psclk: domain of the clock manager's phase-shift port, which always runs.

    `steps` (in, 10 bits, signed), in sys: target position of the clocks, in steps later than after
    reset; `reset` (in), in psclk: that of the clock manager. `enable`, `increase` (out), `done` (in): ports
    PSEN, PSINCDEC, PSDONE. `there` (out), in sys: the target is reached. Each step takes 14 cycles.
    """

    def __init__(self, psclk="boot"):
        self.steps, self.there = Signal((STEP_BITS, True)), Signal()
        self.enable, self.increase, self.done, self.reset = Signal(), Signal(), Signal(), Signal()

        # # #

        wanted, place, waits = Signal((STEP_BITS, True)), Signal((STEP_BITS, True)), Signal()
        # Bits of `steps` may arrive a cycle apart: a target is accepted once two consecutive
        # samples agree
        seen, again, arrived = Signal((STEP_BITS, True)), Signal((STEP_BITS, True)), Signal()
        self.specials += [MultiReg(self.steps, seen, psclk), MultiReg(arrived, self.there)]
        sync = getattr(self.sync, psclk)
        sync += [
            again.eq(seen),
            If(seen == again, wanted.eq(again)),
            self.enable.eq(0),
            If(waits, If(self.done, waits.eq(0), place.eq(place + Mux(self.increase, 1, -1)))).Elif(
                place != wanted, self.enable.eq(1), self.increase.eq(wanted > place), waits.eq(1)
            ),
            arrived.eq(~waits & (place == wanted) & (seen == wanted)),
            If(self.reset, place.eq(0), waits.eq(0), arrived.eq(0)),
        ]


def helper_clock(module, source, reset) -> None:
    """Adds the domain `helper` of the sampling clock to a module: a PLLE2_BASE with an oscillator
    frequency of 1600 MHz. source: 125 MHz; reset: of the PLL, while `source` does not run."""
    clock, feedback = Signal(), Signal()
    module.clock_domains.cd_helper = ClockDomain(reset_less=True)
    module.specials += [
        Instance(
            "PLLE2_BASE",
            p_CLKIN1_PERIOD=8.0,
            p_DIVCLK_DIVIDE=5,
            p_CLKFBOUT_MULT=RATIO,
            p_CLKOUT0_DIVIDE=13,
            i_CLKIN1=source,
            i_CLKFBIN=feedback,
            i_PWRDWN=0,
            i_RST=reset,
            o_CLKFBOUT=feedback,
            o_CLKOUT0=clock,
        ),
        Instance("BUFG", i_I=clock, o_O=module.cd_helper.clk),
    ]
