"""Arithmetic of an ADF5356: dividers for a frequency, and the words that depend only on the
reference.

The oscillator runs at ``f_pfd * (n + (frac1 + frac2 / mod2) / 2**24)``. Rules and examples: the
data sheet, "RF synthesizer: a worked example" and the descriptions of the registers.
"""

import math

from ..language import TFloat, TInt32, TInt64, TTuple, portable
from ..numeric import int32, int64
from .chips import adf5356 as chip
from .chips.adf5356 import (
    ALC_WAIT,
    BAND_CLOCK,
    BLEED_PFD,
    BLEED_STEPS,
    HIGHEST_PFD,
    HIGHEST_R,
    HIGHEST_SINGLE_ENDED,
    LAST,
    LOCK_WAIT,
    MODULUS1,
    R0,
    R2,
    R9,
    TIMEOUT,
)
from .parts.numbers import to_int32, to_wide_word

__all__ = [
    "band_divider",
    "bleed_current",
    "calculate_pll",
    "fixed_words",
    "gcd",
    "reference_divider",
    "split_msb_lsb_28b",
]

_HALVES = R2.frac2.width
"""Bits of the lower half of the second fraction's numerator and denominator."""
_CURRENT = 2
"""Charge pump: 0.9375 mA."""


@portable
def gcd(a, b):
    """Greatest common divisor."""
    while b != 0:
        a, b = b, a % b
    return a


@portable
def split_msb_lsb_28b(v) -> TTuple([TInt32, TInt32]):
    """Upper and lower 14 bits of a 28-bit number."""
    half = R2.frac2.mask
    return int32((v >> _HALVES) & half), int32(v & half)


@portable
def calculate_pll(f_vco: TFloat, f_pfd: TInt64) -> TTuple(
    [TInt32, TInt32, TTuple([TInt32, TInt32]), TTuple([TInt32, TInt32])]
):
    """Whole part, first fraction's numerator, and numerator and denominator of the second fraction
    (each as its upper and lower 14 bits), for frequencies of the oscillator and the phase detector
    in Hz. Exact for whole and half Hz. ValueError if the whole part does not fit.
    """
    ratio = f_vco / float(f_pfd)
    if not 0.0 <= ratio <= R0.n.mask:
        raise ValueError("an ADF5356 divides its oscillator by at most 65535")
    n = int64(ratio)
    rest = (f_vco - float(n * f_pfd)) * float(MODULUS1)
    # As a fraction of twice the phase detector's frequency, which fits in 28 bits
    twice = 2 * f_pfd
    halves = to_wide_word(2.0 * rest)
    frac1 = halves // twice
    frac2 = halves % twice
    divisor = gcd(frac2, twice)
    return int32(n), int32(frac1), split_msb_lsb_28b(frac2 // divisor), split_msb_lsb_28b(twice // divisor)


@portable
def bleed_current(f_pfd: TInt64) -> TInt32:
    """Bleed current for a phase detector's frequency in Hz."""
    return int32(BLEED_STEPS * f_pfd // BLEED_PFD)


@portable
def band_divider(f_pfd: TInt64) -> TInt32:
    """Divider of the band selection for a phase detector's frequency in Hz: of the quotient the 8
    bits of the field, as cards have been driven with; never 0."""
    field = R9.band_divider.mask
    found = int32((f_pfd + BAND_CLOCK - 1) // BAND_CLOCK) & field
    return found if found > 0 else field


def reference_divider(refclk, doubler, halver):
    """Smallest divider that the phase detector permits. ValueError if there is none."""
    divider = math.ceil(refclk * (2 if doubler else 1) / (2 if halver else 1) / HIGHEST_PFD)
    if not 1 <= divider <= HIGHEST_R:
        raise ValueError(f"an ADF5356 cannot divide its reference of {refclk / 1e6} MHz")
    return divider


def fixed_words(refclk, doubler, halver):
    """Words (int32) of all registers before a frequency is set, by number."""
    divider = reference_divider(refclk, doubler, halver)
    f_pfd = int(refclk * (2 if doubler else 1) / (2 if halver else 1) / divider)
    fields = {
        "R2": {"mod2": 1},
        "R4": {
            "muxout": "DIGITAL_LOCK",
            "r_doubler": int(doubler),
            "r_div2": int(halver),
            "r_counter": divider,
            "current": _CURRENT,
            "ref_mode": "SINGLE_ENDED" if refclk <= HIGHEST_SINGLE_ENDED else "DIFFERENTIAL",
            "mux_logic": "V3_3",
            "pd_polarity": "POSITIVE",
        },
        "R6": {
            "negative_bleed": 1,
            "feedback": "FUNDAMENTAL",
            "bleed": bleed_current(f_pfd),
            "mute": 1,
            "enable": 1,
            "power": 3,
        },
        "R7": {"le_sync": 1, "precision": "NS12"},
        "R9": {
            "band_divider": band_divider(f_pfd),
            "timeout": TIMEOUT,
            "alc_wait": ALC_WAIT,
            "lock_wait": LOCK_WAIT,
        },
        "R10": {"conversion": 1, "enable": 1},
    }
    words = [getattr(chip, f"R{number}").encode(**fields.get(f"R{number}", {})) for number in range(LAST + 1)]
    return [int32(to_int32(word)) for word in words]
