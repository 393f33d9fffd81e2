"""System descriptions of several boards: their channels, links and limits."""

import json
from pathlib import Path

import pytest

from kairos_gateware.description import DescriptionError, load, make_variant
from kairos_gateware.device_db import device_db
from kairos_gateware.soc.soc import Soc

from .test_description import make

FOLDER = Path(__file__).parent


def test_master_numbers_the_channels_of_all_boards_consecutively():
    """Numbered consecutively from board to board, with the destination of their board."""
    variant = make_variant(load(FOLDER / "kasli_soc_master.json"))
    boards = variant.boards()
    assert [board.name for board in boards] == ["kasli_master", "kasli_satellite", *3 * ["zc706_satellite"]]
    assert [board.uplink for board in boards] == [False, True, True, True, True]
    assert [len(board.satellites) for board in boards] == [3, 1, 0, 0, 0]
    assert not any(board.push_inputs for board in boards)
    db = device_db(variant, "x")
    numbers = {
        name: entry["arguments"]["channel"] for name, entry in db.items() if "channel" in entry.get("arguments", {})
    }
    assert numbers["ttl0"] == 0 and numbers["ttl8"] == 1 << 16 and numbers["ttl16"] == 2 << 16
    assert (
        numbers["ttl39"] == 4 << 16 | 7
        and numbers["led2"] == boards[1].channels.index(named(boards[1], "led2")) | 1 << 16
    )
    assert db["urukul0_cpld"]["arguments"]["spi_device"] == "spi_urukul0"
    assert numbers["spi_urukul0"] == 1 << 16 | 8


@pytest.mark.long
def test_remote_memory_requested_by_one_end_is_built_at_both():
    """The Kasli-SoC behind the master requests it, the ZC706 behind both do not."""
    master = make_variant(load(FOLDER / "kasli_soc_master.json"))
    assert [board.remote for board in master.boards()] == [False, True, False, False, False]
    for variant, blocks in [
        (master, {"remote", "exports", "bulk", "window"}),
        (master.satellites[0], {"remote", "exports", "bulk", "window"}),
        (master.satellites[1], set()),
    ]:
        found = set(Soc(variant).register_blocks)
        assert {name for name in found if name.startswith(("remote", "exports", "bulk", "window"))} == blocks


def named(board, name):
    return next(channel for channel in board.channels if channel.name == name)


def test_invalid_downstream_board_is_reported_with_its_location(tmp_path):
    path = tmp_path / "a.json"
    text = make(base="master", satellites=["b.json"])
    path.write_text(json.dumps(text))
    (tmp_path / "b.json").write_text(json.dumps(make()))
    with pytest.raises(DescriptionError, match='satellites: b.json does not say "base": "satellite"'):
        load(path)
    (tmp_path / "b.json").write_text(json.dumps(make(base="satellite", satellites=["b.json"])))
    with pytest.raises(DescriptionError, match="the board would be behind itself"):
        load(path)
    (tmp_path / "b.json").unlink()
    with pytest.raises(DescriptionError, match=r"a\.json: satellites: there is no file \S+b\.json$"):
        load(path)


@pytest.mark.parametrize(("stars", "ends", "behind"), [(1, 6, 7), (1, 7, 8), (2, 3, 8), (0, 8, 8)])
def test_too_many_boards_in_a_tree_are_refused(tmp_path, stars, ends, behind):
    """The limit applies to the whole tree, not to a single board."""
    (tmp_path / "end.json").write_text(json.dumps(make(base="satellite")))
    (tmp_path / "star.json").write_text(json.dumps(make(base="satellite", satellites=ends * ["end.json"])))
    satellites = stars * ["star.json"] or ends * ["end.json"]
    (tmp_path / "a.json").write_text(json.dumps(make(base="master", satellites=satellites)))
    if behind <= 7:
        assert len(make_variant(load(tmp_path / "a.json")).boards()) == 1 + behind
        return
    with pytest.raises(
        DescriptionError, match=rf"satellites: {behind} boards are behind this one, .* a tree has 8 boards at most"
    ):
        load(tmp_path / "a.json")
