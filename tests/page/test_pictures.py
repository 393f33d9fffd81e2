"""The pictures of docs/page.md: they are there, small, and show the panels as they are."""

import re

import pytest
from PIL import Image

from tests.support import page_pictures as pictures
from tests.support.paths import ROOT

KIB = 40


def test_pictures_of_the_manual_are_small_and_used():
    used = set(re.findall(r"\(page/(\w+)\.png\)", (ROOT / "docs" / "page.md").read_text()))
    assert used == {name.lower() for name in pictures.PANELS} == {path.stem for path in pictures.FOLDER.iterdir()}
    for path in pictures.FOLDER.iterdir():
        assert path.stat().st_size < KIB * 1024, path
        with Image.open(path) as picture:
            assert picture.mode == "P" and picture.width <= 1000, path


@pytest.mark.long
def test_pictures_of_the_manual_show_the_panels_as_they_are():
    with pictures.evening() as (running, hub):
        for name in pictures.PANELS:
            kept = pictures.kept_words(pictures.FOLDER / f"{name.lower()}.png")
            now = pictures.shown(running, hub, name, pictures.words)
            assert kept == now, f"{name} has changed: python -m tests.support.page_pictures"
