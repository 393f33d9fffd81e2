"""Plots of the channels' output: envelopes and frequencies of both tones, frames, the signal and its spectrum."""

import numpy

from ..pictures import COLORS, drawing, save
from ..quantities import label
from .model import Played

__all__ = ["spectrum", "write_plot"]

SPECTRUM = 1 << 16
"""Maximum number of samples of a spectrum."""
LOWEST = -130
"""Lower limit of drawn spectra, in dB; 16-bit samples are not meaningful below."""


def spectrum(samples: numpy.ndarray, rate: float) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Return frequencies in Hz, and power in dB relative to a tone of full scale (4-term
    Blackman-Harris window, -92 dB)."""
    count = len(samples)
    terms = numpy.outer(numpy.arange(4), 2 * numpy.pi * numpy.arange(count) / max(count, 1))
    window = numpy.array([0.35875, -0.48829, 0.14128, -0.01168]) @ numpy.cos(terms)
    power = numpy.abs(numpy.fft.rfft(samples * window) / (0.5 * max(window.sum(), 1e-12) * 32768))
    return numpy.fft.rfftfreq(count, 1 / rate), 20 * numpy.log10(numpy.maximum(power, 1e-10))


def write_plot(path, played: Played, channels: list[int]):
    """Write a picture of these channels to `path`, whose suffix selects the format (png, pdf, svg)."""
    cycles = played.values.shape[2]
    time = numpy.arange(cycles) / played.core.clock * 1e6
    fine = numpy.arange(played.samples.shape[1]) / played.core.sample_rate * 1e6
    rows = (
        label("amplitude", "0.5 %"),
        label("frequency", "MHz"),
        label("phase, frame", "°"),
        label("signal", "% of full scale"),
        label("spectrum", "dB"),
    )
    with drawing(**{"font.size": 9}) as pyplot:
        figure, axes = pyplot.subplots(
            len(rows), len(channels), figsize=(1 + 4.5 * len(channels), 9), squeeze=False, layout="constrained"
        )
        for column, channel in enumerate(channels):
            amplitude, frequency, phase, signal, power = axes[:, column]
            for tone, color in enumerate(COLORS[:2]):
                style = {"color": color, "lw": 1, "ls": ("-", "--")[tone], "label": f"tone {tone}"}
                size = played.amplitude(channel, tone)
                amplitude.plot(time, size, **style)
                # The frequency of a silent tone is not shown.
                frequency.plot(time, numpy.where(size != 0, played.frequency(channel, tone) / 1e6, numpy.nan), **style)
                phase.plot(time, played.phase(channel, tone), **style)
                phase.plot(time, played.frame(channel, tone), color=color, lw=1, ls=":", label=f"frame {tone}")
            signal.plot(fine, played.samples[channel] / 327.68, color="#374151", lw=0.4)
            hertz, decibels = spectrum(played.samples[channel][:SPECTRUM], played.core.sample_rate)
            power.plot(hertz / 1e6, decibels, color="#374151", lw=0.6)
            power.set_ylim(LOWEST, 5)
            power.set_xlim(0, hertz[-1] / 1e6)
            amplitude.set_title(f"channel {channel}")
            amplitude.legend(loc="upper right", fontsize=8)
            phase.legend(loc="lower right", fontsize=7, ncols=4)
            phase.set_ylim(-270, 190)
            phase.set_yticks([-180, 0, 180])
            signal.set_xlabel(label("time", "µs"))
            power.set_xlabel(label("frequency", "MHz"))
            for axis in (amplitude, frequency, phase, signal):
                axis.set_xlim(0, fine[-1])
            for axis, name in zip(axes[:, column], rows, strict=True):
                axis.set_ylabel(name if column == 0 else "")
        save(figure, path, 130)
