"""Host constants in operations: computed exactly, as wide as needed, rejected where they do not fit."""

import pytest

from kairos.errors import CompileError
from kairos.language import TInt32, TInt64, kernel, kernel_from_string

MINUTE = 60 * 1000000000
FACTOR = 5


class Constants:
    def __init__(self, core):
        self.core = core

    @kernel
    def narrow(self, x: TInt32) -> TInt32:
        return x

    @kernel
    def wide(self, x: TInt64) -> TInt64:
        return x

    @kernel
    def product(self):
        return FACTOR * 1000000000

    @kernel
    def as_wide(self):
        return self.wide(FACTOR * 1000000000 + MINUTE)

    @kernel
    def quotient(self):
        return self.narrow(MINUTE // 1000000000)

    @kernel
    def low_bits(self):
        return self.narrow((MINUTE + 1) & 0xFF)

    @kernel
    def word(self):
        return self.narrow(FACTOR << 29 | 1)

    @kernel
    def too_large(self):
        return self.narrow(MINUTE + 1)

    @kernel
    def too_large_alone(self):
        return self.narrow(MINUTE)


def test_operations_on_host_constants_are_exact(core):
    constants = Constants(core)
    assert constants.product() == 5 * 1000000000
    assert constants.as_wide() == 65 * 1000000000
    assert constants.quotient() == 60
    assert constants.low_bits() == (MINUTE + 1) & 0xFF
    assert constants.word() == (5 << 29 | 1) - (1 << 32)


@pytest.mark.parametrize("name", ["too_large", "too_large_alone"])
def test_constant_too_large_is_rejected(core, name):
    with pytest.raises(CompileError, match="does not fit into numpy.int32, which is needed here"):
        getattr(Constants(core), name)()


LARGE = 1 << 62
BEYOND = 1 << 70


def returned(core, value):
    """Returns the result of a kernel that uses the constants of this module."""
    return kernel_from_string(["self"], f"x = 1\nreturn {value}", decorator=kernel)(Constants(core))


def test_parts_of_a_constant_may_be_wider_than_64_bits(core):
    values = "(LARGE * 4 // 8, LARGE ** 2 >> 100, -LARGE * 4 + LARGE * 5)"
    assert returned(core, values) == (1 << 61, 1 << 24, 1 << 62)


@pytest.mark.parametrize(
    "value", ["LARGE * 4", "LARGE + LARGE", "LARGE << 3", "LARGE ** 2", "LARGE ** 3", "1 - LARGE * 3", "BEYOND >> 60"]
)
def test_constant_beyond_64_bits_is_rejected_at_its_position(core, value):
    with pytest.raises(CompileError, match="does not fit into 64 bits") as error:
        returned(core, value)
    assert f"    return {value}\n" in str(error.value) and "^" in str(error.value)
