"""The shapes that data are fitted by, by the names that users of ndscan know, each with a first guess.

A guess must only be near enough for a least-squares fit to converge. Frequencies are in the inverse
unit of x, angles in radians.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

__all__ = ["SHAPES", "Shape"]

GUESSED = 400
"""Points that a guess looks at; of more, every n-th."""
FREQUENCIES = 2000
"""Largest number of frequencies that are tried."""


class Shape(NamedTuple):
    """A function of x with parameters, as lmfit expects it."""

    function: Callable
    guess: Callable[[np.ndarray, np.ndarray], dict[str, float]]
    """From x, which is in order, and y."""
    dimensions: dict[str, str]
    """Of each parameter: ``x``, ``y``, ``1/x``, ``y/x``, ``y/x^2``, or ``1`` for a pure number."""
    positive: tuple[str, ...] = ()
    """Parameters that are not negative."""
    tied: dict[str, str] = {}
    """Parameters that are expressions of others, unless they are given."""
    text: str = ""
    """The formula."""


def _line(x, a, y0):
    return y0 + a * x


def _guess_line(x, y):
    a, y0 = np.polyfit(x, y, 1)
    return {"a": a, "y0": y0}


def _parabola(x, x0, y0, k):
    return y0 + k * (x - x0) ** 2


def _guess_parabola(x, y):
    k, b, c = np.polyfit(x, y, 2)
    x0 = -b / (2 * k) if k else float(np.mean(x))
    return {"x0": x0, "y0": c - k * x0**2, "k": k}


def _v_function(x, x0, y0, k):
    return y0 + k * np.abs(x - x0)


def _guess_v_function(x, y):
    # With the kink at each of the points: a linear problem.
    best: tuple[float, dict] = (np.inf, {})
    for x0 in x:
        columns = np.stack([np.ones_like(x), np.abs(x - x0)], axis=1)
        found, *_ = np.linalg.lstsq(columns, y, rcond=None)
        left = float(np.sum((columns @ found - y) ** 2))
        if left < best[0]:
            best = left, {"x0": x0, "y0": found[0], "k": found[1]}
    return best[1]


def _gaussian(x, x0, y0, a, sigma):
    return y0 + a * np.exp(-0.5 * ((x - x0) / sigma) ** 2)


def _lorentzian(x, x0, y0, a, fwhm):
    return y0 + a / (1 + (2 * (x - x0) / fwhm) ** 2)


def _peak(x, y) -> tuple[float, float, float, float]:
    """Return the place, the background, the height and the full width at half maximum of a peak or dip."""
    y0 = float(np.median(y))
    smooth = np.convolve(np.pad(y, 1, mode="edge"), [0.25, 0.5, 0.25], mode="valid") if len(y) > 8 else y
    at = int(np.argmax(np.abs(smooth - y0)))
    a = float(smooth[at] - y0) or 1.0
    above = (smooth - y0) / a > 0.5
    left = right = at
    while left > 0 and above[left - 1]:
        left -= 1
    while right < len(x) - 1 and above[right + 1]:
        right += 1
    spacing = (x[-1] - x[0]) / max(1, len(x) - 1)
    return float(x[at]), y0, a, float(max(x[right] - x[left], spacing))


def _guess_gaussian(x, y):
    x0, y0, a, width = _peak(x, y)
    return {"x0": x0, "y0": y0, "a": a, "sigma": width / 2.355}


def _guess_lorentzian(x, y):
    x0, y0, a, width = _peak(x, y)
    return {"x0": x0, "y0": y0, "a": a, "fwhm": width}


def _exponential_decay(x, y0, y_inf, tau):
    return y_inf + (y0 - y_inf) * np.exp(-x / tau)


def _guess_exponential_decay(x, y):
    best: tuple[float, dict] = (np.inf, {})
    for tau in np.geomspace(_span(x) / 100, _span(x) * 10, 60):
        columns = np.stack([np.ones_like(x), np.exp(-x / tau)], axis=1)
        (y_inf, a), *_ = np.linalg.lstsq(columns, y, rcond=None)
        left = float(np.sum((columns @ [y_inf, a] - y) ** 2))
        if left < best[0]:
            best = left, {"y0": y_inf + a, "y_inf": y_inf, "tau": tau}
    return best[1]


def _sinusoid(x, f, phi, a, y0):
    return y0 + a * np.sin(2 * np.pi * f * x + phi)


def _cos(x, f, phi, a, y0):
    return y0 + a * np.cos(2 * np.pi * f * x + phi)


def _decaying_sinusoid(x, f, phi, a, y0, tau):
    return y0 + a * np.exp(-x / tau) * np.sin(2 * np.pi * f * x + phi)


def _span(x) -> float:
    return float(x[-1] - x[0]) or 1.0


def _oscillation(x, y, tau=np.inf):
    """Return frequency, the amplitudes of sine and cosine, mean, and what is left of the squares, of
    the oscillation (decaying with `tau`) that is nearest to the data."""
    span = _span(x)
    spacing = span / max(1, len(x) - 1)
    highest = 0.5 / spacing
    frequencies = np.linspace(0.1 / span, highest, min(FREQUENCIES, 4 * len(x)))
    phase = 2 * np.pi * np.outer(frequencies, x)
    decay, mean = np.exp(-x / tau), float(np.mean(y))
    sines, cosines, rest = np.sin(phase) * decay, np.cos(phase) * decay, y - mean
    # The normal equations of each frequency; slightly damped, as the columns may be nearly the same.
    matrix = np.empty((len(frequencies), 3, 3))
    for row, one in enumerate((sines, cosines)):
        for column, other in enumerate((sines, cosines)):
            matrix[:, row, column] = np.einsum("fx,fx->f", one, other)
        matrix[:, row, 2] = matrix[:, 2, row] = one.sum(axis=1)
    matrix[:, 2, 2] = len(x)
    vector = np.stack([sines @ rest, cosines @ rest, np.full(len(frequencies), rest.sum())], axis=1)
    found = np.linalg.solve(matrix + 1e-9 * len(x) * np.eye(3), vector[..., None])[..., 0]
    explained = np.einsum("fi,fi->f", vector, found)
    best = int(np.argmax(explained))
    sine, cosine, offset = map(float, found[best])
    return float(frequencies[best]), sine, cosine, mean + offset, float(rest @ rest - explained[best])


def _guess_sinusoid(x, y):
    f, sine, cosine, y0, _ = _oscillation(x, y)
    return {"f": f, "phi": float(np.arctan2(cosine, sine)), "a": float(np.hypot(sine, cosine)), "y0": y0}


def _guess_cos(x, y):
    f, sine, cosine, y0, _ = _oscillation(x, y)
    return {"f": f, "phi": float(np.arctan2(-sine, cosine)), "a": float(np.hypot(sine, cosine)), "y0": y0}


def _guess_decaying_sinusoid(x, y):
    tries = {tau: _oscillation(x, y, tau) for tau in _span(x) * np.array([0.3, 1.0, 3.0])}
    tau = min(tries, key=lambda each: tries[each][4])
    f, sine, cosine, y0, _ = tries[tau]
    phi, a = float(np.arctan2(cosine, sine)), float(np.hypot(sine, cosine))
    return {"f": f, "phi": phi, "a": a, "y0": y0, "tau": float(tau)}


def _rabi_flop(x, t_pi, lower, upper, tau):
    return lower + (upper - lower) * 0.5 * (1 - np.exp(-x / tau) * np.cos(np.pi * x / t_pi))


def _guess_rabi_flop(x, y):
    f, sine, cosine, y0, _ = min(
        (_oscillation(x, y, tau) for tau in _span(x) * np.array([1.0, 10.0])), key=lambda each: each[4]
    )
    a = float(np.hypot(sine, cosine)) or 0.5
    return {"t_pi": 0.5 / f, "lower": y0 - a, "upper": y0 + a, "tau": 3 * _span(x)}


def _detuned_square_pulse(x, x0, f_rabi, t_pulse, y0, a):
    squared = f_rabi**2 + (x - x0) ** 2
    return y0 + a * f_rabi**2 / squared * np.sin(np.pi * np.sqrt(squared) * t_pulse) ** 2


def _guess_detuned_square_pulse(x, y):
    x0, y0, a, width = _peak(x, y)
    # A pi pulse has a full width of 1.6 Rabi frequencies.
    return {"x0": x0, "f_rabi": width / 1.6, "t_pulse": 0.8 / width, "y0": y0, "a": a}


_OSCILLATION: dict[str, Any] = {"f": "1/x", "phi": "1", "a": "y", "y0": "y"}

SHAPES = {
    "line": Shape(_line, _guess_line, {"a": "y/x", "y0": "y"}, text="y0 + a x"),
    "parabola": Shape(_parabola, _guess_parabola, {"x0": "x", "y0": "y", "k": "y/x^2"}, text="y0 + k (x - x0)^2"),
    "v_function": Shape(_v_function, _guess_v_function, {"x0": "x", "y0": "y", "k": "y/x"}, text="y0 + k |x - x0|"),
    "gaussian": Shape(
        _gaussian,
        _guess_gaussian,
        {"x0": "x", "y0": "y", "a": "y", "sigma": "x"},
        ("sigma",),
        text="y0 + a exp(-(x - x0)^2 / (2 sigma^2))",
    ),
    "lorentzian": Shape(
        _lorentzian,
        _guess_lorentzian,
        {"x0": "x", "y0": "y", "a": "y", "fwhm": "x"},
        ("fwhm",),
        text="y0 + a / (1 + (2 (x - x0) / fwhm)^2)",
    ),
    "exponential_decay": Shape(
        _exponential_decay,
        _guess_exponential_decay,
        {"y0": "y", "y_inf": "y", "tau": "x"},
        ("tau",),
        text="y_inf + (y0 - y_inf) exp(-x / tau)",
    ),
    "sinusoid": Shape(_sinusoid, _guess_sinusoid, _OSCILLATION, ("f",), text="y0 + a sin(2 pi f x + phi)"),
    "cos": Shape(_cos, _guess_cos, _OSCILLATION, ("f",), text="y0 + a cos(2 pi f x + phi)"),
    "decaying_sinusoid": Shape(
        _decaying_sinusoid,
        _guess_decaying_sinusoid,
        {**_OSCILLATION, "tau": "x"},
        ("f", "tau"),
        text="y0 + a exp(-x / tau) sin(2 pi f x + phi)",
    ),
    "rabi_flop": Shape(
        _rabi_flop,
        _guess_rabi_flop,
        {"t_pi": "x", "lower": "y", "upper": "y", "tau": "x"},
        ("t_pi", "tau"),
        text="lower + (upper - lower) (1 - exp(-x / tau) cos(pi x / t_pi)) / 2",
    ),
    "detuned_square_pulse": Shape(
        _detuned_square_pulse,
        _guess_detuned_square_pulse,
        {"x0": "x", "f_rabi": "x", "t_pulse": "1/x", "y0": "y", "a": "y"},
        ("f_rabi", "t_pulse"),
        {"t_pulse": "0.5 / f_rabi"},
        text="y0 + a f_rabi^2 / F^2 sin^2(pi F t_pulse), F^2 = f_rabi^2 + (x - x0)^2; t_pulse: a pi pulse unless given",
    ),
}
"""By name."""
