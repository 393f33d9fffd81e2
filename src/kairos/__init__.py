"""Kairos, an open control system for trapped-ion laboratories: the host side.

Experiments import :mod:`kairos.experiment`; the command line is in :mod:`kairos.cli`. This module
imports nothing, so that the command starts quickly.
"""

__version__ = "0.1.0"


def __getattr__(name):
    """``kairos.sweep``, for notebooks."""
    if name == "sweep":
        from .twin.sweep import sweep  # imported late: this module imports nothing

        return sweep
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(_shell):
    """``%load_ext kairos`` in a notebook: ``artiq`` and ``sipyco`` can be imported from then on."""
    from . import compat  # imported late: this module imports nothing

    compat.install()
