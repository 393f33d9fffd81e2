"""The Kasli-SoC's clocks: from which pins, and how terminated."""

import pytest
from migen.build.generic_platform import Misc, Pins, Subsignal

from kairos_gateware.boards.kasli_soc import BOARD


def resource(name):
    return next(each for each in BOARD.platform().constraint_manager.available if each[0] == name)


@pytest.mark.parametrize("name, pin", [("cdr_clk_clean_fabric", "AD23"), ("sma_clkin", "AD20")])
def test_clock_inputs_of_the_logic_are_terminated(name, pin):
    found = resource(name)
    assert any(isinstance(each, Misc) and each.misc == "DIFF_TERM=TRUE" for each in found[2:])
    (positive,) = [each for each in found[2:] if isinstance(each, Subsignal) and each.name == "p"]
    assert [each.identifiers for each in positive.constraints if isinstance(each, Pins)] == [[pin]]


def test_transceivers_use_the_cleaned_clock():
    positive = resource(BOARD.cages.reference)[2]
    assert (positive.name, positive.constraints[0].identifiers) == ("p", ["R6"])
