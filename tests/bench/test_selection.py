"""`make bench FIGURES=…`: selection of groups, and preservation of other figures."""

import json
import re

import pytest

from tests.bench.__main__ import GROUPS, Figures, measure_all
from tests.support.paths import ROOT


def groups(*prefixes):
    figures = Figures(prefixes)
    return [measure.__name__ for measure, beginnings, *_ in GROUPS if figures.wants(beginnings)]


def test_groups_are_selected_by_names_of_figures():
    assert groups("") == [measure.__name__ for measure, *_ in GROUPS]
    assert groups("dma.lut") == groups("rtio.heap") == groups("sim.m") == ["gateware_figures"]
    assert set(groups("sim.")) == {"gateware_figures", "device_figures"}
    assert groups("image.", "demo.") == ["counted_figures", "user_figures"]
    assert groups("nonsense") == []


def test_figures_are_judged_by_target_and_direction(capsys):
    figures = Figures(["a.", "b"])
    figures.add("a.x", 3, "cycles", target=3, baseline=7, source="")
    figures.add("a.y", 3, "cycles", target=4, at_least=True, source="")
    figures.add("b", 3, "LUT", source="")
    figures.add("c.x", 3, "cycles", target=3, source="")
    assert {name: figure["met"] for name, figure in figures.all.items()} == {"a.x": True, "a.y": False, "b": None}
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[3] for line in printed] == ["met", "MISSED", "stated"]
    assert printed[0].endswith("(at most 3, baseline 7)") and printed[1].endswith("(at least 4)")


def test_failing_group_leaves_figures_of_others(tmp_path, capsys):
    def broken(figures):
        raise FileNotFoundError("no browser")

    def unusable(figures):
        raise SystemExit("the kernel gives 3, not 4")

    groups = [
        (lambda figures: figures.add("a.x", 1, "s", source=""), ("a.",), "first", "1 s"),
        (broken, ("b.",), "second", "1 s"),
        (unusable, ("c.",), "third", "1 s"),
        (lambda figures: figures.add("d.x", 4, "s", source=""), ("d.",), "fourth", "1 s"),
    ]
    path = tmp_path / "build" / "bench.json"
    assert measure_all(Figures(), groups, path) == ["second", "third"]
    assert set(json.loads(path.read_text())) == {"a.x", "d.x"}
    said = capsys.readouterr().err
    assert "no browser" in said and "the kernel gives 3, not 4" in said
    assert measure_all(Figures(["a."]), groups, path) == []
    assert set(json.loads(path.read_text())) == {"a.x", "d.x"}, "the others keep what they had"


LINKS = """bridge.write_mib_s bridge.read_mib_s bridge.write_small_mib_s_{beats} bridge.lut packetiser.lut
interrupt.cycles remote.write_round_trip_cycles remote.bulk_throughput rtio.remote_event_cycles
rtio.remote_latency_cycles subkernel.call_us subkernel.message_us ddma.start_us sync.phase_error_ps
emulator.pair_mips""".split()
"""Figures required for several boards."""


@pytest.mark.parametrize("name", LINKS)
def test_figures_of_links_are_measured(name):
    folders = [ROOT / "tests" / "bench", ROOT / "src" / "gateware" / "kairos_gateware" / "figures"]
    assert any(f'"{name}"' in path.read_text() for folder in folders for path in folder.glob("[!t]*.py"))
    assert len(groups(name.partition("{")[0])) == 1, "`make bench FIGURES=…` finds it, in one group"


@pytest.mark.parametrize("name", ["bridge", "bulk", "remote"])
def test_plots_of_links_are_shown_on_their_page(name):
    """Throughput over the length of transactions; time over size with and without early answers."""
    folder = ROOT / "docs" / "gateware"
    assert (folder / f"{name}.png").stat().st_size > 10_000
    page = "link" if name == "bridge" else "remote"
    assert f"({name}.png)" in (folder / f"{page}.md").read_text()


def test_every_figure_belongs_to_a_group():
    """Otherwise `make bench FIGURES=…` would not find it."""
    folders = [ROOT / "tests" / "bench", ROOT / "src" / "gateware" / "kairos_gateware" / "figures"]
    text = "".join(path.read_text() for folder in folders for path in folder.glob("[!t]*.py"))
    # Names of figures, or their prefixes, as written in the sources; no names of files.
    named = set(re.findall(r"""f?"([a-z][a-z0-9_]*\.)(?!py")[a-z0-9_{}]+"(?:,|:|\])""", text))
    beginnings = tuple(beginning for _, some, *_ in GROUPS for beginning in some)
    known = {name for name in named if any(b.startswith(name) or name.startswith(b) for b in beginnings)}
    assert {"rpc.", "driver.", "demo.", "dma."} <= known
    assert named - known == {"kairos_gateware."}, "figures whose names begin as those of no group"
