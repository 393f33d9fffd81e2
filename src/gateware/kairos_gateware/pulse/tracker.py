"""Tracks a beat: the frequency error of a laser's repetition rate, for the feed-forward, without a
processor. Clock domain sys.

The phase of the expected beat advances by its nominal frequency and the tracked error. Each rising
edge at the beat's pin should come at a whole number of turns; what it lacks goes through a PI
controller to the error. As the feed-forward accumulates the same error, its phase follows that of
the beat, not only its frequency.

    cycle 0   edge, with its sample; phase of the expected beat
    cycle 1   what the phase lacks at the edge; the first edge sets the phase instead
    cycle 2   integral and proportional part
    cycle 3   error, within its limit; held until no event sets another setting
"""

from migen import *

from ..contracts import pulse as facts

__all__ = ["PATIENCE_BITS", "SHIFT_BITS", "Tracker"]

_BITS = facts.VALUE_BITS
SHIFT_BITS = 6
PATIENCE_BITS = 24
EDGES_BITS = 16


def _within(value, limit):
    """(the value, at most the limit in magnitude; whether that is less)."""
    above, below = value > limit, value < -limit
    return Mux(above, limit, Mux(below, -limit, value)), above | below


class Tracker(Module):
    """edges: `EdgeDetector` of the beat's pin. skip: `FreeRunning`, for time skip.

    `nominal` (in, 40 bits): the expected frequency, per sample; 0: nothing is tracked. `restart` (in),
    for a cycle: it has just been set. `proportional`, `integral` (in, 6 bits): the parts of the
    controller are the lacking phase divided by 2 to the power of these. `limit` (in, 39 bits): of the
    error. `patience` (in, 24 bits): cycles without an edge until the beat is lost, and the error
    becomes the integral; 0: never. `error` (in, 40 bits): as used by the feed-forward. `update`
    (out): it is to become `proposed` (out, 40 bits), until `taken` (in).

    `locked` (out): edges arrive. `limited`, `lost` (out): sticky until `clear` (in). `count` (out, 16
    bits): of edges. `settled` (out): nothing follows without an edge.
    """

    def __init__(self, edges, skip, samples_per_cycle):
        self.nominal, self.restart = Signal(_BITS), Signal()
        self.proportional, self.integral = Signal(SHIFT_BITS), Signal(SHIFT_BITS)
        self.limit, self.patience = Signal(_BITS - 1), Signal(PATIENCE_BITS)
        self.error, self.proposed = Signal((_BITS, True)), Signal((_BITS, True))
        self.update, self.taken, self.clear = Signal(), Signal(), Signal()
        self.locked, self.limited, self.lost, self.settled = Signal(), Signal(), Signal(), Signal()
        self.count = Signal(EDGES_BITS)

        # # #

        runs, first = Signal(), Signal()
        phase, step = Signal(_BITS), Signal(_BITS)
        cycles = Mux(skip.stb, skip.cycles[:_BITS], 1)
        self.comb += [runs.eq(self.nominal != 0), step.eq(self.nominal + self.error)]

        # The edge, and the phase at its sample
        hits = [Signal(name=f"hit_{n}") for n in range(3)]
        place, at_begin, before = Signal(max=max(2, edges.width)), Signal(_BITS), Signal(_BITS)
        position = Signal.like(place)
        self.comb += [If(edges.rising[n], position.eq(n)) for n in reversed(range(edges.width))]
        if edges.width == 1:
            self.comb += position.eq(0)
        lacking = Signal((_BITS, True))
        self.comb += lacking.eq(-(at_begin + before * place))
        self.sync += [
            hits[0].eq((edges.rising != 0) & runs & ~self.restart),
            place.eq(position),
            at_begin.eq(phase),
            before.eq(step),
            phase.eq(phase + (step * samples_per_cycle * cycles)[:_BITS]),
            If(
                hits[0] & first,
                phase.eq(phase + (step * samples_per_cycle * cycles)[:_BITS] + lacking),
                first.eq(0),
                self.locked.eq(1),
            ),
        ]

        # The controller
        delta, part = Signal((_BITS, True)), Signal((_BITS, True))
        integral = Signal((_BITS, True))
        limit = Signal((_BITS, True))
        sums = [Signal((_BITS + 2, True), name=f"sum_{n}") for n in range(2)]
        self.comb += [
            limit.eq(self.limit),
            sums[0].eq(integral + (delta >> self.integral)),
            sums[1].eq(integral + part),
        ]
        (summed, too_far), (total, beyond) = [_within(sum_, limit) for sum_ in sums]
        self.sync += [
            hits[1].eq(hits[0] & ~first),
            delta.eq(lacking),
            hits[2].eq(hits[1]),
            If(self.clear, self.limited.eq(0), self.lost.eq(0)),
            If(
                hits[1],
                integral.eq(summed),
                part.eq(delta >> self.proportional),
                If(too_far, self.limited.eq(1)),
            ),
            If(self.taken, self.update.eq(0)),
            If(hits[2], self.proposed.eq(total), self.update.eq(1), If(beyond, self.limited.eq(1))),
        ]

        # The beat is lost
        since, waits = Signal(PATIENCE_BITS), Signal()
        self.comb += waits.eq(self.locked & (self.patience != 0))
        self.sync += [
            If(hits[0], since.eq(0), self.locked.eq(1), self.count.eq(self.count + 1)).Elif(
                waits,
                since.eq(since + cycles),
                If(
                    since >= self.patience - 1,
                    self.proposed.eq(integral),
                    self.update.eq(1),
                    self.locked.eq(0),
                    self.lost.eq(1),
                ),
            ),
            If(
                self.restart,
                [hit.eq(0) for hit in hits],
                integral.eq(0),
                self.proposed.eq(0),
                self.update.eq(1),
                first.eq(1),
                since.eq(0),
                self.locked.eq(0),
                self.limited.eq(0),
                self.lost.eq(0),
                self.count.eq(0),
            ),
        ]
        self.comb += [
            self.settled.eq(Cat(*hits, self.restart, self.update, (edges.rising != 0) & runs) == 0),
            skip.limit.eq(
                Mux(waits, Mux(since < self.patience, self.patience - since - 1, 0), 2 ** len(skip.limit) - 1)
            ),
        ]
