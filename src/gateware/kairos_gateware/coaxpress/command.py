"""Commands to a camera: reads or writes of its registers, as packets of characters for the `Uplink`.

    packet start | type | tag, if any | operation, bytes | address | value, of a write | CRC | packet end

Each is a word of four characters, the highest byte first; start, end, type and tag have four equal characters. The
operation is 0 to read and 1 to write, in the highest byte of its word. Clock domain sys.
"""

from migen import *

from ..contracts import coaxpress as facts
from .crc import Crc
from .uplink import CHARACTER_BITS

__all__ = ["Command"]

_START, _TYPE, _TAG, _OPERATION, _ADDRESS, _VALUE, _CRC, _END = range(8)


class Command(Module):
    """`start` (in): send a command, unless `busy` (out); its arguments are held meanwhile: `write` (in), `length` (in,
    24 bits), `address` (in, 32 bits), `value` (in, 32 bits), and if it is `tagged` (in), its `tag` (in, 8 bits).

    `character` (out, 9 bits), `valid` (out), `ready` (in): the packet.
    """

    def __init__(self):
        self.start, self.busy = Signal(), Signal()
        self.write, self.length = Signal(), Signal(24)
        self.address, self.value = Signal(32), Signal(32)
        self.tagged, self.tag = Signal(), Signal(8)
        self.character, self.valid, self.ready = Signal(CHARACTER_BITS), Signal(), Signal()

        # # #

        self.submodules.crc = crc = Crc()
        part, place = Signal(max=_END + 1), Signal(2)
        word, control = Signal(32), Signal()
        kind = Signal(8)
        words = {
            _START: [word.eq(Replicate(C(facts.PACKET_START, 8), 4)), control.eq(1)],
            _TYPE: word.eq(Replicate(kind, 4)),
            _TAG: word.eq(Replicate(self.tag, 4)),
            _OPERATION: word.eq(Cat(self.length, self.write)),
            _ADDRESS: word.eq(self.address),
            _VALUE: word.eq(self.value),
            _CRC: word.eq(crc.value),
            _END: [word.eq(Replicate(C(facts.PACKET_END, 8), 4)), control.eq(1)],
        }
        following = {
            "default": part.eq(part + 1),
            _TYPE: part.eq(Mux(self.tagged, _TAG, _OPERATION)),
            _ADDRESS: part.eq(Mux(self.write, _VALUE, _CRC)),
            _END: [part.eq(_START), self.valid.eq(0)],
        }
        taken = Signal()
        self.comb += [
            self.busy.eq(self.valid),
            kind.eq(Mux(self.tagged, facts.TAGGED_COMMAND, facts.COMMAND)),
            Case(part, words),
            Case(place, {n: self.character.eq(Cat(word[24 - 8 * n : 32 - 8 * n], control)) for n in range(4)}),
            taken.eq(self.valid & self.ready & (place == 3)),
            crc.word.eq(word),
            crc.clear.eq(part == _START),
            crc.stb.eq(taken & (part >= _TAG) & (part <= _VALUE)),
        ]
        self.sync += [
            If(self.start & ~self.busy, self.valid.eq(1)),
            If(self.valid & self.ready, place.eq(place + 1)),
            If(taken, Case(part, following)),
        ]
