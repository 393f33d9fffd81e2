"""The page about the papers cites tests and pages that exist."""

import re
import subprocess

import pytest

from tests.support.paths import ROOT

PAGE = (ROOT / "docs/papers.md").read_text()
FILES = sorted(set(re.findall(r"`([\w/]+\.(?:py|rs))`", PAGE)))


@pytest.fixture(scope="module")
def tracked():
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return [f"/{name}" for name in files]


@pytest.mark.parametrize("name", FILES)
def test_cited_test_of_a_paper_exists(tracked, name):
    assert any(file.endswith(f"/{name}") for file in tracked)


def test_each_row_of_the_papers_names_its_evidence():
    rows = [line.split("|")[1:-1] for line in PAGE.splitlines() if line.startswith("| ")]
    assert len(rows) > 40
    for paper, ours, shown in rows:
        assert paper.strip() and (ours.strip() or shown.strip()), paper
        # Without a test or a figure, the row says what is missing.
        assert shown.strip() != "–" or "**" in ours, paper
