"""Transfers the master's time to the satellite's counter, using the measured round trip.

    near: echo ──A──▶ far: echoed ──▶ near       round trip R = 2 A + 1, or 2 A + 2
    near: time = counter + A + 1 ──A──▶ far      loads it: from the next cycle on both counters agree
    near: echo ──A──▶ far: its counter ──▶       must be what the near one's was A cycles after the echo left

The words of all three are equally long, and nothing else is in flight meanwhile, so they take the
same time. If the third step does not find the same R and the expected counter, or if there is no
answer, the procedure restarts. R is even where the fractions of a cycle of both directions add up
to one more. Where clocks may have any phase, the phase is measured as well; A is then the nearest
number of cycles to the delay to the satellite, and the far clock is shifted by the rest
(docs/gateware/link-time.md). Clock domain sys.
"""

from migen import *

from ...rtio.timing import COARSE_BITS
from ..line.coding import BEGIN_BITS
from ..line.phase import PHASE_BITS, RATIO, STEP_BITS, STEPS
from .words import ECHO, fields

__all__ = ["Phase", "DELAY_BITS", "TimeTransfer"]

DELAY_BITS = 15
"""Width of `one_way_delay`, in cycles: up to 260 µs of fibre."""
_PAUSE = 64
"""Cycles in which the far end leaves its reset or loads its counter."""
_MOVING = 2**13
"""Cycles in which a word reaches the far end and its clock is shifted by half a cycle, which takes
3136."""


class Phase:
    """Phase measurement on this board: `start` (out) starts a `PhaseMeter`, which measures by how much the
    received clock is later than this board's; `done` (in): the result is in `value` (in, 12 bits); `runs`
    (out): a measurement is running. `half` (in): received words are taken over half a cycle later. `begin`
    (in, 6 bits): the bit of this board's receive cycles at which those of the satellite begin."""

    def __init__(self):
        self.start, self.runs, self.done, self.half = Signal(), Signal(), Signal(), Signal()
        self.value = Signal(PHASE_BITS)
        self.begin = Signal(BEGIN_BITS)


class _Way(Module):
    """Computes from a round trip: `one_way_delay` (out, 15 bits), so many cycles after a vector left the
    master's counter equals the satellite's on its arrival, and the number of `steps` (in, 10 bits, signed)
    by which the satellite's clock must then be delayed. phase: `Phase`, or None; `value` (in, 12 bits): its
    value measured for this. `far_begin` (in, 6 bits): as its `begin`, at the satellite. `round_trip` (in,
    16 bits): less the cycle in the far end."""

    def __init__(self, phase):
        self.round_trip = Signal(DELAY_BITS + 1)
        self.one_way_delay, self.steps = Signal(DELAY_BITS), Signal((STEP_BITS, True))
        self.value, self.far_begin = Signal(PHASE_BITS), Signal(BEGIN_BITS)

        # # #

        if phase is None:
            self.comb += self.one_way_delay.eq(self.round_trip[1:])
            return
        cycle = 2**PHASE_BITS
        late, cycles, twice = Signal(), Signal.like(self.round_trip), Signal(DELAY_BITS + 1 + PHASE_BITS)
        longer = Signal((BEGIN_BITS + 1, True))
        rounded, error = Signal(DELAY_BITS + 2 + PHASE_BITS), Signal((PHASE_BITS + 1, True))
        self.comb += [
            # A returning vector is sampled in the first cycle that begins after its arrival, or
            # half a cycle after that
            late.eq(phase.half & (self.value >= 3 * cycle // 4)),
            cycles.eq(self.round_trip - 1 - late),
            # A word arrives so many bits earlier at a receiver as the bits of its cycles precede
            # the sender's, and so does the received clock: the two directions differ by the
            # difference of these
            longer.eq(phase.begin - self.far_begin),
            twice.eq(Cat(self.value, cycles) + (longer << (PHASE_BITS - BEGIN_BITS))),
            rounded.eq(twice + cycle),
            self.one_way_delay.eq(rounded[PHASE_BITS + 1 :]),
        ]
        # Two registers: the adders have plenty of time
        self.sync += [
            error.eq(cycle // 2 - (rounded[: PHASE_BITS + 1] >> 1)),
            self.steps.eq((error * (STEPS // RATIO)) >> (PHASE_BITS - log2_int(RATIO))),
        ]


class TimeTransfer(Module):
    """timebase: the near one. sink: of the stream `control`; `asks` (out): it is requested. tags: of its
    forms. source: of the stream `status`; `echoed` (in): it has such a vector. phase: `Phase`, where clocks
    may have any phase; the satellite's is then shifted, in `moving` cycles; `measures` (in): a measurement
    is requested. `line_up` (in): the link carries words, and this end has the right time.

    `far_known` (out): in this cycle the far counter, `far` (out, 61 bits), is known for the first time
    since the line came up. `agreed` (out): the counters agree. `one_way_delay` (out, 15 bits): A, in
    cycles; with a phase, one more, as words may take. `outputs` (out, 16 bits): number of output channels,
    as reported by the far end.
    """

    def __init__(self, timebase, sink, tags, source, phase=None, moving=_MOVING):
        self.line_up = Signal()
        self.sink = sink
        self.echoed = Signal()
        self.asks, self.measures = Signal(), Signal()
        self.agreed = Signal()
        self.one_way_delay = Signal(DELAY_BITS)
        self.outputs = Signal(16)
        self.far_known, self.far = Signal(), Signal(COARSE_BITS)

        # # #

        timer = Signal(DELAY_BITS + 1)
        expected = Signal(COARSE_BITS)
        came = fields(ECHO, source.data)
        checking, aligned = Signal(), Signal()
        sent = self.asks & sink.ready
        lost = timer == 2 ** len(timer) - 1
        self.submodules.way = way = _Way(phase)
        self.submodules.fsm = fsm = ResetInserter()(FSM(reset_state="PAUSE"))
        self.comb += [fsm.reset.eq(~self.line_up), self.one_way_delay.eq(way.one_way_delay + (phase is not None))]
        self.sync += [
            timer.eq(timer + 1),
            If(sent | ~self.line_up, timer.eq(1)),
            If(sent, expected.eq(timebase.coarse + way.one_way_delay)),
        ]
        known = Signal()
        self.comb += [self.far.eq(came["coarse"]), self.far_known.eq(self.echoed & fsm.ongoing("ANSWER") & ~known)]
        self.sync += If(~self.line_up, known.eq(0)).Elif(self.far_known, known.eq(1))
        begin = "ECHO" if phase is None else "BACK"
        fsm.act("PAUSE", NextValue(checking, 0), If(timer == _PAUSE, NextState(begin)))
        fsm.act(
            "ECHO",
            self.asks.eq(1),
            sink.form.eq(tags["echo"]),
            If(sink.ready, NextState("ANSWER")),
        )
        same = (came["coarse"] == expected) & (way.round_trip == timer - 1)
        fsm.act(
            "ANSWER",
            If(
                self.echoed,
                NextValue(self.outputs, came["outputs"]),
                # The timer is R
                If(
                    ~checking,
                    NextValue(way.round_trip, timer - 1),
                    NextValue(way.far_begin, came["begin"]),
                    NextState("TIME"),
                )
                .Elif(same, NextState("AGREED" if phase is None else "MOVE"))
                .Else(NextState("AGAIN")),
            ).Elif(lost, NextState("AGAIN")),
        )
        fsm.act(
            "TIME",
            self.asks.eq(1),
            sink.form.eq(tags["time"]),
            sink.data.eq(timebase.coarse + way.one_way_delay + 1),
            If(sink.ready, NextState("LOADS")),
        )
        fsm.act("LOADS", NextValue(checking, 1), If(timer == _PAUSE, NextState("ECHO")))
        fsm.act("AGAIN", NextValue(checking, 0), NextState(begin))
        fsm.act("AGREED", self.agreed.eq(self.line_up))
        if phase is not None:
            self._measure(fsm, tags, phase, way, aligned, timer == moving)

    def _measure(self, fsm, tags, phase, way, aligned, moved):
        """First returns the satellite's clock to the received clock, whose phase is then measured
        here; shifts it at the end."""
        sink, near_edge = self.sink, Signal()
        moves = [self.asks.eq(1), sink.form.eq(tags["move"]), If(sink.ready, NextState("MOVES"))]
        fsm.act("BACK", *moves, sink.data.eq(0), NextValue(aligned, 0))
        fsm.act("MOVE", *moves, sink.data.eq(way.steps[:STEP_BITS]), NextValue(aligned, 1))
        fsm.act("MOVES", If(moved, If(aligned, NextState("AGREED")).Else(self.measures.eq(1), NextState("PHASE"))))
        # Avoids sampling at the moment at which words arrive
        quarters = phase.value[-2:]
        self.comb += near_edge.eq((quarters == 0) | (quarters == 3))
        taken = [NextValue(phase.half, near_edge), NextValue(way.value, phase.value)]
        fsm.act("PHASE", If(phase.done, *taken, NextState("SETTLES")))
        settled = Signal(max=_PAUSE)
        self.sync += settled.eq(Mux(fsm.ongoing("SETTLES"), settled + 1, 0))
        fsm.act("SETTLES", If(settled == _PAUSE - 1, NextState("ECHO")))
