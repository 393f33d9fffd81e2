"""Devices of which it is reported that they do not answer any more, and that they are back."""

import asyncio

from kairos.lab.events import Events
from kairos.lab.watching import Watching
from tests.support import TIMEOUT


def test_device_that_does_not_answer_is_reported_once_until_it_is_back():
    """One entry that is no address keeps back no other."""

    async def work():
        async def listen(port):
            return await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", port)

        server = await listen(0)
        port = server.sockets[0].getsockname()[1]
        entries = {
            "odd": {"type": "controller", "host": "x" * 300, "port": 1},
            "far": {"type": "controller", "host": "127.0.0.1", "port": 1 << 20},
            "laser": {"type": "controller", "host": "127.0.0.1", "port": port},
        }
        events, said, come = Events(), [], asyncio.Event()
        events.listeners.append(lambda event: (said.append((event.kind, event.subject)), come.set()))
        watching = Watching(tuple(entries), lambda: entries, events, period=0.01)

        async def reported(*wanted):
            while wanted not in said:
                come.clear()
                await come.wait()

        async with asyncio.timeout(TIMEOUT):
            watching.start()
            await reported("device_lost", "far")
            server.close()
            await server.wait_closed()
            await reported("device_lost", "laser")
            server = await listen(port)
            await reported("device_back", "laser")
            watching.close()
        assert sorted(said) == [
            ("device_back", "laser"),
            ("device_lost", "far"),
            ("device_lost", "laser"),
            ("device_lost", "odd"),
        ]

    asyncio.run(work())
