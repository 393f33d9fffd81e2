"""Interlocks: rules that the predicted waveform of a submission must keep, in a file ``interlocks.toml``.

Each ``[[rule]]`` has a `name`, what it is about, and limits:

| About | Limits |
|---|---|
| ``voltage = "zotino0.ch7"`` | ``below``, ``above``: volts |
| ``tone = "urukul0_ch0"`` | while on: ``below_dbm``, ``below_hz``, ``above_hz``; ``energy_j`` within ``window_s`` |
| ``pin = "ttl4"`` | ``never_without``, ``never_with``: another pin; ``at_most_s``: longest time high |

Outputs have the names of devices or of the bench (`outputs`). ``tolerance_s`` allows a violation for so long (default
0). ``message`` is what the user is told. What a run leaves behind at its end lasts until somebody changes it, so a rule
about a duration is judged as if it stayed for ever.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from ..devices import DeviceDB
from ..emulator.sources import Sources
from ..errors import UsageError
from ..files import read_toml
from ..waveform import Changes, Channel, Recording
from .outputs import Output, find, known

__all__ = ["FILE", "Rule", "Violation", "load", "violations"]

FILE = "interlocks.toml"
NS = 1e-9
LARGEST = 1e300
"""Beyond any limit that makes sense."""
FOREVER = 2.0**62
"""Longer than any run, in ns."""
STAYS = ", and stays so after the run"


@dataclass(frozen=True)
class Rule:
    """A rule; see the table above."""

    name: str
    message: str = ""
    voltage: str | None = None
    tone: str | None = None
    pin: str | None = None
    below: float | None = None
    above: float | None = None
    below_dbm: float | None = None
    below_hz: float | None = None
    above_hz: float | None = None
    energy_j: float | None = None
    window_s: float | None = None
    never_without: str | None = None
    never_with: str | None = None
    at_most_s: float | None = None
    tolerance_s: float = 0.0


LIMITS = {
    "voltage": {"below", "above"},
    "tone": {"below_dbm", "below_hz", "above_hz", "energy_j", "window_s"},
    "pin": {"never_without", "never_with", "at_most_s"},
}
ALWAYS = {"name", "message", "tolerance_s"}
TIMES, AMOUNTS = {"tolerance_s", "at_most_s"}, {"energy_j", "window_s"}
TEXTS = {"name", "message", "voltage", "tone", "pin", "never_without", "never_with"}


@dataclass(frozen=True)
class Violation:
    """A rule that is not kept."""

    rule: str
    text: str
    at_ns: int
    """Since the first change of a pin."""
    file: str | None = None
    line: int | None = None
    """Of the last output, by then, that acts on it."""

    @property
    def place(self) -> str:
        """File and line; empty if there is none."""
        return "" if self.file is None else f"{Path(self.file).name}:{self.line}"


def load(path: Path) -> list[Rule]:
    """Return the rules in a file; UsageError for one that makes no sense."""
    said = read_toml(path)
    rules = said.pop("rule", [])
    if said or not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
        raise UsageError(f"{path}: it has [[rule]] entries only, not {', '.join(said) or 'another kind of rule'}")
    return [_rule(path, number, rule) for number, rule in enumerate(rules, 1)]


def _rule(path: Path, number: int, said: dict) -> Rule:
    where = f"{path}: rule {said.get('name', number)}"
    known = {field.name for field in fields(Rule)}
    for name, value in said.items():
        if name not in known:
            raise UsageError(f"{where}: there is no '{name}'; there are {', '.join(sorted(known))}")
        if name in TEXTS and not isinstance(value, str):
            raise UsageError(f"{where}: '{name}' must be a text, not {value!r}")
        if name not in TEXTS and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise UsageError(f"{where}: '{name}' must be a number, not {value!r}")
        if name not in TEXTS and not abs(value) < LARGEST:
            raise UsageError(f"{where}: '{name}' is {value}, which nothing could violate")
        if name in TIMES and value < 0 or name in AMOUNTS and value <= 0:
            raise UsageError(f"{where}: '{name}' must be {'positive' if name in AMOUNTS else '0 or more'}, not {value}")
    about = [kind for kind in LIMITS if kind in said]
    if len(about) != 1 or not said.get("name"):
        raise UsageError(f"{where}: it needs a name, and one of voltage, tone and pin")
    limits = set(said) - ALWAYS - set(about)
    if not limits or limits - LIMITS[about[0]]:
        raise UsageError(f"{where}: limits of a {about[0]} are {', '.join(sorted(LIMITS[about[0]]))}")
    if ("energy_j" in said) != ("window_s" in said):
        raise UsageError(f"{where}: energy_j and window_s belong together")
    if said.get("pin") is not None and said["pin"] in (said.get("never_with"), said.get("never_without")):
        raise UsageError(f"{where}: never_with and never_without name another pin than {said['pin']}")
    return Rule(**said)


def violations(
    rules: Sequence[Rule], recording: Recording, device, sources: Sources, ddb: DeviceDB, ended: bool = True
) -> list[Violation]:
    """Return the violations of a run on an emulated device, the first one of each limit. `ended`: the run has come to
    its end, or failed, and leaves everything as it is; else only its beginning is known. UsageError for a rule about
    something that the device does not have."""
    run = _Run(recording, device, sources, ddb, ended)
    return [found for rule in rules for found in run.of(rule)]


class _Run:
    """What rules are checked against. Times are in ns of the page."""

    def __init__(self, recording: Recording, device, sources: Sources, ddb: DeviceDB, ended: bool):
        self._recording, self._device, self._sources, self._ddb = recording, device, sources, ddb
        self._end, self._ended = max(recording.duration_ns, 1), ended
        self._plan = device.control.request("bench")["plan"] if device.has_bench else {}

    def of(self, rule: Rule) -> Iterator[Violation]:
        """Yield the first violation of each limit of a rule."""
        if rule.voltage is not None:
            yield from self._of_voltage(rule)
        elif rule.tone is not None:
            yield from self._of_tone(rule)
        else:
            yield from self._of_pin(rule)

    def _of_voltage(self, rule: Rule):
        output, rows = self._history("volts", rule, rule.voltage)
        times, values = rows[:, 0], rows[:, 1]
        text, channels = f"{{:.4g}} V at {_literal(rule.voltage)}", self._channels_of(output)
        if rule.below is not None:
            yield from self._first(rule, times, values >= rule.below, text, channels, values)
        if rule.above is not None:
            yield from self._first(rule, times, values <= rule.above, text, channels, values)

    def _of_tone(self, rule: Rule):
        output, rows = self._history("tones", rule, rule.tone)
        times, hertz, dbm = rows[:, 0], rows[:, 1], rows[:, 2]
        on, name, channels = ~np.isnan(dbm), _literal(rule.tone), self._channels_of(output)
        if rule.below_dbm is not None:
            bad = on & (dbm >= rule.below_dbm)
            yield from self._first(rule, times, bad, f"{{:.4g}} dBm at {name}", channels, dbm)
        if rule.below_hz is not None:
            bad = on & (hertz >= rule.below_hz)
            yield from self._first(rule, times, bad, f"{{:.9g}} Hz at {name}", channels, hertz)
        if rule.above_hz is not None:
            bad = on & (hertz <= rule.above_hz)
            yield from self._first(rule, times, bad, f"{{:.9g}} Hz at {name}", channels, hertz)
        if rule.energy_j is not None:
            watts = np.where(on, 10 ** (np.nan_to_num(dbm) / 10) * 1e-3, 0.0)
            yield from self._energy(rule, times, watts, f"{{:.4g}} J at {name}", channels)

    def _energy(self, rule: Rule, times, watts, text: str, channels: list[int]):
        """Yield the first time at which the energy of a window ending there is too large."""
        if not len(times):
            return
        window = rule.window_s / NS
        end = max(self._end, times[-1]) + (window if self._ended else 0.0)
        ends = np.append(times, end)
        sums = np.concatenate(([0.0], np.cumsum(watts * np.diff(ends) * NS)))

        def energy(at):
            return np.interp(at, ends, sums)

        candidates = np.unique(np.concatenate((ends, ends[:-1] + window)))
        candidates = candidates[candidates <= ends[-1]]
        spent = energy(candidates) - energy(candidates - window)
        bad = np.flatnonzero(spent >= rule.energy_j)
        if len(bad):
            yield self._violation(rule, candidates[bad[0]], text.format(spent[bad[0]]), channels)

    def _of_pin(self, rule: Rule):
        pin = self._channel(rule, rule.pin)
        times, levels = _steps(pin)
        for other, wanted in ((rule.never_without, 1), (rule.never_with, 0)):
            if other is None:
                continue
            partner = self._channel(rule, other)
            own_times, own_levels = _steps(partner)
            union = np.unique(np.concatenate((times, own_times)))
            bad = (_at(times, levels, union) == 1) & ((_at(own_times, own_levels, union) == 1) != bool(wanted))
            text = f"{rule.pin} is high while {other} is {'not' if wanted else 'high'}"
            yield from self._first(rule, union, bad, text, [pin.number, partner.number])
        if rule.at_most_s is not None:
            for start, ns in self._lasting(times, levels == 1, rule.at_most_s):
                long = STAYS if ns > FOREVER / 2 else f" for {ns * NS:.4g} s"
                yield self._violation(rule, times[start], f"{rule.pin} is high{long}", [pin.number])

    def _first(self, rule: Rule, times, bad, text: str, channels: list[int], values=None):
        """Yield the first violation that lasts longer than the tolerance. `times`: when something changes, `bad`:
        whether the rule is violated from then on, `values`: for the text."""
        for start, ns in self._lasting(times, bad, rule.tolerance_s):
            said = text if values is None else text.format(values[start])
            yield self._violation(rule, times[start], said + (STAYS if ns > FOREVER / 2 else ""), channels)

    def _lasting(self, times, bad, tolerance_s: float) -> Iterator[tuple[int, float]]:
        """Yield where `bad` begins that is the first to last longer, and how long it lasts in ns."""
        if not len(times):
            return
        changes = np.diff(bad.astype(np.int8), prepend=0, append=0)
        starts, after = np.flatnonzero(changes == 1), np.flatnonzero(changes == -1)
        last = max(self._end, times[-1])
        ends = np.append(times, last + FOREVER if self._ended else last)[after]
        lasting = ends - times[starts]
        long = np.flatnonzero(lasting > _ns(tolerance_s))
        if len(long):
            yield int(starts[long[0]]), float(lasting[long[0]])

    def _violation(self, rule: Rule, at_ns, text: str, channels: list[int]) -> Violation:
        said = f"{text}: {rule.message}" if rule.message else text
        return Violation(rule.name, said, int(at_ns), *self._place(int(at_ns), channels))

    def _place(self, at_ns: int, channels: list[int]) -> tuple[str | None, int | None]:
        """Return file and line of the last output by a time on these channels."""
        outputs, due = self._sources.outputs, at_ns + self._recording.origin_ns
        before = outputs["time_ns"] <= due
        own = np.flatnonzero(before & np.isin(outputs["target"] >> 8, channels))
        own = own if len(own) else np.flatnonzero(before)
        if not len(own):
            return None, None
        last = own[np.flatnonzero(outputs["time_ns"][own] == outputs["time_ns"][own].max())[-1]]
        chain = int(outputs["chain"][last])
        frames = self._sources.recorded(chain) or self._sources.frames(chain)
        return (frames[0].file, frames[0].line) if frames else (None, None)

    def _channel(self, rule: Rule, name: str) -> Channel:
        number = self._ddb.channel_of(name)
        for channel in self._recording.channels:
            if channel.name == name or (number is not None and channel.number == number):
                return channel
        raise UsageError(f"rule {rule.name}: the device has no pin {name}")

    def _channels_of(self, output: Output) -> list[int]:
        """Return the channels of the pins that act on an output."""
        prefix = (f"spi_{output.part}_", f"{output.part}_")
        return output.channels or [
            channel.number
            for channel in self._recording.channels
            if channel.number is not None and channel.name.startswith(prefix)
        ]

    def _history(self, kind: str, rule: Rule, name: str) -> tuple[Output, np.ndarray]:
        """Return an output, and its history: time, then volts, or Hz, dBm, turns."""
        output = find(self._plan, self._ddb, kind, name)
        if output is None:
            have = known(self._plan, self._ddb, kind)
            raise UsageError(f"rule {rule.name}: the bench has no {name}; with {kind} there are: {have}")
        rows = self._device.control.request(kind, part=output.part, output=output.number)[kind]
        found = np.array([[np.nan if value is None else value for value in row] for row in rows], float)
        found = found.reshape(-1, 4 if kind == "tones" else 2)
        found[:, 0] = np.maximum(found[:, 0] - self._recording.origin_ns, 0)
        return output, found


def _literal(name: str) -> str:
    """Return a name as part of a text that is formatted."""
    return name.replace("{", "{{").replace("}", "}}")


def _ns(seconds: float) -> int:
    """Return a time in ns; of one that no run lasts, some that none lasts either."""
    return round(min(seconds / NS, FOREVER / 4))


def _steps(channel: Channel) -> tuple[np.ndarray, np.ndarray]:
    """Return the times of a pin's levels, beginning at 0, and the levels. A clock counts as high."""
    times, levels = [np.zeros(1)], [np.array([channel.initial == 1], int)]
    for changes, wave in channel.parts():
        own = Changes.of(changes)
        times.append(own.times)
        levels.append(own.levels == 1)
        if wave is not None:
            times.append([wave.time_of(0), wave.time_of(wave.changes - 1)])
            levels.append([1, wave.final])
    return np.concatenate(times), np.concatenate(levels).astype(int)


def _at(times, levels, at) -> np.ndarray:
    """Return the levels at times, after what changes then."""
    return levels[np.searchsorted(times, at, side="right") - 1]
