"""Phaser: registers, oscillators and pulses of a card at the end of a fast link (`fastlink.py`), in frames
of 40 cycles (320 ns). Clock domain sys.

The card's registers are a channel: address bit 7 set writes the register selected by the other
bits; otherwise it is read, and the answer is an input event. Each frame has one access, which is a
harmless read of the last register if there was none since the last one; of several the last one
counts. Frames carry samples of the oscillators (`phaser_tones.py`), or with `miqro` pulses.

Each RF channel has two further channels for the oscillators (`PhaserTones`): addresses 0 to 4 are the
oscillators, data their frequency words, or amplitude, phase and clear (`TONE`). With `miqro` it has one
instead (`PhaserPulses`): address 0 the first of the words of a pulse, and the pulse, 1 and 2 the other
words, which are 0 if they are not set. A pulse before a frame has taken the last one is "busy".

The header of the payload is `FRAME` of `src/contracts/chips/phaser.toml`, its body has 8 samples, the
latest one lowest, or the pulses of the RF channels.

Timing: an event at T is in the frame that begins at S, the first multiple of 40 after T, and which has
been sent after S + 40. The answer to a read arrives in the next frame, its bits in those of the words 1
to 8, and is stamped S + 80: the beginning of a frame. A word of an oscillator changes samples from S + 20
on at the latest, and those of a frame are played from its end on, one every 5 cycles.

Simulations do not put frames without news on the pads, so the bench does not see all samples. Therefore
simulation builds tell it instead of the next samples what the oscillators do (`ANNOUNCED`), and since when,
one RF channel in a frame; two frames later samples follow, which the bench compares with that.
"""

from migen import *

from ..contracts import phaser as facts
from ..contracts.descriptor import ChannelKind
from ..rtio.link import Channel, InputLink, OutputLink
from ..rtio.timing import FINE_BITS, INPUT_LATENCY
from .fastlink import FastLink, geometry
from .kind import Context, Figure, Kind, Parameter
from .phaser_tones import SLOTS, Elapsed, Tones, announced

__all__ = ["KINDS", "Phaser", "PhaserPulses", "PhaserTones"]

_DATA = 8
_WORD = 32
_WRITE = 7  # bit of the address
_CHANNELS = range(facts.CHANNELS)
_BASE, _MIQRO = facts.GW_REV_GATEWARE_BASE, facts.GW_REV_GATEWARE_MIQRO
_CHECK = 2
"""Frames from an announcement to samples that were computed entirely after it."""
_SAMPLE_BITS = 14
_PULSE = [*facts.MIQRO, *((f"word{n}", facts.MIQRO_WORD_BITS) for n in range(facts.MIQRO_WORDS))]


class Phaser(Module):
    """clock: pad; lanes: list of six pads; back: pad. miqro: frames carry pulses. The registers' channel.

    `words`: for each RF channel the frequency words and the words `TONE` of its oscillators, which
    its `PhaserTones` set; `strobes`: for each of these two lists, some words are new. `probes`: the
    frequency words. `pulses`: with `miqro` the pulses of the RF channels (records). `place` (6 bits):
    number of the cycle in the frame; `begin`: it is the last one, in which the next frame is loaded.
    """

    def __init__(self, number, clock, lanes, back, miqro=0):
        link = OutputLink(data_width=_DATA, address_width=8)
        inputs = InputLink(data_width=facts.ANSWER_BITS)
        self.submodules.fast_link = fast_link = FastLink(clock, lanes, back, **geometry(facts))
        self.channel = Channel(number, output=link, input=inputs, free_running=fast_link.free_running)
        self.pads = [clock, *lanes, back]
        kinds = ["frequency", "output"]
        self.words = [
            [[Signal(_WORD, name=f"{kind}_{c}_{n}") for n in range(SLOTS)] for kind in kinds] for c in _CHANNELS
        ]
        self.strobes = [[Signal(name=f"{kind}_{c}_stb") for kind in kinds] for c in _CHANNELS]
        self.pulses = [Record(_PULSE, name=f"pulse_{c}") for c in _CHANNELS]
        self.probes = [word for frequencies, _ in self.words for word in frequencies] if not miqro else []
        self.place, self.begin = fast_link.phase, fast_link.begin

        # # #

        head = Record(facts.FRAME)
        pending = Signal()  # an access waits for its frame
        self.sync += [
            If(self.begin, head.write.eq(0), pending.eq(0)),
            If(
                link.stb,
                pending.eq(1),
                head.write.eq(link.address[_WRITE]),
                head.register.eq(link.address[:_WRITE]),
                head.data.eq(link.data),
            ),
        ]
        kind, body, fresh, quiet = self._pulses() if miqro else self._samples()
        self.comb += [
            head.kind.eq(kind),
            fast_link.payload.eq(Cat(head.raw_bits(), body)),
            fast_link.fresh.eq(pending | fresh),
        ]
        # The frame is that of a read, and the next one
        asked, answering = Signal(), Signal()
        answered = Signal(INPUT_LATENCY + 1)
        self.sync += [
            If(self.begin, asked.eq(pending & ~head.write), answering.eq(asked)),
            answered.eq(Cat(self.begin & answering, answered)),
            If(answered[0], inputs.data.eq(fast_link.answer)),
        ]
        self.comb += [
            inputs.stb.eq(answered[-1]),
            self.channel.settled.eq(fast_link.settled & ~asked & ~answering & (answered == 0) & quiet),
        ]

    def _samples(self):
        """Kind, body, whether it is to be sent in simulation, and whether nothing will have to."""
        running = self.fast_link.free_running
        slot, then = Signal(max=SLOTS), Signal(max=SLOTS)
        self.comb += [
            Case(self.place, {n: slot.eq(n % SLOTS) for n in range(facts.FRAME_CYCLES)}),
            Case(self.fast_link.after, {n: then.eq(n % SLOTS) for n in range(facts.FRAME_CYCLES)}),
        ]
        self.submodules.elapsed = elapsed = Elapsed(slot, then, running)
        self.tones = [Tones(*words, slot, elapsed, running) for words in self.words]
        self.submodules += self.tones
        now = Cat(*[part[-_SAMPLE_BITS:] for tones in self.tones for part in (tones.i, tones.q)])
        samples = Signal(facts.SAMPLES * len(now))
        self.sync += If(slot == SLOTS - 1, samples.eq(Cat(now, samples)))

        new = Signal(facts.CHANNELS)  # RF channels whose oscillators have not been announced
        check = Signal(max=_CHECK + 1)
        announcing = Signal()
        ages = [Signal(facts.ANNOUNCED_CYCLES_BITS, name=f"age_{c}") for c in _CHANNELS]  # cycles since the change
        said = [announced(tones, *words) for tones, words in zip(self.tones, self.words, strict=True)]
        self.comb += announcing.eq(running.simulated & (new != 0))
        for c in _CHANNELS:
            turn = new[c] & (new[:c] == 0) if c else new[c]
            changed, kept = self.strobes[c][0] | self.strobes[c][1], new[c] & ~(self.begin & turn)
            self.sync += [
                new[c].eq(changed | kept),
                If(~kept, ages[c].eq(1)).Elif(ages[c] != 2 ** len(ages[c]) - 1, ages[c].eq(ages[c] + 1)),
            ]
        self.sync += If(self.begin, If(announcing, check.eq(_CHECK)).Elif(check != 0, check.eq(check - 1)))
        kind = Mux(announcing, facts.FRAME_KIND_ANNOUNCED, facts.FRAME_KIND_SAMPLES)
        body = Mux(announcing, Mux(new[0], Cat(C(0, 1), ages[0], said[0]), Cat(C(1, 1), ages[1], said[1])), samples)
        return kind, body, announcing | (check == 1), (new == 0) & (check == 0)

    def _pulses(self):
        """Likewise."""
        strobes = [pulse.strobe for pulse in self.pulses]
        body = Cat(*[part for pulse in self.pulses for part in (pulse.raw_bits(), C(0, facts.MIQRO_BITS - len(pulse)))])
        return facts.FRAME_KIND_PULSES, body, Cat(*strobes) != 0, Cat(*strobes) == 0


class PhaserTones(Module):
    """Words of one kind, of the oscillators of one RF channel; stb: its strobe."""

    def __init__(self, number, words, stb):
        link = OutputLink(data_width=_WORD, address_width=8)
        self.channel = Channel(number, output=link)
        self.pads = []

        # # #

        self.comb += stb.eq(link.stb)
        self.sync += [If(link.stb & (link.address == n), word.eq(link.data)) for n, word in enumerate(words)]


class PhaserPulses(Module):
    """Pulses of RF channel `index` of a `Phaser` with `miqro`."""

    def __init__(self, number, phaser, index):
        link = OutputLink(data_width=facts.MIQRO_WORD_BITS, address_width=2)
        self.channel = Channel(number, output=link)
        self.pads = []

        # # #

        pulse, begin = phaser.pulses[index], phaser.begin
        words = [pulse.word0, pulse.word1, pulse.word2]
        starts = Signal()
        since = Signal(max=facts.FRAME_CYCLES + 1)  # cycles since the last frame was loaded
        self.comb += [
            starts.eq(link.stb & (link.address == 0)),
            link.busy.eq(starts & pulse.strobe & ~begin),
            since.eq(Mux(begin, 0, phaser.place + 1)),
        ]
        self.sync += [
            If(begin, pulse.raw_bits().eq(0)),
            [If(link.stb & (link.address == n) & ~link.busy, word.eq(link.data)) for n, word in enumerate(words)],
            If(starts & ~link.busy, pulse.strobe.eq(1), pulse.dt.eq(Cat(link.fine[FINE_BITS - 1], since))),
        ]


def _make(context):
    clock, *lanes = context.pads(["clk", *(f"mosi{i}" for i in range(facts.LANES))], serialised=True)
    return Phaser(context.number, clock, lanes, context.pad("miso", "in"), context["gw_rev"] == _MIQRO)


def _tones(context):
    phaser = context.earlier("phaser", Phaser, "phaser")
    index, kind = context["channel"], context["kind"]
    if kind == 2:
        return PhaserPulses(context.number, phaser, index)
    return PhaserTones(context.number, phaser.words[index][kind], phaser.strobes[index][kind])


class _Whole(Module):
    """All channels; `channel` is that of the registers."""

    def __init__(self, miqro=0):
        self.submodules.phaser = phaser = _make(Context(0, "phaser", {"gw_rev": _MIQRO if miqro else _BASE}, {}))
        self.channel, self.pads, self.others = phaser.channel, phaser.pads, []
        for number in range(1, 1 + (2 - miqro) * facts.CHANNELS):
            place = (
                {"channel": number - 1, "kind": 2}
                if miqro
                else {"channel": (number - 1) // 2, "kind": (number - 1) % 2}
            )
            tones = _tones(Context(number, f"tones{number}", {"phaser": 0, **place}, {0: phaser}))
            self.submodules += tones
            self.others.append(tones.channel)


KINDS = (
    Kind(
        ChannelKind.PHASER,
        _make,
        pads="`clk`, `mosi0`–`mosi5`, `miso`",
        parameters=(
            Parameter(
                "gw_rev",
                _BASE,
                range(_BASE, _MIQRO + 1),
                "gw_rev is 1 or 2",
                meaning="2: for cards with Miqro gateware",
            ),
        ),
        figures={
            "phaser": Figure("with its oscillators", _Whole),
            "phaser_miqro": Figure("with pulses", lambda: _Whole(1)),
        },
    ),
    Kind(
        ChannelKind.PHASER_TONE,
        _tones,
        parameters=(
            Parameter("phaser", meaning="channel of a `phaser`, before it"),
            Parameter("channel", 0, range(facts.CHANNELS), "a Phaser has RF channels 0 and 1"),
            Parameter(
                "kind", 0, range(3), "kind is 0 to 2", meaning="0 frequencies, 1 amplitudes and phases, 2 pulses"
            ),
        ),
    ),
)
