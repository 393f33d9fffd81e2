"""``kairos runs diff``: what differs between two runs.

Compared are the waveforms in their files, or, if one has none, or only one was predicted, what the analyzers of their
devices have recorded: the pins of TTLs, and for all other channels the words that were written.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .. import resultfiles
from ..cli.printed import print_notice
from ..cli.waveforms import file_of, no_waveform, read_chips
from ..devices import database_of
from ..errors import UsageError
from ..experiment.hdf5 import texts_of
from ..network.analyzer import Dump, OutputMessage, decode
from ..scratch import ScratchFolder
from ..session.record import GROUP as RECORD
from ..session.record import inputs_of
from ..waveform import Recording, chips
from ..waveform.analysis import pins
from ..waveform.difference import RENAMED, differences
from ..waveform.stored import GROUP, unpacked
from ..waveform.table import format_duration

__all__ = ["diff"]

OF_DEVICE = {
    "kairos_version": "versions of Kairos",
    "gateware": "gateware",
    "firmware": "firmware",
    "device_db": "device databases",
    "bench": "benches",
}
"""Parts of a run's origin that are told if they differ, by their names in its file."""
SHOWN = 40
"""Differences that are printed."""
MEASURED = "emulator"
"""Source of a waveform that is none of a prediction."""


@dataclass
class _Words:
    """Words of a channel that differ, but for those of its times."""

    channel: str
    kind: str
    first: int
    """How many words the first run has written."""
    second: int
    place: int
    """The first that differs, from 1."""
    at_ns: int

    @property
    def text(self) -> str:
        """Describe it in one line."""
        number = f"{self.second:,} words instead of {self.first:,}"
        number = f"{self.first:,} words each" if self.first == self.second else number
        at = f"{format_duration(self.at_ns)} after the first event"
        return f"{self.channel}: {number}, others from number {self.place:,} on, {at}"

    def described(self) -> dict:
        """Return it as JSON."""
        return dict(vars(self))


class _Run:
    """A run, as its file has it."""

    def __init__(self, path: Path):
        self._path = path
        with resultfiles.opened(path) as file:
            waveform, record = resultfiles.group_of(file, GROUP), resultfiles.group_of(file, RECORD)
            provenance = resultfiles.group_of(file, "provenance")
            self._texts = {} if provenance is None else texts_of(provenance)
            self._dump = None if record is None else inputs_of(record)
            self.waveform: Recording | None = None if waveform is None else unpacked(waveform)
            """The pins, if the file has them."""
            self.is_measured = waveform is not None and resultfiles.text(waveform["source"]) == MEASURED
            self.ends_early = waveform is not None and not resultfiles.flag(waveform, "complete")
            """Whether the waveform is that of the run's beginning only."""
        self.chips = read_chips(path)
        self.origin = {name: self._texts[name] for name in OF_DEVICE if name in self._texts}

    @cached_property
    def record(self) -> Dump | None:
        """What the analyzer has recorded; None: it was not asked, or has lost the beginning."""
        dump = None if self._dump is None else decode(self._dump)
        return None if dump is None or dump.error or dump.total_bytes > len(self._dump) else dump

    @cached_property
    def _entries(self) -> dict:
        scratch = ScratchFolder("kairos-diff-")
        try:
            return database_of(self._texts, scratch.path).entries
        finally:
            scratch.close()

    def recorded(self) -> Recording:
        """Return the pins in the analyzer's record."""
        return pins(self.record, self._entries)

    def words(self) -> dict[int, list[tuple[int, int, int]]]:
        """Return the words written to each channel that is no pin: time in ns since the first event, address, word."""
        of_pins = {channel.number for channel in self.recorded().channels}
        period = self._entries.get("core", {}).get("arguments", {}).get("ref_period", 1e-9) * 1e9
        timed = [each for each in self.record.messages if isinstance(each, OutputMessage)]
        origin = min((each.timestamp for each in self.record.messages if hasattr(each, "timestamp")), default=0)
        found: dict[int, list[tuple[int, int, int]]] = {}
        for each in sorted(timed, key=lambda each: each.timestamp):
            if each.channel not in of_pins and each.channel != self.record.log_channel:
                row = round((each.timestamp - origin) * period), each.address, each.data
                found.setdefault(each.channel, []).append(row)
        return found

    def needed(self) -> Recording:
        """Return the pins in any form. UsageError if there are none."""
        if self.waveform is None and self.record is None:
            raise no_waveform(self._path)
        return self.waveform if self.waveform is not None else self.recorded()

    def name(self, channel: int) -> str:
        """Return the name of a channel."""
        named = (name for name, entry in self._entries.items() if isinstance(entry, dict))
        of_it = (name for name in named if self._entries[name].get("arguments", {}).get("channel") == channel)
        return next(of_it, f"channel {channel}")


def diff(args) -> int:
    """Print what differs between the waveforms of two runs, and between the states of their chips at the end;
    returns 1 if something does."""
    one, other = runs = [_Run(file_of(named, args.lab)) for named in (args.run, args.other)]
    found, events, notices = _compared(one, other, args.record)
    # A file from before they were stored says nothing.
    found += chips.changed(one.chips, other.chips) if one.chips and other.chips else ()
    differs = any(getattr(each, "kind", "") != RENAMED for each in found)
    for line in [*notices, *_notices(*runs)]:
        print_notice(f"kairos: {line}")
    if args.json:
        for each in found:
            print(json.dumps(each.described()))
        return int(differs)
    for each in found[:SHOWN]:
        print(each.text)
    if len(found) > SHOWN:
        print(f"... and {len(found) - SHOWN:,} more (--json lists all)")
    if not differs:
        print(f"the waveforms are the same: {events:,} events")
    return int(differs)


def _compared(one: _Run, other: _Run, by_record: bool) -> tuple[list, int, list[str]]:
    """Return what differs between the pins of two runs, and their events, in the form that both have: by the records if
    `by_record`; and what is to be said of that. UsageError if there is no such form."""
    both = one.waveform is not None and other.waveform is not None
    if both and one.is_measured == other.is_measured and not by_record:
        return list(differences(one.waveform, other.waveform)), one.waveform.event_count, []
    if one.record is not None and other.record is not None:
        pair = one.recorded(), other.recorded()
        found = [*differences(*pair), *_other_words(one, other)]
        events = pair[0].event_count + sum(map(len, one.words().values()))
        return found, events, ["what is compared are the records of the devices' analyzers"]
    if by_record:
        raise UsageError("one of the runs has no record of its analyzer, or only the end: see --record-inputs")
    pair = one.needed(), other.needed()
    said = []
    if not both:
        pair = tuple(_beside(each, pair[1 - place]) for place, each in enumerate(pair))
        said = ["one of the runs has the record of its analyzer only: what is compared are the pins of TTLs in it"]
    return list(differences(*pair)), pair[0].event_count, said


def _beside(recording: Recording, other: Recording) -> Recording:
    """Return the channels that both recordings have, from the first change of one of these on."""
    numbers = {channel.number for channel in other.channels} - {None}
    kept = [channel for channel in recording.channels if channel.number in numbers]
    return Recording(kept, recording.origin_ns)


def _other_words(one: _Run, other: _Run) -> Iterator[_Words]:
    """Yield channels to which other words were written, in another order, or to other addresses."""
    first, second = one.words(), other.words()
    for channel in sorted({*first, *second}):
        pair = first.get(channel, []), second.get(channel, [])
        words = [[row[1:] for row in rows] for rows in pair]
        if words[0] == words[1]:
            continue
        place = next((n for n, two in enumerate(zip(*words, strict=False)) if two[0] != two[1]), min(map(len, words)))
        at = next(rows[place][0] for rows in pair if place < len(rows))
        yield _Words(one.name(channel), "words", len(pair[0]), len(pair[1]), place + 1, at)


def _notices(one: _Run, other: _Run) -> list[str]:
    """Return what explains differences, from what the files say of the origins of their runs."""
    found = [
        f"the waveform of the {which} run ends before the run: predicting it has taken longer than allowed"
        for which, run in (("first", one), ("second", other))
        if run.ends_early
    ]
    ours, theirs = one.origin, other.origin
    others = [
        text for name, text in OF_DEVICE.items() if name in ours and name in theirs and ours[name] != theirs[name]
    ]
    return [*found, *([f"the runs had other {', '.join(others)}"] if others else [])]
