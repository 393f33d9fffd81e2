"""Starts of processes that are given up: nothing of them stays, and the next process is the one that was asked for."""

import asyncio
import os

from kairos.lab.processes import Processes


def test_process_given_up_while_it_is_started_ends_and_the_next_is_its_own(tmp_path):
    def fork(processes, number):
        begin = {"rid": number, "devices": [], "results": str(tmp_path)}
        return processes.fork("run", number, tmp_path / str(number), begin)

    def noted(number):
        return int((tmp_path / str(number) / "lock").read_text() or 0)

    async def work():
        processes = Processes(tmp_path / "socket", lambda *_: None)
        await processes.start()
        await processes.ready.wait()
        for number, steps in enumerate([1, 2, 3, 5, 20]):
            given_up = asyncio.ensure_future(fork(processes, 2 * number))
            for _ in range(steps):
                await asyncio.sleep(0)
            given_up.cancel()
            following = await fork(processes, 2 * number + 1)
            await following.connected()
            assert following.pid == noted(2 * number + 1)
            (first,) = await asyncio.gather(given_up, return_exceptions=True)
            if not isinstance(first, asyncio.CancelledError):
                await first.stop(orderly=False)  # it had been started before
            pid = noted(2 * number)
            assert not pid or not os.path.exists(f"/proc/{pid}")
            await following.stop(orderly=False)
        await processes.stop()

    asyncio.run(work())
