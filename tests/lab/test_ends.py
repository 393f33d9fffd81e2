"""A laboratory ends when it is told to, whatever has become of its folder, and the next one finds what could not be
stored."""

import asyncio
import inspect
import os
import shutil
import signal
from types import SimpleNamespace

import pytest

from kairos import labclient
from kairos.errors import UsageError
from kairos.lab.laboratory import Laboratory
from tests.support import TIMEOUT
from tests.support.waiting import until


def hide_results(lab):
    """A file where the folder for results should be."""
    (lab.folder / "results").rename(lab.folder / "hidden")
    (lab.folder / "results").write_text("")


def show_results(lab):
    (lab.folder / "results").unlink()
    (lab.folder / "hidden").rename(lab.folder / "results")


def hide_database(lab):
    for path in (lab.folder / ".kairos").glob("lab.db*"):
        path.rename(lab.folder / f"hidden-{path.name}")


def show_database(lab):
    for path in (lab.folder / ".kairos").glob("lab.db*"):
        path.unlink()
    for path in lab.folder.glob("hidden-*"):
        path.rename(lab.folder / ".kairos" / path.name.removeprefix("hidden-"))


def ends_by_sigterm(lab):
    lab.process.send_signal(signal.SIGTERM)
    return lab.process.wait(TIMEOUT)


@pytest.mark.parametrize("hide, show", [(hide_results, show_results), (hide_database, show_database)])
def test_laboratory_that_cannot_store_a_run_ends_and_the_next_stores_it(lab, hide, show):
    lab.ends(lab.run_of("Quick"))
    rid = lab.run_of("Patient", name="long")
    until(lambda: lab.counted("long"))
    hide(lab)
    lab.release_run("long")
    until(lambda: f"run {rid} cannot be stored" in (lab.folder / "output").read_text())
    assert ends_by_sigterm(lab) == 0
    assert "goes on" not in (lab.folder / "output").read_text(), "it has ended"
    show(lab)
    lab.start()
    assert lab.ends(rid)["status"] == "completed" and lab.begun() == [0, rid]


@pytest.mark.parametrize("state", ["idle", "running", "queued"])
def test_laboratory_without_its_folder_ends_by_sigterm(lab, state):
    pids = {}
    if state == "running":
        lab.run_of("Patient", name="long")
        until(lambda: lab.counted("long"))
        pids = lab.pids()
    elif state == "queued":
        lab.submit(lab.expid("Quick"), held="later")
    lab.set_dataset("kept", 1, True)
    lab.output.close()
    until(lambda: shutil.rmtree(lab.folder, ignore_errors=True) or not lab.folder.exists())
    try:
        assert ends_by_sigterm(lab) == 0
    finally:
        for pid in pids.values():
            os.kill(pid, signal.SIGKILL)


def test_command_to_a_laboratory_that_hangs_is_refused_in_a_line(lab, monkeypatch):
    monkeypatch.setattr(labclient, "TIMEOUT", 0.3)
    lab.process.send_signal(signal.SIGSTOP)
    try:
        with pytest.raises(UsageError, match=r"has not answered for 0\.3 s: it is stopped, or has too much to do"):
            labclient.connect(lab.folder)
    finally:
        lab.process.send_signal(signal.SIGCONT)
    assert labclient.connect(lab.folder).queue() == []


def test_background_task_cancelled_before_it_begins_leaves_no_waiting_coroutine():
    async def cancelled():
        laboratory, coroutine = SimpleNamespace(_background=set()), asyncio.sleep(0)
        Laboratory.in_background(laboratory, coroutine)
        for task in (tasks := list(laboratory._background)):
            task.cancel()
        await asyncio.wait(tasks)
        await asyncio.sleep(0)  # the tasks' callbacks
        return inspect.getcoroutinestate(coroutine)

    assert asyncio.run(cancelled()) == inspect.CORO_CLOSED
