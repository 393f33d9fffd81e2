"""The pins of each card, in each change of their levels, as the files of `tests/cards/waveforms` have them."""

import pytest

from tests.cards.waveforms import CASES, FOLDER, SETUPS, waveform
from tests.support.chain import Chain

pytestmark = pytest.mark.long
"""Half a minute of device time, mostly that of initialisations."""


@pytest.fixture(scope="module", params=SETUPS)
def setup(request, tmp_path_factory):
    """A set of cards: its name, and the device."""
    with Chain(SETUPS[request.param](tmp_path_factory.mktemp("waveforms"))) as chain:
        yield request.param, chain


def test_pins_of_each_card_change_as_recorded(setup):
    name, chain = setup
    wrong = []
    for card, case in CASES.items():
        if case.setup != name:
            continue
        words, text = waveform(chain, case)
        assert words == case.words, card
        if text != FOLDER.joinpath(f"{card}.txt").read_text(encoding="utf-8"):
            wrong.append(f"{card}:\n{text}")
    assert not wrong, "\n".join(wrong)


def test_every_waveform_has_a_case():
    assert {path.stem for path in FOLDER.glob("*.txt")} == CASES.keys()
