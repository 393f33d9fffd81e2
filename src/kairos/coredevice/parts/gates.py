"""Gates: the duration and edges for which an input records or counts.

A gate consists of two writes to one address, an opening and a closing code, separated by a wait.
Cards differ in address and codes; the edge bits are the same everywhere.
"""

from ...language import TInt64, delay, delay_mu, now_mu
from ..rtio import rtio_output
from .methods import made

__all__ = ["EDGES", "FALLING", "RISING", "gate", "gated"]

RISING, FALLING = 0b01, 0b10
EDGES = {"rising": RISING, "falling": FALLING, "both": RISING | FALLING}
"""Edge bits of a gate, by the suffixes of its methods' names."""


def gate(address, opening, closing, wait, text):
    """Build a method with a duration in the unit of `wait`; it returns the time at which the gate
    closes."""

    @made(text)
    def gate(self, duration) -> TInt64:
        rtio_output(self.target + address, opening)
        wait(duration)
        rtio_output(self.target + address, closing)
        return now_mu()

    return gate


def in_units(routine, text):
    """Wrap the gate `routine` with a parameter named `duration_mu`."""

    @made(text)
    def gate(self, duration_mu) -> TInt64:
        return routine(self, duration_mu)

    return gate


def in_seconds(routine, text):
    """Wrap the gate `routine`, which takes machine units, with a duration in seconds, rounded down."""

    @made(text)
    def gate(self, duration) -> TInt64:
        return routine(self, self.core.seconds_to_mu(duration))

    return gate


def gated(does, address, opening=0, closing=0, rounding=False):
    """Class decorator: adds `gate_rising`, `gate_falling`, `gate_both`, and their `_mu` variants.

    `opening` is written to the RTIO address `address`, combined with the edge bits. Seconds are
    rounded to the nearest machine unit with `rounding`, else down. `does` is the verb in the
    methods' documentation.
    """

    def add(cls):
        for edges, mask in EDGES.items():
            text = f"{does} {edges} edges for `duration{{}}` {{}}; returns the cursor, at the end of the gate."
            codes = address, opening | mask, closing
            if rounding:
                methods = {
                    "_mu": gate(*codes, delay_mu, text.format("", "machine units (int64)")),
                    "": gate(*codes, delay, text.format("", "seconds (float)")),
                }
            else:
                routine = gate(*codes, delay_mu, "").method
                methods = {
                    "_mu": in_units(routine, text.format("_mu", "machine units (int64)")),
                    "": in_seconds(routine, text.format("", "seconds (float)")),
                }
            for unit, method in methods.items():
                method.__set_name__(cls, f"gate_{edges}{unit}")
        return cls

    return add
