"""The session client with a scripted peer: the data it sends, and its errors when the peer misbehaves."""

import contextlib
import socket
import struct
import threading

import pytest

from kairos.coredevice.exceptions import RPCReturnValueError, RTIOUnderflow, UnsupportedDevice
from kairos.errors import ConnectionLost, DeviceUnreachable, LoadError, UsageError
from kairos.session import Session, connection
from tests.support import TIMEOUT

SYNC = b"\x5a" * 4
GREETING = b"ARTIQ coredev\n"


class Peer:
    """Accepts one connection and runs `script(conversation)` on it in a thread."""

    def __init__(self, script):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.error = None
        self.thread = threading.Thread(target=self._run, args=(script,), daemon=True)
        self.thread.start()

    def _run(self, script):
        self.socket, _ = self.listener.accept()
        self.socket.settimeout(TIMEOUT)
        try:
            script(self)
        except BaseException as error:
            self.error = error
        finally:
            self.socket.close()
            self.listener.close()

    def read(self, count):
        data = b""
        while len(data) < count:
            chunk = self.socket.recv(count - len(data))
            assert chunk, "client closed"
            data += chunk
        return data

    def expect(self, data):
        assert self.read(len(data)) == data

    def send(self, data):
        self.socket.sendall(data)

    def greet(self):
        self.expect(GREETING)
        self.send(b"e")
        self.expect(SYNC + b"\3")
        self.send(SYNC + b"\2ARZQ")

    def start(self, library=b"\x7fELF"):
        self.greet()
        self.expect(SYNC + b"\5" + struct.pack("<I", len(library)) + library)
        self.send(SYNC + b"\5")
        self.expect(SYNC + b"\6")

    def done(self):
        self.thread.join(TIMEOUT)
        if self.error is not None:
            raise self.error


class Embedding:
    def __init__(self, objects=(), strings=()):
        self.objects = dict(enumerate(objects, 1))
        self.strings = list(strings)
        self.errors = []
        self.calls_host = True

    def retrieve_object(self, key):
        return self.objects[key]

    def store_object(self, value):
        self.objects[len(self.objects) + 1] = value
        return len(self.objects)

    def retrieve_str(self, key):
        return self.strings[key]

    def write_back(self, target, name, value, tag=None):
        setattr(target, name, value)

    def classes_caught(self, cls):
        return -1, 0, 5

    def exception_class(self, key):
        return None

    def keep_host_exception(self, name, message, error):
        self.kept = (name, message, error)

    def store_str(self, text):
        self.strings.append(text)
        return len(self.strings) - 1


class Compiled:
    library = b"\x7fELF"
    timings = {"total": 0.001}
    subkernels = ()

    def __init__(self, *objects, strings=()):
        self.embedding = Embedding(objects, strings)

    def symbolize(self, addresses):
        return []


def converse(script, compiled=None):
    """Runs a kernel on a peer with `script`; returns the session."""
    peer = Peer(script)
    session = Session("127.0.0.1", peer.port)
    try:
        session.run_kernel(compiled or Compiled())
    finally:
        session.close()
        peer.done()
    return session


def test_kernel_without_result_ends_the_run():
    def script(peer):
        peer.start()
        peer.send(SYNC + b"\7\0")

    assert converse(script).statistics.kernels == 1


def test_synchronous_rpc_is_answered_with_its_result():
    def script(peer):
        peer.start()
        peer.send(SYNC + b"\x0a\0" + struct.pack("<I", 1) + b"f" + struct.pack("<d", 1.5) + b"\0\1\0\0\0i")
        peer.expect(SYNC + b"\7\1\0\0\0i\3\0\0\0")
        peer.send(SYNC + b"\7\0")

    calls = []
    session = converse(script, Compiled(lambda x: calls.append(x) or 3))
    assert calls == [1.5] and session.statistics.rpcs == 1


def test_changed_attributes_are_written_back():
    class Target:
        x = 0

    def script(peer):
        peer.start()
        peer.send(SYNC + b"\x0a\1" + bytes(4) + b"O\1\0\0\0" + b"s\1\0\0\0x" + b"i\x2a\0\0\0" + b"\0\1\0\0\0n")
        peer.send(SYNC + b"\7\0")

    target = Target()
    converse(script, Compiled(target))
    assert target.x == 42


def test_rpc_exception_is_sent_to_kernel():
    def fail():
        raise KeyError("no such key")

    def script(peer):
        peer.start()
        peer.send(SYNC + b"\x0a\0\1\0\0\0\0\1\0\0\0n")
        peer.expect(SYNC + b"\x08" + struct.pack("<II", 0, 1) + struct.pack("<qqq", -1, 0, 5) + struct.pack("<I", 2))
        line, column, function = struct.unpack("<iiI", peer.read(12))
        assert line > 0 and column >= 0 and function == 3
        peer.send(SYNC + b"\7\0")

    compiled = Compiled(fail)
    converse(script, compiled)
    assert compiled.embedding.strings[0] == "0:KeyError"
    assert compiled.embedding.strings[1] == "no such key"
    assert compiled.embedding.strings[2] == __file__
    assert compiled.embedding.kept[:2] == (0, 1) and type(compiled.embedding.kept[2]) is KeyError


def test_wrong_return_value_closes_the_connection():
    def script(peer):
        peer.start()
        peer.send(SYNC + b"\x0a\0\1\0\0\0\0\1\0\0\0i")
        assert peer.socket.recv(1) == b""

    with pytest.raises(RPCReturnValueError, match="cannot serialize 'x' as int32; returned by .*test_session.py"):
        converse(script, Compiled(lambda: "x"))


def kernel_exception(message, params, frames=()):
    host_string = lambda key: struct.pack("<II", 0xFFFFFFFF, key)  # noqa: E731
    record = struct.pack("<I", 0) + struct.pack("<I", len(message)) + message
    record += struct.pack("<qqq", *params) + host_string(1) + struct.pack("<ii", 12, 4) + host_string(2)
    report = SYNC + b"\x09" + struct.pack("<I", 1) + record + struct.pack("<III", 0, 0, len(frames))
    report += struct.pack("<I", len(frames)) + b"".join(struct.pack("<II", *frame) for frame in frames)
    return report + b"\0"


STRINGS = ("0:artiq.coredevice.exceptions.RTIOUnderflow", "ttl.py", "(Rust function)")


def test_kernel_exception_is_raised_on_host():
    def script(peer):
        peer.start()
        peer.send(
            kernel_exception(
                b"RTIO underflow at {1} mu, channel 0x0004:ttl4, slack {2} mu",
                (4, 1000, -20),
                [(0x10, 100), (0x20, 200)],
            )
        )

    asked = []
    compiled = Compiled(strings=STRINGS)
    compiled.symbolize = lambda addresses: asked.extend(addresses) or []
    with pytest.raises(RTIOUnderflow) as caught:
        converse(script, compiled)
    assert str(caught.value) == "RTIO underflow at 1000 mu, channel 0x0004:ttl4, slack -20 mu"
    text = str(caught.value.artiq_core_exception)
    assert text.startswith("Core Device Traceback:\nTraceback (most recent call first):\n")
    assert 'File "ttl.py", line 12, column 5, in (Rust function)' in text
    assert "artiq.coredevice.exceptions.RTIOUnderflow(0): RTIO underflow at 1000 mu" in text
    assert text.endswith("End of Core Device Traceback")
    assert asked == [0x10, 0x20]


def test_message_without_format_is_unchanged():
    def script(peer):
        peer.start()
        peer.send(kernel_exception(b"{foo} {9}", (0, 0, 0)))

    with pytest.raises(RTIOUnderflow, match=r"^\{foo\} \{9\}$"):
        converse(script, Compiled(strings=STRINGS))


def test_asynchronous_errors_are_logged_as_warning(caplog):
    def script(peer):
        peer.start()
        peer.send(SYNC + b"\7\5")

    converse(script)
    assert "collision(s), sequence error(s) reported during kernel execution" in caplog.text


def test_rejected_library_raises_load_error():
    def script(peer):
        peer.greet()
        peer.read(13)
        peer.send(SYNC + b"\6\5\0\0\0wrong")

    with pytest.raises(LoadError, match="the core device refused the kernel: wrong"):
        converse(script)


# Devices that are unreachable, or of another kind.


def test_refused_connection_is_device_unreachable():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(DeviceUnreachable, match=f"port {port} refuses connections"):
        Session("127.0.0.1", port).run_kernel(Compiled())


def test_silent_device_is_reported_as_unreachable(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        with pytest.raises(DeviceUnreachable, match="no answer from the core device .* within 0.2 s"):
            connection.Connection("127.0.0.1", listener.getsockname()[1], timeout=0.2)


def test_service_with_other_greeting_is_rejected():
    def script(peer):
        peer.expect(GREETING)
        peer.send(b"HTTP/1.1 400 Bad Request")

    with pytest.raises(UnsupportedDevice, match=r"not a core device \(it sent 0x48\)"):
        converse(script)


def test_service_that_closes_immediately_is_rejected():
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    listener.accept()[0].close()

        threading.Thread(target=serve, daemon=True).start()
        with pytest.raises(UnsupportedDevice, match="closed immediately"):
            connection.Connection("127.0.0.1", listener.getsockname()[1], timeout=TIMEOUT)


def test_device_with_other_runtime_is_rejected():
    def script(peer):
        peer.expect(GREETING)
        peer.send(b"e")
        peer.expect(SYNC + b"\3")
        peer.send(SYNC + b"\2XXXX")

    with pytest.raises(UnsupportedDevice, match="runtime b'XXXX'"):
        converse(script)


def test_connection_closed_during_kernel_is_connection_lost():
    with pytest.raises(ConnectionLost, match="was lost"):
        converse(lambda peer: peer.start())


def test_unknown_message_during_kernel_is_connection_lost():
    def script(peer):
        peer.start()
        peer.send(SYNC + b"\x63")

    with pytest.raises(ConnectionLost, match="violated the session protocol: unknown message type 99"):
        converse(script)


def test_missing_reply_is_reported_as_connection_lost(monkeypatch):
    monkeypatch.setattr(connection, "REPLY_TIMEOUT", 0.2)

    def script(peer):
        peer.greet()
        peer.read(13)
        assert peer.socket.recv(1) == b""

    with pytest.raises(ConnectionLost, match="stopped answering"):
        converse(script)


def test_host_addresses_are_parsed_or_rejected():
    assert (Session.for_host("10.0.0.1").host, Session.for_host("10.0.0.1").port) == ("10.0.0.1", 1381)
    assert Session.for_host("localhost:4001").port == 4001
    assert Session.for_host("fe80::1").host == "fe80::1"
    with pytest.raises(UsageError):
        Session.for_host("localhost:name")
