"""A channel's eight engines: start of segments, waiting for the trigger, and stop. Clock domain
sys.

In the last cycle of a segment its engine examines the head of its FIFO: a segment that does not
wait outputs its first value in the next cycle; one that waits arms the engine, whose last value is
held; an empty FIFO is an underrun. If all engines underrun in the same cycle the channel becomes
idle, otherwise it is a fault: all stop, and each discards segments up to one that waits. The same
happens if some of a channel's engines wait while others run for longer than `misalign_limit`
cycles.

`values` and the accompanying outputs lag LATENCY cycles behind the engines.
"""

from functools import reduce
from operator import and_, or_

from migen import *

from ..contracts import pulse as facts
from .frame import Frame, route
from .queue import SegmentQueue
from .spline import Spline
from .words import Segment

__all__ = ["Channel", "Engine", "LATENCY"]

LATENCY = 1
"""Cycles from the cycle of a segment in an engine to that of the corresponding `values`."""

_FRAMES = [facts.Parameter.Z0, facts.Parameter.Z1]
_FREQUENCIES = [facts.Parameter.F0, facts.Parameter.F1]
_AMPLITUDES = [facts.Parameter.A0, facts.Parameter.A1]


def _any(signals):
    return reduce(or_, signals)


def _all(signals):
    return reduce(and_, signals)


class Engine(Module):
    """An engine with its FIFO. `load` (in): the head starts, its first value appears in the next cycle.
    `halt` (in): the running segment stops where it is. `arm` (in): the engine waits for the trigger. `run`,
    `armed`, `starts` (out): its state in this cycle; `ends` (out): the last cycle of a segment.

    `flags` (out, 8 bits): of the running segment.
    """

    def __init__(self, depth, frame=False):
        self.submodules.queue = queue = SegmentQueue(depth, frame)
        self.submodules.spline = spline = Spline()
        self.load, self.arm, self.halt = Signal(), Signal(), Signal()
        self.run, self.armed, self.starts, self.ends = Signal(), Signal(), Signal(), Signal()
        self.flags = Signal(facts.FLAGS_BITS)

        # # #

        head = Segment(queue.body)
        left, last = Signal(facts.TAU_BITS), Signal()  # cycles after this one; this one is the last
        self.comb += [
            self.ends.eq(self.run & last),
            spline.segment.eq(queue.body),
            spline.running.eq(self.run & ~last),
            spline.step.eq(self.load | (spline.running & ~self.halt)),
        ]
        self.sync += [
            self.starts.eq(self.load),
            If(self.load, self.flags.eq(head.flags), left.eq(head.tau - 1), last.eq(queue.single)).Else(
                left.eq(left - 1), last.eq(left == 1)
            ),
            If(self.halt, self.run.eq(0)).Elif(self.load, self.run.eq(1)).Elif(last, self.run.eq(0)),
            If(self.halt | self.load, self.armed.eq(0)).Elif(self.arm, self.armed.eq(1)),
        ]


class Channel(Module):
    """depth: of the FIFOs. `trigger` (in): starts the armed engines, in the next cycle. `hold` (in):
    amplitudes are held in an underrun.

    `engines`: their `queue` accepts segments. `armed` (out): all wait. `tau0`, `misalign` (out): high in a
    cycle with that error; `dry` (out, 8 bits): the engines that found no segment in this cycle. `values`:
    of all parameters, a frame's including its accumulator; `applied`: frame of each tone; `synchronise`
    (begin at the global phase), `feed_forward`, `enable`, `gpo`: of each tone. `running` (out): some engine
    runs. `upcoming` (in, 8 bits): parameters that get a segment within two cycles. `loaded` (out): all wait,
    and the segment after the waiting one will be available when that ends. `settled` (out): nothing changes
    before a segment or a trigger arrives.

    `misalign_limit` (in, 32 bits): cycles by which engines may differ.
    """

    def __init__(self, depth=facts.SEGMENT_FIFO):
        self.trigger, self.hold = Signal(), Signal()
        self.misalign_limit = Signal(32)
        self.armed, self.tau0, self.misalign = Signal(), Signal(), Signal()
        self.running, self.loaded, self.settled = Signal(), Signal(), Signal()
        self.upcoming = Signal(facts.PARAMETERS)
        self.dry = Signal(facts.PARAMETERS)
        self.values = [Signal(facts.VALUE_BITS, name=f"value_{p.name.lower()}") for p in facts.Parameter]
        self.applied = [Signal(facts.VALUE_BITS, name=f"applied_{tone}") for tone in range(facts.TONES)]
        for name in ["synchronise", "feed_forward", "enable", "gpo"]:
            setattr(self, name, Signal(facts.TONES, name=name))

        # # #

        self.engines = [Engine(depth, p in _FRAMES) for p in facts.Parameter]
        self.submodules += self.engines
        self._decide()
        self._show()

    def _decide(self):
        """Determines the next action of each engine."""
        engines = self.engines
        fault, halt, too_long = Signal(), Signal(), Signal()
        heads_wait, all_heads, apart = Signal(), Signal(), Signal()
        cycles_apart = Signal(32)
        running = _any([engine.run for engine in engines])
        self.comb += [
            self.armed.eq(_all([engine.armed for engine in engines])),
            self.running.eq(running),
            self.loaded.eq(
                self.armed
                & _all(
                    [
                        e.queue.fifo.readable | (come & e.queue.covers)
                        for e, come in zip(engines, self.upcoming, strict=True)
                    ]
                )
            ),
            self.settled.eq(~running & ~_any([e.load | e.arm | e.queue.take | e.queue.arriving for e in engines])),
            self.tau0.eq(_any([engine.queue.skipped for engine in engines])),
            self.dry.eq(Cat(*[engine.ends & ~engine.queue.valid for engine in engines])),
            apart.eq(_any([engine.armed for engine in engines]) & running),
            too_long.eq(apart & (self.misalign_limit != 0) & (cycles_apart >= self.misalign_limit)),
            halt.eq((self.dry != 0) | too_long),
            self.misalign.eq(halt & ~_all(list(self.dry))),
            all_heads.eq(_all([engine.queue.valid for engine in engines])),
            heads_wait.eq(_all([engine.queue.valid & engine.queue.waits for engine in engines])),
        ]
        self.sync += [
            If(apart & ~halt, cycles_apart.eq(cycles_apart + 1)).Else(cycles_apart.eq(0)),
            If(self.misalign, fault.eq(1)).Elif(heads_wait, fault.eq(0)),
        ]
        for engine in engines:
            queue = engine.queue
            free, idle, waits = Signal(), Signal(), Signal()
            self.comb += [
                free.eq(~halt & ~fault),
                idle.eq(~engine.run & ~engine.armed),
                waits.eq(queue.valid & queue.waits),
                engine.halt.eq(halt),
                engine.load.eq(
                    free
                    & (
                        (engine.ends & queue.valid & ~queue.waits)
                        | (engine.armed & self.trigger)
                        | (idle & all_heads & ~queue.waits)
                    )
                ),
                engine.arm.eq((free & waits & (engine.ends | idle)) | (fault & heads_wait)),
                queue.take.eq(engine.load | (fault & queue.valid & ~queue.waits)),
            ]

    def _show(self):
        """Outputs of the engines, one cycle later."""
        engines, shown = self.engines, []
        for p, engine in enumerate(engines):
            if p in _FRAMES:
                frame = Frame(engine.spline, engine.queue, engine.flags)
                self.submodules += frame
                self.comb += [frame.start.eq(engine.load), frame.ends.eq(engine.ends)]
                shown.append(frame.shown)
            elif p in _AMPLITUDES:
                muted = Signal()
                self.sync += If(engine.halt & ~self.hold, muted.eq(1)).Elif(engine.load, muted.eq(0))
                shown.append(Mux(muted, 0, engine.spline.value))
            else:
                shown.append(engine.spline.value)
        frames = [shown[p] for p in _FRAMES], [engines[p].flags for p in _FRAMES]
        self.sync += [
            [value.eq(now) for value, now in zip(self.values, shown, strict=True)],
            [applied.eq(route(tone, *frames)) for tone, applied in enumerate(self.applied)],
            self.synchronise.eq(Cat(*[engines[p].starts & self._has(p, facts.ToneFlag.SYNC) for p in _FREQUENCIES])),
            self.feed_forward.eq(Cat(*[self._has(p, facts.ToneFlag.FEED_FORWARD) for p in _FREQUENCIES])),
            self.enable.eq(Cat(*[self._has(p, facts.ToneFlag.ENABLE) for p in _AMPLITUDES])),
            self.gpo.eq(Cat(*[self._has(p, facts.ToneFlag.GPO) for p in _AMPLITUDES])),
        ]

    def _has(self, p, flag):
        return (self.engines[p].flags & flag) != 0
