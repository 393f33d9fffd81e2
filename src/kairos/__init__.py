"""Kairos, an open control system for trapped-ion laboratories: the host side.

What an experiment imports is in :mod:`kairos.experiment`; what a user types is in :mod:`kairos.cli`.
This module stays empty of imports, so that the command starts quickly.
"""

__version__ = "0.1.0"
