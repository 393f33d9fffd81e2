"""The worked example of docs/twin.md: the number of cooling cycles, chosen by a sweep."""

import re
import shlex
import shutil

import h5py
import pytest

from tests.support.command import run_kairos
from tests.support.gateware import built
from tests.support.paths import EXAMPLES, ROOT

SECTION = "## Example: how many cycles of sideband cooling?"


def commands() -> list[list[str]]:
    """Return the commands of the section, without the ``kairos``."""
    section = (ROOT / "docs" / "twin.md").read_text().split(SECTION)[1].split("\n## ")[0]
    text = section.replace("\\\n", " ")
    return [shlex.split(line)[2:] for line in text.splitlines() if line.startswith("$ kairos ")]


def table() -> dict[tuple[int, int], float]:
    """Return the quanta that the section names, by cycles and heating rate."""
    section = (ROOT / "docs" / "twin.md").read_text().split(SECTION)[1]
    rows = re.findall(r"\| (\d+) cycles \| ([\d.]+) \| ([\d.]+) \|", section)
    return {
        (int(cycles), rate): float(value)
        for cycles, *values in rows
        for rate, value in zip((200, 2000), values, strict=True)
    }


def test_section_has_the_commands_that_are_tried():
    assert [words[0] for words in commands()] == ["sweep", "check", "submit"] and len(table()) == 8


@pytest.mark.long
def test_commands_of_the_example_give_its_table(tmp_path):
    built("ion")
    shutil.copytree(EXAMPLES / "ion", tmp_path / "ion", ignore=shutil.ignore_patterns("__pycache__"))
    sweep, check, _ = commands()
    done = run_kairos(*sweep, cwd=tmp_path / "ion")
    assert done.returncode == 0 and "8 points; wrote cooling.h5" in done.stdout, done.stdout + done.stderr
    with h5py.File(tmp_path / "ion" / "cooling.h5") as file:
        cycles, rates = file["cycles"][...].tolist(), file["heating"][...].tolist()
        quanta = file["sidebands.quanta"][..., 1]
    for (number, rate), expected in table().items():
        found = quanta[cycles.index(number), rates.index(rate)]
        # They scatter, and depend on what the kernel does to the nanosecond.
        assert abs(found - expected) < 0.35, (number, rate, found)
    done = run_kairos(*check, cwd=tmp_path / "ion")
    assert done.returncode == 0, done.stdout + done.stderr
