"""Structures and messages that clients follow, and records of logs, over real sockets."""

import asyncio
import json
import socket
import threading

import pytest

from kairos import pyon
from kairos.controllers.logs import LINE_LIMIT, LogReceiver, Records
from kairos.controllers.publishing import MESSAGES, WAITING, Broadcaster, Publication, Publisher
from kairos.controllers.sockets import LOCAL, bound
from kairos.errors import UsageError
from tests.support import TIMEOUT
from tests.support.waiting import until


class Running:
    """Servers in a thread."""

    def __init__(self, *servers):
        self.loop = asyncio.new_event_loop()
        self.servers, self.ports = servers, []
        ready = threading.Event()
        self.thread = threading.Thread(target=self._run, args=(ready,), daemon=True)
        self.thread.start()
        assert ready.wait(TIMEOUT)

    def _run(self, ready):
        async def start():
            for server in self.servers:
                sockets = bound(LOCAL, 0, "tests")
                self.ports.append(sockets[0].getsockname()[1])
                for connection in sockets:
                    await server.serve_on(connection)
            ready.set()

        self.loop.run_until_complete(start())
        self.loop.run_forever()

    def do(self, function, *args):
        """Call a function in the loop and return its result."""

        async def call():
            return function(*args)

        return asyncio.run_coroutine_threadsafe(call(), self.loop).result(TIMEOUT)

    def stop(self):
        for server in self.servers:
            asyncio.run_coroutine_threadsafe(server.stop(), self.loop).result(TIMEOUT)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(TIMEOUT)
        self.loop.close()


@pytest.fixture
def running():
    made = []

    def start(*servers):
        made.append(Running(*servers))
        return made[-1]

    yield start
    for each in made:
        each.stop()


def client(port, *lines, host="127.0.0.1", size=None):
    connection = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    if size is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)
    connection.settimeout(TIMEOUT)
    connection.connect((host, port))
    connection.sendall(b"".join(line + b"\n" for line in lines))
    return connection, connection.makefile("rb")


def test_structure_is_sent_and_then_its_changes(running):
    struct = {"a": 1}
    publication = Publication(lambda: struct)
    server = running(Publisher({"numbers": publication}))
    for host in LOCAL:
        connection, lines = client(server.ports[0], b"ARTIQ sync_struct", b"numbers", host=host)
        assert json.loads(lines.readline()) == {"action": "init", "struct": {"a": 1}}
        change = {"action": "setitem", "path": [], "key": "b", "value": 2}
        server.do(publication.changed, [change, change])
        assert [json.loads(lines.readline()) for _ in range(2)] == [change, change]
        connection.close()


@pytest.mark.parametrize("version", [1, 2])
def test_appended_numbers_are_encoded_as_every_change(running, version):
    publication = Publication(dict)
    server = running(Publisher({"numbers": publication}, version))
    values = [1, -2.5, 1e300, float("inf"), True, None, "a", 10**400, [1]]
    changes = [{"action": "append", "path": [key, 1], "x": value} for key in ("a", 'b"\u03bc') for value in values]
    connection, lines = client(server.ports[0], b"ARTIQ sync_struct", b"numbers")
    assert lines.readline()
    server.do(publication.changed, changes)
    assert [lines.readline().decode() for _ in changes] == [pyon.encode(change, version) + "\n" for change in changes]
    connection.close()


def test_client_that_names_version_2_gets_it_beside_those_of_version_1(running):
    publication = Publication(dict)
    server = running(Publisher({"numbers": publication}, 1))
    clients = [client(server.ports[0], b"ARTIQ sync_struct", name) for name in (b"numbers", b"numbers pyon_v2")]
    assert all(lines.readline() for _, lines in clients)
    change = {"action": "setitem", "path": [], "key": "a", "value": (1, None)}
    server.do(publication.changed, [change])
    for (connection, lines), version in zip(clients, (1, 2), strict=True):
        assert lines.readline().decode() == pyon.encode(change, version) + "\n"
        connection.close()


@pytest.mark.parametrize(
    "lines",
    [
        (b"ARTIQ pc_rpc", b"numbers"),
        (b"ARTIQ sync_struct", b"others"),
        (b"ARTIQ sync_struct", b"numbers x"),
        (b"ARTIQ broadcast", b"log"),
        (b"x" * 5000,),
    ],
)
def test_wrong_greeting_closes_the_connection(running, lines):
    server = running(Publisher({"numbers": Publication(dict)}))
    connection, received = client(server.ports[0], *lines)
    try:
        assert received.read() == b""
    except ConnectionResetError:
        pass
    connection.close()


def test_client_that_does_not_read_costs_bounded_memory_and_gets_newest_state(running):
    struct = {"number": 0, "filler": "x" * 100_000}
    publication = Publication(lambda: struct)
    publisher = Publisher({"numbers": publication})
    server = running(publisher)
    connection, lines = client(server.ports[0], b"ARTIQ sync_struct", b"numbers numbers", size=4096)
    first = json.loads(lines.readline())
    assert (first["struct"]["number"], first["number"], first["start"]) == (0, 0, publication.start)
    (session,) = publisher.sessions

    def change(number):
        struct["number"] = number
        publication.changed([{"action": "setitem", "path": [], "key": "number", "value": number}] * 1000)
        return session.transport.get_write_buffer_size()

    largest = max(server.do(change, number) for number in range(1, 1001))
    assert session.missed and largest < 2 * WAITING
    known = 0
    while (message := json.loads(lines.readline()))["action"] != "init":
        known += 1
        assert message["number"] == known
    # By the numbers it sees what it has missed.
    assert (message["struct"]["number"], message["number"]) == (1000, 1_000_000) and known < 1_000_000
    server.do(change, 1001)
    message = json.loads(lines.readline())
    assert (message["value"], message["number"]) == (1001, 1_000_001)
    connection.close()


def test_messages_reach_the_clients_of_their_channel(running):
    broadcaster = Broadcaster()
    server = running(broadcaster)
    connection, lines = client(server.ports[0], b"ARTIQ broadcast", b"log")
    until(lambda: broadcaster.sessions and next(iter(broadcaster.sessions))._followed)
    server.do(broadcaster.broadcast, "ccb", "not for it")
    server.do(broadcaster.broadcast, "log", [1, "text"])
    assert json.loads(lines.readline()) == [1, "text"]
    connection.close()


def test_messages_beyond_the_limit_are_dropped_for_a_client_that_does_not_read(running):
    broadcaster = Broadcaster()
    server = running(broadcaster)
    connection, lines = client(server.ports[0], b"ARTIQ broadcast", b"log", size=4096)
    until(lambda: broadcaster.sessions and next(iter(broadcaster.sessions))._followed)
    (session,) = broadcaster.sessions
    for number in range(6000):
        server.do(broadcaster.broadcast, "log", [number, "x" * 10_000])
    assert len(session.waiting) == MESSAGES
    last = json.loads(session.waiting[-1])[0]
    assert last < 5999
    received = []
    while not received or received[-1] != last:
        received.append(json.loads(lines.readline())[0])
    server.do(broadcaster.broadcast, "log", [9999, ""])
    assert json.loads(lines.readline())[0] == 9999
    assert received == list(range(last + 1))
    connection.close()


def test_records_are_put_together_from_lines():
    records = Records()
    lines = ["ERROR<3>:core:first", "second", "INFO:x:third", "hello", "NOISE:a:b", "WARN:n:m:o"]
    found = [record for line in lines for record in records.add(line)]
    assert found == [
        (40, "core:first\nsecond\nINFO:x:third"),
        (20, "print:hello"),
        (20, "print:NOISE:a:b"),
        (30, "n:m:o"),
    ]


def test_record_that_announces_many_lines_is_cut_off():
    records, line = Records(), "x" * (LINE_LIMIT // 4)
    found = [record for text in ["INFO<999999>:flood:", *[line] * 9] for record in records.add(text)]
    assert [len(text) for _, text in found][1:] == [len(f"print:{line}")] * 5
    assert found[0][1].startswith("flood:\nx") and len(found[0][1]) < LINE_LIMIT + 2 * len(line)


def test_source_with_an_endless_name_is_not_listened_to(running):
    taken = []
    server = running(LogReceiver(lambda *record: taken.append(record)))
    connection, _ = client(server.ports[0], b"ARTIQ logging", b"x" * 300 + b":INFO:driver:on")
    assert connection.recv(1) == b"" and not taken
    connection.close()


def test_records_are_received_over_the_network(running):
    taken = []
    server = running(LogReceiver(lambda *record: taken.append(record)))
    connection, _ = client(
        server.ports[0],
        b"ARTIQ logging",
        b"laser:INFO:driver:on",
        b"laser:ERROR<2>:driver:off",
        b"because",
        b"laser:what",
    )
    until(lambda: len(taken) == 3)
    assert taken == [
        ("laser", 20, "driver:on"),
        ("laser", 40, "driver:off\nbecause"),
        ("laser", 20, "print:what"),
    ]
    connection.sendall(b"no colon\n")
    assert connection.recv(1) == b""
    connection.close()


def test_port_in_use_is_reported_in_a_line():
    (one, *others) = bound(LOCAL, 0, "tests")
    with pytest.raises(UsageError, match=r"port \d+ for tests cannot be opened: Address already in use"):
        bound(LOCAL, one.getsockname()[1], "tests")
    for connection in (one, *others):
        connection.close()
