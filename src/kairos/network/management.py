"""Client of the management service of a core device (TCP 1380): log, configuration, reboot, flash."""

import hmac
import struct
import zlib
from pathlib import Path

from ..errors import ConnectionLost, DeviceUnreachable, KairosError, UsageError
from .connect import connect

__all__ = ["KeyNotKnown", "Management", "ManagementError", "PORT", "read_key"]

PORT = 1380
GREETING = b"ARTIQ management\n"
TIMEOUT = 30.0
"""Seconds in which the device must answer; a flash image of 16 MB takes some."""

PATIENCE = 15.0
"""Seconds that a restart may take."""

_SUCCESS, _LOG, _REBOOT, _ERROR, _DATA, _CHALLENGE = 1, 2, 3, 6, 7, 128


class ManagementError(KairosError):
    """The device could not do what it was asked."""


class KeyNotKnown(ManagementError):
    """A key was given, and the device does not answer to it: it has none, or its firmware knows no keys."""


def read_key(path: str | Path) -> bytes:
    """The key of a device (its configuration: auth_key) in a file; white space at its end does not belong to it."""
    try:
        key = Path(path).read_bytes().rstrip(b" \t\n\f\r")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    if not 16 <= len(key) <= 64:
        raise UsageError(f"{path}: a key has 16 to 64 bytes, this one has {len(key)}")
    return key


class Management:
    """A connection to the management service of the device at `host`; `key`: that of the device, if it has one.

    `patience`: seconds for which the device may be silent before it answers at all; it may be restarting.
    """

    def __init__(
        self,
        host: str,
        port: int = PORT,
        timeout: float = TIMEOUT,
        key: bytes | None = None,
        patience: float | None = None,
    ):
        self._where = f"{host}, port {port}"
        self._address = host, port
        self._timeout = timeout
        self._authenticated = key is not None
        try:
            self._socket, answer = connect(host, port, GREETING + b"\0", PATIENCE if patience is None else patience)
        except OSError as error:
            raise DeviceUnreachable(
                f"no way to the management service at {self._where} ({error}): "
                "is the device on, and is its address right?"
            ) from None
        self._socket.settimeout(timeout)
        if answer != b"e":
            self.close()
            raise DeviceUnreachable(f"what answers at {self._where} is not a little-endian core device")
        if key is not None:
            try:
                self._authenticate(key)
            except BaseException:
                self.close()
                raise

    def _authenticate(self, key: bytes):
        try:
            reply = self._request(129)
        except ConnectionLost:
            raise KeyNotKnown(
                f"the device at {self._where} does not answer to a key: if it has none, leave out --key"
            ) from None
        if reply != _CHALLENGE:
            raise ManagementError(f"the device at {self._where} lets nobody in: its auth_key is unusable")
        proof = hmac.digest(key, b"KAIROS management\n" + self._read(32), "sha256")
        self._send(b"\x82" + proof)
        if self._read(1)[0] != _SUCCESS:
            raise ManagementError(f"the device at {self._where} has another key")

    def _wants_key(self) -> bool:
        """Whether the device has refused a request because this client has not authenticated itself."""
        if self._authenticated:
            return False
        try:
            with Management(*self._address, timeout=self._timeout) as probe:
                return probe._request(129) in (_CHALLENGE, _ERROR)
        except KairosError:
            return False

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self):
        self._socket.close()

    def _read(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            try:
                more = self._socket.recv(min(count - len(data), 65536))
            except OSError as error:
                raise ConnectionLost(f"the connection to the device at {self._where} is lost ({error})") from None
            if not more:
                raise ConnectionLost(f"the device at {self._where} has closed the connection; its log may say why")
            data += more
        return bytes(data)

    def _bytes(self) -> bytes:
        return self._read(struct.unpack("<I", self._read(4))[0])

    def _request(self, kind: int, *fields: bytes) -> int:
        """Send a request; the type of the reply."""
        self._send(bytes([kind]) + b"".join(struct.pack("<I", len(field)) + field for field in fields))
        return self._read(1)[0]

    def _send(self, request: bytes):
        try:
            self._socket.sendall(request)
        except OSError as error:
            self._refuse_without_key()
            raise ConnectionLost(f"the connection to the device at {self._where} is lost ({error})") from None

    def _refuse_without_key(self):
        if self._wants_key():
            raise ManagementError(f"the device at {self._where} wants a key: give the file with it as --key") from None

    def _expect(self, reply: int, expected: int, what: str):
        if reply == _ERROR:
            self._refuse_without_key()
            raise ManagementError(f"the device could not {what}; its log says why ('kairos device log')")
        if reply != expected:
            raise ManagementError(f"the device at {self._where} sent an unexpected reply of type {reply}")

    def log(self) -> str:
        """The log that the device keeps."""
        self._expect(self._request(1), _LOG, "send its log")
        return self._bytes().decode(errors="replace")

    def clear_log(self):
        """Empty the log of the device."""
        self._expect(self._request(2), _SUCCESS, "clear its log")

    def reboot(self):
        """Restart the device."""
        self._expect(self._request(5), _REBOOT, "restart")

    def netboot(self):
        """Restart the device and have its loader wait for the network. Not part of ARTIQ's protocol."""
        self._expect(self._request(128), _REBOOT, "restart into its loader")

    def debug_allocator(self):
        """Have the device write the state of its memory to its log. There is no reply."""
        self._send(b"\x08")

    def flash(self, image: bytes):
        """Replace the boot image and restart."""
        reply = self._request(9, image + struct.pack("<I", zlib.crc32(image)))
        self._expect(reply, _REBOOT, "write the boot image")

    def config_read(self, key: str) -> bytes:
        """The value of a key; ManagementError if there is none."""
        self._expect(self._request(12, key.encode()), _DATA, f"read '{key}': there is no such key, or no card")
        return self._bytes()

    def config_write(self, key: str, value: bytes):
        """Set a key; an empty value removes it."""
        self._expect(self._request(13, key.encode(), value), _SUCCESS, f"write '{key}'")

    def config_remove(self, key: str):
        """Remove a key; no error if there is none."""
        self._expect(self._request(14, key.encode()), _SUCCESS, f"remove '{key}'")

    def config_erase(self):
        """Remove all keys."""
        self._expect(self._request(15), _SUCCESS, "erase its configuration")
