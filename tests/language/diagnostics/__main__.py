"""Regenerates the text files of this folder."""

from . import HERE, families, snapshot

for family in families():
    HERE.joinpath(f"{family}.txt").write_text(snapshot(family), encoding="utf-8")
