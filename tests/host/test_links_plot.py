"""The picture of `kairos links --plot`: boards, links of the tree, and cross links."""

from kairos.cli.links import _COLUMNS
from kairos.cli.links_plot import write_plot


def texts(**named):
    return dict.fromkeys(_COLUMNS, "") | named


def test_cross_links_are_drawn_with_their_boards_and_state(tmp_path):
    tree = [
        (0, texts(destination="1", board="peer", state="up")),
        (0, texts(destination="2", board="peer", state="up")),
    ]
    across = [
        (1, 2, texts(destination="1 – 2", state="up", corrected="7")),
        (2, None, texts(destination="2 – ?", state="no line")),
    ]
    pictures = []
    for name, cross in (("tree.svg", []), ("cross.svg", across)):
        write_plot(tmp_path / name, tree, cross)
        pictures.append((tmp_path / name).read_text())
    assert "cross link" not in pictures[0] and pictures[0].count("stroke-dasharray: ") < 2
    for text in ("cross link 1 – 2", "cross link 2 – ?", "no line", "corrected 7"):
        assert text in pictures[1], text
    assert pictures[1].count("stroke-dasharray") > pictures[0].count("stroke-dasharray") + 4
