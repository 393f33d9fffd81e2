"""Cards that are boards of their own: their channels, their place in the tree, and messages."""

import json
from dataclasses import replace

import pytest

from kairos_gateware.boards.kasli_soc import BOARD
from kairos_gateware.boards.zynq import Top
from kairos_gateware.build import main
from kairos_gateware.device_db import device_db
from kairos_gateware.rtio.timing import TimeBase
from kairos_gateware.soc.links import Links

from . import DescriptionError, check, load, make_variant

SHUTTLER, SONGBIRD = ({"type": card, "ports": [port]} for card, port in (("shuttler", 8), ("songbird", 9)))
SATELLITE = {"target": "zc706", "base": "satellite", "variant": "far", "hw_rev": "v1.1", "peripherals": []}
CARD = SATELLITE | {"target": "efc"}


def master(*peripherals, **fields):
    description = {"target": "kasli_soc", "base": "master", "variant": "near", "hw_rev": "v1.1"}
    return description | {"peripherals": list(peripherals)} | fields


def numbers(variant):
    return {
        name: entry["arguments"].get("channel") for name, entry in device_db(variant, "x").items() if "class" in entry
    }


def test_channels_of_a_card_are_those_of_its_gateware():
    """Facts of the cards: LEDs, settings, trigger, two channels of each output, and buses in this order."""
    found = numbers(make_variant(check(master(SHUTTLER, SONGBIRD))))
    first, second = 1 << 16, 2 << 16
    assert (found["shuttler0_led1"], found["shuttler0"], found["shuttler0_trigger"]) == (
        first + 1,
        first + 2,
        first + 3,
    )
    for output in range(16):
        assert found[f"shuttler0_dcbias{output}"] == first + 4 + 2 * output
        assert found[f"shuttler0_dds{output}"] == first + 5 + 2 * output
    assert (found["spi_shuttler0_relay"], found["spi_shuttler0_adc"]) == (first + 36, first + 37)
    third = numbers(make_variant(check(master({"type": "phaser_drtio", "ports": [7]}))))
    buses = [third[f"spi_mtdds0_{chip}"] for chip in ("dac", "lo0", "lo1", "att0", "att1")]
    assert [third["mtdds0_led4"], *buses, third["mtdds0"]] == [first + n for n in range(4, 11)]
    tones = [third[f"mtdds0_ch{c}_dds{n}"] for c in range(2) for n in range(26)]
    assert tones == [first + 11 + n for n in range(52)]
    assert (found["spi_songbird0"], found["songbird0"]) == (second + 2, second + 3)
    assert [found[f"songbird0_dds{tone}"] for tone in range(4)] == [second + 6 + 2 * tone for tone in range(4)]


def test_cards_follow_the_satellites_and_are_numbered_with_all_others(tmp_path):
    (tmp_path / "far.json").write_text(json.dumps(SATELLITE | {"target": "kasli_soc", "peripherals": [SHUTTLER]}))
    (tmp_path / "near.json").write_text(json.dumps(master(SHUTTLER, satellites=["far.json"])))
    variant = make_variant(load(tmp_path / "near.json"))
    assert [(board.name, board.uplink, board.eem) for board in variant.boards()] == [
        ("near", False, None),
        ("far", True, None),
        ("shuttler0", True, 8),
        ("shuttler1", True, 8),
    ]
    found = numbers(variant)
    assert (found["shuttler0"] >> 16, found["shuttler1"] >> 16) == (2, 3)


def test_destination_of_a_card_is_that_of_its_place_among_the_boards():
    given = [SHUTTLER | {"drtio_destination": 1}, SONGBIRD | {"drtio_destination": 2}]
    assert numbers(make_variant(check(master(*given))))["songbird0"] >> 16 == 2
    with pytest.raises(
        DescriptionError, match="the songbird at port 9 is destination 2, as boards .* order, not 6: leave"
    ):
        make_variant(check(master(SHUTTLER, SONGBIRD | {"drtio_destination": 6})))


@pytest.mark.parametrize("card, target", [("shuttler", "efc"), ("songbird", "efc"), ("phaser_drtio", "phaser")])
def test_board_of_a_card_has_the_same_channels_alone(card, target):
    alone = make_variant(check(CARD | {"base": card, "target": target}))
    (behind,) = make_variant(check(master({"type": card, "ports": [3]}))).satellites
    assert alone.channels == behind.channels and (alone.name, alone.board) == ("far", f"{target};v1.1")
    assert alone.uplink and not alone.push_inputs


@pytest.mark.parametrize(
    "description, text",
    [
        (
            master(SHUTTLER, base="standalone"),
            "description: peripherals: a shuttler is a board of its own behind a link, which only a core device with "
            "role 'master' or 'satellite' has",
        ),
        (CARD, "description: base: an efc or a phaser, and nothing else, has the base of a card "),
        (
            CARD | {"base": "phaser_drtio"},
            "description: base: an efc or a phaser, and nothing else, has the base of a card ",
        ),
        (
            SATELLITE | {"base": "songbird"},
            "description: base: an efc or a phaser, and nothing else, has the base of a card ",
        ),
        (
            CARD | {"base": "shuttler", "peripherals": [SONGBIRD]},
            "description: a shuttler has neither peripherals nor satellites",
        ),
        (
            master(SHUTTLER | {"gateware": "other"}),
            "description: peripherals[0] (shuttler).gateware: 'other' is not one of ['kairos', 'maker']",
        ),
        (
            SATELLITE | {"gateware": "maker"},
            "description: gateware: only the board of a card has one that is not this project's",
        ),
        (
            SATELLITE | {"target": "kasli_soc", "peripherals": [SHUTTLER | {"gateware": "maker"}]},
            "description: peripherals: a shuttler with its maker's gateware is at the board with the network",
        ),
        (
            master(SHUTTLER, SONGBIRD | {"ports": [8]}),
            "description: peripherals[1] (songbird): port 8 is already used by peripherals[0] (shuttler)",
        ),
        (master(), "description: a master's gateware numbers the boards behind it: give their descriptions, "),
    ],
)
def test_wrong_description_of_a_card_is_refused_in_one_line(description, text):
    with pytest.raises(DescriptionError) as caught:
        check(description)
    assert str(caught.value).startswith(text)


def test_card_with_its_makers_gateware_has_the_same_channels_and_another_link():
    (ours,) = make_variant(check(master(SHUTTLER))).satellites
    near = make_variant(check(master(SHUTTLER | {"gateware": "maker"}, SONGBIRD | {"gateware": "kairos"})))
    makers, songbird = near.satellites
    assert replace(makers, drtio=False) == ours and not songbird.drtio
    alone = make_variant(check(CARD | {"base": "shuttler", "gateware": "maker"}))
    assert alone.channels == makers.channels and alone.drtio
    # Only a card itself could have it, and it does
    with pytest.raises(ValueError, match="^far: its gateware is its maker's, which has to be in the card"):
        Links(alone, TimeBase(loadable=True), phases=True)


def test_card_among_the_satellites_is_refused(tmp_path):
    (tmp_path / "card.json").write_text(json.dumps(CARD | {"base": "shuttler"}))
    (tmp_path / "near.json").write_text(json.dumps(master(satellites=["card.json"])))
    with pytest.raises(
        DescriptionError, match="card.json is a shuttler, which is at an EEM connector: give it as a per"
    ):
        load(tmp_path / "near.json")


def test_hardware_without_a_transceiver_for_eem_links_is_refused():
    variant = make_variant(check(master(SONGBIRD)))
    board = replace(BOARD, cards=None)
    with pytest.raises(
        ValueError, match="^songbird0 at EEM 9: kasli_soc has no transceiver for links over EEM connect"
    ):
        Top(board, board.platform(), variant)


def test_card_board_for_real_hardware_is_refused(tmp_path, capsys):
    (tmp_path / "card.json").write_text(json.dumps(CARD | {"base": "shuttler"}))
    arguments = ["--board", "kasli_soc", "--description", str(tmp_path / "card.json"), "--output", str(tmp_path)]
    assert main(arguments) == 1
    assert capsys.readouterr().err.endswith("card.json: the board of a shuttler is built with --board sim only\n")
