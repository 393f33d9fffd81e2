"""Scales: conversion of quantities to codes of DACs, attenuators and amplitude words, and of ADC codes to
quantities.

A scale is declared once, from numbers of a data sheet, and used on the host and in kernels. A code
out of range is refused by the method `refuse`, which a card overrides with the exception that its
users know::

    class Volts(Scale):
        @portable
        def refuse(self):
            raise ValueError("DAC voltage out of bounds")

    VOLTS = Volts(bits=16, steps=3276.8, zero=0x8000)  # offset binary, 10 V at full scale
    VOLTS.code(5.0)  # 0xC000
"""

from ...language import TFloat, TInt32, portable

__all__ = ["AmplifiedScale", "Scale"]


class Scale:
    """Codes from 0 to `highest` (the highest of `bits` bits, if it is None), linear in a quantity:
    `steps` codes in one of its unit, negative if the code falls as the quantity rises, and the code
    `zero` for nothing."""

    kernel_invariants = {"highest", "steps", "zero"}

    def __init__(self, bits, steps, zero=0, highest=None):
        self.highest = (1 << bits) - 1 if highest is None else highest
        self.steps = float(steps)
        self.zero = zero

    @portable
    def refuse(self):
        """Raise what says that a quantity is out of range."""
        raise ValueError("out of the range of a scale")

    @portable(flags={"forceinline"})
    def checked(self, code) -> TInt32:
        """The code, if there is such a one."""
        if code < 0 or code > self.highest:
            self.refuse()
        return code

    @portable(flags={"forceinline"})
    def code(self, quantity) -> TInt32:
        """The nearest code. What `refuse` raises if it is out of range."""
        return self.checked(int(round(self.steps * quantity)) + self.zero)

    @portable(flags={"forceinline"})
    def code_from(self, base, quantity) -> TInt32:
        """As `code`, where nothing has the code `base` instead of `zero`."""
        return self.checked(int(round(self.steps * quantity + base)))

    @portable(flags={"forceinline"})
    def quantity(self, code) -> TFloat:
        """The quantity of a code."""
        return (code - self.zero) / self.steps


class AmplifiedScale:
    """An ADC behind an amplifier: signed codes of `bits` bits for `span` (from the lowest quantity
    to the highest) at the amplification 1. The amplifier has a setting for each of `gains`,
    numbered from 0 on."""

    kernel_invariants = {"steps"}

    def __init__(self, bits, span, gains):
        self.steps = [span / (1 << bits) / gain for gain in gains]

    @portable
    def quantity(self, code, setting) -> TFloat:
        """The quantity of a code at a setting of the amplifier. ValueError ("invalid gain") if there is no such one."""
        if setting < 0 or setting >= len(self.steps):
            raise ValueError("invalid gain")
        return code * self.steps[setting]
