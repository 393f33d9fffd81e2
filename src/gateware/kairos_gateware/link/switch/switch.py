"""A switch between links: forwards packets of flits from any port to the port that leads to their
destination.

Routing is arithmetic (`routes.py`): a node compares a packet's destination with its own numbers; there
are no tables.

    flit in → port of its packet → queue [input, output] 1 → arbitration of inputs → flit out 1

Each input has a queue for each output (virtual output queues), so a packet waits only for packets
to the same output. A packet enters a queue only if all of it fits, and leaves as soon as its first
flit is there and the output is free (virtual cut-through). An output takes whole packets, from the
inputs in turn. Deadlock freedom: docs/gateware/switch.md.

Latency: 2 cycles, if the output is free. Throughput: one flit per cycle and port. Clock domain sys.
"""

from functools import reduce
from operator import or_

from migen import *
from migen.genlib.fifo import SyncFIFO

__all__ = ["DESTINATION_BITS", "Switch", "flit_layout"]

DESTINATION_BITS = 8
"""The destination, lowest in a packet's first flit."""
_FLIT_BITS = 64


def flit_layout():
    """A flit: `valid`, `ready`, `last` (of its packet) and `data`."""
    return [("valid", 1), ("ready", 1), ("last", 1), ("data", _FLIT_BITS)]


class Switch(Module):
    """ports: number of ports. route: of `routes.py`, or a list of one for each input. longest: flits of the
    longest packet; depth: that of each queue, at least `longest`. choice: the route has two ports, of which a
    packet takes the first, unless it has to wait there and not at the second. turn: whether packets of an input may
    leave by an output; where not, there is no queue.

    `into`, `out`: flits of each port; `empty` (out): all queues are empty. A packet for a port that does not exist, or
    to which its input has no queue, is dropped: `dropped` (out, `ports` bits), a bit of each input for a cycle.
    """

    def __init__(self, ports, route, longest, depth=None, choice=False, turn=lambda into, out: True):
        depth = longest if depth is None else depth
        if depth < longest:
            raise ValueError(f"a queue of {depth} flits does not hold a packet of {longest}")
        self.into = [Record(flit_layout(), name=f"into{n}") for n in range(ports)]
        self.out = [Record(flit_layout(), name=f"out{n}") for n in range(ports)]

        # # #

        queues = {
            (into, out): SyncFIFO(_FLIT_BITS + 1, depth)
            for into in range(ports)
            for out in range(ports)
            if turn(into, out)
        }
        self.submodules += queues.values()
        self.empty, self.dropped = Signal(), Signal(ports)
        self.comb += self.empty.eq(~reduce(or_, [queue.readable for queue in queues.values()], C(0)))
        for number, flit in enumerate(self.into):
            row = [queues.get((number, out)) for out in range(ports)]
            one = route[number] if isinstance(route, list) else route
            self._enter(flit, row, one, depth - longest, choice, self.dropped[number])
        for number, flit in enumerate(self.out):
            if sources := [queues[into, number] for into in range(ports) if turn(into, number)]:
                self._leave(flit, sources)

    def _enter(self, flit, queues, route, most, choice, dropped):
        """most: greatest fill level of a queue that leaves room for a packet."""
        none = len(queues)
        inside, port, chosen, kept = Signal(), *[Signal(max=none + 1) for _ in range(3)]
        room = Array([C(1) if queue is None else queue.level <= most for queue in queues] + [C(1)])
        destination = flit.data[:DESTINATION_BITS]
        if choice:
            first, second = Signal.like(port), Signal.like(port)
            self.comb += [
                route(destination, first, second),
                port.eq(Mux(room[first], first, Mux(room[second], second, first))),
            ]
        else:
            self.comb += route(destination, port)
        self.comb += [chosen.eq(Mux(inside, kept, port)), flit.ready.eq(inside | room[port])]
        there = {number: queue for number, queue in enumerate(queues) if queue is not None}
        self.comb += dropped.eq(
            flit.valid & flit.ready & flit.last & ~reduce(or_, [chosen == number for number in there], C(0))
        )
        for number, queue in there.items():
            self.comb += [
                queue.din.eq(Cat(flit.data, flit.last)),
                queue.we.eq(flit.valid & flit.ready & (chosen == number)),
            ]
        self.sync += If(flit.valid & flit.ready, inside.eq(~flit.last), kept.eq(chosen))

    def _leave(self, flit, queues):
        count = len(queues)
        inside, turn, chosen, step, moves = Signal(), *[Signal(max=max(2, count)) for _ in range(2)], Signal(), Signal()
        cases = {}
        for before in range(count):  # round-robin: the nearest requesting input after the previous one
            order = [(before + 1 + n) % count for n in range(count)]
            cases[before] = [If(queues[n].readable, chosen.eq(n)) for n in reversed(order)]
        data = Array(queue.dout for queue in queues)[chosen]
        self.comb += [
            If(inside, chosen.eq(turn)).Else(Case(turn, cases)),
            step.eq(~flit.valid | flit.ready),
            moves.eq(step & Array(queue.readable for queue in queues)[chosen]),
            [queue.re.eq(moves & (chosen == n)) for n, queue in enumerate(queues)],
        ]
        self.sync += [
            If(step, flit.valid.eq(moves), Cat(flit.data, flit.last).eq(data)),
            If(moves, turn.eq(chosen), inside.eq(~data[_FLIT_BITS])),
        ]
