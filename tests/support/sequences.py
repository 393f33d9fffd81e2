"""Words for the pulse core, in the form that kernels send."""

from kairos_gateware.contracts.pulse import ToneFlag
from kairos_gateware.testbenches.pulse_blocks import Body, glut, mlut, plut

__all__ = ["int32s", "pulses"]


def int32s(words):
    """Split words into 32-bit parts, as kernels have them."""
    parts = [word >> 32 * n & 0xFFFF_FFFF for word in words for n in range(8)]
    return [part - (part >> 31 << 32) for part in parts]


def pulses(*on):
    """Build gates: gate n lasts `on[n]` cycles, with the enable of tone 0 of channel 0 high; gate 7
    is a pause of 10 cycles, and gate 8 one that waits."""
    bodies = [Body(tau=cycles, flags=int(ToneFlag.ENABLE)) for cycles in on]
    words = [plut(n, body) for n, body in enumerate(bodies)]
    words += [plut(20 + n, Body(tau=cycles)) for n, cycles in enumerate(on)]
    words += [plut(30, Body(tau=10)), plut(31, Body(tau=10, flags=int(ToneFlag.WAIT)))]
    entries = [(2 * n, 1 << 1, n) for n in range(len(on))] + [(2 * n + 1, 0xFD, 20 + n) for n in range(len(on))]
    entries += [(40, 0xFF, 30), (41, 0xFF, 31)]
    words += [mlut(entries[n : n + 6]) for n in range(0, len(entries), 6)]
    numbers = [(n, 2 * n, 2 * n + 1) for n in range(len(on))] + [(7, 40, 40), (8, 41, 41)]
    return words + [glut(numbers[n : n + 6]) for n in range(0, len(numbers), 6)]
