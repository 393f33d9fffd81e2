"""The line to the camera: characters in 8B/10B at 20.83 Mbit/s, six cycles for a bit. Clock domain sys.

While there is nothing to send the line carries idle words of four characters. A packet begins after a whole idle word
or another packet; it goes out without a gap but for triggers, which go before all else, at the end of the character in
progress. What remains of it then is the delay in the trigger's packet, so that a camera knows the time of the event:

    event                  _/‾\\__________________________________________
    line        ... character in progress | K28.2 | K28.4 | K28.4 | delay | delay | delay | ...
                     <----- delay ------->

The delay counts down from 239 in units of 2 ns and is that time plus 6 ns; its lowest bit says which of two triggers
it is.

Characters begin at multiples of 60 cycles, so that their phase follows from the time. Simulation reports every change
of a pad: there the line rests instead of carrying idle words, but for one before a packet and one after whatever was
sent, which ends the last character for a receiver that knows the line from its edges.
"""

from migen import *

from ..code8b10b import CODE_BITS, Encoder
from ..contracts import coaxpress as facts
from ..rtio.free_phase import FreePhase
from ..rtio.timing import FINE_BITS

__all__ = ["BIT_CYCLES", "CHARACTER_BITS", "CONTROL", "IDLE_WORD", "TRIGGER_CHARACTERS", "Uplink"]

CHARACTER_BITS = 9
"""The highest one for control characters."""
CONTROL = 1 << CHARACTER_BITS - 1
BIT_CYCLES = facts.CHARACTER_CYCLES // CODE_BITS
IDLE_WORD = (CONTROL | facts.COMMA, CONTROL | facts.IDLE, CONTROL | facts.IDLE, facts.IDLE_END)
TRIGGER_CHARACTERS = 6
_UNITS_PER_CYCLE = 4


class Uplink(Module):
    """`output` (out): the line. `free_running`: of the phase, for the PHY's channel. `settled` (out): nothing is being
    sent that simulation has to show.

    `fire` (in): an event of a trigger, unless `busy` (out); with it `fine` (in, 3 bits), `falling` (in) and `upper`
    (in): which one of four.

    `character` (in, 9 bits), `valid` (in): of a packet, words of four characters; taken in a cycle with `ready` (out).
    """

    def __init__(self):
        self.output, self.settled = Signal(), Signal()
        self.fire, self.busy = Signal(), Signal()
        self.fine, self.falling, self.upper = Signal(FINE_BITS), Signal(), Signal()
        self.character, self.valid, self.ready = Signal(CHARACTER_BITS), Signal(), Signal()
        self.submodules.time = time = FreePhase(facts.CHARACTER_CYCLES)
        self.free_running = time.free_running

        # # #

        self.submodules.encoder = encoder = Encoder()
        triggered, trigger_character = self._trigger(time)
        place, primed, closing = Signal(2), Signal(), Signal()
        idles, sends = Signal(), Signal()
        code, bit = Signal(CODE_BITS), Signal(max=BIT_CYCLES)
        active = Signal()
        whole = place == len(IDLE_WORD) - 1
        shown = ~time.free_running.simulated | (place != 0) | closing | self.valid
        idle = {n: encoder.character.eq(character) for n, character in enumerate(IDLE_WORD)}
        self.comb += [
            encoder.ce.eq(time.last & (triggered | sends | idles)),
            sends.eq(~triggered & (place == 0) & self.valid & primed),
            idles.eq(~triggered & ~sends & shown),
            self.ready.eq(time.last & sends),
            Case(place, idle),
            If(triggered, encoder.character.eq(trigger_character)).Elif(sends, encoder.character.eq(self.character)),
            self.output.eq(code[0]),
            self.settled.eq(~active & ~triggered & ~self.valid & ~closing),
        ]
        self.sync += [
            If(bit == BIT_CYCLES - 1, bit.eq(0), code.eq(Cat(code[1:], code[-1]))).Else(bit.eq(bit + 1)),
            If(
                time.last,
                bit.eq(0),
                active.eq(encoder.ce),
                If(encoder.ce, code.eq(encoder.code)),
                If(triggered | sends, closing.eq(1)),
                If(idles, place.eq(place + 1), If(whole, primed.eq(1), closing.eq(0))),
                If(~encoder.ce, primed.eq(0)),
            ),
        ]

    def _trigger(self, time):
        """Returns two expressions: the next character is that of a trigger, and which."""
        left = Signal(max=TRIGGER_CHARACTERS + 1)
        falling = Signal()
        delay = Signal(8)
        triggered, first = Signal(), Signal()
        cycles = Signal(max=facts.CHARACTER_CYCLES)
        now_delay = Signal(8)
        self.comb += [
            self.busy.eq(left != 0),
            first.eq(self.fire & ~self.busy),
            triggered.eq(first | self.busy),
            cycles.eq(facts.CHARACTER_CYCLES - 1 - time.phase),
            now_delay.eq((cycles * _UNITS_PER_CYCLE) + (_UNITS_PER_CYCLE - 1 - self.fine[1:])),
        ]
        self.sync += [
            If(
                first,
                falling.eq(self.falling),
                delay.eq(Cat(self.upper, now_delay[1:])),
                left.eq(TRIGGER_CHARACTERS - time.last),
            ).Elif(self.busy & time.last, left.eq(left - 1)),
        ]
        edge = Signal()
        self.comb += edge.eq(Mux(first, self.falling, falling))
        rise, fall = CONTROL | facts.TRIGGER_RISE, CONTROL | facts.TRIGGER_FALL
        character = Mux(
            first | (left == TRIGGER_CHARACTERS),
            Mux(edge, fall, rise),
            Mux(left > TRIGGER_CHARACTERS // 2, Mux(edge, rise, fall), delay),
        )
        return triggered, character
