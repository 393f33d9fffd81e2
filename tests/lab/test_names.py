"""Completion of names that only a running laboratory knows."""

import os
import socket
import time

import pytest

from kairos import labfolder
from kairos.cli import candidates
from kairos.cli.line import words_of
from tests.support.waiting import until


def proposed(lab, line):
    return candidates.candidates(words_of(f"kairos {line}"))


def test_names_of_a_laboratory_are_completed(lab, monkeypatch):
    monkeypatch.chdir(lab.folder)
    until(lambda: lab.experiments()["experiments"])
    done = lab.run_of("Quick", n=2)
    lab.ends(done)
    lab.tag(done, "good")
    held = lab.submit(lab.expid("Quick"), "night", held="later")
    lab.set_dataset("live", 1)
    lab.lock("pipeline", "main", 60)
    for line, expected in {
        "submit Qu": ["Quick scan"],
        "submit 'Quick scan' ": ["n="],
        "submit lab.py -c Qu": ["Quick"],
        "submit lab.py -c Quick -p ni": ["night"],
        "experiments show Runs": ["Runs until told otherwise"],
        "experiments show lab": [],
        "queue hold ": [str(held)],
        f"queue edit {held} ": ["n="],
        "queue move 3 --before ": [str(held)],
        "runs show ": [str(done)],
        f"runs repeat {done} ": ["n="],
        "runs tag g": ["good"],
        "runs list sta": [
            "status=completed",
            "status=deleted",
            "status=failed",
            "status=interrupted",
            "status=terminated",
        ],
        "runs list Qu": ["Quick"],
        "datasets get ": ["live", "points", "total"],
        "watch live p": ["points"],
        "parameters history ": ["total"],
        "locks take pipeline ": ["main", "night"],
        "alarms acknowledge ": [],
        "calibrate ": [],
        "runs repeat 99 ": [],
        "submit none ": [],
    }.items():
        assert proposed(lab, line) == expected, line
    monkeypatch.chdir("/")
    assert proposed(lab, "datasets get ") == [] and proposed(lab, "queue hold ") == []
    assert proposed(lab, f"queue hold --lab {lab.folder} ") == [str(held)]
    assert lab.names("nonsense") == []


def test_laboratory_that_does_not_answer_is_not_waited_for(tmp_path, monkeypatch):
    (tmp_path / ".kairos").mkdir()
    (tmp_path / ".kairos" / "address.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(labfolder, "TIMEOUT", 0.05)
    assert proposed(None, "queue hold ") == [], "there is no socket"
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(os.path.relpath(tmp_path / ".kairos" / "lab.sock"))
        silent.listen()
        begun = time.monotonic()
        with pytest.raises(OSError):
            labfolder.names("queued")
        assert proposed(None, "queue hold ") == []
        assert time.monotonic() - begun < 30, "it does not wait for ever"
