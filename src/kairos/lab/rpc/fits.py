"""Fits as messages."""

from ...fits import Fit
from .protocol import message

__all__ = ["declared", "described", "result"]


def described(fit) -> dict:
    """Return the message FitDescription as `lab.fits.Fits` takes it."""
    names = {name: getattr(fit, name) or None for name in ("x", "error")}
    return {"shape": fit.shape, "y": fit.y, **names, "initial": dict(fit.initial), "fixed": dict(fit.fixed)}


def declared(fits: dict) -> list:
    """Return the fits of runs as messages. `fits`: by run and name."""
    return [message("DeclaredFit", rid=rid, name=name, fit=_description(fit)) for (rid, name), fit in fits.items()]


def _description(fit: dict):
    return message(
        "FitDescription",
        shape=fit["shape"],
        y=fit["y"],
        x=fit["x"] or "",
        error=fit["error"] or "",
        initial=fit["initial"] or {},
        fixed=fit["fixed"] or {},
    )


def result(fit: Fit):
    """Return the message FitResult."""
    # Imported late, with NumPy's functions.
    from ...fits.shapes import SHAPES

    dimensions = SHAPES[fit.shape].dimensions
    return message(
        "FitResult",
        parameters=[
            message("FitParameter", name=name, value=value, error=fit.errors.get(name), dimension=dimensions[name])
            for name, value in fit.values.items()
        ],
        reduced_chi_square=fit.reduced_chi_square or 0.0,
        points=fit.points,
        problem=fit.problem,
        curve_x=fit.curve.get("x", ()),
        curve_y=fit.curve.get("y", ()),
    )
