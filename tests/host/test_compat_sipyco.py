"""The modules of ``sipyco`` that laboratories import, besides pc_rpc and pyon."""

import asyncio
import copy
import logging
import sys
from importlib.metadata import distributions

import pytest

from kairos import compat
from tests.support.ports import free_port

INSTALLED = any(distribution.name == "sipyco" for distribution in distributions())
pytestmark = pytest.mark.skipif(INSTALLED, reason="SiPyCo itself is installed")
compat.install()

CHILD = """
import asyncio, sys
from kairos import compat
compat.install()
from sipyco.pipe_ipc import AsyncioChildComm, ChildComm

def plain():
    pipe = ChildComm(sys.argv[2])
    while line := pipe.readline():
        pipe.write(line.upper())
    pipe.close()

async def streams():
    pipe = AsyncioChildComm(sys.argv[2])
    await pipe.connect()
    while line := await pipe.readline():
        pipe.write(line.upper())
        await pipe.drain()
    pipe.close()

plain() if sys.argv[1] == "plain" else asyncio.run(streams())
"""


@pytest.mark.parametrize("kind", ["plain", "streams"])
def test_child_answers_through_pipes(kind):
    from sipyco.pipe_ipc import AsyncioParentComm

    async def talk():
        pipe = AsyncioParentComm()
        await pipe.create_subprocess(sys.executable, "-c", CHILD, kind, pipe.get_address())
        answers = []
        for line in (b"first\n", b"x" * 200_000 + b"\n"):
            pipe.write(line)
            answers.append(await pipe.readline())
        pipe.close()
        return answers, await pipe.process.wait()

    (first, second), code = asyncio.run(talk())
    assert (first, len(second), code) == (b"FIRST\n", 200_001, 0)


def test_task_object_is_cancelled_and_raises_its_error():
    from sipyco.asyncio_tools import TaskObject

    class Waits(TaskObject):
        ended = False

        async def _do(self):
            try:
                await asyncio.Event().wait()
            finally:
                self.ended = True

    class Fails(TaskObject):
        async def _do(self):
            raise OSError("no card")

    async def main():
        waits, fails = Waits(), Fails()
        waits.start()
        fails.start()
        await asyncio.sleep(0)
        await waits.stop()
        with pytest.raises(OSError, match="no card"):
            await fails.stop()
        return waits.ended

    assert asyncio.run(main())


def test_condition_notified_by_a_server_connection_wakes_its_waiter():
    from sipyco.asyncio_tools import AsyncioServer, Condition

    class Echo(AsyncioServer):
        async def _handle_connection_cr(self, reader, writer):
            while line := await reader.readline():
                writer.write(line)
                seen.append(line)
                changed.notify()

    async def main():
        server = Echo()
        await server.start("127.0.0.1", 0)
        port = server.server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        notified = asyncio.create_task(changed.wait())
        await asyncio.sleep(0)
        writer.write(b"hello\n")
        assert await reader.readline() == b"hello\n"
        await notified
        await server.stop()
        assert await reader.read() == b""
        writer.close()

    seen, changed = [], Condition()
    asyncio.run(main())
    assert seen == [b"hello\n"]


def test_signal_ends_the_wait():
    import os
    import signal

    from sipyco.asyncio_tools import SignalHandler

    async def main():
        handler = SignalHandler()
        handler.setup()
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.wait_for(handler.wait_terminate(), 60)
        finally:
            handler.teardown()

    asyncio.run(main())


def test_formatted_records_are_parsed_again(caplog):
    from sipyco.logging_tools import LogParser, MultilineFormatter

    parser = LogParser(lambda: "worker(7,scan.py)")
    formatter = MultilineFormatter()
    with caplog.at_level(logging.DEBUG):
        for name, level, text in [("lab.laser", logging.ERROR, "lost\nat 3 V\n"), ("x", logging.DEBUG, "a:b<2>:c")]:
            record = logging.LogRecord(name, level, "", 0, text, None, None)
            for line in formatter.format(record).split("\n"):
                parser.line_input(line)
        for line in ["only printed", "WARNING<3>:x", "NOLEVEL:a:b", "INFO<1>:n:"]:
            parser.line_input(line)
    found = [(record.name, record.levelname, record.getMessage()) for record in caplog.records]
    assert found == [
        ("lab.laser", "ERROR", "lost\nat 3 V\n"),
        ("x", "DEBUG", "a:b<2>:c"),
        ("print", "INFO", "only printed"),
        ("print", "INFO", "WARNING<3>:x"),
        ("print", "INFO", "NOLEVEL:a:b"),
        ("n", "INFO", ""),
    ]
    assert {record.source for record in caplog.records} == {"worker(7,scan.py)"}


def test_log_records_are_forwarded_to_server():
    from sipyco.logging_tools import LogForwarder

    received = asyncio.Queue()

    async def accept(reader, writer):
        while line := await reader.readline():
            received.put_nowait(line)
        writer.close()

    async def main():
        server = await asyncio.start_server(accept, "127.0.0.1", 0)
        forwarder = LogForwarder("127.0.0.1", server.sockets[0].getsockname()[1], reconnect_timer=0.01)
        forwarder.start()
        record = logging.LogRecord("lab", logging.WARNING, "", 0, "two\nlines", None, None)
        record.source = "ctlmgr(host)"
        forwarder.emit(record)
        lines = [await asyncio.wait_for(received.get(), 60) for _ in range(3)]
        await forwarder.stop()
        server.close()
        return lines

    assert asyncio.run(main()) == [b"ARTIQ logging\n", b"ctlmgr(host):WARNING<2>:lab:two\n", b"lines\n"]


def test_filter_gives_records_their_source():
    from sipyco.logging_tools import SourceFilter

    chosen = SourceFilter(logging.WARNING, "master")
    own = logging.LogRecord("a", logging.INFO, "", 0, "", None, None)
    assert not chosen.filter(own) and own.source == "master"
    foreign = logging.LogRecord("a", logging.INFO, "", 0, "", None, None)
    foreign.source = "worker(1,a.py)"
    assert chosen.filter(foreign)


def test_code_of_a_client_runs_at_the_controller():
    from sipyco.remote_exec import RemoteExecServer

    class Stage:
        position = 0

        def move(self, steps):
            self.position += steps
            return self.position

    executor = RemoteExecServer({"controller_driver": Stage()})
    executor.add_code(
        """
        import math
        def scan(count):
            return [controller_driver.move(n) * math.prod([2]) for n in range(count)]
        """
    )
    assert executor.call("scan", 4) == [0, 2, 6, 12]
    with pytest.raises(ZeroDivisionError):
        executor.add_code("1 / 0")
    with pytest.raises(KeyError):
        executor.call("there_is_no_such_function")


def test_options_of_a_controller_are_read():
    import argparse

    from sipyco import common_args

    parser = argparse.ArgumentParser()
    common_args.simple_network_args(parser, 3250)
    common_args.verbosity_args(parser)
    args = parser.parse_args(["-p", "77", "--bind", "10.0.0.1", "-v"])
    assert args.port == 77 and common_args.bind_address_from_args(args)[0] == "10.0.0.1" and args.verbose == 1


def test_notifier_reports_changes_that_others_apply():
    from sipyco.sync_struct import ModAction, Notifier, process_mod

    changes = []
    notifier = Notifier({"scan": {"points": [1]}, "old": 0})
    notifier.publish = lambda change: changes.append(copy.deepcopy(change))
    points = notifier["scan"]["points"]
    points.append(2)
    points.insert(0, 0)
    assert points.pop(1) == 1
    points[0] = [10]
    points[0].append(11)
    notifier["new"] = {}
    notifier["new"]["x"] = 5
    del notifier["old"]
    with pytest.raises(KeyError):
        del notifier["nothing"]
    made = process_mod(None, {"action": "init", "struct": {"scan": {"points": [1]}, "old": 0}})
    for change in changes:
        made = process_mod(made, change)
    assert made == notifier.raw_view == {"scan": {"points": [[10, 11], 2]}, "new": {"x": 5}}
    assert [ModAction(change["action"]) for change in changes[:3]] == [
        ModAction.append, ModAction.insert, ModAction.pop,
    ]  # fmt: skip
    assert changes[4]["path"] == ["scan", "points", 0]


def test_subscribers_follow_published_notifiers():
    from sipyco.sync_struct import Notifier, Publisher, Subscriber

    async def main():
        notifier = Notifier({"a": [1]})
        publisher = Publisher({"datasets": notifier})
        with pytest.raises(ValueError, match="published already"):
            publisher.add_notifier("datasets", notifier)
        await publisher.start("127.0.0.1", port := free_port())
        seen, changed, lost = [], asyncio.Event(), asyncio.Event()
        copies = []

        def build(struct):
            copies.append(struct)
            return struct

        def notify(change):
            seen.append(change["action"])
            if "end" in copies[-1]:
                changed.set()

        subscriber = Subscriber("datasets", build, notify, lost.set)
        await subscriber.connect("127.0.0.1", port)
        while not seen:
            await asyncio.sleep(0)
        notifier["a"].append(2)
        notifier["b"] = (3, None)
        notifier["end"] = True
        await asyncio.wait_for(changed.wait(), 60)
        assert copies == [{"a": [1, 2], "b": (3, None), "end": True}]
        assert seen == ["init", "append", "setitem", "setitem"]
        other = Subscriber("datasets", build, [seen.append])
        await other.connect("127.0.0.1", port)
        await other.close()
        nothing = Subscriber("nothing", build, None, lost_name.set)
        await nothing.connect("127.0.0.1", port)
        await asyncio.wait_for(lost_name.wait(), 60)
        await publisher.stop()
        await asyncio.wait_for(lost.wait(), 60)
        await subscriber.close()

    lost_name = asyncio.Event()
    asyncio.run(main())
