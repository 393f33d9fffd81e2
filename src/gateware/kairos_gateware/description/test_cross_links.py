"""Links beside the tree in system descriptions: both boards name each other, or it is refused in one line."""

import json

import pytest

from kairos_gateware.description import DescriptionError, check, load, make_variant
from kairos_gateware.soc.soc import Soc

from .test_description import make


def tree(folder, first=(), second=(), behind=(), master=(), **more):
    """The variant of a master (0) with two satellites (1, 3), the first of which has one behind it (2); each names
    these destinations."""
    boards = {
        "behind": make(base="satellite", cross_links=list(behind)),
        "first": make(base="satellite", satellites=["behind.json"], cross_links=list(first)) | more,
        "second": make(base="satellite", cross_links=list(second)),
        "master": make(base="master", satellites=["first.json", "second.json"], cross_links=list(master)),
    }
    for name, board in boards.items():
        (folder / f"{name}.json").write_text(json.dumps(board | {"variant": name}))
    return make_variant(load(folder / "master.json"))


def blocks(variant):
    return {name for name in Soc(variant).register_blocks if name.startswith(("cross", "remote", "mailbox", "outlet"))}


def test_boards_that_name_each_other_have_a_link_with_remote_memory_only(tmp_path):
    variant = tree(tmp_path, second=[2], behind=[3])
    assert [board.cross_links for board in variant.boards()] == [0, 0, 1, 1]
    assert blocks(variant.satellites[1]) == {"mailbox", "cross1", "remote1"}


def test_board_may_have_a_bridge_beside_its_cross_link(tmp_path):
    variant = tree(tmp_path, first=[3], second=[1], bridge={})
    assert blocks(variant.satellites[0]) == {"mailbox", "mailbox1", "outlet", "cross2", "remote2"}


def test_board_may_have_several_cross_links_and_the_master_too(tmp_path):
    variant = tree(tmp_path, second=[2, 1], behind=[0, 3], master=[2], first=[3], remote_memory=True)
    assert [board.cross_links for board in variant.boards()] == [1, 1, 2, 2]
    assert blocks(variant.satellites[0]) == {"mailbox", "mailbox1", "remote", "cross2", "remote2"}


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ({"first": [3]}, "first, destination 1, names destination 3, second, which does not name 1"),
        ({"first": [3], "second": [2]}, "first, destination 1, names destination 3, second, which does not name 1"),
        (
            {"first": [2], "behind": [1]},
            "first, destination 1, names destination 2, to which it has a link of the tree",
        ),
        ({"first": [0]}, "first, destination 1, names destination 0, to which it has a link of the tree"),
        (
            {"master": [3], "second": [0]},
            "master, destination 0, names destination 3, to which it has a link of the tree",
        ),
        ({"second": [3]}, "second, destination 3, names itself"),
        ({"second": [4]}, "second, destination 3, names destination 4, but the last board is 3"),
    ],
)
def test_cross_link_that_cannot_be_is_refused_with_both_boards(tmp_path, names, text):
    with pytest.raises(DescriptionError) as error:
        tree(tmp_path, **names)
    assert str(error.value) == f"{tmp_path / 'master.json'}: satellites: cross_links: {text}"


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"base": "standalone", "cross_links": [1]}, "only a core device with role 'master' or 'satellite' has any"),
        ({"base": "satellite", "cross_links": [8]}, "destinations are 0 to 7"),
        ({"base": "satellite", "cross_links": [1, 2, 3, 4]}, "would have 5 links, and one with remote memory has 4"),
        ({"base": "satellite", "cross_links": [2, 2]}, r"\[2, 2\] has non-unique elements"),
        ({"base": "satellite", "cross_links": [-1]}, "-1 is less than the minimum of 0"),
        ({"base": "satellite", "cross_links": ["b.json"]}, "'b.json' is not of type 'integer'"),
        ({"base": "master", "cross_links": [0], "satellites": ["b.json"]}, "destination 0 is this board"),
    ],
)
def test_cross_links_that_no_board_can_have_are_refused(fields, text):
    with pytest.raises(DescriptionError, match=f"^description: cross_links.*: .*{text}"):
        check(make(**fields))


def test_card_that_is_a_board_has_no_cross_links():
    card = {"target": "efc", "variant": "x", "hw_rev": "v1.1", "base": "shuttler", "peripherals": []}
    check(card)
    with pytest.raises(DescriptionError, match="cross_links: a shuttler has none"):
        check(card | {"cross_links": [2]})
