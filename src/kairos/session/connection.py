"""The TCP connection of a kernel session: greeting, framing, timeouts, and one clear message per
failure.

A message is ``5a 5a 5a 5a``, a type byte and a payload whose length follows only from its type; the
stream cannot be resynchronised, so any unexpected data end the connection.
"""

import socket
from collections.abc import Callable
from contextlib import suppress

from .. import _native, progress
from ..contracts.session import BIG_ENDIAN, GREETING, LITTLE_ENDIAN
from ..errors import ConnectionLost, DeviceUnreachable
from ..exceptions import UnsupportedDevice
from ..network.connect import ClosedAtOnce, connect

__all__ = ["Connection"]

_wire = _native.wire

CONNECT_TIMEOUT = 10.0
"""Timeout in seconds for accepting a connection and answering the greeting; the device may be
restarting."""

BLOCK = 1 << 20
"""Maximum bytes received at once."""
REPLY_TIMEOUT = 30.0
"""Timeout in seconds for requests that the device serves at once (all but a running kernel)."""


class Connection:
    """An open connection.

    `read(count)` returns exactly `count` bytes and blocks until they have arrived; ConnectionLost
    if they do not.
    """

    def __init__(self, host: str, port: int, timeout: float = CONNECT_TIMEOUT):
        self.where = f"{host}, port {port}"
        self.read = _wire.Inbox(self._receive)
        self._pending: list[bytes] = []
        try:
            self._socket, answer = connect(host, port, GREETING, timeout)
        except ClosedAtOnce:
            raise UnsupportedDevice(
                f"the connection to {self.where} was closed immediately: the peer is not a core device, or it is "
                "shutting down"
            ) from None
        except ConnectionRefusedError:
            raise DeviceUnreachable(
                f"the core device at {self.where} refuses connections: is it running, and is 'host' of 'core' in the "
                "device database right?"
            ) from None
        except socket.gaierror as error:
            raise DeviceUnreachable(
                f"address '{host}' of the core device cannot be resolved ({error.strerror}): check 'host' of 'core' in "
                "the device database"
            ) from None
        except TimeoutError:
            raise DeviceUnreachable(
                f"no answer from the core device at {self.where} within {timeout:g} s: is it on and booted, and "
                "is 'host' of 'core' in the device database right?"
            ) from None
        except OSError as error:
            raise DeviceUnreachable(
                f"cannot reach the core device at {self.where} ({error.strerror}): check the network and 'host' of "
                "'core' in the device database"
            ) from None
        self._configure()
        self._check(answer)

    def _configure(self):
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        # Detect a dead device within about ten seconds, even while a kernel runs and nothing is
        # sent.
        for name, value in (("TCP_KEEPIDLE", 4), ("TCP_KEEPINTVL", 2), ("TCP_KEEPCNT", 3)):
            if hasattr(socket, name):
                self._socket.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)

    def _check(self, answer):
        if answer[0] == LITTLE_ENDIAN:
            return
        self.close()
        if answer[0] == BIG_ENDIAN:
            raise UnsupportedDevice(
                f"the core device at {self.where} is big-endian; kernels are compiled for the little-endian Cortex-A9"
            )
        raise UnsupportedDevice(
            f"the service at {self.where} is not a core device (it sent 0x{answer[0]:02x}): check 'host' of "
            "'core' in the device database"
        )

    def close(self):
        """Disconnect."""
        self._socket.close()

    def shut_down(self):
        """Disconnect while another thread reads, for which the connection is lost."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    # Reading

    def set_reply_expected(self, expected: bool):
        """Set whether the device owes a reply, so that silence is an error; a running kernel may be
        silent forever."""
        self._socket.settimeout(REPLY_TIMEOUT if expected else None)

    def _receive(self, missing):
        """Receive at least `missing` bytes."""
        chunks = []
        while missing > 0:
            try:
                # In blocks: the number comes from the device, and may be wrong.
                chunk = self._socket.recv(min(max(65536, missing), BLOCK))
            except TimeoutError:
                raise ConnectionLost(
                    f"the core device at {self.where} stopped answering (nothing for {REPLY_TIMEOUT:g} s): see its "
                    "log, or restart it"
                ) from None
            except OSError as error:
                raise ConnectionLost(self._lost(error.strerror or str(error))) from None
            if not chunk:
                raise ConnectionLost(self._lost("it closed the connection"))
            chunks.append(chunk)
            missing -= len(chunk)
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def _lost(self, why):
        return (
            f"the connection to the core device at {self.where} was lost ({why}): it may have restarted, hit a "
            "fault, or be in use by another client; see its log"
        )

    def read_u8(self) -> int:
        """Read a byte."""
        return self.read(1)[0]

    def read_text(self) -> str:
        """Read a length-prefixed text."""
        return _wire.read_text(self.read)

    def read_type(self) -> int:
        """Read the type of the next message. Bytes before its synchronisation word are skipped."""
        return _wire.read_type(self.read)

    def read_system_info(self) -> tuple[bytes, bool, tuple[str, bool] | None]:
        """Read the runtime id, whether it is known, and for a soft core its identifier and whether
        its last kernel ended properly."""
        return _wire.read_system_info(self.read)

    def read_call(self, retrieve_object) -> tuple[bool, int, list, dict, bytes]:
        """Read a call of a host function: asynchronous flag, service, arguments, keyword arguments,
        return tag."""
        return _wire.read_call(self.read, retrieve_object)

    def read_report(self) -> tuple[list, list, list, int]:
        """Read a report of uncaught exceptions: see `read_report` of `src/native/src/wire.rs`."""
        return _wire.read_report(self.read)

    # Writing

    def write(self, data: bytes):
        """Queue `data`; `flush` sends it."""
        self._pending.append(data)

    def write_request(self, kind: int):
        """Queue a request without a payload."""
        self.write(_wire.session_header(kind))

    def write_library(self, library: bytes):
        """Queue a request to load a kernel library."""
        self.write(_wire.load_kernel_header(len(library)))
        self.write(library)

    def write_subkernel(self, number: int, destination: int, library: bytes):
        """Queue a request to store the library of a subkernel."""
        self.write(_wire.subkernel_header(number, destination, len(library)))
        self.write(library)

    def write_reply(self, return_tag: bytes, value: bytes):
        """Queue the encoded result of a host function."""
        self.write(_wire.rpc_reply_header(return_tag))
        self.write(value)

    def write_exception(self, keys: list[int], params: tuple[int, int, int], line: int, column: int):
        """Queue an exception of a host function; `keys` of name, message, file and function in the
        string table, `params` in the place of the parameters of the message."""
        self.write(_wire.rpc_exception(keys, params, line, column))

    def flush(self, noted: Callable[[bytes], None] | None = None):
        """Send what is queued. `noted` is called with it before: what the device has is noted wherever Ctrl-C comes."""
        data, self._pending = b"".join(self._pending), []
        if noted is not None:
            noted(data)
        try:
            progress.send(self._socket, data, "sending")
        except TimeoutError:
            raise ConnectionLost(self._lost("it does not take data")) from None
        except OSError as error:
            raise ConnectionLost(self._lost(error.strerror or str(error))) from None
