"""Cards that are boards of their own: a Kasli-SoC with a Shuttler and a Songbird at its connectors, from its
description to waveforms that begin with a pulse of the master."""

from pathlib import Path

import pytest
from kairos_gateware.description import check, make_variant
from kairos_gateware.device_db import render

from kairos.coredevice.chips.shuttler import LATENCY
from kairos.testing import Bench
from tests.support.gateware import built_as

EXPERIMENT = Path(__file__).with_name("experiments") / "card_boards.py"
CARDS = {"shuttler": 8, "songbird": 9}
"""Types, and the EEM connectors at which they are."""

pytestmark = pytest.mark.long
"""The gateware of three boards takes a minute to build."""


def described(**fields):
    return make_variant(check({"hw_rev": "v1.1", "peripherals": []} | fields))


def system(master, cards):
    """The emulator's description of these boards."""
    boards = [("master", master.name, "runtime.elf"), *((card, name, "satman.elf") for card, name in cards.items())]
    text = "".join(
        f'[[board]]\nname = "{name}"\nvariant = "{variant}"\nfirmware = "{firmware}"\n\n'
        for name, variant, firmware in boards
    )
    return text + "".join(f'[[link]]\nfrom = "master"\nto = "{card}"\ndelay_ns = 20\n\n' for card in cards)


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    """A device database, with the description of the system beside it."""
    peripherals = [{"type": card, "ports": [port]} for card, port in CARDS.items()]
    dio = {"type": "dio", "ports": [0], "bank_direction_low": "input", "bank_direction_high": "output"}
    master = described(target="kasli_soc", base="master", variant="card_master", peripherals=[dio, *peripherals])
    names = {card: f"card_{card}" for card in CARDS}
    for card, name in names.items():
        built_as(described(target="efc", base=card, variant=name))
    built_as(master)
    folder = tmp_path_factory.mktemp("boards")
    (folder / "system.toml").write_text(system(master, names))
    path = folder / "device_db.py"
    path.write_text(render(master, f"emulator://{folder / 'system.toml'}"))
    return path


def test_cards_behind_eem_links_begin_with_the_master(db):
    with Bench(db) as bench:
        bench.run(EXPERIMENT)
        assert bench.warnings == []
        assert bench.datasets["identity"] & 0xFFF0 == 0x38D0, "the ADC of the Shuttler answers"
        ((mark, _),) = bench.pin("ttl4").pulses
        begin = mark + LATENCY * 8e-9
        (level,) = bench.dac("shuttler0.ch5").changes
        assert level == (pytest.approx(begin, abs=1e-12), pytest.approx(2.5, abs=2e-3))
        tone = bench.dds("songbird0.tone2").changes[0]
        assert tone.time == pytest.approx(begin, abs=1e-12)
        assert bench.dds("songbird0.tone2").changes[-1].frequency == pytest.approx(150e6, abs=1)
        assert bench.part("shuttler0")["relays"] == 1 << 5
