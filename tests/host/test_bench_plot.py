"""The picture of a bench: placement of boxes and wires."""

from itertools import pairwise

import pytest

from kairos.cli.bench_plot import places, write_plot


def test_wires_lead_right_and_avoid_boxes():
    wires = [("spi", "dds"), ("dds", "aom"), ("aom", "ion"), ("ion", "pmt"), ("spi", "pmt"), ("adc", "pmt")]
    found, ways = places(["spi", "dds", "aom", "ion", "pmt", "adc", "alone"], wires)
    assert [found[name][0] for name in ("spi", "dds", "aom", "ion", "pmt")] == [0, 1, 2, 3, 4]
    assert found["adc"][0] == 3, "right before what it leads to"
    assert len(ways["spi", "pmt"]) == 5 and len(set(found.values())) == len(found), "each has a place of its own"
    for way in ways.values():
        assert all(found[one][0] + 1 == found[other][0] for one, other in pairwise(way))


def test_feedback_wire_is_drawn_between_its_boxes():
    found, ways = places(["out", "model", "aom"], [("out", "model"), ("model", "aom"), ("aom", "model")])
    assert [found[name][0] for name in ("out", "model", "aom")] == [0, 1, 2]
    assert ways["aom", "model"] == ["aom", "model"]


@pytest.mark.parametrize("kinds", [0, 1, 12])
def test_every_kind_and_wire_is_drawn(tmp_path, kinds):
    """Includes a card whose pins have its own name, and several wires between two boxes."""
    parts = [{"name": f"part{n}", "kind": f"kind {n}"} for n in range(kinds)]
    wires = [{"from": f"part{n}", "to": f"part{n // 2}", "label": f"ch{k}"} for n in range(kinds) for k in range(6)]
    write_plot(tmp_path / "wiring.svg", {"parts": parts, "wires": wires})
    text = (tmp_path / "wiring.svg").read_text()
    assert all(f"<!-- part{n} -->" in text for n in range(kinds))
    assert text.count("<!-- and 3 more -->") == max(0, kinds - 1)
