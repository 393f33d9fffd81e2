"""Signals of a run at pins, DDS channels and DAC channels over time.

Times are in seconds since the first change of a pin in the run, as shown by ``kairos run``.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from ..pictures import COLORS, FONT, NAMES, drawing, save
from ..quantities import label
from ..waveform import Channel

__all__ = ["Dac", "Dds", "Pin", "Tone"]

NS = 1e-9


@dataclass(frozen=True)
class Tone:
    """Output of a DDS channel from `time` until the next change."""

    time: float
    """Seconds."""
    frequency: float
    """Hz; 0 if it is silent."""
    power: float | None
    """dBm, None if it is silent."""
    phase: float
    """Turns, 0 to 1, at `time`."""


class History:
    """Changes at known times, in ns of the device."""

    def __init__(self, name: str, times_ns: Sequence[int], origin_ns: int):
        self.name = name
        self._times = times_ns
        self._origin = origin_ns

    def _index(self, seconds: float) -> int:
        """Return the index of the last change up to a time; -1 if there is none."""
        # Rounded, so that a change at a whole nanosecond is included whatever the float
        # representation.
        return bisect_right(self._times, self._origin + round(seconds / NS)) - 1

    def _seconds(self, index: int) -> float:
        return (self._times[index] - self._origin) * NS


class Dds(History):
    """Output of a DDS channel, after its switch and attenuator."""

    def __init__(self, name: str, rows: list, origin_ns: int):
        super().__init__(name, [row[0] for row in rows], origin_ns)
        self._rows = rows

    @property
    def changes(self) -> list[Tone]:
        """All tones since power-up, in chronological order."""
        return [self._tone(index) for index in range(len(self._rows))]

    def at(self, seconds: float) -> Tone:
        """Return the tone at a time, with its phase at that time."""
        index = self._index(seconds)
        if index < 0:
            return Tone(seconds, 0.0, None, 0.0)
        tone = self._tone(index)
        elapsed = seconds - tone.time
        return Tone(seconds, tone.frequency, tone.power, (tone.phase + tone.frequency * elapsed) % 1.0)

    def draw(self, path, start: float, stop: float, reference: float | None = None) -> None:
        """Draw frequency, amplitude and phase between two times in seconds (PNG or SVG): the phase
        in turns relative to a tone of `reference` Hz, by default the first frequency in the
        interval.
        """
        inside = [tone for tone in self.changes if start < tone.time < stop]
        tones = [self.at(start), *inside, self.at(stop)]
        present = [tone for tone in tones if tone.power is not None]
        if reference is None:
            reference = present[0].frequency if present else 0.0
        times = [tone.time * 1e6 for tone in tones]
        silent = float("nan")
        shown = [tone.power is not None for tone in tones]
        values = {
            "frequency in MHz": [tone.frequency / 1e6 for tone in tones],
            "power in dBm": [tone.power for tone in tones],
            "phase in turns": [(tone.phase - reference * tone.time) % 1.0 for tone in tones],
        }
        with drawing(**FONT, **NAMES) as pyplot:
            figure, panels = pyplot.subplots(3, 1, figsize=(8, 6), sharex=True, layout="constrained")
            for axes, (quantity, numbers), color in zip(panels, values.items(), COLORS, strict=False):
                seen = [number if audible else silent for number, audible in zip(numbers, shown, strict=True)]
                axes.step(times, seen, where="post", color=color)
                axes.set_ylabel(quantity)
                axes.ticklabel_format(useOffset=False)
                axes.grid(alpha=0.3)
            panels[0].set_title(f"{self.name}")
            panels[-1].set_xlabel(label("time", "µs"))
            save(figure, path, dpi=120)

    def _tone(self, index: int) -> Tone:
        _, hz, dbm, turns = self._rows[index]
        return Tone(self._seconds(index), hz, dbm, turns)


class Dac(History):
    """A DAC channel: its voltage."""

    def __init__(self, name: str, rows: list, origin_ns: int):
        super().__init__(name, [row[0] for row in rows], origin_ns)
        self._volts = [row[1] for row in rows]

    @property
    def changes(self) -> list[tuple[float, float]]:
        """(time, volts) since power-up, in chronological order."""
        return [(self._seconds(index), volts) for index, volts in enumerate(self._volts)]

    def at(self, seconds: float) -> float:
        """Return the voltage at a time."""
        index = self._index(seconds)
        return self._volts[index] if index >= 0 else 0.0


class Pin(History):
    """A pin of the device."""

    def __init__(self, channel: Channel):
        # The times of a recording start at its first change.
        super().__init__(channel.name, [time for time, _ in channel.changes], 0)
        self._channel = channel

    @property
    def changes(self) -> list[tuple[float, int | None]]:
        """(time, level) in the run, in chronological order; None: not driven. Long runs of clocks
        are omitted."""
        return [(time * NS, level) for time, level in self._channel.changes]

    @property
    def pulses(self) -> list[tuple[float, float]]:
        """Start and end of each completed high pulse."""
        ended = [pulse for pulse in self._channel.pulses() if pulse.end_ns is not None]
        return [(pulse.start_ns * NS, pulse.end_ns * NS) for pulse in ended]

    def at(self, seconds: float) -> int | None:
        """Return the level at a time: 0, 1, or None if it is not driven."""
        index = self._index(seconds)
        behind = round(seconds / NS) + 1
        waves = [wave.before(behind) for wave in self._channel.waves if wave.time_of(0) < behind]
        if waves and (index < 0 or waves[-1].time_of(0) > self._channel.changes[index][0]):
            return waves[-1].final
        return self._channel.changes[index][1] if index >= 0 else self._channel.initial
