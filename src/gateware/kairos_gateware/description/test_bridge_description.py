"""Bridges in system descriptions: built at both ends of the link, or refused in one line."""

import json

import pytest

from kairos_gateware.description import DescriptionError, check, load, make_variant
from kairos_gateware.device_db import device_db
from kairos_gateware.soc.soc import Soc
from kairos_gateware.variant import Bridge


def board(**fields):
    return {"target": "zc706", "variant": "x", "hw_rev": "v1.0", "peripherals": []} | fields


@pytest.mark.parametrize("block, more", [("adder", set()), ("pages", {"pages"})])
def test_bridge_described_at_one_end_is_built_at_both(tmp_path, block, more):
    below = board(base="satellite", bridge={"packetiser": "simple", "block": block})
    (tmp_path / "below.json").write_text(json.dumps(below))
    path = tmp_path / "above.json"
    path.write_text(json.dumps(board(base="master", satellites=["below.json"])))
    master = make_variant(load(path))
    assert master.bridge is None and master.satellites[0].bridge == Bridge(block, "simple")
    assert {"bridge", "window"} <= set(Soc(master).register_blocks)
    assert {"outlet"} | more <= set(Soc(master.satellites[0]).register_blocks)
    assert device_db(master, "x")["bridge1"]["arguments"] == {"destination": 1}


def test_block_described_for_a_board_is_built_there_and_in_the_database(tmp_path):
    (tmp_path / "below.json").write_text(json.dumps(board(base="satellite", remote_memory=True, block="adder")))
    path = tmp_path / "above.json"
    path.write_text(json.dumps(board(base="master", satellites=["below.json"])))
    master = make_variant(load(path))
    assert "block" in Soc(master.satellites[0]).register_blocks
    assert "block" not in Soc(master).register_blocks
    adder = device_db(master, "x")["adder1"]
    assert (adder["class"], adder["arguments"]) == ("RemoteAdder", {"destination": 1})


@pytest.mark.parametrize(
    "description, message",
    [
        (board(bridge={}), "bridge: it is over the upstream link, so it stands in the description of a "),
        (board(base="satellite", bridge={"block": "cpu"}), "bridge.block: 'cpu' is not one of ['adder', 'pages']"),
        (board(base="satellite", bridge=True), "bridge: True is not of type 'object'"),
        (
            board(base="satellite", bridge={}, remote_memory=True),
            "bridge: the upstream link has remote memory or a bridge, not both",
        ),
        (board(block="adder"), "block: it is for other boards, so its board is a master or a satellite"),
        (board(base="satellite", block="pages"), "block: 'pages' is not one of ['adder']"),
        (board(base="shuttler", target="efc", remote_memory=True), "remote_memory: a shuttler has none"),
    ],
)
def test_bridge_that_a_board_cannot_have_is_refused_in_one_line(description, message):
    with pytest.raises(DescriptionError) as raised:
        check(description)
    assert str(raised.value).startswith(f"description: {message}") and "\n" not in str(raised.value)
