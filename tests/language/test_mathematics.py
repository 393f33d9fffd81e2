"""Errors of floating-point functions on the device, in units in the last place."""

import numpy as np
import pytest

COUNT = 40_000
"""Number of arguments for each range."""
PIECE = 10_000
"""Arguments per call: more would not fit into a function's share of the stack."""
FUNCTIONS = {
    # name: ranges of arguments
    "sin": [(-4, 4), (-1e5, 1e5)],
    "cos": [(-4, 4), (-1e5, 1e5)],
    "tan": [(-4, 4), (-1e5, 1e5)],
    "arcsin": [(-1, 1)],
    "arccos": [(-1, 1)],
    "arctan": [(-3, 3), (-1e3, 1e3)],
    "exp": [(-1, 1), (-700, 700)],
    "log": [(0.5, 2), (0, 1e6)],
    "sqrt": [(0, 2), (0, 1e9)],
}
exact = np.finfo(np.longdouble).nmant >= 63
"""Whether this machine's long double has a longer mantissa (63 bits), to provide reference values."""


def distance(found, arguments, function):
    """Returns the largest error, in units in the last place."""
    expected = getattr(np, function)(arguments.astype(np.longdouble))
    unit = np.spacing(np.abs(expected.astype(np.float64)))
    return float(np.max(np.abs(found.astype(np.longdouble) - expected) / unit))


@pytest.mark.skipif(not exact, reason="long doubles of this machine are no longer than doubles")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_are_within_one_unit_of_the_last_place(run, function):
    random = np.random.default_rng(7)
    for low, high in FUNCTIONS[function]:
        arguments = random.uniform(low, high, COUNT)
        arguments[:2] = low if low > 0 or function in ("exp", "sin", "arcsin") else 0.75, high
        pieces = []
        for start in range(0, COUNT, PIECE):
            text = f"self.keep(self.np.{function}(self.x))"
            pieces.append(run(text, x=arguments[start : start + PIECE].copy(), np=np)[0])
        found = distance(np.concatenate(pieces), arguments, function)
        print(f"{function} from {low} to {high}: {found:.3f} ulp")
        assert found <= 1
