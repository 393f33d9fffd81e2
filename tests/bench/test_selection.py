"""`make bench FIGURES=…`: which groups are measured, and what is kept of them."""

from tests.bench.__main__ import GROUPS, Figures


def groups(*prefixes):
    figures = Figures(prefixes)
    return [measure.__name__ for measure, beginnings, *_ in GROUPS if figures.wants(beginnings)]


def test_groups_are_chosen_by_the_names_of_their_figures():
    assert groups("") == [measure.__name__ for measure, *_ in GROUPS]
    assert groups("dma.lut") == groups("rtio.heap") == groups("sim") == ["gateware_figures"]
    assert groups("image.", "demo.") == ["counted_figures", "user_figures"]
    assert groups("nonsense") == []


def test_verdicts(capsys):
    figures = Figures(["a.", "b"])
    figures.add("a.x", 3, "cycles", target=3, baseline=7, source="")
    figures.add("a.y", 3, "cycles", target=4, at_least=True, source="")
    figures.add("b", 3, "LUT", source="")
    figures.add("c.x", 3, "cycles", target=3, source="")
    assert {name: figure["met"] for name, figure in figures.all.items()} == {"a.x": True, "a.y": False, "b": None}
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[3] for line in printed] == ["met", "MISSED", "stated"]
    assert printed[0].endswith("(at most 3, baseline 7)") and printed[1].endswith("(at least 4)")
