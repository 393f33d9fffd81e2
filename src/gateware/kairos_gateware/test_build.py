"""Board `sim` is generated only if something that it is made from has changed."""

from dataclasses import replace

import pytest

from kairos_gateware import build
from kairos_gateware.variants import VARIANTS


@pytest.fixture
def compiled(monkeypatch):
    """The folders in which a library was compiled; empty files take its place."""
    folders = []

    def compile_library(output, *_, **__):
        folders.append(output)
        for name in ("libkairos_pl.so", build.verilate.LINT):
            (output / name).touch()

    monkeypatch.setattr(build.verilate, "compile_library", compile_library)
    return folders


def test_unchanged_variant_is_not_generated_again(tmp_path, compiled):
    for _ in range(2):
        build.build_sim(VARIANTS["demo"], tmp_path)
    assert compiled == [tmp_path]


def test_changed_variant_is_generated_again(tmp_path, compiled):
    for synthesiser in (0, VARIANTS["clocked"].synthesiser):
        build.build_sim(replace(VARIANTS["demo"], synthesiser=synthesiser), tmp_path)
    assert len(compiled) == 2


@pytest.mark.parametrize("missing", ["libkairos_pl.so", "kairos_sim.v"])
def test_missing_file_is_generated_again(tmp_path, compiled, missing):
    build.build_sim(VARIANTS["demo"], tmp_path)
    (tmp_path / missing).unlink()
    build.build_sim(VARIANTS["demo"], tmp_path)
    assert len(compiled) == 2 and (tmp_path / missing).exists()


def test_failed_build_is_repeated_at_the_next_call(tmp_path, compiled, monkeypatch):
    build.build_sim(VARIANTS["demo"], tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(build, "_sources_id", lambda *_: "of other sources")
        patch.setattr(build, "render", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            build.build_sim(VARIANTS["demo"], tmp_path)
    build.build_sim(VARIANTS["demo"], tmp_path)
    assert len(compiled) == 2
