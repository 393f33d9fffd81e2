"""Fits that an experiment declares: shown live, and stored with the run."""

from dataclasses import dataclass
from typing import Any

from .. import fits

__all__ = ["RunFit", "declared"]


@dataclass(frozen=True)
class RunFit:
    """A fit to datasets of a run. Parameters of the shape are attributes: values for the points that
    there are now."""

    name: str
    shape: str
    y: str
    x: str | None = None
    error: str | None = None
    initial: dict | None = None
    fixed: dict | None = None
    datasets: Any = None
    """The manager that has the datasets."""

    def result(self) -> fits.Fit:
        """Fit the points that there are now; KeyError for an unknown dataset, UsageError."""
        columns = [None if key is None else self.datasets.get(key, False) for key in (self.y, self.x, self.error)]
        return fits.fitted(self.shape, *columns, self.initial, self.fixed)

    def described(self) -> dict:
        """Return what others need to fit the same."""
        names = ("name", "shape", "y", "x", "error", "initial", "fixed")
        return {name: getattr(self, name) for name in names}

    def __getattr__(self, name: str) -> float:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.result(), name)


def declared(datasets, shape: str, y: str, x, error, initial, fixed, name) -> RunFit:
    """Return a fit, whose name is by default that of the dataset; UsageError for an unknown shape, or
    without lmfit."""
    fits.loaded()
    made = RunFit(name or y, shape, y, x, error, initial, fixed, datasets)
    fits.fitted(shape, [], initial=initial, fixed=fixed)  # refuses what it does not know
    return made
