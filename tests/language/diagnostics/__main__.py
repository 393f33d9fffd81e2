"""Regenerates the text files of this folder."""

from . import FOLDER, families, snapshot

for family in families():
    FOLDER.joinpath(f"{family}.txt").write_text(snapshot(family), encoding="utf-8")
