"""A device that sends what no device sends: lengths without data, impossible values, exceptions that are none."""

import socket
import struct
import subprocess
import sys
import threading
from contextlib import contextmanager
from types import SimpleNamespace

from kairos.compiler import EmbeddingMap
from kairos.contracts.session import HOST_STRING, Reply
from kairos.session import Session
from tests.support import TIMEOUT
from tests.support.paths import ROOT


def message(kind, payload=b""):
    return b"ZZZZ" + bytes([kind]) + payload


BEGIN = b"e" + message(Reply.SYSTEM_INFO, b"ARZQ")
LOADED = BEGIN + message(Reply.LOAD_COMPLETED)
HUGE = struct.pack("<I", 3_000_000_000)


def call(arguments=b"", service=7, tag=b"\1\0\0\0n"):
    return LOADED + message(Reply.RPC_REQUEST, b"\0" + struct.pack("<I", service) + arguments + b"\0" + tag)


def text(said):
    return struct.pack("<I", len(said)) + said


def raised(name=b"0:ValueError", said=b"bad", count=1, frames=b"\0\0\0\0"):
    """A report of an exception, whose name is a host string with key 0 unless it is given as bytes."""
    one = struct.pack("<I", 0) + text(said) + bytes(24) + text(b"f.py") + bytes(8) + text(b"run")
    return LOADED + message(Reply.KERNEL_EXCEPTION, struct.pack("<I", count) + one + bytes(12) + frames + b"\0")


INT = b"i" + bytes(4)
CASES = {
    "reason": BEGIN + message(Reply.LOAD_FAILED, HUGE),
    "text": call(b"s" + HUGE),
    "bytes": call(b"B" + HUGE),
    "list": call(b"l" + HUGE + b"i"),
    "list of texts": call(b"l" + HUGE + b"s" + HUGE),
    "array": call(b"a\x03" + 3 * HUGE + b"f"),
    "empty array of many dimensions": call(b"a\xff" + 255 * bytes(4) + b"i"),
    "empty array that is too large": call(b"a\x03" + bytes(4) + 2 * b"\xff\xff\xff\x7f" + b"f"),
    "keyword": call(b"k" + HUGE),
    "return tag": call(tag=HUGE),
    "fraction": call(b"F" + struct.pack("<qq", 1, 0)),
    "range without step": call(b"r" + 3 * INT),
    "range of texts": call(b"r" + 3 * (b"s" + text(b"a"))),
    "unknown object": call(b"O" + HUGE),
    "unknown function": call(service=99),
    "nesting": call(b"t\x01" * 100 + INT),
    "attribute without value": call(INT, service=0),
    "attribute of no name": call(INT + INT + INT, service=0),
    "attribute that cannot be": call(b"O\1\0\0\0" + b"s" + text(b"data") + INT + b"B" + text(b"l"), service=0),
    "exceptions": raised(count=4_000_000_000),
    "frames": raised(frames=b"\xff\xff\xff\xff"),
    "message of an exception": LOADED + message(Reply.KERNEL_EXCEPTION, struct.pack("<II", 1, 0) + HUGE),
    "host string": LOADED + message(Reply.KERNEL_EXCEPTION, struct.pack("<III", 1, 0, HOST_STRING) + HUGE + bytes(100)),
    "no exception": LOADED + message(Reply.KERNEL_EXCEPTION, bytes(9)),
    "unknown message": LOADED + message(200),
    "noise": LOADED + bytes(range(60, 80)) * 1000,
}


class Holder:
    """An object of the host, with an array that the kernel has used."""

    def __init__(self):
        self.data = [[1, 2], [3]]


@contextmanager
def device(content, closes=True):
    """A device that sends this to each client, regardless of its requests; yields its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer(client):
            with client:
                try:
                    client.sendall(content)
                    if closes:
                        client.shutdown(socket.SHUT_WR)
                    while client.recv(1 << 16):
                        pass
                except OSError:
                    pass  # the host has had enough

        def serve():
            while True:
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                # The host may ask a second time before it closes the first connection.
                threading.Thread(target=answer, args=(client,), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


def run(port):
    """Run a kernel on a device; returns the calls that it has made."""
    embedding, calls = EmbeddingMap(), []
    holder = Holder()
    embedding.remember_attribute(embedding.store_object(holder), "data", holder.data)
    while embedding.store_object(lambda *args, **kwargs: calls.append((args, kwargs))) < 7:
        pass
    compiled = SimpleNamespace(
        library=b"", subkernels=(), embedding=embedding, symbolize=lambda addresses: [], timings={"total": 0.0}
    )
    session = Session("127.0.0.1", port)
    try:
        session.run_kernel(compiled)
    finally:
        session.close()
    return calls


GIGABYTES = ("reason", "text", "list", "array", "return tag", "message of an exception")
"""Cases with a large length."""


def peak_mib(case):
    """Return the maximum resident memory of a session in a process of its own."""
    with device(CASES[case], closes=False) as port:
        code = (
            "import sys; from tests.support.hostile_device import run\n"
            f"try: run({port})\nexcept Exception as error: print(error, file=sys.stderr)\n"
            "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
        )
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT)
    assert "violated the session protocol" in done.stderr, done.stderr
    return int(done.stdout) >> 10
