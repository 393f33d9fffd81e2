"""Laboratories of other people on the same computer, and of the same one elsewhere: refused in a line."""

import pytest

from kairos.labclient import LaboratoryOffline, connect
from kairos.labfolder import names, state_of
from tests.support.laboratory import Laboratory
from tests.support.strangers import as_stranger, open_to_strangers


def test_laboratory_of_another_user_is_named_with_its_owner(lab, monkeypatch):
    open_to_strangers(lab.folder)
    below = lab.folder / "below"
    below.mkdir()
    wanted = f"LaboratoryOffline: the laboratory in {lab.folder} belongs to root: others reach it by its page"
    monkeypatch.chdir(below)
    for mode in (0o700, 0o755):  # as it is made, and as somebody may have opened it
        (lab.folder / ".kairos").chmod(mode)
        for given in (lab.folder, None):
            assert as_stranger(lambda given=given: connect(given).queue()).startswith(wanted)
    (lab.folder / ".kairos").chmod(0o700)
    assert as_stranger(lambda: names("experiments", folder=lab.folder)).startswith(
        f"UsageError: {wanted.split(': ', 1)[1]}"
    )
    assert state_of() == lab.folder / ".kairos" and connect().queue() == []


def test_database_of_another_laboratory_is_refused_although_it_is_a_file(lab, tmp_path):
    (tmp_path / "other").mkdir()
    other = Laboratory(tmp_path / "other", f"database = 'sqlite:///{lab.folder}/.kairos/lab.db'\n")
    with pytest.raises(AssertionError, match="belongs to the laboratory .*: give this one a file of its own"):
        other.start()


def test_folder_without_a_laboratory_is_named(tmp_path):
    with pytest.raises(LaboratoryOffline, match=f"no laboratory is running in {tmp_path}"):
        connect(tmp_path)
