"""The laboratory's monitor of a core device: its connections begin and end with those who follow."""

import asyncio
import logging
import socket
import time
from contextlib import ExitStack

import pytest

from kairos.contracts.moninj import PORT, Request
from kairos.devices import DeviceDB
from kairos.errors import UsageError
from kairos.lab.monitor import Monitor
from kairos.network.management import Management
from kairos.network.moninj import Override
from tests.support import TIMEOUT
from tests.support.device import Device
from tests.support.paths import EXAMPLES
from tests.support.raw_moninj import Client


@pytest.fixture(scope="module")
def device(tmp_path_factory):
    device = Device(tmp_path_factory.mktemp("device"))
    yield device
    device.close()


def entries():
    return DeviceDB.load(EXAMPLES / "device_db.py").entries


@pytest.fixture
def monitor(device):
    return Monitor("core", lambda port: (device.host, device.ports[port]), entries)


def overridden(device, monitor, name):
    client = Client(device)
    level = client.get(monitor.rows[name].channel, Override.ENABLE)
    client.close()
    return level


def test_override_right_after_the_last_follower_left_is_confirmed(device, monitor, caplog):
    """The connection of those who left is being closed at that moment."""

    async def work():
        for level in (True, None, False):
            await monitor.override("ttl4", level)

    with caplog.at_level(logging.WARNING):
        asyncio.run(work())
    assert overridden(device, monitor, "ttl4") == 1
    assert monitor.losses == 0 and caplog.messages == []


def test_follower_arriving_as_the_last_one_leaves_sees_a_connected_device(monitor):
    async def work():
        for _ in range(3):
            with monitor.following():
                await monitor.ready()
        with monitor.following():
            await monitor.ready()
            await asyncio.sleep(0)
            return monitor.connected, monitor.problem

    assert asyncio.run(work()) == (True, "")
    assert not monitor.connected and monitor.losses == 0


async def way(target, cuts):
    """Listen as a way to the device's monitor that loses the connection at each of the first `cuts` requests for an
    override's state; returns its port."""
    left = [cuts]

    async def serve(reader, writer):
        answers, onward = await asyncio.open_connection(*target)
        back = asyncio.create_task(copy(answers, writer))
        try:
            while received := await reader.read(4096):
                if left[0] and received[-6] == Request.GET_OVERRIDE:
                    left[0] -= 1
                    break
                onward.write(received)
        finally:  # also at the end of the loop: the device has few places
            back.cancel()
            onward.close()
            writer.close()

    async def copy(reader, writer):
        while received := await reader.read(4096):
            writer.write(received)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    return server.sockets[0].getsockname()


def through(device, cuts, work):
    """Return the result of `work(monitor)`, whose connection is lost `cuts` times."""

    async def attempt():
        reached = await way((device.host, device.ports[PORT]), cuts)
        addresses = {port: (device.host, own) for port, own in device.ports.items()} | {PORT: reached}
        return await work(Monitor("core", addresses.get, entries))

    return asyncio.run(attempt())


def test_override_on_a_lost_connection_is_made_again(device):
    async def work(monitor):
        await monitor.override("ttl5", True)
        return monitor

    monitor = through(device, 1, work)
    assert overridden(device, monitor, "ttl5") == 1
    assert monitor.losses == 1


def test_override_on_a_connection_lost_in_a_question_about_health_is_made_again(device, monkeypatch):
    """The loss is noticed by who asks only after the device has answered."""
    health = Management.health
    monkeypatch.setattr(Management, "health", lambda self: time.sleep(0.3) or health(self))

    async def work(monitor):
        await monitor.override("ttl6", True)
        return monitor

    monitor = through(device, 1, work)
    assert overridden(device, monitor, "ttl6") == 1
    assert monitor.losses == 1


def test_override_on_a_connection_lost_each_time_is_refused(device):
    async def work(monitor):
        with pytest.raises(UsageError, match="core does not confirm it: is ttl5 overridden?"):
            await monitor.override("ttl5", True)
        with monitor.following():
            await monitor.ready()
            return monitor.connected

    assert through(device, 3, work)


def test_connection_that_is_made_when_its_viewer_has_left_is_closed(monkeypatch):
    """The device answers only then."""

    async def work():
        arrived, left, closed = (asyncio.Event() for _ in range(3))

        async def serve(reader, writer):
            arrived.set()
            await left.wait()
            writer.write(b"e")
            while await reader.read(4096):
                pass
            closed.set()
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        monitor = Monitor("core", lambda port: server.sockets[0].getsockname(), entries)
        async with asyncio.timeout(TIMEOUT):
            with monitor.following():
                await arrived.wait()
            left.set()
            await closed.wait()
        assert monitor.problem == "no client watches it" and monitor.losses == 0

    monkeypatch.setattr("kairos.network.connect.ATTEMPT", TIMEOUT)
    monkeypatch.setattr("kairos.lab.monitor.POLL", TIMEOUT)
    asyncio.run(work())


def test_devices_that_do_not_answer_delay_no_other_task(monkeypatch):
    async def work():
        with socket.create_server(("127.0.0.1", 0), backlog=100) as silent, ExitStack() as followed:
            monitors = [Monitor("core", lambda port: silent.getsockname(), entries) for _ in range(40)]
            for monitor in monitors:
                followed.enter_context(monitor.following())
            for _ in range(40):
                accepted = await asyncio.get_running_loop().run_in_executor(None, silent.accept)
                followed.callback(accepted[0].close)
            assert {monitor.problem for monitor in monitors} == {"it has not been asked yet"}

    monkeypatch.setattr("kairos.network.connect.ATTEMPT", TIMEOUT)
    monkeypatch.setattr("kairos.lab.monitor.POLL", TIMEOUT)
    asyncio.run(asyncio.wait_for(work(), TIMEOUT))
