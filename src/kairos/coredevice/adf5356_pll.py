"""Arithmetic of an ADF5356: dividers for a frequency, and the words that depend only on the
reference.

The oscillator runs at ``f_pfd * (n + (frac1 + frac2 / mod2) / 2**24)``. Rules and examples: the
data sheet, "RF synthesizer: a worked example" and the descriptions of the registers.
"""

import math

from numpy import int32, int64

from ..language import TFloat, TInt32, TInt64, TTuple, portable
from .chips import adf5356 as chip
from .chips.adf5356 import ALC_WAIT, HIGHEST_BLEED_PFD, HIGHEST_PFD, HIGHEST_R, LAST, MODULUS1, R0, R2
from .parts.numbers import to_int32, to_wide_word

__all__ = ["calculate_pll", "fixed_words", "gcd", "reference_divider", "split_msb_lsb_28b"]

_HALVES = R2.frac2.width
"""Bits of the lower half of the second fraction's numerator and denominator."""
_CURRENT = 2
"""Charge pump: 0.9375 mA."""
_BAND_CLOCK, _ADC_CLOCK = 2.4e6, 100e3
_ALC_TIME, _LOCK_TIME = 50e-6, 20e-6


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
    mod2 = twice // divisor
    if mod2 == 1:
        mod2 = int64(2)
    return int32(n), int32(frac1), split_msb_lsb_28b(frac2 // divisor), split_msb_lsb_28b(mod2)


def reference_divider(refclk, doubler, halver, highest=HIGHEST_PFD):
    """Smallest divider that keeps the phase detector at or below `highest` Hz. ValueError if there
    is none."""
    divider = math.ceil(refclk * (2 if doubler else 1) / (2 if halver else 1) / highest)
    if not 1 <= divider <= HIGHEST_R:
        raise ValueError(f"an ADF5356 cannot divide its reference of {refclk / 1e6} MHz")
    return divider


def fixed_words(refclk, doubler, halver, highest=HIGHEST_PFD):
    """Words (int32) of all registers before a frequency is set, by number, for a phase detector of
    at most `highest` Hz."""
    divider = reference_divider(refclk, doubler, halver, highest)
    f_pfd = refclk * (2 if doubler else 1) / (2 if halver else 1) / divider
    timeout = math.ceil(f_pfd * _ALC_TIME / ALC_WAIT)
    current = (_CURRENT + 1) * 0.3125e-3
    fields = {
        "R0": {"autocal": 1},
        "R4": {
            "muxout": "DIGITAL_LOCK",
            "r_doubler": int(doubler),
            "r_div2": int(halver),
            "r_counter": divider,
            "current": _CURRENT,
            "ref_mode": "DIFFERENTIAL",
            "mux_logic": "V3_3",
            "pd_polarity": "POSITIVE",
        },
        "R6": {
            "negative_bleed": int(f_pfd <= HIGHEST_BLEED_PFD),
            "feedback": "FUNDAMENTAL",
            "bleed": min(255, math.floor(24 * (f_pfd / 61.44e6) * (current / 0.9e-3))),
            "mute": 1,
            "enable": 1,
            "power": 3,
        },
        "R7": {"le_sync": 1, "precision": "NS12"},
        "R9": {
            "band_divider": math.ceil(f_pfd / _BAND_CLOCK),
            "timeout": timeout,
            "alc_wait": ALC_WAIT,
            "lock_wait": math.ceil(f_pfd * _LOCK_TIME / timeout),
        },
        "R10": {"adc_divider": min(255, math.ceil((f_pfd / _ADC_CLOCK - 2) / 4)), "conversion": 1, "enable": 1},
    }
    words = [getattr(chip, f"R{number}").encode(**fields.get(f"R{number}", {})) for number in range(LAST + 1)]
    return [int32(to_int32(word)) for word in words]
