"""Bridges in system descriptions: built at both ends of the link, or refused in one line."""

import json

import pytest

from kairos_gateware.description import DescriptionError, check, load, make_variant
from kairos_gateware.device_db import device_db
from kairos_gateware.soc.soc import Soc
from kairos_gateware.variant import Bridge


def board(**fields):
    return {"target": "zc706", "variant": "x", "hw_rev": "v1.0", "peripherals": []} | fields


def peripherals(*addresses):
    pages = [{"address": address} for address in addresses]
    return board(base="satellite", bridge={"block": "peripherals", "pages": pages})


def test_pages_of_a_processing_system_are_those_listed_and_none_by_default(tmp_path):
    listed = [{"address": "0xE000A000", "write": True}, {"address": "0xf8000000"}]
    for pages, expected in [({}, ()), ({"pages": listed}, ((0xE000_A000, True), (0xF800_0000, False)))]:
        description = board(base="satellite", bridge={"block": "peripherals"} | pages)
        satellite = make_variant(check(description) | {"satellites": []})
        assert satellite.bridge == Bridge("peripherals", pages=expected)
        soc = Soc(satellite)
        assert soc.gp_slave is not None and {"outlet", "peripherals"} <= set(soc.register_blocks)


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


@pytest.mark.parametrize("block, more", [("adder", set()), ("pages", {"pages1"})])
def test_bridge_with_its_master_downstream_has_its_block_at_the_upstream_board(tmp_path, block, more):
    (tmp_path / "other.json").write_text(json.dumps(board(base="satellite", bridge={})))
    bridge = {"block": block, "master": "downstream"}
    (tmp_path / "below.json").write_text(json.dumps(board(base="satellite", bridge=bridge)))
    path = tmp_path / "above.json"
    path.write_text(json.dumps(board(base="master", satellites=["other.json", "below.json"])))
    master = make_variant(load(path))
    assert master.satellites[1].bridge == Bridge(block, master="downstream")
    above, below = Soc(master), Soc(master.satellites[1])
    assert {"bridge", "window", "outlet1"} | more <= set(above.register_blocks)
    assert "outlet" not in above.register_blocks and "bridge1" not in above.register_blocks
    assert {"bridge", "window"} <= set(below.register_blocks)
    assert not {"outlet", "pages"} & set(below.register_blocks)
    assert below.gp1 is not None
    database = device_db(master, "x")
    assert [database[f"bridge{n}"]["arguments"]["destination"] for n in (1, 2)] == [1, 0]


def test_upstream_board_without_a_bridge_of_its_own_has_a_window_without_bridges(tmp_path):
    (tmp_path / "below.json").write_text(json.dumps(board(base="satellite", bridge={"master": "downstream"})))
    path = tmp_path / "above.json"
    path.write_text(json.dumps(board(base="master", satellites=["below.json"])))
    above = Soc(make_variant(load(path)))
    assert {"outlet", "window"} <= set(above.register_blocks)
    assert not {"bridge", "remote"} & set(above.register_blocks)


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
        (
            board(base="satellite", bridge={"block": "cpu"}),
            "bridge.block: 'cpu' is not one of ['adder', 'pages', 'peripherals']",
        ),
        (
            board(base="satellite", bridge={"block": "pages", "pages": [{"address": "0xe000a000"}]}),
            "bridge.pages: only the block 'peripherals' has a list of pages; ",
        ),
        (peripherals("0xe000a010"), "bridge.pages[0]: pages begin at multiples of 0x1000, unlike 0xe000a010"),
        (peripherals("0xe000a000", "0xf8f00000"), "bridge.pages[1]: the logic reaches no page at 0xf8f00000: "),
        (peripherals("0x10000000"), "bridge.pages[0]: the logic reaches no page at 0x10000000: "),
        (peripherals("e000a000"), "bridge.pages[0].address: 'e000a000' does not match "),
        (
            board(base="satellite", bridge={"master": "both"}),
            "bridge.master: 'both' is not one of ['upstream', 'downstream']",
        ),
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
