"""A piece of a recorded sequence as a figure: names of gates, levels of pins, envelopes and phases
of each channel, and the signal itself in windows short enough to resolve its oscillations."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy

from ..contracts.pulse import PARAMETERS, Parameter
from ..pictures import COLORS, FONT, drawing, save
from ..quantities import label
from .program import Mark
from .recording import CYCLE_MU, Recording

__all__ = ["Window", "write_figure"]

*TONES, FRAME = COLORS[:3]
INK = "#1f2937"
SIGNAL = "#374151"
PALETTE = ("#cfe0f3", "#f6d7cf", "#d5ead9", "#e6daef", "#f6e6c3", "#d3e8ec", "#eed3dd", "#e5e7eb")
SHADE = "#f3efe2"
LETTERS = "bcdefgh"
"""Labels of the lower panels."""
FINER = 16
"""Points of the drawn line per sample."""
BAR = 0.6
"""Height of a gate in units of the distance between channels."""
LABEL = 0.4
"""Space below a channel for the names of narrow gates, in the same units."""
MARGIN = 256
"""Samples on both sides of a window used for interpolation."""
STYLE = {
    **FONT,
    "font.size": 8.5,
    "axes.linewidth": 0.7,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
}


@dataclass(frozen=True)
class Window:
    """An interval from `begin_mu` to `end_mu` in which the signal of `channel` is drawn."""

    title: str
    channel: int
    begin_mu: int
    end_mu: int


def write_figure(
    path,
    recording: Recording,
    marks: Sequence[Mark],
    begin_mu: int,
    end_mu: int,
    windows: Sequence[Window] = (),
    shots: Sequence[tuple[str, int]] = (),
    pins: dict[str, list[tuple[int, bool]]] | None = None,
):
    """Write a figure of all channels of the first core from `begin_mu` to `end_mu` to `path`, whose
    suffix selects the format (png, pdf, svg).

    `marks`: gates, of which those in that interval are labelled. `pins`: by name, times and levels
    of pins shown with them. `shots`: labels and start times of gates whose envelopes on channel 0
    are compared, each 1.2 us long.
    """
    played = recording.play(begin_mu, end_mu)
    channels = range(played.values.shape[0])
    small = len(windows) + bool(shots)
    with drawing(**STYLE) as pyplot:
        heights = [0.4 * _lanes(len(channels), len(pins or {})) + 0.1, *[1.15, 0.8] * len(channels)]
        figure = pyplot.figure(figsize=(10, 2.2 + sum(heights) + (2.1 if small else 0)))
        upper, lower = _halves(figure, heights, small)
        rows = upper.subplots(sharex=True)
        _Page(recording, begin_mu, end_mu, windows).draw(rows, played, marks, pins or {})
        if small:
            places = lower.subplots()
            for letter, axis, window in zip(LETTERS, numpy.atleast_1d(places), windows, strict=False):
                _signal(axis, recording, window, letter, begin_mu)
            if shots:
                _shots(numpy.atleast_1d(places)[-1], recording, shots, LETTERS[len(windows)])
        save(figure, path, 200)


def _lanes(channels, pins):
    """Height of the gate names above the levels of pins, in units of the distance between channels'
    bars."""
    return channels * (1 + LABEL) + pins


def _halves(figure, heights, small):
    grid = figure.add_gridspec(
        2 if small else 1,
        1,
        height_ratios=[sum(heights), 2.1] if small else None,
        left=0.085,
        right=0.975,
        top=0.955,
        bottom=0.065,
        hspace=0.2,
    )
    upper = grid[0].subgridspec(len(heights), 1, height_ratios=heights, hspace=0.14)
    lower = grid[1].subgridspec(1, small, wspace=0.3) if small else None
    return upper, lower


def _plain(axis):
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)


def _letter(axis, letter, title, lift=1.06):
    place = {"xycoords": ("axes fraction", "axes fraction"), "textcoords": "offset points", "va": "baseline"}
    axis.annotate(letter, (0, lift), xytext=(-6, 0), fontsize=11, fontweight="bold", ha="right", color=INK, **place)
    axis.annotate(title, (0, lift), xytext=(0, 0), fontsize=9, ha="left", color=INK, **place)


@dataclass
class _Page:
    """The upper part: everything over a common time axis."""

    recording: Recording
    begin_mu: int
    end_mu: int
    windows: Sequence[Window]

    def us(self, time_mu):
        return (numpy.asarray(time_mu, dtype=float) - self.begin_mu) / 1000

    def draw(self, rows, played, marks, pins):
        names, *axes = rows
        self._names(names, played.values.shape[0], marks, pins)
        for channel in range(played.values.shape[0]):
            self._envelopes(axes[2 * channel], played, channel)
            self._phases(axes[2 * channel + 1], played, channel)
        for letter, window in zip(LETTERS, self.windows, strict=False):
            middle = self.us((window.begin_mu + window.end_mu) / 2)
            place = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "ha": "center"}
            style = {"fontsize": 9, "fontweight": "bold", "color": INK, "va": "top"}
            axes[2 * window.channel].annotate(letter, (middle, 1), xytext=(0, 2), **place, **style)
            for axis in axes[2 * window.channel : 2 * window.channel + 2]:
                axis.axvspan(self.us(window.begin_mu), self.us(window.end_mu), color=SHADE, lw=0, zorder=0)
        for axis in rows[:-1]:
            axis.tick_params(axis="x", length=0, labelbottom=False)
        rows[-1].set_xlabel(label("time", "µs"), labelpad=2)
        rows[-1].set_xlim(0, self.us(self.end_mu))
        rows[-1].tick_params(axis="x", direction="out")

    def _names(self, axis, channels, marks, pins):
        _letter(axis, "a", "gates, envelopes and phases at the outputs, and pins beside them", 1.12)
        shown = [mark for mark in marks if mark.end_mu > self.begin_mu and mark.begin_mu < self.end_mu]
        kinds = sorted({_kind(mark.name) for mark in shown})
        colors = {kind: PALETTE[place % len(PALETTE)] for place, kind in enumerate(kinds)}
        lanes = [f"channel {channel}" for channel in range(channels)] + list(pins)
        places = [lane * (1 + LABEL) for lane in range(channels)]
        places += [channels * (1 + LABEL) + pin for pin in range(len(pins))]
        span = self.us(self.end_mu)
        narrow: dict[tuple[int, str], list[tuple[float, float]]] = {}
        for mark in shown:
            for channel in range(channels) if mark.channel < 0 else [mark.channel]:
                left, right = numpy.clip(self.us([mark.begin_mu, mark.end_mu]), 0, span)
                color = colors[_kind(mark.name)]
                axis.barh(places[channel], right - left, BAR, left, color=color, edgecolor=INK, linewidth=0.5)
                text = {"ha": "center", "va": "center", "color": INK}
                if right - left > span * 0.012 * max(len(mark.name), 2):
                    axis.text((left + right) / 2, places[channel], mark.name, fontsize=8, **text)
                elif right > left:
                    narrow.setdefault((channel, mark.name), []).append((left, right))
        for (channel, name), found in narrow.items():
            for left, right, count in _groups(found, span * 0.02):
                label = name if count == 1 else f"{count} × {name}"
                place = ((left + right) / 2, places[channel] + BAR / 2 + LABEL / 2)
                axis.text(*place, label, fontsize=6.5, ha="center", va="center", color=INK)
        for lane, changes in zip(places[channels:], pins.values(), strict=True):
            times, levels = [0.0], [0]
            for time, level in changes:
                if time >= self.end_mu:
                    break
                at = max(float(self.us(time)), 0.0)
                times += [at]
                levels += [int(level)]
                if time <= self.begin_mu:
                    times, levels = [0.0], [int(level)]
            axis.step(
                [*times, span], lane + BAR / 2 - BAR * numpy.array([*levels, levels[-1]]), where="post", color=INK, lw=1
            )
        axis.set_ylim(_lanes(channels, len(pins)) - 0.45, -0.55)
        axis.set_yticks(places, lanes)
        axis.tick_params(axis="y", length=0)
        for side in ("top", "right", "bottom", "left"):
            axis.spines[side].set_visible(False)

    def _envelopes(self, axis, played, channel):
        _plain(axis)
        time = numpy.arange(played.values.shape[2]) * CYCLE_MU / 1000
        for tone, color in enumerate(TONES):
            amplitude = played.amplitude(channel, tone) / 2
            if not amplitude.any():
                continue
            sign = 1 if tone == 0 else -1
            axis.fill_between(time, 0, sign * amplitude, step="post", color=color, alpha=0.22, lw=0)
            axis.step(time, sign * amplitude, where="post", color=color, lw=0.9)
        axis.axhline(0, color=INK, lw=0.5)
        axis.set_ylim(-58, 58)
        axis.set_yticks([-50, 0, 50], ["50", "0", "50"])
        axis.set_ylabel(f"channel {channel}\namplitude /\n% of full scale")
        axis.text(0.998, 0.94, "tone 0", color=TONES[0], transform=axis.transAxes, ha="right", va="top", fontsize=8)
        axis.text(0.998, 0.06, "tone 1", color=TONES[1], transform=axis.transAxes, ha="right", va="bottom", fontsize=8)

    def _phases(self, axis, played, channel):
        _plain(axis)
        time = numpy.arange(played.values.shape[2]) * CYCLE_MU / 1000
        axis.step(time, played.phase(channel, 0) % 360, where="post", color=TONES[0], lw=1.1)
        axis.step(time, played.frame(channel, 0) % 360, where="post", color=FRAME, lw=1.1)
        axis.set_ylim(-25, 385)
        axis.set_yticks([0, 180, 360])
        axis.set_ylabel("phase of\ntone 0 / °")
        axis.text(0.998, 0.96, "frame", color=FRAME, transform=axis.transAxes, ha="right", va="top", fontsize=8)
        axis.text(0.955, 0.96, "phase", color=TONES[0], transform=axis.transAxes, ha="right", va="top", fontsize=8)


def _groups(places, apart):
    """Group places closer than `apart`; yields start, end and number of each group."""
    groups = []
    for left, right in sorted(places):
        if groups and left - groups[-1][1] < apart:
            groups[-1] = (groups[-1][0], right, groups[-1][2] + 1)
        else:
            groups.append((left, right, 1))
    return groups


def _kind(name: str) -> str:
    return name.rstrip("0123456789")


def _finer(samples: numpy.ndarray) -> numpy.ndarray:
    """Interpolate samples with a line that has no frequencies above half their rate."""
    count = len(samples)
    spectrum = numpy.fft.rfft(samples * numpy.hanning(count) ** 0.1)
    return numpy.fft.irfft(spectrum, count * FINER) * FINER


def _signal(axis, recording, window, letter, origin_mu):
    _plain(axis)
    samples = recording.samples(window.channel, window.begin_mu - MARGIN, window.end_mu + MARGIN) / 32768 * 100
    line = _finer(samples)[MARGIN * FINER : -MARGIN * FINER]
    samples = samples[MARGIN:-MARGIN]
    span = len(samples)
    # In a separate colour: it is the sum of both tones.
    axis.plot(numpy.arange(len(line)) / FINER, line, color=SIGNAL, lw=0.8 if span < 200 else 0.35)
    if span < 200:
        axis.plot(numpy.arange(span), samples, "o", color=INK, ms=2.2, label="samples")
        axis.plot([], [], color=SIGNAL, lw=0.8, label="band-limited between them")
        axis.legend(loc="upper right", fontsize=6.5, frameon=False, ncols=2, borderpad=0, handlelength=1.2)
    axis.axhline(0, color=INK, lw=0.4)
    axis.set_xlim(0, span)
    axis.set_ylim(-105, 105)
    axis.set_yticks([-100, -50, 0, 50, 100])
    axis.set_ylabel(label("signal", "% of full scale"), labelpad=1)
    axis.set_xlabel(label(f"time after {(window.begin_mu - origin_mu) / 1000:.3f} µs", "ns"), labelpad=2)
    axis.set_facecolor("#fbf9f3")
    _letter(axis, letter, window.title)


def _shots(axis, recording, shots, letter):
    _plain(axis)
    length = 1200
    place = recording.output(0)
    for number, (name, begin) in enumerate(shots):
        fields = recording.fields(recording.outputs[place].output, begin, begin + length)
        amplitude = fields[:, Parameter.A0] / 2.0**23 / 65535 * 100
        shade = 0.3 + 0.7 * (number + 1) / len(shots)
        axis.step(
            numpy.arange(len(amplitude)) * CYCLE_MU / 1000, amplitude, where="post", color=TONES[0], alpha=shade, lw=1.1
        )
        peak = int(amplitude.argmax())
        axis.annotate(
            name,
            (peak * CYCLE_MU / 1000, amplitude[peak]),
            xytext=(0.86, 0.9 - 0.13 * (len(shots) - 1 - number)),
            textcoords="axes fraction",
            fontsize=7.5,
            color=INK,
            ha="center",
            va="center",
            arrowprops={"arrowstyle": "-", "color": TONES[0], "lw": 0.6, "alpha": shade, "shrinkB": 0},
        )
    axis.set_xlim(0, length / 1000)
    axis.set_ylim(0, None)
    axis.set_xlabel(label("time after the shot begins", "µs"), labelpad=2)
    axis.set_ylabel(label("amplitude", "% of full scale"), labelpad=4)
    _letter(axis, letter, "one amplitude follows a count")


assert PARAMETERS == 8  # channels have two tones
