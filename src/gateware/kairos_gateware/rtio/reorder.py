"""Reordering event dispatch: accepts events in any order of time, instead of lanes in which times
only increase.

Events within the wheel's reach go into the wheel; those further ahead wait in the pool, which
passes them on when they come within reach. So events are lost in one case only: the ninth of nine
events in the same cycle (`sequence_error`, as for the lanes).

Timing: one event accepted per cycle; while pool events are passed on, they get three of four cycles
if a command for the wheel is waiting. Status one cycle after acceptance. A command waits if the
pool is full and its time not within reach; or, after a reset, until the wheel has been emptied
(`reach` cycles if there were events in it).

    cycle  0      command accepted, or taken from the pool
           1      number of events in its slot is read
           2      lane known, event written
           3      slot may be read: MIN_SLACK = 3 + OUTPUT_LATENCY
"""

from litex.soc.interconnect import stream
from migen import *

from .admission import Admission
from .lanes import ROOMY
from .pool import Pool, reach_for
from .timing import FINE_BITS, MIN_SLACK
from .wheel import MARGIN, Wheel

__all__ = ["ReorderingDispatcher"]

_STREAK_MAX = 3
"""Events of the pool that may precede a waiting command."""


class ReorderingDispatcher(Module):
    """`request` (in, stream): the CRI's output stream (sink). `lanes`: of the wheel, for the output
    network. capacity: of the pool, a power of two.

    `late` (out): an event left the pool after its time and was dropped; this cannot happen while the
    counter runs. For time skip: `settled` (out), `dues` (list of (flag, coarse time to which the counter
    may be advanced)).

    `reset` (in): discards all events. `roomy` (out): room for as many events as an initiator has in flight.
    `sequence_error` (out), for a cycle: an event was dropped since its slot was full, in channel
    `sequence_error_channel` (out, 16 bits). `late_channel` (out, 16 bits): channel of a late event.
    """

    def __init__(self, timebase, channels, layout, lanes, capacity, data_width, simulation=False):
        self.request = request = stream.Endpoint(
            [("channel", 24), ("address", 8), ("timestamp", 64), ("data", data_width)]
        )
        self.reset = Signal()
        self.roomy = Signal()
        self.sequence_error = Signal()
        self.sequence_error_channel = Signal(16)
        self.late = Signal()
        self.late_channel = Signal(16)

        # # #

        reach = reach_for(capacity)
        self.submodules.wheel = wheel = Wheel(timebase, layout, lanes, reach, simulation)
        self.submodules.pool = pool = ResetInserter()(Pool(timebase, layout, capacity, reach, MARGIN))
        self.submodules.admission = admission = Admission(timebase, channels, request)
        self.done, self.status = admission.done, admission.status
        self.lanes = wheel.lanes

        level = Signal(max=capacity + 1)  # events accepted for the pool that have not left it
        streak = Signal(max=_STREAK_MAX + 1)
        near, pool_first, from_pool, to_wheel, to_pool = Signal(), Signal(), Signal(), Signal(), Signal()
        pool_late = Signal()
        accepted = Record(layout)
        chosen = Record(layout)
        self.comb += [
            pool.reset.eq(self.reset),
            wheel.reset.eq(self.reset),
            near.eq(admission.coarse < timebase.shifted(reach - MARGIN)),
            pool_first.eq(pool.out_valid & (streak != _STREAK_MAX)),
            request.ready.eq(admission.refused | (~wheel.sweeping & Mux(near, ~pool_first, level != capacity))),
            admission.take.eq(request.valid & request.ready),
            to_wheel.eq(admission.take & ~admission.refused & near),
            to_pool.eq(admission.take & ~admission.refused & ~near),
            from_pool.eq(pool.out_valid & ~to_wheel & ~wheel.sweeping),
            pool.out_take.eq(from_pool),
            pool_late.eq(pool.out_event.coarse < timebase.shifted(MIN_SLACK)),
            accepted.coarse.eq(admission.coarse),
            accepted.fine.eq(request.timestamp[:FINE_BITS]),
            accepted.channel.eq(admission.number),
            accepted.address.eq(request.address),
            accepted.data.eq(request.data),
            chosen.raw_bits().eq(Mux(from_pool, pool.out_event.raw_bits(), accepted.raw_bits())),
            self.sequence_error.eq(wheel.overfull),
            self.sequence_error_channel.eq(wheel.overfull_channel),
        ]
        self.sync += [
            wheel.stb.eq(to_wheel | (from_pool & ~pool_late)),
            wheel.event.raw_bits().eq(chosen.raw_bits()),
            wheel.pooled.eq(from_pool),
            pool.push.eq(to_pool),
            pool.event.raw_bits().eq(accepted.raw_bits()),
            level.eq(level + to_pool - from_pool),
            self.roomy.eq(level <= capacity - ROOMY),
            If(to_wheel, streak.eq(0)).Elif(from_pool & (streak != _STREAK_MAX), streak.eq(streak + 1)),
            self.late.eq(from_pool & pool_late),
            self.late_channel.eq(pool.out_event.channel),
            If(self.reset, wheel.stb.eq(0), pool.push.eq(0), level.eq(0), self.late.eq(0)),
        ]
        if simulation:
            self.settled = Signal()
            self.comb += self.settled.eq(wheel.settled & pool.settled & ~self.late & ~self.done)
            self.dues = [
                (wheel.waiting, wheel.due),
                (pool.waiting, pool.due),
                # A command that waits for room is accepted when its time comes within reach
                (request.valid & ~request.ready, admission.coarse - reach),
            ]
