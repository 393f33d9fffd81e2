"""Kairos, an open control system for trapped-ion laboratories: the host side.

Experiments import :mod:`kairos.experiment`; the command line is in :mod:`kairos.cli`. This module
imports nothing, so that the command starts quickly.
"""

__version__ = "0.1.0"
