"""The commands below the pictures of the page on the pulse core draw them: run, and compared with what is shown."""

import re
import shutil

import pytest
from matplotlib import image

from tests.support.gateware import built
from tests.support.pages import commands, pattern
from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "pulse.md").read_text()
SHOWN = re.compile(r"^!\[[^]]*\]\((\w+\.png)\)\n\n```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PICTURES = dict(SHOWN.findall(PAGE))
ALIKE = 0.06
"""Mean difference of pixels, from 0 to 1: other fonts, other noise, and phases at other instants."""


def test_each_picture_of_the_page_has_its_command():
    assert set(PICTURES) == set(re.findall(r"\((\w+\.png)\)", PAGE))


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(PICTURES))
def test_command_of_a_picture_draws_it_again(typed, tmp_path, name):
    built("pulse", "pulse_pair", "pulse_satellite")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    ((command, lines, code),) = commands(PICTURES[name])
    done = typed(command, tmp_path)
    assert done.returncode == code and pattern(lines).fullmatch(done.stdout), done.stdout + done.stderr
    drawn, kept = (image.imread(folder / name) for folder in (tmp_path, ROOT / "docs"))
    assert drawn.shape == kept.shape and abs(drawn - kept).mean() < ALIKE
