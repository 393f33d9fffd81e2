"""Constants of the host in operations: computed exactly, as wide as they need to be, refused where they do not fit."""

import pytest

from kairos.errors import CompileError
from kairos.language import TInt32, TInt64, kernel

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


def test_operations_on_constants_of_the_host_are_exact(core):
    constants = Constants(core)
    assert constants.product() == 5 * 1000000000
    assert constants.as_wide() == 65 * 1000000000
    assert constants.quotient() == 60
    assert constants.low_bits() == (MINUTE + 1) & 0xFF
    assert constants.word() == (5 << 29 | 1) - (1 << 32)


@pytest.mark.parametrize("name", ["too_large", "too_large_alone"])
def test_constants_that_do_not_fit_are_refused(core, name):
    with pytest.raises(CompileError, match="does not fit into numpy.int32, which is needed here"):
        getattr(Constants(core), name)()
