"""Network boot of a device (TCP 1379): the host side of `src/proto/src/netboot.rs`."""

import hashlib
import hmac
import socket
import time
from collections.abc import Callable

from .. import _native
from ..contracts.netboot import GREETING, PORT, VERSION, FileKind, Reply
from ..errors import ConnectionLost, DeviceUnreachable, KairosError

__all__ = ["PORT", "Refused", "load"]

PIECE = 32 * 1024
"""Bytes sent between two calls of the progress function."""
SILENCE = 10.0
"""Timeout in seconds of the loader's answers; it may have to check 16 MB first."""
ATTEMPT = 2.0
"""Timeout in seconds for accepting a connection and answering the greeting: a connection begun
while the device restarts is never answered."""
RETRY = 0.3
"""Seconds between attempts to reach the loader."""

_wire = _native.wire


class Refused(KairosError):
    """The loader rejected a request; it keeps waiting."""


class _Lost(Exception):
    """The connection was lost or not established; a retry may help."""


class _Connection:
    def __init__(self, host: str, port: int, key: bytes | None, timeout: float):
        self._where = f"{host}, port {port}"
        self._key = key
        try:
            self._socket = socket.create_connection((host, port), timeout=timeout)
            self._socket.sendall(GREETING)
        except OSError as error:
            raise _Lost(str(error)) from None
        try:
            reply, said = self._answer()
            if reply != Reply.HELLO:
                raise KairosError(f"the service at {self._where} is not a Kairos loader")
            version, wants_key, self._nonce = said
            if version != VERSION:
                raise KairosError(
                    f"the loader at {self._where} uses protocol version {version}, but this program uses {VERSION}"
                )
            if wants_key and key is None:
                raise Refused(f"the loader at {self._where} requires a key: give its file with --key")
            self._socket.settimeout(SILENCE)
        except BaseException:
            self.close()
            raise

    def close(self):
        self._socket.close()

    def _read(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            try:
                more = self._socket.recv(min(count - len(data), 1 << 16))
            except OSError as error:
                raise _Lost(str(error) or "no answer") from None
            if not more:
                raise _Lost("closed by the loader")
            data += more
        return data

    def _answer(self):
        """Read an answer; returns its type and content."""
        kind, said = _wire.read_netboot_answer(self._read)
        if kind == Reply.REFUSED:
            raise Refused(f"refused by the loader at {self._where}: {said}")
        return kind, said

    def _expect(self, kind: Reply):
        """Read the expected answer and return its content."""
        answer, said = self._answer()
        if answer != kind:
            raise KairosError(f"the loader at {self._where} sent an unexpected answer of type {answer}")
        return said

    def _send(self, data: bytes):
        try:
            self._socket.sendall(data)
        except OSError as error:
            self._raise_refusal()
            raise _Lost(str(error)) from None

    def _raise_refusal(self):
        """Read a refusal, after which the loader closes: it is readable even though sending has
        failed."""
        try:
            self._answer()
        except _Lost:
            pass

    def _request(self, message: bytes):
        proof = hmac.digest(self._key, self._nonce + message, "sha256") if self._key else bytes(32)
        self._send(message + proof)

    def offer(self, name: str, content: bytes, progress: Callable[[str, int, int], None]):
        digest = hashlib.sha256(content).digest()
        self._request(_wire.netboot_offer(FileKind[name.upper()], len(content), digest))
        sent = self._expect(Reply.HAVE)
        progress(name, sent, len(content))
        while sent < len(content):
            piece = content[sent : sent + PIECE]
            self._send(piece)
            sent += len(piece)
            progress(name, sent, len(content))
        self._expect(Reply.VERIFIED)

    def boot(self):
        self._request(_wire.netboot_boot())
        self._expect(Reply.BOOTING)


def load(
    host: str,
    firmware: bytes,
    gateware: bytes | None = None,
    *,
    port: int = PORT,
    key: bytes | None = None,
    patience: float = 30.0,
    progress: Callable[[str, int, int], None] = lambda name, done, total: None,
) -> int:
    """Load the device at `host` and start the loaded program. Returns the number of lost
    connections.

    `patience`: seconds without any progress after which it gives up. `progress` is called with the
    file's name, the bytes transferred, and the bytes of the file. Raises Refused, DeviceUnreachable
    (never reached), ConnectionLost.
    """
    losses = 0
    reached = False
    deadline = time.monotonic() + patience
    most = {}

    def report(name, done, total):
        nonlocal deadline
        if done > most.get(name, 0):
            most[name] = done
            deadline = time.monotonic() + patience
        progress(name, done, total)

    while True:
        try:
            connection = _Connection(host, port, key, timeout=max(0.1, min(ATTEMPT, deadline - time.monotonic())))
            try:
                reached = True
                # The gateware first, since it determines the pins: the firmware examines it at
                # startup.
                for name, content in (("gateware", gateware), ("firmware", firmware)):
                    if content is not None:
                        connection.offer(name, content, report)
                connection.boot()
                return losses
            finally:
                connection.close()
        except _Lost as error:
            losses += reached
            if time.monotonic() > deadline:
                if reached:
                    raise ConnectionLost(f"the loader at {host}, port {port}, was lost ({error})") from None
                raise DeviceUnreachable(
                    f"no loader answers at {host}, port {port} ({error}): is the device waiting for network boot?"
                ) from None
            time.sleep(RETRY)
