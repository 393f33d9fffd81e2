"""Starts of processes that are given up: nothing of them stays, and the next process is the one that was asked for."""

import asyncio
import os
import signal
import socket
from pathlib import Path

import pytest

from kairos.lab.forkserver import ATTEMPTS, Forked, Spares
from kairos.lab.processes import Processes, holder_of
from tests.support import TIMEOUT


def fork(processes, folder, number):
    """Start the process of a run with this number."""
    begin = {"rid": number, "devices": [], "results": str(folder)}
    return processes.fork("run", number, folder / str(number), begin)


@pytest.mark.parametrize("forked", [False, True], ids=["program", "fork"])
def test_start_succeeds_although_the_waiting_process_or_the_fork_server_was_killed(tmp_path, forked):
    def children(pid):
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    async def work():
        processes = Processes(tmp_path / "socket", lambda *_: None, first)
        await processes.start()
        await processes.ready.wait()
        parent = processes._parent.pid
        (spare,) = children(parent)
        os.kill(spare, signal.SIGKILL)
        while children(parent) in ([], [spare]):
            await asyncio.sleep(0.01)
        started = [await fork(processes, tmp_path, 0)]
        os.kill(parent, signal.SIGKILL)
        started.append(await fork(processes, tmp_path, 1))
        for process in started:
            await process.connected()
            assert process.pid == holder_of(process.folder)
            for content in ("", "noise\0", "0"):  # not written yet, damaged
                (process.folder / "lock").write_text(content)
                assert process.pid == holder_of(process.folder)
            await process.stop(orderly=False)
        await processes.stop()

    first = Forked() if forked else None
    asyncio.run(asyncio.wait_for(work(), TIMEOUT))
    assert first is None or first.returncode == -signal.SIGKILL


def test_process_given_up_while_it_is_started_ends_and_the_next_is_its_own(tmp_path):
    def noted(number):
        return int((tmp_path / str(number) / "lock").read_text() or 0)

    async def work():
        processes = Processes(tmp_path / "socket", lambda *_: None)
        await processes.start()
        await processes.ready.wait()
        for number, steps in enumerate([1, 2, 3, 5, 20]):
            given_up = asyncio.ensure_future(fork(processes, tmp_path, 2 * number))
            for _ in range(steps):
                await asyncio.sleep(0)
            given_up.cancel()
            following = await fork(processes, tmp_path, 2 * number + 1)
            await following.connected()
            assert following.pid == noted(2 * number + 1)
            (first,) = await asyncio.gather(given_up, return_exceptions=True)
            if not isinstance(first, asyncio.CancelledError):
                await first.stop(orderly=False)  # it had been started before
            pid = noted(2 * number)
            assert not pid or not os.path.exists(f"/proc/{pid}")
            await following.stop(orderly=False)
        await processes.stop()

    asyncio.run(asyncio.wait_for(work(), TIMEOUT))


def test_processes_that_end_at_once_are_not_forked_for_ever(monkeypatch):
    """They are forked when needed, and answered for if there is room for none."""
    forked, fork_process = [], os.fork

    def counted():
        forked.append(fork_process())
        return forked[-1]

    monkeypatch.setattr("kairos.lab.forkserver.LIVED", TIMEOUT)  # on a busy machine even these live for a while
    monkeypatch.setattr("os.fork", counted)
    monkeypatch.setattr("os.setsid", lambda: os._exit(7))  # at the beginning of each
    ours, its = socket.socketpair()
    with ours, its:
        spares = Spares(its)
        for number in range(ATTEMPTS):
            os.waitpid(forked[number], 0)
            assert spares.replace(forked[number])
        assert len(forked) == ATTEMPTS
        spares.start(b"{}")
        for pid in forked[ATTEMPTS:]:
            os.waitpid(pid, 0)
        assert len(forked) <= 2 * ATTEMPTS
        monkeypatch.setattr("os.fork", lambda: (_ for _ in ()).throw(OSError("no room")))
        assert [spares.start(b"{}") for _ in range(2)][-1] is None
