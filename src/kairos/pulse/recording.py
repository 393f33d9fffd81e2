"""Recorded outputs of an emulated device's pulse cores, and the resulting samples.

The emulator records the parameters that the logic passes to the tones, cycle by cycle. Samples are
computed from them on demand, by the bit-exact model. Times are machine units of RTIO, so that
samples align with TTL pulses; a core's global phase counts from time 0.
"""

import heapq
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy

from .. import _native
from ..contracts.pulse import PARAMETERS, TONES, VALUE_BITS
from ..errors import EmulatorError, UsageError
from ..files import replacing
from ..waveform import Wave
from .gateset import Core
from .model import Played

__all__ = ["Output", "Pins", "Recording"]

CYCLE_MU = 8
"""Machine units per cycle of the core's clock, which is that of RTIO."""
CLOCK = 125e6
LEVELS = PARAMETERS + TONES
"""Index of the field with the levels."""
LEVEL_NAMES = ("sync0", "sync1", "feed_forward0", "feed_forward1", "enable0", "enable1", "gpo0", "gpo1", "reset")


@dataclass(frozen=True)
class Output:
    """An output of a pulse core: the core's name and RTIO channel, and the output's channel number."""

    name: str
    channel: int
    output: int


MOST_CHANGES = 2_000_000
"""Maximum number of changes of a pin returned at once."""


class Pins(Mapping):
    """Changes of pins by name, each (time in machine units, level), in order. Those of clocks are
    computed on demand from `waves`, by the pin's name."""

    def __init__(self, changes: Mapping[str, list], waves: Mapping[str, list[Wave]] | None = None):
        self._changes, self.waves = dict(changes), {name: list(found) for name, found in (waves or {}).items() if found}

    def __getitem__(self, name: str) -> list:
        return self.between(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._changes)

    def __len__(self) -> int:
        return len(self._changes)

    def events(self, name: str) -> list:
        """Return the changes of a pin that do not belong to a clock."""
        return self._changes[name]

    def between(self, name: str, begin_mu: int | None = None, end_mu: int | None = None) -> list:
        """Return the changes of a pin from `begin_mu` to before `end_mu`, by default all. KeyError
        if there is no such pin, UsageError if there are more than MOST_CHANGES."""
        waves = self.waves.get(name, [])
        if begin_mu is not None:
            waves = [wave.since(begin_mu) for wave in waves]
        if end_mu is not None:
            waves = [wave.before(end_mu) for wave in waves]
        count = sum(wave.changes for wave in waves)
        if count > MOST_CHANGES:
            raise UsageError(
                f"pin {name} has changed {count} times in this interval; request a shorter one: "
                f'recording.pins.between("{name}", begin_mu, end_mu)'
            )
        events = [
            change
            for change in self._changes[name]
            if (begin_mu is None or change[0] >= begin_mu) and (end_mu is None or change[0] < end_mu)
        ]
        edges = [edge for wave in waves for edge in wave.edges()]
        return list(heapq.merge(events, edges, key=lambda change: change[0])) if edges else events


class Recording:
    """The activity of all outputs, of all boards, since the device was configured. `outputs`: the existing outputs."""

    def __init__(self, words: numpy.ndarray, outputs, samples_per_cycle: int, pins=None, boards=None):
        """words: of the boards, one after another. boards: numbers of words and of outputs of each, by default one."""
        self.pins = pins if isinstance(pins, Pins) else Pins(pins or {})
        """Changes of the device's pins, except those of the cores: what it drives, and what a bench drives."""
        self.outputs = tuple(output if isinstance(output, Output) else Output(**output) for output in outputs)
        self._words = numpy.ascontiguousarray(words, dtype="<u8")
        self._samples_per_cycle = samples_per_cycle
        self._boards = [tuple(map(int, board)) for board in boards or [(len(self._words), len(self.outputs))]]
        self._places = []
        at = 0
        for count, outputs_here in self._boards:
            names = [output.name for output in self.outputs[len(self._places) :][:outputs_here]]
            cores = list(dict.fromkeys(names))
            of = [cores.index(name) for name in names]
            board = _native.pulse.Recording(self._words[at : at + count].tobytes(), of, samples_per_cycle)
            self._places += [(board, place) for place in range(outputs_here)]
            at += count
        if (at, len(self._places)) != (len(self._words), len(self.outputs)):
            raise ValueError("its boards do not have these outputs and words")

    @classmethod
    def of(cls, emulator) -> "Recording":
        """Return what the device of a :class:`kairos.emulator.Emulator` has recorded so far.

        UsageError if it has no pulse core, or its recording has overflowed.
        """
        with emulator.control.memory_file() as path:
            reply = emulator.control.request("pulses", path=path)
            words = numpy.fromfile(path, dtype="<u8")
        trace = emulator.control.trace()
        if not reply["outputs"]:
            raise UsageError(f"the gateware '{emulator.variant}' has no pulse core; 'pulse' has one")
        if not reply["complete"]:
            raise UsageError("the output of the pulse cores exceeds the emulator's recording; record a shorter run")
        cores = {output["channel"] for output in reply["outputs"]}
        names = {pad["index"]: pad["name"] for pad in trace["pads"] if pad["channel"] not in cores}
        pins = {name: [] for name in names.values()}
        for time_ns, pad, level in heapq.merge(trace["events"], _driven(emulator.control), key=lambda event: event[0]):
            if pad in names:
                pins[names[pad]].append((time_ns - reply["origin_ns"], level))
        waves = {name: [] for name in pins}
        for wave in trace["waves"]:
            if wave.pad in names:
                waves[names[wave.pad]].append(wave.moved(-reply["origin_ns"]))
        boards = [(board["words"], board["outputs"]) for board in reply["boards"]]
        return cls(words, reply["outputs"], reply["samples_per_cycle"], Pins(pins, waves), boards)

    @classmethod
    def load(cls, path) -> "Recording":
        """Load a recording from a file written by `save` or ``kairos run --pulses``. UsageError if
        it is invalid."""
        try:
            with numpy.load(path) as file:
                outputs, pins, waves = (json.loads(str(file[name])) for name in ("outputs", "pins", "waves"))
                clocks = {name: [Wave(*fields) for fields in found] for name, found in waves.items()}
                # Files of earlier versions are of one board.
                boards = file["boards"].tolist() if "boards" in file else None
                return cls(file["words"], outputs, int(file["samples_per_cycle"]), Pins(pins, clocks), boards)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{path} is not a pulse recording: {error}") from None

    def save(self, path):
        """Write the recording to a file (NumPy's npz). UsageError if it cannot be written."""
        outputs = json.dumps([vars(output) for output in self.outputs])
        changes = {name: self.pins.events(name) for name in self.pins}
        rest = {"pins": json.dumps(changes), "waves": json.dumps(self.pins.waves), "boards": self._boards}
        with replacing(path) as new, open(new, "wb") as file:
            numpy.savez_compressed(
                file, words=self._words, outputs=outputs, samples_per_cycle=self._samples_per_cycle, **rest
            )

    def output(self, channel: int, name: str | None = None) -> int:
        """Return the index in `outputs` of a channel of the core `name`, by default the first.
        UsageError if there is none."""
        name = self.outputs[0].name if name is None else name
        for place, output in enumerate(self.outputs):
            if (output.name, output.output) == (name, channel):
                return place
        known = ", ".join(f"channel {output.output} of {output.name}" for output in self.outputs)
        raise UsageError(f"there is no channel {channel} of {name}; there is {known}")

    def span_mu(self, channel: int, name: str | None = None) -> tuple[int, int] | None:
        """Return the times of the first and last change of a channel; None if it did not change."""
        span = self._of("span", self.output(channel, name))
        return None if span is None else (span[0] * CYCLE_MU, span[1] * CYCLE_MU)

    def samples(
        self, channel: int, begin_mu: int, end_mu: int, name: str | None = None, imaginary: bool = False
    ) -> numpy.ndarray:
        """Return samples (int16, 32767 is full scale) of a channel from `begin_mu` to before
        `end_mu`, at equal distances: one per machine unit at 8 samples per cycle. With `imaginary`, those of
        the second converter of a channel with I/Q outputs."""
        first, last = int(begin_mu) // CYCLE_MU, -(-int(end_mu) // CYCLE_MU)
        content, _ = self._of("samples", self.output(channel, name), first, max(last - first, 0), imaginary)
        samples = numpy.frombuffer(content, dtype=numpy.int16)
        cut = [(time - first * CYCLE_MU) * self._samples_per_cycle // CYCLE_MU for time in (int(begin_mu), int(end_mu))]
        return samples[cut[0] : cut[1]]

    def play(self, begin_mu: int, end_mu: int, name: str | None = None) -> Played:
        """Return the activity of all channels of a core, cycle by cycle from the cycle of
        `begin_mu`: samples and parameters."""
        name = self.outputs[0].name if name is None else name
        places = [place for place, output in enumerate(self.outputs) if output.name == name]
        first = int(begin_mu) // CYCLE_MU
        cycles = max(-(-int(end_mu) // CYCLE_MU) - first, 0)
        samples = [numpy.frombuffer(self._of("samples", p, first, cycles, False)[0], dtype=numpy.int16) for p in places]
        values = [self._fields(p, first, cycles)[:PARAMETERS] for p in places]
        core = Core(clock=CLOCK, samples_per_cycle=self._samples_per_cycle, channels=len(places))
        return Played(core, numpy.array(samples), numpy.array(values))

    def fields(self, channel: int, begin_mu: int, end_mu: int, name: str | None = None) -> numpy.ndarray:
        """Return what a channel passes to its tones, as `fields[cycle, field]` (int64): the
        parameters' words, frames as applied to both tones, and levels (bits as LEVEL_NAMES)."""
        first = int(begin_mu) // CYCLE_MU
        cycles = max(-(-int(end_mu) // CYCLE_MU) - first, 0)
        return self._fields(self.output(channel, name), first, cycles).T

    def _of(self, what: str, place: int, *arguments):
        """Ask the recording of the board that has the output `place`."""
        board, number = self._places[place]
        return getattr(board, what)(number, *arguments)

    def _fields(self, place: int, first: int, cycles: int) -> numpy.ndarray:
        return numpy.array([numpy.frombuffer(field, numpy.int64) for field in self._of("fields", place, first, cycles)])

    def level_changes(self, level: str, channel: int, name: str | None = None) -> list[tuple[int, bool]]:
        """Return the times in machine units at which a level of a channel (one of LEVEL_NAMES)
        changes, and whether to high."""
        bit = LEVEL_NAMES.index(level)
        times, values = self.changes(LEVELS, channel, name)
        states = values >> bit & 1 != 0
        found, before = [], False
        for time, state in zip(times.tolist(), states.tolist(), strict=True):
            if state != before:
                found.append((time, state))
            before = state
        return found

    def changes(self, parameter: int, channel: int, name: str | None = None) -> tuple[numpy.ndarray, numpy.ndarray]:
        """Return the times in machine units at which a parameter (of `Parameter`) of a channel
        changes, and its new words (int64, 40 bits signed). Fields beyond the parameters are frames
        as applied to tones, and the levels.
        """
        times, values = self._of("changes", self.output(channel, name), parameter)
        return numpy.frombuffer(times, numpy.int64) * CYCLE_MU, numpy.frombuffer(values, numpy.int64)


def _driven(control) -> list:
    """Return what a bench has done to input pins: time in ns, pad, level."""
    try:
        return control.request("driven")["edges"]
    except EmulatorError:
        return []  # there is no bench


assert VALUE_BITS == 40  # assumed by `Played`
