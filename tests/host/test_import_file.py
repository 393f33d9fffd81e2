"""Files with experiments, as commands import them."""

import os
import sys

from kairos.cli.experiments import import_file


def test_file_changed_within_a_second_is_imported_as_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    file = tmp_path / "changed_at_once.py"
    for number in (1, 2):
        file.write_text(f"NUMBER = {number}\n")
        os.utime(file, (1_700_000_000, 1_700_000_000))
        assert import_file(str(file)).NUMBER == number
