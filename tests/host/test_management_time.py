"""How long a request of management may take: the more a device has to store, the longer."""

import socket
import struct
import threading
from contextlib import contextmanager

import pytest

from kairos.contracts.management import Reply
from kairos.errors import ConnectionLost
from kairos.network.management import STORED_PER_SECOND, Management

TIMEOUT = 0.2


@contextmanager
def slow_device():
    """A device that answers a request when twice the timeout of a short one has passed; yields its port."""

    def serve():
        with server.accept()[0] as client:
            client.sendall(b"e")
            client.recv(1 << 16)
            client.settimeout(2 * TIMEOUT)
            try:
                while client.recv(1 << 16):
                    pass
            except TimeoutError:
                client.sendall(struct.pack("B", Reply.SUCCESS))

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1]
        thread.join()


def test_long_value_may_be_stored_for_longer_than_a_short_one():
    value = bytes(60 * STORED_PER_SECOND)
    with slow_device() as port, Management("127.0.0.1", port, timeout=TIMEOUT) as management:
        management.config_write("samples", value)
    with slow_device() as port, Management("127.0.0.1", port, timeout=TIMEOUT) as management:
        with pytest.raises(ConnectionLost, match="timed out"):
            management.config_write("samples", b"1")
