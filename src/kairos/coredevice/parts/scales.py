"""Scales: conversion of quantities to codes of DACs, attenuators and amplitude words, and of ADC codes to
quantities.

A scale is declared once, with numbers of a data sheet, and used on the host and in kernels. Codes
out of range are rejected by the method `refuse`, which a card overrides to raise the exception that
its users expect::

    class Volts(Scale):
        @portable
        def refuse(self):
            raise ValueError("DAC voltage out of bounds")

    VOLTS = Volts(bits=16, steps=3276.8, zero=0x8000)  # offset binary, 10 V at full scale
    VOLTS.code(5.0)  # 0xC000
"""

from ...language import TFloat, TInt32, portable
from .numbers import rounded

__all__ = ["AmplifiedScale", "Scale"]

_FAR = float(1 << 30)
"""Magnitude far above those of all codes."""


class Scale:
    """Codes from 0 to `highest` (default: the maximum of `bits` bits), linear in a quantity:
    `steps` codes per unit, negative if the code falls as the quantity rises; `zero` is the code of
    the quantity 0.
    """

    kernel_invariants = {"highest", "steps", "zero"}

    def __init__(self, bits, steps, zero=0, highest=None):
        self.highest = (1 << bits) - 1 if highest is None else highest
        self.steps = float(steps)
        self.zero = zero

    @portable
    def refuse(self):
        """Raise the exception for a quantity out of range."""
        raise ValueError("out of the range of a scale")

    @portable(flags={"forceinline"})
    def checked(self, code) -> TInt32:
        """Return the code if it is in range, else call `refuse`."""
        if code < 0 or code > self.highest:
            self.refuse()
        return code

    @portable(flags={"forceinline"})
    def _code(self, value, zero) -> TInt32:
        """Return the code `zero` steps above the one nearest to `value` (float)."""
        if not -_FAR < value < _FAR:
            self.refuse()
        return self.checked(int(rounded(value)) + zero)

    @portable(flags={"forceinline"})
    def code(self, quantity) -> TInt32:
        """Return the nearest code. Raises as `refuse` if it is out of range, or no number (NaN)."""
        return self._code(self.steps * quantity, self.zero)

    @portable(flags={"forceinline"})
    def code_from(self, base, quantity) -> TInt32:
        """As `code`, with `base` instead of `zero` as the code of the quantity 0."""
        return self._code(self.steps * quantity + base, 0)

    @portable(flags={"forceinline"})
    def quantity(self, code) -> TFloat:
        """Return the quantity of a code."""
        return (code - self.zero) / self.steps


class AmplifiedScale:
    """An ADC with a preceding amplifier: signed codes of `bits` bits over `span` (from lowest to
    highest quantity) at a gain of 1. The amplifier has one setting per element of `gains`, numbered
    from 0.
    """

    kernel_invariants = {"steps"}

    def __init__(self, bits, span, gains):
        self.steps = [span / (1 << bits) / gain for gain in gains]

    @portable
    def quantity(self, code, setting) -> TFloat:
        """Return the quantity of a code at an amplifier setting. ValueError ("invalid gain") for
        other settings."""
        if setting < 0 or setting >= len(self.steps):
            raise ValueError("invalid gain")
        return code * self.steps[setting]
