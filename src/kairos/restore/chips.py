"""Words of chips that several kinds of cards have."""

from ..coredevice.chips import ad9910
from ..coredevice.parts.numbers import to_int32

__all__ = ["ad9910_words", "halves", "without_outputs"]


def halves(word: int) -> tuple[int, int]:
    """Return the upper and the lower 32 bits of a word."""
    return to_int32(word >> 32), to_int32(word & 0xFFFFFFFF)


def ad9910_words(values: dict[str, int]) -> tuple[list[int], list[int], list[int]]:
    """Return what is written to an AD9910 with these registers, but for its RAM, its clock, and CFR1: address and word
    of those of 16 and of 32 bits; address, upper and lower word of those of 64 bits."""
    short, words, wide = [], [], []
    for register in (each for each in vars(ad9910).values() if getattr(each, "address", None) is not None):
        if register in (ad9910.CFR1, ad9910.CFR3, ad9910.RAM, ad9910.RAM_PROFILE):
            continue
        for n in range(register.count):
            value = values.get(register.name if register.count == 1 else f"{register.name}{n}")
            if value is None:
                continue
            if register.width == 64:
                wide += [register.address + n, *halves(value)]
            else:
                chosen = words if register.width == 32 else short
                chosen += [register.address + n, to_int32(value)]
    return short, words, wide


def without_outputs(word, configuration: int) -> int:
    """Return a configuration of an Urukul, whose fields are those of `word`, with the switches open, and without resets
    and updates."""
    for each in (word.rf_sw, word.io_update, word.rst, word.io_rst):
        configuration &= ~(((1 << each.width * each.count) - 1) << each.low)
    return configuration
