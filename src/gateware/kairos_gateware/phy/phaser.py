"""Phaser: registers and oscillators of a card at the end of a fast link (`fastlink.py`), in frames
of 40 cycles (320 ns). Clock domain sys.

The card's registers are a channel: address bit 7 set writes the register selected by the other
bits; otherwise it is read, and the answer is an input event. One access per frame: another one
before the frame has begun is rejected as "busy". Each RF channel has two further channels
(`PhaserTones`): addresses 0 to 4 are the oscillators, data their frequency words, or amplitude,
phase and clear (`TONE`).

A frame has an access to a register, and the five oscillators of one RF channel; RF channels
alternate if both have something new. `FRAME` in `src/contracts/chips/phaser.toml` is the first
part of the payload; it is followed by the frequency word and `TONE` of each oscillator, and zeros.
The link is that of the card; this arrangement of the payload is not: the published gateware of the
card takes samples instead of oscillators.

Timing: an event at T is in the frame that begins at S, the first multiple of 40 after T (one later
if the other RF channel precedes it), and which has been sent after S + 40. The answer to a read
arrives in the next frame, its bits in those of the words 1 to 8, and is stamped S + 80: the
beginning of a frame.
"""

from migen import *

from ..contracts import phaser as facts
from ..contracts.descriptor import ChannelKind
from ..rtio.link import Channel, InputLink, OutputLink
from ..rtio.timing import INPUT_LATENCY
from .fastlink import FastLink, geometry
from .kind import Context, Figure, Kind, Parameter

__all__ = ["KINDS", "Phaser", "PhaserTones"]

_DATA = 8
_WORD = 32
_WRITE = 7  # bit of the address


class Phaser(Module):
    """clock: pad; lanes: list of six pads; back: pad. The registers' channel.

    `words`: for each RF channel the frequency words and the words `TONE` of its oscillators, which
    its `PhaserTones` set; `strobes`: for each of these two lists, some words are new. `probes`: the
    frequency words.
    """

    def __init__(self, number, clock, lanes, back):
        link = OutputLink(data_width=_DATA, address_width=8, replace=False)
        inputs = InputLink(data_width=_DATA + facts.ANSWER_SPARE)
        self.submodules.fast_link = fast_link = FastLink(clock, lanes, back, **geometry(facts))
        self.channel = Channel(number, output=link, input=inputs, free_running=fast_link.free_running)
        self.pads = [clock, *lanes, back]
        kinds = ["frequency", "output"]
        self.words = [
            [[Signal(_WORD, name=f"{kind}_{c}_{n}") for n in range(facts.OSCILLATORS)] for kind in kinds]
            for c in range(facts.CHANNELS)
        ]
        self.strobes = [[Signal(name=f"{kind}_{c}_stb") for kind in kinds] for c in range(facts.CHANNELS)]
        self.probes = [word for frequencies, _ in self.words for word in frequencies]

        # # #

        pending = Signal()  # an access waits for its frame
        new = Signal(facts.CHANNELS)  # RF channels that wait for theirs
        last, turn = Signal(), Signal()
        head = Record(facts.FRAME)
        access = Record([field for field in facts.FRAME if field[0] not in ("channel", "request")])
        tones = [Cat(*[word for pair in zip(*words, strict=True) for word in pair]) for words in self.words]
        begin = fast_link.begin
        self.comb += [
            link.busy.eq(pending & ~begin),
            turn.eq(Mux(new == 0b11, ~last, new[1])),
            head.channel.eq(turn),
            head.request.eq(pending),
            *[getattr(head, name).eq(getattr(access, name)) for name, *_ in access.layout],
            fast_link.payload.eq(Cat(head.raw_bits(), Mux(turn, tones[1], tones[0]))),
            fast_link.fresh.eq(pending | (new != 0)),
        ]
        self.sync += [
            If(begin, pending.eq(0), last.eq(turn)),
            [new[c].eq(f | o | new[c] & ~(begin & (turn == c))) for c, (f, o) in enumerate(self.strobes)],
            If(
                link.stb & ~link.busy,
                pending.eq(1),
                access.write.eq(link.address[_WRITE]),
                access.register.eq(link.address[:_WRITE]),
                access.data.eq(link.data),
            ),
        ]
        asked, answering = Signal(), Signal()  # the frame is that of a read, and the next one
        answered = Signal(INPUT_LATENCY + 1)
        self.sync += [
            If(begin, asked.eq(pending & ~access.write), answering.eq(asked)),
            answered.eq(Cat(begin & answering, answered)),
            If(answered[0], inputs.data.eq(fast_link.answer)),
        ]
        self.comb += [
            inputs.stb.eq(answered[-1]),
            self.channel.settled.eq(fast_link.settled & ~asked & ~answering & (answered == 0)),
        ]


class PhaserTones(Module):
    """Words of one kind, of the oscillators of one RF channel; stb: its strobe."""

    def __init__(self, number, words, stb):
        link = OutputLink(data_width=_WORD, address_width=8)
        self.channel = Channel(number, output=link)
        self.pads = []

        # # #

        self.comb += stb.eq(link.stb)
        self.sync += [If(link.stb & (link.address == n), word.eq(link.data)) for n, word in enumerate(words)]


def _make(context):
    clock, *lanes = context.pads(["clk", *(f"mosi{i}" for i in range(facts.LANES))], serialised=True)
    return Phaser(context.number, clock, lanes, context.pad("miso", "in"))


def _tones(context):
    phaser = context.earlier("phaser", Phaser, "phaser")
    index, kind = context["channel"], context["kind"]
    return PhaserTones(context.number, phaser.words[index][kind], phaser.strobes[index][kind])


class _Whole(Module):
    """All five channels; `channel` is that of the registers."""

    def __init__(self):
        self.submodules.phaser = phaser = _make(Context(0, "phaser", {}, {}))
        self.channel, self.pads, self.others = phaser.channel, phaser.pads, []
        for number in range(1, 1 + 2 * facts.CHANNELS):
            parameters = {"phaser": 0, "channel": (number - 1) // 2, "kind": (number - 1) % 2}
            tones = _tones(Context(number, f"tones{number}", parameters, {0: phaser}))
            self.submodules += tones
            self.others.append(tones.channel)


KINDS = (
    Kind(
        ChannelKind.PHASER,
        _make,
        pads="`clk`, `mosi0`–`mosi5`, `miso`",
        figures={"phaser": Figure("with its oscillators' channels", _Whole)},
    ),
    Kind(
        ChannelKind.PHASER_TONE,
        _tones,
        parameters=(
            Parameter("phaser", meaning="channel of a `phaser`, before it"),
            Parameter("channel", 0, range(facts.CHANNELS), "a Phaser has RF channels 0 and 1"),
            Parameter("kind", 0, range(2), "kind is 0 or 1", meaning="0 frequencies, 1 amplitudes and phases"),
        ),
    ),
)
