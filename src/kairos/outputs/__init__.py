"""Outputs of cards set by hand: the frequency, amplitude, phase and attenuation of a DDS, the voltage of a DAC.

Gateware overrides pins only, so that a short run of its own sets an output, with the driver of its card
(:mod:`.experiment`, :mod:`.kernels`). What a card can be set to is known from its driver (:mod:`.settings`).
"""

from pathlib import Path

__all__ = ["CLASS", "EXPERIMENT"]

EXPERIMENT, CLASS = Path(__file__).with_name("experiment.py"), "SetOutput"
"""The experiment that sets an output; its arguments are `output`, `values` by name, and `initialise`."""
