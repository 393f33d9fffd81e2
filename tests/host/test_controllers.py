"""Controllers: both sides of pc_rpc, and device database entries."""

import asyncio
import json
import re
import socket
import threading

import numpy
import pytest

from kairos import pyon
from kairos.controllers import (
    AsyncClient,
    BestEffortClient,
    Client,
    ControllerError,
    Incompatible,
    RemoteError,
    Server,
)
from kairos.devices import DeviceDB, DeviceManager
from tests.support import TIMEOUT
from tests.support.ports import free_port
from tests.support.waiting import until


class Odd(Exception):
    pass


class Laser:
    """A laser."""

    def __init__(self):
        self.power = 0.0

    def set_power(self, watts, ramp=False):
        """Set the power in W."""
        self.power = watts
        return {"power": watts, "ramp": ramp}

    async def settled(self):
        await asyncio.sleep(0)
        return self.power

    def echo(self, *values):
        return values

    def fail(self, kind):
        raise {"value": ValueError, "odd": Odd}[kind]("too bright")

    def unsayable(self):
        return object()

    def _inner(self):
        return "secret"


class Running:
    """A server in a thread; it listens on `port`."""

    def __init__(self, targets, port=0, **settings):
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()

        async def run():
            self.server = Server(targets, "a test", builtin_terminate=True, **settings)
            self.port = await self.server.start("127.0.0.1", port)
            ready.set()
            await self.server.wait_terminate()
            await self.server.stop()

        self.thread = threading.Thread(target=lambda: self.loop.run_until_complete(run()), daemon=True)
        self.thread.start()
        assert ready.wait(TIMEOUT)

    def stop(self):
        self.loop.call_soon_threadsafe(self.server.terminate)
        self.thread.join(TIMEOUT)
        assert not self.thread.is_alive()


@pytest.fixture
def running():
    server = Running({"laser": Laser()})
    yield server
    server.stop()


def test_remote_calls_return_values_and_errors(running):
    laser = Client("127.0.0.1", running.port)
    assert laser.get_selected_target() == "laser" and laser.get_rpc_id() == (["laser"], "a test")
    assert laser.set_power(0.25, ramp=True) == {"power": 0.25, "ramp": True}
    assert laser.settled() == 0.25
    array = numpy.arange(6.0).reshape(2, 3)
    found = laser.echo(1, "µ", (2, None), b"\0", {3: 1j}, array, numpy.int64(7))
    assert found[:5] == (1, "µ", (2, None), b"\0", {3: 1j}) and (found[5] == array).all() and found[6] == 7
    with pytest.raises(ValueError) as caught:
        laser.fail("value")
    assert str(caught.value) == "too bright"
    assert "test_controllers.py" in caught.value.__notes__[0]
    with pytest.raises(RemoteError, match=r"test_controllers\.Odd: too bright"):
        laser.fail("odd")
    with pytest.raises(TypeError, match="cannot be written as PYON"):
        laser.unsayable()
    with pytest.raises(TypeError, match="cannot be written as PYON"):
        laser.echo(object())
    for hidden in ("_inner", "absent"):
        with pytest.raises(AttributeError):
            getattr(laser, hidden)
    manual = laser.get_rpc_method_list()
    assert manual["docstring"] == "A laser." and manual["methods"]["set_power"][1] == "Set the power in W."
    assert laser.settled() == 0.25
    laser.close_rpc()


def test_request_beyond_the_limit_is_refused_and_the_next_one_is_answered(monkeypatch):
    server = Running({"laser": Laser()}, limit=100_000)
    laser = Client("127.0.0.1", server.port)
    for size in (100_000, 3_000_000):
        with pytest.raises(ValueError, match="more than 100000 bytes cannot be sent at a time"):
            laser.echo("x" * size)
        assert laser.echo("y" * 90_000) == ("y" * 90_000,)

    async def work():
        other = AsyncClient()
        await other.connect_rpc("127.0.0.1", server.port)
        with pytest.raises(ValueError, match="more than 100000 bytes"):
            await other.echo("x" * 100_000)
        assert await other.settled() == 0.0
        other.close_rpc()

    asyncio.run(work())
    monkeypatch.setattr(Client, "_limit", 10_000)
    with pytest.raises(ControllerError, match="more than 10000 bytes cannot be sent at a time"):
        laser.echo("y" * 20_000)
    assert laser.settled() == 0.0
    laser.close_rpc()
    server.stop()


def test_lines_of_a_session_match_the_protocol(running):
    """Lines as in the specification, as another client of the protocol sends and receives them."""
    with socket.create_connection(("127.0.0.1", running.port), TIMEOUT) as connection:
        stream = connection.makefile("rwb")

        def exchange(line):
            stream.write(line + b"\n")
            stream.flush()
            return pyon.decode(stream.readline().decode())

        greeting = exchange(b"ARTIQ pc_rpc")
        assert greeting == {"targets": ["laser"], "description": "a test", "features": ["pyon_v2"]}
        assert {"set_power", "echo", "terminate"} <= exchange(b"laser pyon_v2")
        call = {"action": "call", "name": "set_power", "args": [1], "kwargs": {}}
        assert exchange(json.dumps(call).encode()) == {"status": "ok", "ret": {"power": 1, "ramp": False}}
        refused = exchange(json.dumps(call | {"name": "_inner"}).encode())
        assert refused["status"] == "failed" and refused["exception"]["class"] == "AttributeError"
        assert exchange(b'{"action": "dance"}')["exception"]["class"] == "ValueError"


def test_lost_connection_is_reestablished_at_next_call(running):
    laser = Client("127.0.0.1", running.port)
    laser._socket.shutdown(socket.SHUT_RDWR)
    with pytest.raises(ControllerError):
        laser.settled()
    assert laser.settled() == 0.0
    laser.close_rpc()


def test_client_rejects_silent_or_absent_service():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(ControllerError, match="does not answer"):
            Client("127.0.0.1", port, timeout=0.1)
    with pytest.raises(ControllerError, match=rf"port {port} .*`kairos controllers` starts it"):
        Client("127.0.0.1", port)


def test_target_is_selected_by_name():
    server = Running({"red": Laser(), "blue": Laser()})
    with pytest.raises(Incompatible, match="several targets, select one with target_name: blue, red"):
        Client("127.0.0.1", server.port)
    with pytest.raises(Incompatible, match="no target 'green'; it has blue, red"):
        Client("127.0.0.1", server.port, "green")
    red, blue = (Client("127.0.0.1", server.port, name) for name in ("red", "blue"))
    red.set_power(1.0)
    assert (red.settled(), blue.settled()) == (1.0, 0.0)
    blue.terminate()
    server.thread.join(TIMEOUT)
    assert not server.thread.is_alive()


def test_asynchronous_client_gets_answers_in_order(running):
    async def talk():
        laser = AsyncClient()
        with pytest.raises(ControllerError, match="connect_rpc"):
            await laser.anything()
        await laser.connect_rpc("127.0.0.1", running.port)
        answers = await asyncio.gather(*(laser.echo(n) for n in range(10)))
        laser.close_rpc()
        return answers

    assert asyncio.run(talk()) == [(n,) for n in range(10)]


def test_best_effort_client_survives_lost_server(caplog):
    port = free_port()
    laser = BestEffortClient("127.0.0.1", port, retry=0.05)
    assert laser.set_power(1.0) is None
    server = Running({"laser": Laser()}, port)
    until(lambda: laser.set_power(2.0) is not None, lambda: "no answer of the server")
    server.stop()
    assert laser.settled() is None
    server = Running({"laser": Laser()}, port)
    until(lambda: laser.settled() == 0.0, lambda: "no answer of the new server")
    laser.close_rpc()
    server.stop()
    assert "is there again" in caplog.text


def test_controllers_of_database_become_devices(running):
    entry = {"type": "controller", "host": "127.0.0.1", "port": running.port}
    entries = {
        "laser": entry | {"target_name": "laser"},
        "lazy": entry | {"best_effort": True},
        "aux": {"type": "controller_aux_target", "controller": "laser", "target_name": "laser", "best_effort": True},
        "absent": entry | {"target_name": "maser"},
    }
    manager = DeviceManager(DeviceDB(entries))
    assert isinstance(manager.get("laser"), Client)
    assert isinstance(manager.get("lazy"), BestEffortClient) and isinstance(manager.get("aux"), BestEffortClient)
    assert manager.get("aux").echo(1) == (1,)
    with pytest.raises(Exception, match="Failed to create device 'absent'.*no target 'maser'; it has laser"):
        manager.get("absent")
    manager.close_devices()


def test_client_without_feature_is_served_in_version_1(running):
    with socket.create_connection(("127.0.0.1", running.port), TIMEOUT) as connection:
        stream = connection.makefile("rwb")

        def exchange(line):
            stream.write(line + b"\n")
            stream.flush()
            return stream.readline()

        assert exchange(b"ARTIQ pc_rpc").startswith(b"{")
        assert exchange(b"laser").startswith(b'{"')
        call = b'{"action": "call", "name": "echo", "args": ((1, 2), null, slice(0, 1, null)), "kwargs": {}}'
        assert exchange(call) == b'{"status": "ok", "ret": ((1, 2, ), null, slice(0, 1, null), )}\n'


def test_unknown_feature_closes_the_connection(running):
    with socket.create_connection(("127.0.0.1", running.port), TIMEOUT) as connection:
        connection.sendall(b"ARTIQ pc_rpc\nlaser pyon_v3\n")
        stream = connection.makefile("rb")
        assert stream.readline() and stream.readline() == b""


def test_exception_not_built_in_is_sent_under_the_generic_name(running):
    with socket.create_connection(("127.0.0.1", running.port), TIMEOUT) as connection:
        stream = connection.makefile("rwb")
        stream.write(
            b'ARTIQ pc_rpc\nlaser pyon_v2\n{"action": "call", "name": "fail", "args": ["odd"], "kwargs": {}}\n'
        )
        stream.flush()
        failed = [json.loads(stream.readline()) for _ in range(3)][2]["exception"]
        assert failed["class"] == "GenericRemoteException"
        assert re.fullmatch(r"[\w.]*test_controllers\.Odd: too bright", failed["message"])
        assert all(isinstance(line, str) for line in failed["traceback"])


def test_server_without_features_is_spoken_to_in_version_1():
    """A server of ARTIQ up to version 8."""
    received = []

    def serve():
        connection, _ = listening.accept()
        with connection, connection.makefile("rwb") as stream:
            for answer in (
                b'{"targets": ["old"], "description": null}',
                b'{"echo"}',
                b'{"status": "ok", "ret": (1, )}',
            ):
                received.append(stream.readline())
                stream.write(answer + b"\n")
                stream.flush()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        old = Client("127.0.0.1", listening.getsockname()[1])
        assert old.echo((2,)) == (1,)
        old.close_rpc()
        thread.join(TIMEOUT)
    assert received[1] == b"old\n"
    assert received[2] == b'{"action": "call", "name": "echo", "args": ((2, ), ), "kwargs": {}}\n'
