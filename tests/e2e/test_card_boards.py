"""Cards that are boards of their own: a Kasli-SoC with a Shuttler and a Songbird at its connectors, from its
description to waveforms that begin with a pulse of the master. The Shuttler speaks DRTIO."""

from pathlib import Path

import pytest
from kairos_gateware.device_db import render

from kairos.coredevice.chips.shuttler import LATENCY
from kairos.testing import Bench
from tests.support.card_boards import card_boards

EXPERIMENT = Path(__file__).with_name("experiments") / "card_boards.py"
pytestmark = pytest.mark.long
"""The gateware of three boards takes a minute to build."""


CARD_LATE = 4
"""Cycles by which a counter that DRTIO has set is late: of the packet's words and of the card, of which the round trip
does not tell."""


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    """A device database, with the description of the system beside it."""
    folder = tmp_path_factory.mktemp("boards")
    master, system = card_boards(folder)
    path = folder / "device_db.py"
    path.write_text(render(master, f"emulator://{system}"))
    return path


def test_cards_behind_eem_links_begin_with_the_master(db):
    with Bench(db) as bench:
        bench.run(EXPERIMENT)
        assert bench.warnings == []
        assert bench.datasets["identity"] & 0xFFF0 == 0x38D0, "the ADC of the Shuttler answers"
        ((mark, _),) = bench.pin("ttl4").pulses
        begin = mark + LATENCY * 8e-9
        (level,) = bench.dac("shuttler0.ch5").changes
        assert level == (pytest.approx(begin + CARD_LATE * 8e-9, abs=1e-12), pytest.approx(2.5, abs=2e-3))
        tone = bench.dds("songbird0.tone2").changes[0]
        assert tone.time == pytest.approx(begin, abs=1e-12)
        assert bench.dds("songbird0.tone2").changes[-1].frequency == pytest.approx(150e6, abs=1)
        assert bench.part("shuttler0")["relays"] == 1 << 5
