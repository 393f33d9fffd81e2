"""The links of a board of real hardware: a transceiver with line coder for each, in the SFP cages.

The link upwards is in the first cage, those downwards follow, then those beside the tree. Words cross
between the logic's clock and the line's in FIFOs, whose fill levels differ from one start to the next:
so the two directions may differ by a cycle, which the time transfer cannot detect.
"""

from dataclasses import dataclass

from migen import *
from migen.genlib.cdc import MultiReg
from migen.genlib.fifo import AsyncFIFO

from ..link.line.coding import BEGIN_BITS, LineReceiver, LineTransmitter
from ..link.line.phase import PhaseMeter, helper_clock
from ..link.line.steady import Steady
from ..link.line.word import WORD_BITS
from .gtx import add_quad, add_transceiver

__all__ = ["Cages", "LineEnd", "connect_links", "connect_words"]

_CROSSING = 16
"""Depth of a FIFO between two clocks, in words."""
_PAUSE_EVERY = 29
"""One of so many cycles accepts no word from the logic: slightly less than the line's rate (255
words in 264 cycles), so that no word waits in the FIFO for earlier ones."""


@dataclass(frozen=True)
class Cages:
    """SFP cages with a transceiver of one quad. count: usable cages. reference: resource of Migen's
    platform that is the quad's clock; None: the synthesiser's. enable: for each a resource that
    must be high for the module to send, or None. cameras: cages that can have a camera (`coaxpress.py`), if they have
    no link; their clock is `reference`."""

    count: int
    reference: str | None = None
    enable: tuple[str | None, ...] = ()
    cameras: tuple[int, ...] = ()


class LineEnd(Module):
    """transmit, receive: domains of the line's clocks. Word `out` (in) to the line, with `ready` (in), and
    `into` (out) from it, in sys; `up` (out): the line carries words. `half` (in): received words are
    sampled at the falling edge of sys, half a cycle later, for when they arrive close to the rising one.
    `line_out` (out, 64 bits, domain transmit) and `line_into` (in, 64 bits), `in_step` (out, domain
    receive) connect to the transceiver. `ready`, in sys: the transceiver is. `begin` (out, 6 bits), in sys:
    the bit of a received cycle at which those of the other end begin, while `up`."""

    def __init__(self, transmit, receive):
        self.out = Record([("valid", 1), ("ready", 1), ("word", WORD_BITS)])
        self.into = Record([("valid", 1), ("word", WORD_BITS)])
        self.up, self.ready = Signal(), Signal()
        self.line_out, self.line_into, self.in_step = Signal(WORD_BITS), Signal(WORD_BITS), Signal()
        self.half, self.begin = Signal(), Signal(BEGIN_BITS)

        # # #

        outgoing = ClockDomainsRenamer({"write": "sys", "read": transmit})(AsyncFIFO(WORD_BITS, _CROSSING))
        incoming = ClockDomainsRenamer({"write": receive, "read": "sys"})(AsyncFIFO(WORD_BITS, _CROSSING))
        incoming_half = ClockDomainsRenamer({"write": receive, "read": "sys_half"})(AsyncFIFO(WORD_BITS, _CROSSING))
        sends = ClockDomainsRenamer(transmit)(LineTransmitter())
        receives = ClockDomainsRenamer(receive)(LineReceiver())
        self.submodules += outgoing, incoming, incoming_half, sends, receives
        halfway = Record(self.into.layout)
        self.sync.sys_half += Cat(halfway.valid, halfway.word).eq(Cat(incoming_half.readable, incoming_half.dout))
        # A cycle after either FIFO, so that both paths differ only by the half cycle
        self.sync += If(self.half, self.into.eq(halfway)).Else(
            self.into.valid.eq(incoming.readable), self.into.word.eq(incoming.dout)
        )
        from_line, pause = Signal(), Signal(max=_PAUSE_EVERY)
        self.sync += If(pause == _PAUSE_EVERY - 1, pause.eq(0)).Else(pause.eq(pause + 1))
        self.specials += [MultiReg(receives.up, from_line), MultiReg(receives.begin, self.begin)]
        self.comb += [
            outgoing.din.eq(self.out.word),
            outgoing.we.eq(self.out.valid & (pause != 0)),
            self.out.ready.eq(outgoing.writable & (pause != 0)),
            sends.word.word.eq(outgoing.dout),
            sends.word.valid.eq(outgoing.readable),
            outgoing.re.eq(sends.word.ready),
            self.line_out.eq(sends.line),
            receives.line.eq(self.line_into),
            self.in_step.eq(receives.up),
            incoming.din.eq(receives.word.word),
            incoming.we.eq(receives.word.valid),
            incoming_half.din.eq(receives.word.word),
            incoming_half.we.eq(receives.word.valid),
            incoming.re.eq(1),
            incoming_half.re.eq(1),
            self.up.eq(from_line & self.ready),
        ]


def _measure(module, quad, gtx, line, phase) -> None:
    """Adds the phase measurement of the clock received from a satellite, for the time transfer."""
    if not hasattr(module, "cd_helper"):
        helper_clock(module, ClockSignal("link_tx"), ~quad.user.locked)
    module.submodules += (meter := PhaseMeter(ClockSignal(gtx.received), ClockSignal("sys")))
    module.comb += [
        meter.start.eq(phase.start),
        phase.done.eq(meter.done),
        phase.value.eq(meter.value),
        phase.begin.eq(line.begin),
        line.half.eq(phase.half),
    ]


def connect_words(end, wire, line):
    """Statements that connect an end of a link and its `wire` (of `soc.links.Links`) with a line: `out` and `into`, as
    the wire has them, and `up`."""
    return [
        line.out.valid.eq(wire.out.valid),
        line.out.word.eq(wire.out.word),
        wire.out.ready.eq(line.out.ready),
        wire.into.valid.eq(line.into.valid),
        wire.into.word.eq(line.into.word),
        end.line_up.eq(line.up),
    ]


def connect_links(
    module, platform, board_name, cages: Cages | None, ends, wires, reference, boot
) -> tuple[str, Signal]:
    """Adds to a module the hardware for ends over fibre of `soc.links.Links`, with its `wires`. reference: clock
    of the synthesiser after its buffer; boot: domain of a clock that always runs. Returns the
    domain of the clock received by the first end, 125 MHz, and a level in it: the clock is the
    other board's. Raises ValueError if the board does not have so many cages."""
    if cages is None or len(ends) > cages.count:
        known = "no transceivers" if cages is None else f"{cages.count} SFP cages for links"
        raise ValueError(f"{board_name} has {known}, but the variant needs {len(ends)}")
    quad = add_quad(module, platform, cages.reference or reference, boot)
    module.clock_domains.cd_sys_half = ClockDomain("sys_half")
    module.comb += [ClockSignal("sys_half").eq(~ClockSignal("sys")), ResetSignal("sys_half").eq(ResetSignal("sys"))]
    for number, (name, end) in enumerate(ends.items()):
        if number < len(cages.enable) and cages.enable[number] is not None:
            module.comb += platform.request(cages.enable[number]).eq(1)
        gtx, wire = add_transceiver(quad, platform, number), wires[name]
        module.submodules += (line := LineEnd("link_tx", gtx.received))
        ready = Signal()
        module.specials += MultiReg(gtx.ready, ready)
        module.comb += [
            *connect_words(end, wire, line),
            gtx.transmit.eq(line.line_out),
            line.line_into.eq(gtx.receive),
            gtx.in_step.eq(line.in_step),
            line.ready.eq(ready),
        ]
        if hasattr(end, "phase"):
            _measure(module, quad, gtx, line, end.phase)
        elif hasattr(end, "steady"):
            module.submodules += (steady := Steady(gtx.received, line.in_step))
            module.comb += [end.steady.eq(steady.steady), end.begin.eq(line.begin)]
    return quad.channels[0].received, quad.channels[0].in_step
