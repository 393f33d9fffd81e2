"""Locks: runs of others wait, the holder's do not, and a lock ends by itself."""

import time
from contextlib import contextmanager

import pytest

from kairos.controllers import Client
from kairos.errors import UsageError
from kairos.lab import clock
from kairos.lab.database import Database
from kairos.lab.locks import Locks
from tests.support.command import one_line, run_kairos
from tests.support.laboratory import Laboratory
from tests.support.waiting import until


def test_lock_belongs_to_its_holder_and_expires(tmp_path, monkeypatch):
    database = Database(f"sqlite:///{tmp_path / 'lab.db'}")
    locks = Locks(database)
    locks.take("pipeline", "main", 3600, "anna", "aligning")
    locks.take("device", "core", 60, None)
    assert locks.blocking("main", (), "anna") is None and locks.blocking("other", (), "ben") is None
    assert locks.blocking("main", (), "ben").startswith("pipeline main is locked by anna until ")
    assert locks.blocking("main", (), None).endswith(": aligning")
    assert locks.blocking("other", ("ttl0", "core"), "ben") is not None
    with pytest.raises(UsageError, match="is locked by anna"):
        locks.take("pipeline", "main", 60, "ben")
    with pytest.raises(UsageError, match="force releases it"):
        locks.release("pipeline", "main", "ben")
    later = time.time() + 100
    monkeypatch.setattr(clock, "now", lambda: later)
    assert locks.blocking("other", ("core",), "ben") is None
    assert [lock.name for lock in Locks(database).active()] == ["main"], "it survives a restart"
    locks.take("pipeline", "main", 60, "anna", "longer")
    locks.release("pipeline", "main", "ben", force=True)
    assert locks.active() == [] and Locks(database).active() == []
    for wrong in (("room", "main", 60), ("pipeline", "", 60), ("pipeline", "main", 0), ("device", "core", 1e9)):
        with pytest.raises(UsageError, match="a lock is"):
            locks.take(*wrong, "anna")
    for name in (5, "a\0b", "\udcff", ["main"]):  # with which the others could not be sorted, or shown
        with pytest.raises(UsageError, match="a lock is one of a pipeline or a device, by name"):
            locks.take("pipeline", name, 60, "anna")
    with pytest.raises(UsageError, match="the note of a lock is a text, not 5"):
        locks.take("pipeline", "main", 60, "anna", 5)
    assert locks.active() == []
    with pytest.raises(UsageError, match="device core is not locked"):
        locks.release("device", "core", "anna")
    database.close()


@contextmanager
def closing(client):
    yield client
    client.close_rpc()


DEVICES = 'device_db = {"lamp": {"type": "dummy"}, "camera": {"type": "dummy"}}\n'
USES = """from artiq.experiment import *


class Uses(EnvExperiment):
    def build(self):
        self.setattr_device("lamp")

    def run(self):
        self.set_dataset("used", 1, broadcast=True)
"""


def test_run_of_another_person_waits_for_pipeline_and_device(tmp_path):
    lab = Laboratory(tmp_path, device_db=DEVICES)
    (tmp_path / "repository" / "uses.py").write_text(USES)
    lab.start()
    try:
        lab.lock("pipeline", "main", 3600, "aligning")
        # A run that is submitted by a client of ARTIQ is nobody's.
        with closing(Client("127.0.0.1", lab.ports["control"], "schedule")) as schedule:
            waiting = schedule.submit("main", lab.expid("Quick"))
            own = lab.run_of("Quick", n=2)
            assert lab.ends(own)["status"] == "completed"
            (shown,) = lab.queue()
            assert shown["status"] == "pending" and shown["why"].endswith(": aligning")
            lab.unlock("pipeline", "main")
            assert lab.ends(waiting)["status"] == "completed"
            lab.lock("device", "lamp", 3600)
            uses = schedule.submit("main", {"file": "uses.py", "arguments": {}, "repo_rev": None})
            until(lambda: lab.status_of(uses) == "prepare_done")
            assert lab.queue()[0]["why"].startswith("device lamp is locked by")
            lab.kill()
            lab.start()
            until(lambda: lab.status_of(uses) == "prepare_done")
            assert lab.queue()[0]["why"].startswith("device lamp is locked by"), "also after a restart"
            assert lab.ends(lab.run_of("Quick"))["status"] == "completed", "others pass it"
        lab.unlock("device", "lamp")
        assert lab.ends(uses)["status"] == "completed"
    finally:
        lab.close()


def test_locks_are_taken_listed_and_released_by_command(tmp_path):
    lab = Laboratory(tmp_path, device_db=DEVICES)
    lab.start()

    def kairos_in(*words):
        return run_kairos(*words, cwd=lab.folder)

    assert kairos_in("locks").stdout == "nothing is locked\n"
    assert kairos_in("locks", "take", "device", "lamp", "--for", "30min", "--note", "mine").returncode == 0
    (lock,) = lab.locks()
    assert lock["name"] == "lamp" and 1700 < lock["expires"] - time.time() <= 1800
    assert "mine" in kairos_in("locks").stdout and '"name": "lamp"' in kairos_in("locks", "list", "--json").stdout
    one_line(kairos_in("locks", "take", "device", "lamp", "--for", "soon"), "'soon' is not a length of time", 2)
    one_line(kairos_in("locks", "take", "device", "lmap"), "there is no device 'lmap': did you mean lamp?")
    one_line(kairos_in("locks", "release", "device", "camera"), "device camera is not locked")
    assert kairos_in("locks", "release", "device", "lamp").returncode == 0 and lab.locks() == []
    lab.close()
