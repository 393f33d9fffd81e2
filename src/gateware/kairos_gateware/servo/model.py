"""The servo's arithmetic in Python integers, bit for bit: the reference for the gateware's tests.

    y0 = (a1 * y1 + b0 * (x0 + offset) + b1 * (x1 + offset)) >> COEFF_SHIFT, limited to 0 ... 2**24 - 1

y in units of 2**-24 of full scale; x and offset are aligned so that full scale is 2**23 (x << 8,
offset << 6), which accounts for the factor 1/2 in the drivers' definition, and makes their sum fit
into 25 bits.
"""

from dataclasses import dataclass, field

from .format import COEFF_SHIFT, STATE_WIDTH
from .phases import T_SAMPLES

__all__ = ["Profile", "ChannelModel", "PhaseModel", "filter_step", "Y_MAX"]

Y_MAX = 2 ** (STATE_WIDTH - 1) - 1


def filter_step(y1: int, x0: int, x1: int, a1: int, b0: int, b1: int, offset: int) -> tuple[int, bool]:
    """The new y and whether it was clamped. x: signed 16 bits; coefficients, offset: signed 18
    bits."""
    offset <<= 6
    total = a1 * y1 + b0 * ((x0 << 8) + offset) + b1 * ((x1 << 8) + offset)
    y0 = total >> COEFF_SHIFT
    limited = min(max(y0, 0), Y_MAX)
    return limited, limited != y0


@dataclass
class Profile:
    """A profile's words (signed where they are signed in the filter) and its y."""

    ftw: int = 0
    pow: int = 0
    offset: int = 0
    a1: int = 0
    b0: int = 0
    b1: int = 0
    adc: int = 0
    dly: int = 0
    y: int = 0
    reference: int = 0
    """Reference time of phase tracking."""

    def words(self) -> dict[str, int]:
        """Values of the coefficient memory, by the names in `format.WORDS`."""
        return {
            "pow": self.pow,
            "b1": self.b1,
            "ftw_low": self.ftw & 0xFFFF,
            "adc_dly": self.adc | self.dly << 8,
            "offset": self.offset,
            "a1": self.a1,
            "ftw_high": self.ftw >> 16,
            "b0": self.b0,
        }

    def register(self) -> int:
        """The 64 bits sent to a synthesiser: amplitude, phase, frequency (AD9910 data sheet,
        profile register)."""
        return self.y >> 10 << 48 | self.pow << 32 | self.ftw


@dataclass
class PhaseModel:
    """What is kept of a channel for phase tracking: the frequency word sent last, and minus the chip's
    accumulated phase; both 32 bits."""

    previous: int = 0
    accumulated: int = 0

    def step(self, profile: Profile, time: int, tracks: bool) -> int:
        """The phase word of a cycle that begins at `time`."""
        self.accumulated = (self.accumulated - self.previous * T_SAMPLES) % 2**32
        self.previous = profile.ftw
        if not tracks:
            return profile.pow
        turned = profile.ftw * (time - profile.reference) + (profile.pow << 16) + self.accumulated
        return turned % 2**32 >> 16


@dataclass
class ChannelModel:
    """One channel: `set` between the cycles, `cycle` for each sample."""

    profiles: dict[int, Profile] = field(default_factory=dict)
    out: bool = False
    iir: bool = False
    profile: int = 0
    waited: int = 0
    clip: bool = False

    def set(self, out: bool, iir: bool, profile: int) -> None:
        self.waited = 0
        self.out, self.iir, self.profile = out, iir, profile

    def cycle(self, x0: list[int], x1: list[int], valid: bool = True) -> int:
        """Processes the newest and the previous samples; returns the register value for the
        synthesiser."""
        p = self.profiles.setdefault(self.profile, Profile())
        if valid and self.out and self.iir and self.waited >= p.dly:
            p.y, clip = filter_step(p.y, x0[p.adc], x1[p.adc], p.a1, p.b0, p.b1, p.offset)
            self.clip |= clip
        if self.out:
            self.waited = min(self.waited + 1, 255)
        return p.register()
