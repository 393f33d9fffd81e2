"""Links that a board cannot have are rejected at build time, with a line that states the available
room."""

from dataclasses import replace

import pytest

from kairos_gateware.soc.soc import Soc
from kairos_gateware.variants import VARIANTS

SATELLITE, STORE = VARIANTS["satellite"], VARIANTS["store"]
CHAIN = SATELLITE
for _ in range(7):
    CHAIN = replace(SATELLITE, satellites=(CHAIN,))


@pytest.mark.parametrize(
    "downstream, text",
    [
        ([SATELLITE] * 8, "pair: a tree has 8 boards at most, but this one has 9 at least"),
        ([CHAIN], "pair: a tree has 8 boards at most, but this one has 9 at least"),
        ([STORE] * 5, "the window has room for 4 links of a board, not for 5"),
    ],
    ids=["star", "chain", "window"],
)
def test_more_boards_than_destinations_are_refused(downstream, text):
    with pytest.raises(ValueError, match=text):
        Soc(replace(VARIANTS["pair"], satellites=tuple(downstream)))


def test_size_of_a_tree_includes_the_upstream_board():
    with pytest.raises(ValueError, match="satellite: a tree has 8 boards at most, but this one has 9 at least"):
        Soc(CHAIN)
