"""The pulse generator of a channel of a Phaser with the gateware Miqro: 16 oscillators with 32 profiles (frequency,
amplitude, phase) each, and windows, by whose samples the sum of the oscillators is multiplied.

A pulse is a window with a profile for each oscillator.
"""

from ..language import delay, delay_mu, kernel, portable, us
from .chips.phaser import (
    MIQRO_ADDRESS,
    MIQRO_DATA,
    MIQRO_HEADER,
    MIQRO_OSCILLATORS,
    MIQRO_OUTPUT,
    MIQRO_PROFILE_BITS,
    MIQRO_PROFILES,
    MIQRO_RATE,
    MIQRO_WINDOW,
    MIQRO_WINDOW_BITS,
    MIQRO_WORD_BITS,
    MIQRO_WORDS,
)
from .parts.numbers import nearest, to_word
from .rtio import rtio_output

__all__ = ["Miqro"]

_PERIOD = 1 / MIQRO_RATE
_FULL = (1 << 15) - 1
_WORD = 0xFFFF
_TURNS = float(MIQRO_OUTPUT.pow.steps)


class Miqro:
    """The pulse generator of channel `index` of a Phaser with gateware 2."""

    kernel_invariants = {"core", "index", "phaser", "target"}

    def __init__(self, phaser, index):
        self.phaser, self.index, self.core = phaser, index, phaser.core
        self.target = (phaser.channel_base + 1 + index) << 8

    @kernel
    def reset(self):
        """Silence all oscillators: profile 0 of each is zero, and window 0, which is played with them."""
        for oscillator in range(MIQRO_OSCILLATORS):
            self.set_profile_mu(oscillator, 0, 0, 0)
            delay(20 * us)
        self.set_window_mu(0, [0], order=0)
        self.pulse(0, [0])

    # Profiles

    @kernel
    def set_profile_mu(self, oscillator, profile, ftw, asf, pow_=0):
        """Set a profile of an oscillator: words of frequency (32 bits), amplitude and phase (16 bits).
        Takes effect in the next pulse; advances by 10 frames. ValueError for numbers out of bounds."""
        if oscillator < 0 or oscillator >= MIQRO_OSCILLATORS:
            raise ValueError("oscillator out of bounds")
        if profile < 0 or profile >= MIQRO_PROFILES:
            raise ValueError("profile out of bounds")
        place = (oscillator << (MIQRO_PROFILE_BITS + 1)) | (profile << 1)
        self.phaser.write16(MIQRO_ADDRESS.address, MIQRO_ADDRESS.word(self.index, 1, place))
        self.phaser.write32(MIQRO_DATA.address, ftw)
        self.phaser.write32(MIQRO_DATA.address, (asf & _WORD) | ((pow_ & _WORD) << 16))

    @kernel
    def set_profile(self, oscillator, profile, frequency, amplitude, phase=0.0):
        """Set a profile of an oscillator: frequency in Hz, amplitude (0 to 1), phase in turns. Returns
        the word of the frequency. ValueError for values out of bounds."""
        ftw = to_word(frequency * (4294967296.0 / MIQRO_RATE))
        asf = nearest(amplitude * _WORD)
        if asf < 0 or asf > _WORD:
            raise ValueError("amplitude out of bounds")
        self.set_profile_mu(oscillator, profile, ftw, asf, to_word(phase * _TURNS))
        return ftw

    # Windows

    @kernel
    def set_window_mu(self, start, iq, rate=1, shift=0, order=3, head=1, tail=1):
        """Store a window at address `start`: samples `iq` (I in the lower 16 bits, Q in the upper ones),
        each for `rate` periods of 4 ns, interpolated in `order` (0 to 3), less `shift` bits; `head` and
        `tail`: it rises from and falls to zero. Returns the address after it. ValueError for numbers out
        of bounds."""
        if start < 0 or start >= MIQRO_WINDOW:
            raise ValueError("start out of bounds")
        if len(iq) >= MIQRO_WINDOW:
            raise ValueError("window length out of bounds")
        if rate < 1 or rate > MIQRO_HEADER.rate.mask + 1:
            raise ValueError("rate out of bounds")
        if shift < 0 or shift > MIQRO_HEADER.shift.mask:
            raise ValueError("shift out of bounds")
        if order < 0 or order > MIQRO_HEADER.order.mask:
            raise ValueError("order out of bounds")
        self.phaser.write16(MIQRO_ADDRESS.address, MIQRO_ADDRESS.word(self.index, 0, start))
        header = MIQRO_HEADER.word(len(iq), rate - 1, shift, order, head, tail)
        self.phaser.write32(MIQRO_DATA.address, header)
        for sample in iq:
            self.phaser.write32(MIQRO_DATA.address, sample)
        return (start + 1 + len(iq)) & (MIQRO_WINDOW - 1)

    @kernel
    def set_window(self, start, iq, period=4e-9, order=3, head=1, tail=1):
        """Store a window at address `start`: samples `iq`, pairs of I and Q between -1 and 1, `period` s
        apart; `order`, `head`, `tail` as of `set_window_mu`. Returns its duration in s. ValueError for
        values out of bounds."""
        rate = nearest(period / _PERIOD)
        gain = 1.0
        for _ in range(order):
            gain *= float(rate)
        shift = 0
        while gain >= 2.0:
            shift += 1
            gain *= 0.5
        scale = _FULL / gain
        words = [0 for _ in iq]
        for place in range(len(iq)):
            i, q = iq[place]
            words[place] = (nearest(scale * i) & _WORD) | ((nearest(scale * q) & _WORD) << 16)
        self.set_window_mu(start, words, rate, shift, order, head, tail)
        return (len(iq) + order) * (rate * _PERIOD)

    # Pulses

    @portable
    def encode(self, window, profiles, data):
        """Put the words of a pulse into `data`, at least three numbers: the window at address `window`
        with profiles of the first oscillators. Returns the number of words. ValueError for numbers out of
        bounds."""
        if len(profiles) > MIQRO_OSCILLATORS:
            raise ValueError("too many oscillators")
        if window < 0 or window >= MIQRO_WINDOW:
            raise ValueError("window start out of bounds")
        data[0] = window
        word, place = 0, MIQRO_WINDOW_BITS
        for profile in profiles:
            if profile < 0 or profile >= MIQRO_PROFILES:
                raise ValueError("profile out of bounds")
            if place >= MIQRO_WORD_BITS:
                word += 1
                data[word] = 0
                place = 0
            data[word] |= profile << place
            place += MIQRO_PROFILE_BITS
        return word + 1

    @kernel
    def pulse_mu(self, data):
        """Play a pulse of the words `data` (1 to 3, from `encode`), which begins with a frame after the
        cursor. Words but the first one are sent before the cursor, which does not move."""
        self._play(data, len(data))

    @kernel
    def _play(self, data, count):
        word = count - 1
        delay_mu(-8 * word)
        while word >= 0:
            rtio_output(self.target | word, data[word])
            if word > 0:
                delay_mu(8)
            word -= 1

    @kernel
    def pulse(self, window, profiles):
        """Play a pulse: the window at address `window`, with profiles of the first oscillators (list).
        The cursor does not move. ValueError for numbers out of bounds."""
        data = [0 for _ in range(MIQRO_WORDS)]
        self._play(data, self.encode(window, profiles, data))
