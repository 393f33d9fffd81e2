"""Files of settings that are damaged or made to do harm: one line each, without reading more than there can be."""

import pytest

from kairos.errors import UsageError
from kairos.files import SETTINGS_MAX, read, read_toml
from kairos.lab.settings import Settings
from kairos.twin.sweep.task import numbers_of

TEXTS = {
    "nested lists": b"x = " + b"[" * 100_000,
    "nested tables": b"x = " + b"{a=" * 100_000,
    "no text": bytes(range(256)),
    "another encoding": "x = 'größe'".encode("latin-1"),
    "no value": b"x =",
    "twice": b"x = 1\nx = 2",
    "too large": b"#" * (SETTINGS_MAX + 1),
    "digits": b"x = " + b"9" * 5000,
}


@pytest.mark.parametrize("content", TEXTS.values(), ids=TEXTS)
def test_settings_that_cannot_be_read_are_one_line(tmp_path, content):
    path = tmp_path / "lab.toml"
    path.write_bytes(content)
    for reader, given in ((read_toml, path), (Settings.load, tmp_path)):
        with pytest.raises(UsageError) as caught:
            reader(given)
        assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)


def test_file_without_end_is_not_read():
    with pytest.raises(UsageError, match="/dev/zero cannot be read: it has more than 4,194,304 bytes"):
        read_toml("/dev/zero")
    assert read("/dev/null", 0) == b""


def test_bench_of_a_sweep_that_cannot_be_read_is_one_line():
    for text in ("[" * 100_000, "x = " + "[" * 100_000, "seed ="):
        with pytest.raises(UsageError, match="^bench.toml: "):
            numbers_of(text)
