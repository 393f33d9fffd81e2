"""The user's cache of built simulations."""

import os

import pytest

from . import kept


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "kairos" / "gateware"


def library_files(folder, content):
    folder.mkdir()
    for name in ("a.so", "lint.txt"):
        (folder / name).write_text(f"{name} {content}")
    (folder / "a.so").chmod(0o755)
    return folder / "a.so", folder / "lint.txt"


def test_kept_library_is_fetched_with_its_mode(tmp_path):
    kept.keep("key", *library_files(tmp_path / "one", "first"))
    library, lint = library_files(tmp_path / "other", "old")
    assert kept.fetch("key", library, lint) and library.read_text() == "a.so first" and os.access(library, os.X_OK)
    assert lint.read_text() == "lint.txt first" and sorted(os.listdir(tmp_path / "other")) == ["a.so", "lint.txt"]


@pytest.mark.parametrize("damage", ["absent", "incomplete", "no folder"])
def test_library_that_is_not_kept_leaves_files_as_they_are(tmp_path, cache, damage):
    library, lint = library_files(tmp_path / "one", "first")
    if damage != "absent":
        kept.keep("key", library, lint)
        (cache / "key" / "a.so").unlink()
    if damage == "no folder":
        (cache / "key" / "lint.txt").unlink()
        (cache / "key").rmdir()
        (cache / "key").write_text("a file")
    library.write_text("own")
    assert not kept.fetch("key", library, lint)
    assert library.read_text() == "own"


def test_unwritable_cache_leaves_files_as_they_are(tmp_path, cache):
    (tmp_path / "cache").write_text("a file")
    library, lint = library_files(tmp_path / "one", "first")
    kept.keep("key", library, lint)
    assert not kept.fetch("key", library, lint) and library.read_text() == "a.so first"


def test_full_cache_loses_the_oldest_entries(tmp_path, cache, monkeypatch):
    files = library_files(tmp_path / "one", "first")
    monkeypatch.setattr(kept, "LIMIT", 2 * sum(file.stat().st_size for file in files))
    for age, key in enumerate(("a", "b")):
        kept.keep(key, *files)
        os.utime(cache / key, (age, age))
    assert kept.fetch("a", *files)
    kept.keep("c", *files)
    assert sorted(os.listdir(cache)) == ["a", "c"]
