"""Fits by name: least squares of lmfit with a first guess from the data (:mod:`.shapes` has the shapes).

:mod:`.process` runs them in a process of its own, which a caller may end.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from ..errors import UsageError

__all__ = ["NAMES", "Fit", "fitted", "loaded"]

NAMES = (
    "cos",
    "decaying_sinusoid",
    "detuned_square_pulse",
    "exponential_decay",
    "gaussian",
    "line",
    "lorentzian",
    "parabola",
    "rabi_flop",
    "sinusoid",
    "v_function",
)
CURVE = 400
"""Points of a curve to be drawn."""
EVALUATIONS = 5000
"""Evaluations of the function after which a fit is given up."""


@dataclass
class Fit:
    """The result of a fit."""

    shape: str
    values: dict[str, float]
    """Of each parameter."""
    errors: dict[str, float | None]
    """Standard error of each parameter; None if it is fixed, or cannot be estimated."""
    reduced_chi_square: float | None = None
    """With errors of the points given: about 1 for a good fit. Otherwise the variance of the points
    about the curve."""
    points: int = 0
    problem: str = ""
    """Why it has failed; empty if it has not."""
    curve: dict[str, list[float]] = field(default_factory=dict)
    """``x`` and ``y`` of the curve."""

    def __getattr__(self, name: str) -> float:
        values = self.__dict__.get("values", {})
        if name in values:
            return values[name]
        raise AttributeError(f"a fit has no '{name}'; {self.__dict__.get('shape')} has {', '.join(values)}")

    def error(self, name: str) -> float | None:
        """Return the standard error of a parameter."""
        return self.errors[name]

    def described(self) -> dict:
        """Return the result without the curve."""
        return {name: value for name, value in asdict(self).items() if name != "curve"}


def loaded():
    """Import lmfit; UsageError if it is not installed."""
    try:
        import lmfit  # imported late: it takes half a second, and few programs fit
    except ImportError:
        raise UsageError("fits need lmfit: pip install 'kairos[analysis]'") from None
    return lmfit


def fitted(
    shape: str,
    y: Sequence[float],
    x: Sequence[float] | None = None,
    error: Sequence[float] | None = None,
    initial: Mapping[str, float] | None = None,
    fixed: Mapping[str, float] | None = None,
) -> Fit:
    """Fit points by a shape of `NAMES`.

    x: by default the numbers of the points, from 0. error: standard errors of the points. Points
    with a value that is not finite are left out. initial: first values of parameters instead of
    guessed ones; fixed: parameters that are given. UsageError for an unknown shape or parameter; a
    fit that fails says so in `problem`.
    """
    if shape not in NAMES:
        raise UsageError(f"there is no fit '{shape}'; there are {', '.join(NAMES)}")
    lmfit = loaded()
    import numpy as np  # with lmfit

    from .shapes import GUESSED, SHAPES  # with lmfit

    known = SHAPES[shape]
    given = {**(initial or {}), **(fixed or {})}
    unknown = sorted(set(given) - set(known.dimensions))
    if unknown:
        raise UsageError(f"{shape} has no parameter {unknown[0]}; it has {', '.join(known.dimensions)}")
    for name, value in given.items():
        if not math.isfinite(value):
            raise UsageError(f"{name} = {value} is no value of a parameter: give a finite number")
    try:
        xs, ys, errors = _columns(np, y, x, error)
    except ValueError as failure:
        return Fit(shape, {}, {}, problem=str(failure))
    empty = Fit(shape, {}, {}, points=len(xs))
    free = len(known.dimensions) - len(fixed or {}) - len(set(known.tied) - set(given))
    if len(xs) <= free:
        empty.problem = f"{len(xs)} points are too few for {free} parameters"
        return empty
    if xs[0] == xs[-1]:
        empty.problem = "all points have the same x"
        return empty
    try:
        return _solved(lmfit, np, shape, xs, ys, errors, known, given, set(fixed or {}), GUESSED)
    except (ValueError, TypeError, ArithmeticError, np.linalg.LinAlgError) as failure:
        empty.problem = f"the fit has failed: {str(failure).partition(chr(10))[0]}"
        return empty


def _columns(np, y, x, error):
    """Return x in order, y and the errors of the points that are finite; errors that are not all
    positive are no errors. ValueError for what is no list of real numbers."""
    ys = _column(np, "y", y)
    xs = np.arange(len(ys), dtype=float) if x is None else _column(np, "x", x)
    length = min(len(xs), len(ys))
    errors = None if error is None else _column(np, "error", error)
    if errors is not None:
        length = min(length, len(errors))
        errors = errors[:length]
    xs, ys = xs[:length], ys[:length]
    finite = np.isfinite(xs) & np.isfinite(ys)
    if errors is not None:
        if not np.all(np.isfinite(errors[finite]) & (errors[finite] > 0)):
            errors = None
    order = np.flatnonzero(finite)[np.argsort(xs[finite], kind="stable")]
    return xs[order], ys[order], None if errors is None else errors[order]


def _column(np, name: str, given):
    try:
        column = np.asarray(given)
        # Of complex numbers and text NumPy would take something.
        if column.ndim == 1 and column.dtype.kind in "biufO":
            return column.astype(float)
    except (ValueError, TypeError):
        pass
    raise ValueError(f"{name} is no list of real numbers")


def _solved(lmfit, np, shape, xs, ys, errors, known, given, fixed, guessed) -> Fit:
    every = -(-len(xs) // guessed)
    with np.errstate(all="ignore"):
        start = {**known.guess(xs[::every], ys[::every]), **given}
        model = lmfit.Model(known.function, independent_vars=["x"])
        parameters = model.make_params(**{name: float(value) for name, value in start.items()})
        for name, parameter in parameters.items():
            if name in known.positive:
                parameter.min = 0.0
            if name in fixed:
                parameter.vary = False
            elif name in known.tied and name not in given:
                parameter.expr = known.tied[name]
        weights = None if errors is None else 1 / errors
        result = model.fit(
            ys,
            parameters,
            x=xs,
            weights=weights,
            scale_covar=errors is None,
            max_nfev=EVALUATIONS,
            nan_policy="omit",
        )
        across = np.linspace(xs[0], xs[-1], CURVE)
        curve = known.function(across, **result.best_values)
    values = {name: float(parameter.value) for name, parameter in result.params.items()}
    standard = {
        name: _finite(parameter.stderr) if parameter.vary or parameter.expr else None
        for name, parameter in result.params.items()
    }
    problem = "" if result.success and all(map(math.isfinite, values.values())) else "the fit has not converged"
    shown = {"x": across.tolist(), "y": np.nan_to_num(curve).tolist()}
    return Fit(shape, values, standard, _finite(result.redchi), len(xs), problem, shown)


def _finite(number) -> float | None:
    return None if number is None or not math.isfinite(number) else float(number)
