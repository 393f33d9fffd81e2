"""The master's end of a link to a card that speaks DRTIO, from the words of the line to channels and mailbox
(docs/gateware/drtio.md). Clock domain sys."""

from migen import *

from .auxiliary import auxiliary_mailbox
from .requester import PATIENCE, DrtioRequester
from .words import CHARACTER_BITS, WordReceiver, WordTransmitter

__all__ = ["DrtioEnd"]


class DrtioEnd(Module):
    """timebase, data_width, outputs, destination, characters, patience: as of the `DrtioRequester`.

    `sent` (out, `9 * characters` bits): the word of this cycle to the line. `received` (in, as `sent`): that from
    the line, with `invalid` (in) if a character of it is wrong. `up` (in): the line carries words; while it does not,
    the card is not reachable.

    `near`: the `DrtioRequester`, with the card's channels. `mailbox`: the `Mailbox` for its auxiliary packets. `wrong`
    (out): for a cycle, a word had characters that do not go together."""

    def __init__(self, timebase, data_width, outputs, destination, characters=2, patience=PATIENCE):
        self.sent, self.received = Signal(CHARACTER_BITS * characters), Signal(CHARACTER_BITS * characters)
        self.invalid, self.up, self.wrong = Signal(), Signal(), Signal()
        self.submodules.transmitter = transmitter = WordTransmitter(characters)
        self.submodules.receiver = receiver = WordReceiver(characters)
        self.submodules.near = near = DrtioRequester(timebase, data_width, outputs, destination, characters, patience)
        self.submodules.mailbox = auxiliary_mailbox(transmitter.auxiliary, receiver, self.up)

        # # #

        stream, realtime = near.packets.stream, transmitter.realtime
        self.comb += [
            self.sent.eq(transmitter.line),
            receiver.line.eq(self.received),
            receiver.invalid.eq(self.invalid),
            receiver.aligned.eq(self.up),
            self.wrong.eq(receiver.wrong),
            realtime.valid.eq(stream.valid),
            realtime.last.eq(stream.last),
            realtime.word.eq(stream.word),
            stream.ready.eq(realtime.ready),
            near.answers.valid.eq(receiver.realtime.valid),
            near.answers.word.eq(receiver.realtime.word),
        ]
