"""The master's end of a link to a card that speaks DRTIO, from the words of the line to channels and mailbox
(docs/gateware/drtio.md). Clock domain sys."""

from functools import reduce
from operator import and_

from migen import *

from ..line.word import WORD_BITS
from .auxiliary import auxiliary_mailbox
from .plain import PlainReceiver, PlainTransmitter
from .requester import REST, TIMEOUT, DrtioRequester
from .words import CHARACTER_BITS, WordReceiver, WordTransmitter

__all__ = ["CHARACTERS", "DrtioEnd", "LinkLayer"]

CHARACTERS = 2
"""Of a word on an EEM connector."""


class LinkLayer(Module):
    """An end's words. characters: of a word. plain: the line is the emulator's (`plain.py`), with `out` (out) and
    `into` (in), each `word` in a cycle with `valid`. Otherwise `sent` (out, `9 * characters` bits): the word of this
    cycle to the line, and `received` (in, as `sent`): that from it, with `invalid` (in) if a character of it is wrong.
    `up` (in): the line carries words.

    `realtime` (in), `auxiliary` (in): as of the `WordTransmitter`. `receiver`: a `WordReceiver`, or the like.
    `settled` (out), in the emulator: no word has passed for some cycles."""

    def __init__(self, characters, plain):
        self.up, self.settled = Signal(), Signal()
        self.submodules.transmitter = transmitter = (PlainTransmitter if plain else WordTransmitter)(characters)
        self.submodules.receiver = receiver = (PlainReceiver if plain else WordReceiver)(characters)
        self.realtime, self.auxiliary = transmitter.realtime, transmitter.auxiliary

        # # #

        self.comb += receiver.aligned.eq(self.up)
        if plain:
            self.out = Record([("valid", 1), ("ready", 1), ("word", WORD_BITS)])
            self.into = Record([("valid", 1), ("word", WORD_BITS)])
            rest = Signal(max=REST + 1)
            moves = self.realtime.valid | self.auxiliary.valid | self.out.valid | self.into.valid
            self.comb += [
                self.out.valid.eq(transmitter.valid),
                self.out.word.eq(transmitter.line),
                receiver.valid.eq(self.into.valid),
                receiver.line.eq(self.into.word),
                self.settled.eq(rest == 0),
            ]
            self.sync += If(moves, rest.eq(REST)).Elif(rest != 0, rest.eq(rest - 1))
        else:
            self.sent, self.received = [Signal(CHARACTER_BITS * characters) for _ in range(2)]
            self.invalid = Signal()
            self.comb += [
                self.sent.eq(transmitter.line),
                receiver.line.eq(self.received),
                receiver.invalid.eq(self.invalid),
            ]

    def carry(self, sender, receiver):
        """Statements that connect a `PacketSender` and a `PacketReceiver`."""
        stream, realtime, came = sender.stream, self.realtime, self.receiver.realtime
        return [
            realtime.valid.eq(stream.valid),
            realtime.last.eq(stream.last),
            realtime.word.eq(stream.word),
            stream.ready.eq(realtime.ready),
            receiver.valid.eq(came.valid),
            receiver.word.eq(came.word),
        ]


class DrtioEnd(LinkLayer):
    """timebase, data_width, outputs, destination, characters, patience: as of the `DrtioRequester`. plain, signals of
    the line: as of the `LinkLayer`. While the line is not `up`, the card is not reachable.

    `near`: the `DrtioRequester`, with the card's channels. `mailbox`: the `Mailbox` for its auxiliary packets. `wrong`
    (out): for a cycle, a word had characters that do not go together. `line_up`: as `up`. `settled` (out), in the
    emulator: nothing changes but time."""

    def __init__(
        self, timebase, data_width, outputs, destination, characters=CHARACTERS, patience=TIMEOUT, plain=False
    ):
        super().__init__(characters, plain)
        self.line_up, self.wrong = self.up, self.receiver.wrong
        self.submodules.near = near = DrtioRequester(timebase, data_width, outputs, destination, characters, patience)
        self.submodules.mailbox = auxiliary_mailbox(self.auxiliary, self.receiver, self.up)
        of_words, self.settled = self.settled, Signal()
        self.comb += [
            *self.carry(near.packets, near.answers),
            near.line_up.eq(self.up),
            self.settled.eq(reduce(and_, [of_words, near.settled])),
        ]
