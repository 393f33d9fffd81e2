"""The pulse core on an RTIO channel: events deliver words, triggers and measurement results at
exact times. Clock domain sys.

| RTIO address | Write |
|---|---|
| 0 | a word of the stream, 256 bits (a wide event); rejected as busy while a channel that it names has no room |
| 1 | trigger (data: none) |
| 2 | a measurement's result, 4 bits |
| 3 | control: bit 0 an early trigger is remembered, bit 1 amplitudes are held in an underrun |
| 4 | cycles that engines may wait while others run; 0: no limit |
| 5 | cycles that a branch waits for its result; 0: no limit |
| 6 | channels that a trigger requires |
| 7 | request the status, and clear the errors of the mask |
| 8 | inputs that contribute to a result, a mask of `result0`…; 0: none |
| 9 | channels that receive results, of inputs and of address 2 |
| 10 | request the first underrun of this channel |
| 11 | begin the stream from memory whose list is at this address; rejected as busy while there is one |
| 12 + n | the count of input n from which its bit of the result is 1 |
| 16 | store a word of the stream, at most KEPT |
| 17 | clear the stored words (data: none) |
| 18 | a word of the stream, the stored ones, and a trigger as soon as all channels have what follows |
| 19 to 23 | sample settings, where the core generates samples: `pulse/settings.py` |
| 24 | track the beat, whose frequency per sample is expected to be this word; 0: nothing is tracked |
| 25 | of the tracker: bits 5..0 `proportional`, 11..6 `integral`, 35..12 `patience` |
| 26 | limit of its error |
| 27 | request its state, and clear what is sticky (data: none) |

The status is an input event: bits 8..0 errors, before clearing; 23..16 channels that are armed;
31..24 channels that run. The first underrun is two input events: its age in cycles at the time of
the event, at most 2^32 - 1; then the mask of parameters that ran out of segments since the error
was cleared, 0 if none did. The tracker's state is two input events: bits 31..0 of its error; then
bits 7..0 the rest of it, 8 edges arrive, 9 it was limited, 10 the beat was lost, 31..16 edges.

Inputs (`phy/measurement.py`) are edge counters, or TTL inputs that count while their gate is open;
their counts form a result without a processor, INPUT_LATENCY + 2 cycles after the time of the last
event that closes or reads one.

A trigger at T starts the engines so that their first values appear PIN_LATENCY cycles after T, and
the pins with them: for each tone its enable and its general-purpose level, which are flags of the
amplitude's segment. Reset stops all engines and empties the FIFOs; tables are kept.
"""

from migen import *

from ..contracts import pulse as facts
from ..contracts.descriptor import ChannelKind
from ..pad import SAMPLES
from ..pulse.sequencing import Sequencing
from ..pulse.settings import Settings
from ..pulse.tracker import Tracker
from ..rtio.link import Channel, FreeRunning, InputLink, OutputLink
from .kind import Kind, Parameter
from .measurement import SOURCES, Measurement, sources_of
from .ttl import InOut

__all__ = ["KINDS", "PIN_LATENCY", "MemoryStream", "Pulse", "pad_names"]

WORD, TRIGGER, RESULT, CONTROL, MISALIGN_LIMIT, BRANCH_TIMEOUT, TRIGGER_CHANNELS, STATUS = range(8)
RESULT_INPUTS, RESULT_CHANNELS, UNDERRUN, STREAM = 8, 9, 10, 11
RESULT_THRESHOLD = 12
KEEP, DISCARD, CHANGE = 16, 17, 18
BEAT, BEAT_LOOP, BEAT_LIMIT, BEAT_STATE = range(24, 28)
KEPT = 8
"""Capacity of stored words."""
_STILL = 3
"""Cycles without activity before the stored words are triggered."""
_LEVELS = ["enable", "gpo"]
PIN_LATENCY = 1
"""Cycles from a trigger's time to the first levels at the pins."""


def pad_names(channels):
    """Parts of the names of the pads, in their order."""
    return [f"{c}_{level}{tone}" for c in range(channels) for level in _LEVELS for tone in range(facts.TONES)]


class MemoryStream:
    """Requests of a core to a reader of words in memory (`dma/stream.py`). Directions as seen by the core.

    `start` (out): begin with the list at `base` (out, 32 bits), unless `busy` (in). `valid` (in), `ready`
    (out), `word` (in, 256 bits): the stream.
    """

    def __init__(self):
        self.start, self.busy, self.base = Signal(), Signal(), Signal(32)
        self.valid, self.ready, self.word = Signal(), Signal(), Signal(facts.WORD_BITS)


class Direct:
    """Requests of registers to a core, beside events. Directions as seen by the core.

    `trigger` (in): pulse. `result_valid` (in): pulse, with the `result` (in, 4 bits) of a measurement.
    `clear` (in, `len(facts.Error)` bits): errors to be cleared.
    """

    def __init__(self):
        self.trigger, self.result_valid = Signal(), Signal()
        self.result = Signal(facts.BRANCH_STATE_BITS)
        self.clear = Signal(max(facts.Error).bit_length())


class Pulse(Module):
    """pads: in the order of `pad_names`, or none. sources: PHYs of inputs that contribute to results. beat: the PHY
    at whose pin the tracker's beat arrives, None without a tracker.
    options: of the `Sequencing`. `sequencing`: the core, whose own `settled` counts beside the
    channel's. `stream`: a `MemoryStream`, whose words are interleaved with those of events.
    `direct`: a `Direct`. `outputs`: the core's channels, for samples; `settings`: `Settings` of
    their generation."""

    def __init__(self, number, pads, channels, sources=(), beat=None, **options):
        link = OutputLink(data_width=facts.WORD_BITS, address_width=5)
        inputs = InputLink(data_width=32)
        self.channel = Channel(number, output=link, input=inputs, free_running=FreeRunning())
        self.pads = pads
        self.submodules.sequencing = core = Sequencing(channels, **options)
        self.outputs = core.channels
        self.submodules.measurement = measurement = Measurement(sources)
        self.stream, self.direct = stream, direct = MemoryStream(), Direct()

        # # #

        def at(address):
            return link.stb & (link.address == address)

        self._age = Signal(facts.CYCLE_COUNTER_BITS)
        parameters, second = Signal(facts.PARAMETERS), Signal()
        skip = self.channel.free_running
        self.submodules.change = change = _Change(at, link.data, core)
        self.submodules.settings = Settings(at, link.data, channels)
        still = Signal(reset=1)
        triggered = Signal()  # by a register, a cycle ago: its address need not be decoded in the trigger's cycle
        comes, alone = at(WORD) | at(CHANGE), Signal()
        self.comb += [
            alone.eq((comes & ~change.under_way) | change.sends),
            core.word.eq(Mux(change.sends, change.word, Mux(comes, link.data, stream.word))),
            core.valid.eq(alone | stream.valid),
            stream.ready.eq(core.ready & ~alone),
            link.busy.eq((comes & (~core.ready | change.under_way)) | (at(STREAM) & stream.busy)),
            stream.start.eq(at(STREAM) & ~stream.busy),
            core.trigger.eq(at(TRIGGER) | triggered | change.trigger),
            core.result.eq(
                Mux(measurement.valid, measurement.state, Mux(direct.result_valid, direct.result, link.data))
            ),
            core.result_valid.eq(at(RESULT) | measurement.valid | direct.result_valid),
            core.clear.eq(Mux(at(STATUS), link.data, 0) | direct.clear),
            inputs.stb.eq(at(STATUS) | at(UNDERRUN) | second),
            inputs.data.eq(Cat(_wide(core.errors, 16), _wide(core.armed, 8), core.running)),
            If(at(UNDERRUN), inputs.data.eq(self._limited_age())),
            If(second, inputs.data.eq(parameters)),
            self.channel.settled.eq(~(link.stb | second | triggered | change.under_way) & measurement.settled & still),
            [core.skip.eq(skip.stb), core.skipped.eq(skip.cycles)],
            Case(
                link.data,
                {c: self._age.eq(core.cycle - first) for c, first in enumerate(core.first_cycles)},
            ),
        ]
        self.sync += [
            triggered.eq(direct.trigger),
            If(at(STREAM), stream.base.eq(link.data)),
            If(at(CONTROL), Cat(core.trigger_strict, core.hold).eq(link.data)),
            If(at(MISALIGN_LIMIT), core.misalign_limit.eq(link.data)),
            If(at(BRANCH_TIMEOUT), core.branch_timeout.eq(link.data)),
            If(at(TRIGGER_CHANNELS), core.trigger_channels.eq(link.data)),
            If(at(RESULT_INPUTS), measurement.asked.eq(link.data)),
            If(at(RESULT_CHANNELS), core.result_channels.eq(link.data)),
            [If(at(RESULT_THRESHOLD + n), t.eq(link.data)) for n, t in enumerate(measurement.thresholds)],
            second.eq(at(UNDERRUN)),
            Case(link.data, {c: parameters.eq(dry) for c, dry in enumerate(core.underrun_parameters)}),
        ]
        # Only the cycle counter advances by itself, and the tracker's phase
        if beat is None:
            self.comb += skip.limit.eq(2 ** len(skip.limit) - 1)
        else:
            self.comb += still.eq(self._track(at, link.data, beat.edges, skip))
        # Without pads, levels have no effect
        for channel, first in zip(core.channels, range(0, len(pads), 2 * facts.TONES), strict=bool(pads)):
            levels = Cat(channel.enable, channel.gpo)
            for n, pad in enumerate(pads[first : first + 2 * facts.TONES]):
                self.comb += [pad.o.eq(Replicate(levels[n], SAMPLES)), pad.oe.eq(1)]

    def _track(self, at, data, edges, skip):
        """Adds the tracker of the beat with these edges, whose state takes precedence over other input events.
        Returns whether nothing follows from it."""
        inputs, settings = self.channel.input, self.settings
        self.submodules.tracker = tracker = Tracker(edges, skip, SAMPLES)
        later = Signal()
        state = [tracker.error[32:], tracker.locked, tracker.limited, tracker.lost, C(0, 5), tracker.count]
        rest = Signal(32)
        self.comb += [
            tracker.error.eq(settings.tracked),
            settings.proposed.eq(tracker.proposed),
            settings.update.eq(tracker.update),
            tracker.taken.eq(settings.taken),
            tracker.clear.eq(later),
            If(at(BEAT_STATE) | later, inputs.stb.eq(1)),
            If(at(BEAT_STATE), inputs.data.eq(tracker.error[:32])),
            If(later, inputs.data.eq(rest)),
        ]
        loop = Cat(tracker.proportional, tracker.integral, tracker.patience)
        self.sync += [
            tracker.restart.eq(at(BEAT)),
            later.eq(at(BEAT_STATE)),
            rest.eq(Cat(*state)),
            If(at(BEAT), tracker.nominal.eq(data)),
            If(at(BEAT_LOOP), loop.eq(data)),
            If(at(BEAT_LIMIT), tracker.limit.eq(data)),
        ]
        return tracker.settled & ~later

    def _limited_age(self):
        return Mux(self._age[32:] != 0, 2**32 - 1, self._age[:32])


def _wide(bits, width):
    """The signal with zeros above it."""
    return Cat(bits, C(0, width - len(bits))) if len(bits) < width else bits


class _Change(Module):
    """Plays the stored words after a word that requests it. at: whether there is an event at an
    address. data: of the event. core: the `Sequencing`.

    `sends` (out): `word` (out, 256 bits) goes to the stream. `trigger` (out): pulse. `under_way` (out):
    from the requesting word to the trigger.
    """

    def __init__(self, at, data, core):
        self.sends, self.trigger, self.under_way = Signal(), Signal(), Signal()
        self.word = Signal(facts.WORD_BITS)

        # # #

        memory = Memory(facts.WORD_BITS, KEPT)
        write, read = memory.get_port(write_capable=True), memory.get_port(async_read=True)
        self.specials += memory, write, read
        kept, place = Signal(max=KEPT + 1), Signal(max=KEPT + 1)
        still = Signal(max=_STILL + 1, reset=_STILL)  # remaining cycles without activity
        # As of the cycle before: these would be paths from all queues of a core through the trigger to all others.
        loaded, settled = Signal(), Signal()
        more = Signal()  # words to send: the stream, whose reader waits for this one, is not behind a comparison
        self.comb += [
            write.adr.eq(kept),
            write.dat_w.eq(data),
            write.we.eq(at(KEEP) & (kept != KEPT)),
            read.adr.eq(place),
            self.word.eq(read.dat_r),
            self.sends.eq(self.under_way & more),
            # Words after those are read as fast as engines can take them.
            self.trigger.eq(self.under_way & ~self.sends & (loaded | (still == 0))),
        ]
        self.sync += [
            loaded.eq(core.loaded),
            settled.eq(core.settled),
            If(at(DISCARD), kept.eq(0)).Elif(write.we, kept.eq(kept + 1)),
            If(
                at(CHANGE) & core.ready & ~self.under_way,
                self.under_way.eq(1),
                place.eq(0),
            ).Elif(self.trigger, self.under_way.eq(0)),
            If(self.sends & core.ready, place.eq(place + 1), more.eq(place + 1 != kept)).Else(
                more.eq(Mux(self.under_way, place, 0) != kept)
            ),
            If(self.under_way & settled & ~self.trigger, still.eq(still - 1)).Else(still.eq(_STILL)),
        ]


_RESULTS = [f"result{n}" for n in range(SOURCES)]


def _make(context):
    channels = context["channels"]
    tables = {f"{name}_bits": context[f"{name}_bits"] for name in ["mlut", "plut"]}
    beat = None if context["beat"] is None else context.earlier("beat", InOut, "ttl_inout")
    pads = context.pads(pad_names(channels)) if context["levels"] else []
    return Pulse(context.number, pads, channels, sources_of(context, _RESULTS), beat, **tables)


def _bits(name, most, what):
    return Parameter(
        f"{name}_bits",
        most,
        range(6, most + 1),
        f"{what} has 6 to {most} address bits",
        meaning=f"address bits of {what}",
    )


KINDS = (
    Kind(
        ChannelKind.PULSE,
        _make,
        pads="for each channel and tone, its enable and its general-purpose level",
        parameters=(
            Parameter("channels", 8, range(1, 9), "a pulse core has 1 to 8 channels", meaning="of two tones"),
            Parameter("levels", 1, range(2), "a pulse core has pads for levels, or none", meaning="0: without pads"),
            _bits("mlut", facts.MLUT_ADDRESS_BITS, "the memory map"),
            _bits("plut", facts.PLUT_ADDRESS_BITS, "the pulse table"),
            *[
                Parameter(name, meaning=f"channel of an `edge_counter` or `ttl_inout` before it: bit {n} of results")
                for n, name in enumerate(_RESULTS)
            ],
            Parameter("beat", meaning="channel of a `ttl_inout` before it: the beat that the feed-forward may track"),
        ),
    ),
)
