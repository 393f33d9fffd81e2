"""Files with experiments, as commands import them."""

import os
import sys

import pytest

from kairos.cli.experiments import import_file
from kairos.cli.report import UserCodeError


def test_file_changed_within_a_second_is_imported_as_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    file = tmp_path / "changed_at_once.py"
    for number in (1, 2):
        file.write_text(f"NUMBER = {number}\n")
        os.utime(file, (1_700_000_000, 1_700_000_000))
        assert import_file(str(file)).NUMBER == number


@pytest.mark.parametrize(
    "statement, advice",
    [
        ("import ndscan.experiment", "pip install git+https://"),
        ("from our_laboratory import beams", "PYTHONPATH"),
        ("import os.missing", None),
        ("import artiq.missing", None),
    ],
)
def test_missing_module_is_reported_with_advice(tmp_path, monkeypatch, statement, advice):
    monkeypatch.setitem(sys.modules, "ndscan", None)
    file = tmp_path / "imports_missing_module.py"
    file.write_text(statement)
    with pytest.raises(UserCodeError) as caught:
        import_file(str(file))
    notes = getattr(caught.value.__cause__, "__notes__", [])
    assert [advice in note for note in notes] == ([True] if advice else [])
