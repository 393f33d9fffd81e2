"""Fits by name: each shape is found from noisy points without a first value, and unusable points are refused."""

import asyncio
import math

import numpy as np
import pytest

from kairos.errors import UsageError
from kairos.fits import NAMES, fitted
from kairos.fits.process import Fitter
from kairos.fits.shapes import SHAPES

X = np.linspace(0.0, 10.0, 81)
TRUE = {
    "line": {"a": -2.0, "y0": 3.0},
    "parabola": {"x0": 4.0, "y0": 1.0, "k": -0.5},
    "v_function": {"x0": 6.3, "y0": 1.0, "k": 0.7},
    "gaussian": {"x0": 3.0, "y0": 1.0, "a": 4.0, "sigma": 0.7},
    "lorentzian": {"x0": 6.0, "y0": 5.0, "a": -4.0, "fwhm": 1.1},
    "exponential_decay": {"y0": 4.0, "y_inf": 1.0, "tau": 2.5},
    "sinusoid": {"f": 0.43, "phi": 0.8, "a": 2.0, "y0": 1.0},
    "cos": {"f": 0.61, "phi": -1.1, "a": 1.5, "y0": -2.0},
    "decaying_sinusoid": {"f": 0.8, "phi": 0.5, "a": 3.0, "y0": 1.0, "tau": 4.0},
    "rabi_flop": {"t_pi": 0.9, "lower": 0.02, "upper": 0.97, "tau": 15.0},
    "detuned_square_pulse": {"x0": 5.2, "f_rabi": 0.8, "t_pulse": 0.5 / 0.8, "y0": 0.02, "a": 0.95},
}
SMALL = ("rabi_flop", "detuned_square_pulse")


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e6], ids=["seconds", "microseconds", "megahertz"])
@pytest.mark.parametrize("shape", NAMES)
def test_shape_is_found_from_noisy_points_in_any_unit(shape, unit):
    noise = 0.02 if shape in SMALL else 0.1
    random = np.random.default_rng(5)
    true = {name: value * unit ** _power(SHAPES[shape].dimensions[name]) for name, value in TRUE[shape].items()}
    y = SHAPES[shape].function(X * unit, **true)
    fit = fitted(shape, y + random.normal(0, noise, len(X)), X * unit, np.full(len(X), noise))
    assert fit.problem == "" and fit.points == len(X) and 0.5 < fit.reduced_chi_square < 1.7
    for name, value in true.items():
        error = fit.error(name)
        assert error is not None and abs(fit.values[name] - value) < 5 * error, (name, fit.values, fit.errors)
    drawn = SHAPES[shape].function(np.array(fit.curve["x"]), **fit.values)
    assert np.allclose(fit.curve["y"], drawn) and fit.curve["x"][-1] == X[-1] * unit


def _power(dimension: str) -> int:
    return {"x": 1, "y": 0, "1": 0, "1/x": -1, "y/x": -1, "y/x^2": -2}[dimension]


def test_points_out_of_order_with_gaps_are_fitted():
    random = np.random.default_rng(1)
    order = random.permutation(len(X))
    y = 3.0 + 2.0 * X
    y[7], y[9] = math.nan, math.inf
    fit = fitted("line", y[order], X[order].tolist())
    assert (fit.points, round(fit.a, 9), round(fit.y0, 9)) == (len(X) - 2, 2.0, 3.0)
    assert fitted("line", [1.0, 3.0, 5.0, 7.0]).values == pytest.approx({"a": 2.0, "y0": 1.0}), "against their numbers"
    with pytest.raises(AttributeError, match="a fit has no 'b'; line has a, y0"):
        fit.b  # noqa: B018


def test_given_parameters_are_kept_and_first_values_are_used():
    y = SHAPES["rabi_flop"].function(X, **TRUE["rabi_flop"])
    fit = fitted("rabi_flop", y, X, fixed={"lower": 0.0, "tau": 15.0}, initial={"t_pi": 0.95})
    assert fit.values["lower"] == 0.0 and fit.errors["lower"] is None and fit.t_pi == pytest.approx(0.9, rel=0.01)
    pulse = fitted("detuned_square_pulse", SHAPES["detuned_square_pulse"].function(X, 5.0, 1.0, 1.0, 0.0, 1.0), X)
    longer = fitted(
        "detuned_square_pulse",
        SHAPES["detuned_square_pulse"].function(X, 5.0, 1.0, 1.2, 0.0, 1.0),
        X,
        initial={"t_pulse": 1.1, "x0": 5.0, "f_rabi": 0.9},
    )
    assert pulse.t_pulse == pytest.approx(0.5 / pulse.f_rabi) and longer.t_pulse == pytest.approx(1.2, rel=1e-3)


@pytest.mark.parametrize("shape", NAMES)
@pytest.mark.parametrize(
    "y, x, problem",
    [
        ([], None, "points are too few"),
        ([1.0], None, "points are too few"),
        ([math.nan] * 9, None, "points are too few"),
        ([1.0] * 9, [2.0] * 9, "all points have the same x"),
    ],
)
def test_too_few_points_are_a_problem_in_words(shape, y, x, problem):
    assert problem in fitted(shape, y, x).problem


@pytest.mark.parametrize("shape", NAMES)
@pytest.mark.parametrize("y", [[0.0] * 9, [5.0] * 9, [0, 0, 0, 0, 1, 0, 0, 0, 0], [1e300, -1e300] * 5, range(9)])
def test_strange_points_never_raise_an_exception(shape, y):
    fit = fitted(shape, list(y))
    assert fit.problem or all(math.isfinite(value) for value in fit.values.values())


@pytest.mark.parametrize("y", [["a"] * 9, [1j] * 9, [[1.0, 2.0]] * 9, [[1.0], [2.0, 3.0]], 5.0])
def test_values_that_are_no_list_of_numbers_are_a_problem_in_words(y):
    assert fitted("line", y).problem == "y is no list of real numbers"
    assert fitted("line", [1.0] * 9, error=y).problem == "error is no list of real numbers"
    with pytest.raises(UsageError, match="a = nan is no value of a parameter"):
        fitted("line", [1.0] * 9, fixed={"a": math.nan})


def test_unknown_shape_and_parameter_are_refused_with_the_known_ones():
    with pytest.raises(UsageError, match="there is no fit 'sine'; there are cos, decaying_sinusoid"):
        fitted("sine", [1, 2, 3])
    with pytest.raises(UsageError, match="line has no parameter b; it has a, y0"):
        fitted("line", [1, 2, 3], initial={"b": 1})


def test_process_answers_refuses_and_is_started_again():
    async def session():
        fitter = Fitter()
        first = await fitter.fit("line", [1.0, 2.0, 3.0, 5.0])
        with pytest.raises(UsageError, match="there is no fit"):
            await fitter.fit("none", [1.0])
        fitter._process.kill()
        await fitter._process.wait()
        again = await fitter.fit("line", np.arange(5), fixed={"y0": 0.0})
        await fitter.close()
        return first, again

    first, again = asyncio.run(session())
    assert first.a == pytest.approx(1.3) and again.values == pytest.approx({"a": 1.0, "y0": 0.0})
