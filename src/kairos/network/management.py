"""Client of the management service of a core device (TCP 1380): log, configuration, reboot, flash."""

import hmac
import json
import pathlib
import socket
import zlib
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from .. import _native, progress
from ..contracts.configuration import AUTH_KEY_MAX, AUTH_KEY_MIN
from ..contracts.management import (
    DESTINATION_LOCAL,
    IMAGE_REFUSED,
    PORT,
    PROOF_CONTEXT,
    Reply,
    Request,
)
from ..contracts.paths import Path, Refusal
from ..contracts.session import LITTLE_ENDIAN
from ..errors import ConnectionLost, DeviceUnreachable, KairosError, UsageError
from .connect import ClosedAtOnce, connect

__all__ = ["Gateware", "KeyNotKnown", "Management", "ManagementError", "PORT", "PathAbsent", "read_key"]

TIMEOUT = 30.0
"""Seconds in which a short request must be answered."""

STORED_PER_SECOND = 4_000
"""Bytes of a request that a device stores in a second at least: each of these seconds is allowed beside the timeout, up
to `LONGEST_STORE`. A board behind links that searches, erases and writes its card is that slow."""

LONGEST_STORE = 600.0
"""Seconds."""

CONNECT_TIMEOUT = 15.0
"""Seconds that a restart may take."""

_BOOT = "boot"
"""The key that replaces the boot image."""

_wire = _native.wire


def _check_image(image: bytes):
    if reason := _wire.unbootable(image):
        raise UsageError(f"the boot image of the device was not changed: {reason}")


_COUNTS = dict
"""Whole numbers by name."""
_LINK = {
    "destination": int,
    "upstream": bool,
    "line": bool,
    "up": bool,
    "round_trip_us": int | float,
    "resent": int,
    "malformed": int,
    "dropped": int,
}
"""Fields of a link, with their types."""
_LINK_MORE = {
    "firmware": str,
    "board": str,
    "channels": int,
    "rtio": bool,
    "delay_cycles": int | float,
    "lost_outputs": int,
    "phase_ps": int | float,
    "words": _COUNTS,
    "refused": _COUNTS,
}
"""Fields that it may have."""
_CROSS_LINK = {"cross": bool, "destination": int | None, "line": bool, "up": bool}
"""Fields of a link beside the tree."""
_SUBSYSTEM = {"name": str, "state": str, "text": str, "values": dict}


def _fits(found, fields: dict, more: dict) -> bool:
    """Return whether `found` is an object with these fields, and no wrong type in `more`."""
    if not isinstance(found, dict) or not fields.keys() <= found.keys():
        return False
    for name, value in found.items():
        kind = {**fields, **more}.get(name, object)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind in (int, int | float, int | None)):
            return False
        if kind is dict and not all(isinstance(number, int | float) for number in value.values()):
            return False
    return True


def _is_subsystem(found) -> bool:
    return _fits(found, _SUBSYSTEM, {})


def _is_link(found) -> bool:
    fields = _CROSS_LINK if isinstance(found, dict) and "cross" in found else _LINK
    return _fits(found, fields, _LINK_MORE)


class ManagementError(KairosError):
    """The device could not execute a request."""


class PathAbsent(ManagementError):
    """The device does not have this path."""


class KeyNotKnown(ManagementError):
    """A key was given, but the device does not answer the authentication request: it has no key, or its firmware
    does not support keys."""


def read_key(path: str | pathlib.Path) -> bytes:
    """Read the key of a device (its configuration: auth_key) from a file; trailing white space is
    ignored.

    UsageError if the file cannot be read, or its length is not valid for a key.
    """
    try:
        key = pathlib.Path(path).read_bytes().rstrip(b" \t\n\f\r")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    if not AUTH_KEY_MIN <= len(key) <= AUTH_KEY_MAX:
        raise UsageError(f"{path}: a key must have {AUTH_KEY_MIN} to {AUTH_KEY_MAX} bytes, this one has {len(key)}")
    return key


class Gateware(NamedTuple):
    """What a gateware says of itself: `identity`, ``variant;version``; `clock`, frequency of the RTIO clock in Hz
    and fine bits, or None; `channels`: number, kind, name, and pairs of parameters that do not have their default;
    `board`, ``name;hardware revision``, and `build`, the identification of its build, are empty if it does not say."""

    identity: str
    clock: tuple[int, int] | None
    channels: list[tuple]
    board: str
    build: str


class Management:
    """A connection to the management service of the device at `host`; `key`: that of the device, if
    it has one.

    `destination`: the board of the tree, 1 and up behind a link; each has its own key. `timeout`:
    seconds in which it must answer a request; `patience`: seconds for which it may be silent at
    first, as it may be restarting. DeviceUnreachable if it does not answer, or is no core device;
    KeyNotKnown or ManagementError if it does not accept the key. Requests raise ManagementError if
    the device refuses them, and ConnectionLost.
    """

    def __init__(
        self,
        host: str,
        port: int = PORT,
        timeout: float = TIMEOUT,
        key: bytes | None = None,
        patience: float | None = None,
        destination: int = DESTINATION_LOCAL,
    ):
        self._where = f"{host}, port {port}" + (f", destination {destination}" if destination else "")
        self._address, self._destination = (host, port), destination
        self._timeout = timeout
        self._authenticated = key is not None
        try:
            greeting = _wire.management_greeting(destination)
            self._socket, answer = connect(host, port, greeting, CONNECT_TIMEOUT if patience is None else patience)
        except OSError as error:
            advice = "is the device on, and is its address right?"
            if destination and isinstance(error, ClosedAtOnce):
                advice = "there is no such board, or its link is down; see 'kairos links'"
            raise DeviceUnreachable(
                f"cannot reach the management service at {self._where} ({error}): {advice}"
            ) from None
        self._socket.settimeout(timeout)
        if answer[0] != LITTLE_ENDIAN:
            self.close()
            raise DeviceUnreachable(f"the service at {self._where} is not a little-endian core device")
        if key is not None:
            try:
                self._authenticate(key)
            except BaseException:
                self.close()
                raise

    def _authenticate(self, key: bytes):
        try:
            reply, nonce = self._request(Request.CHALLENGE)
        except ConnectionLost:
            raise KeyNotKnown(
                f"the device at {self._where} does not answer the authentication request: if it has no key, omit --key"
            ) from None
        if reply != Reply.CHALLENGE:
            raise ManagementError(f"the device at {self._where} refuses all clients: its auth_key is unusable")
        proof = hmac.digest(key, PROOF_CONTEXT + nonce, "sha256")
        if self._request(Request.AUTHENTICATE, data=proof)[0] != Reply.SUCCESS:
            raise ManagementError(f"the device at {self._where} has a different key")

    def _wants_key(self) -> bool:
        """Whether the device has refused a request because this client is not authenticated."""
        if self._authenticated:
            return False
        try:
            with Management(*self._address, timeout=self._timeout, destination=self._destination) as probe:
                return probe._request(Request.CHALLENGE)[0] in (Reply.CHALLENGE, Reply.ERROR)
        except KairosError:
            return False

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self):
        """Disconnect, also while another thread waits for an answer: for it the connection is lost."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _read(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            try:
                more = self._socket.recv(min(count - len(data), 65536))
            except OSError as error:
                raise ConnectionLost(f"the connection to the device at {self._where} was lost ({error})") from None
            if not more:
                raise ConnectionLost(f"the device at {self._where} closed the connection; see its log")
            data += more
        return bytes(data)

    def _request(self, kind: Request, key: str = "", data: bytes = b"") -> tuple[int, bytes]:
        """Send a request; returns type and content of the reply. `key` and `data` apply to requests
        that have them."""
        return self._exchange(_wire.management_request(kind, key.encode(), data))

    def _exchange(self, request: bytes) -> tuple[int, bytes]:
        """Send an encoded request; returns type and content of the reply."""
        self._send(request)
        self._socket.settimeout(self._timeout + min(len(request) / STORED_PER_SECOND, LONGEST_STORE))
        try:
            return _wire.read_management_reply(self._read)
        except _wire.ProtocolError as error:
            self.close()
            raise ManagementError(f"the device at {self._where} violated the management protocol: {error}") from None

    def _send(self, request: bytes):
        try:
            progress.send(self._socket, request, "sending")
        except OSError as error:
            self._refuse_without_key()
            raise ConnectionLost(f"the connection to the device at {self._where} was lost ({error})") from None

    def _refuse_without_key(self):
        if self._wants_key():
            raise ManagementError(f"the device at {self._where} requires a key: give its file with --key") from None

    def _perform(self, action: str, expected: Reply, kind: Request, key: str = "", data: bytes = b"") -> bytes:
        """Send a request; returns the content of the expected reply. ManagementError for another
        one; `action` names what the device could not do."""
        return self._expect(action, expected, self._request(kind, key, data))

    def _expect(self, action: str, expected: Reply, received: tuple[int, bytes]) -> bytes:
        reply, content = received
        if reply == Reply.ERROR:
            self._refuse_without_key()
            board = f" --board {self._destination}" if self._destination else ""
            raise ManagementError(f"the device could not {action}; see its log ('kairos device{board} log')")
        if reply != expected:
            raise ManagementError(f"the device at {self._where} sent an unexpected reply of type {reply}")
        return content

    def log(self) -> str:
        """Return the log that the device keeps."""
        return self._perform("send its log", Reply.LOG_CONTENT, Request.GET_LOG).decode(errors="replace")

    def links(self) -> list[dict]:
        """The links of the board to those upstream and downstream of it, as docs/interfaces.md, section 12, has them.
        Not part of ARTIQ's protocol."""
        return [link for link in self.all_links() if "cross" not in link]

    def all_links(self) -> list[dict]:
        """The same, followed by those beside the tree, which have a field `cross`."""
        return self._objects(self._perform("report its links", Reply.LOG_CONTENT, Request.LINKS), _is_link)

    def health(self) -> list[dict]:
        """How each subsystem of the board is: its name, state ("good", "warning", "bad", "absent"),
        text and values (docs/interfaces.md, section 12). Not part of ARTIQ's protocol."""
        return self._objects(self._perform("report its health", Reply.LOG_CONTENT, Request.HEALTH), _is_subsystem)

    def _objects(self, content: bytes, fits: Callable) -> list[dict]:
        """Decode a list of objects, all of which fit. ManagementError if it is none."""
        try:
            found = json.loads(content)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, list) or not all(map(fits, found)):
            raise ManagementError(f"the device at {self._where} violated the management protocol: invalid JSON")
        return found

    def descriptor(self) -> Gateware:
        """Descriptor of the board's gateware. Not part of ARTIQ's protocol."""
        try:
            content = self._perform("describe its gateware", Reply.LOG_CONTENT, Request.DESCRIPTOR)
        except ConnectionLost:
            # Firmware that does not know the request closes the connection, too.
            raise ManagementError(f"the firmware at {self._where} is too old to describe its gateware") from None
        try:
            return Gateware(*_wire.read_descriptor(content))
        except ValueError as error:
            raise ManagementError(f"the device at {self._where} sent an invalid descriptor: {error}") from None

    def clear_log(self):
        """Empty the log of the device."""
        self._perform("clear its log", Reply.SUCCESS, Request.CLEAR_LOG)

    def reboot(self):
        """Restart the device."""
        self._perform("restart", Reply.REBOOT_IMMINENT, Request.REBOOT)

    def netboot(self):
        """Restart the device into its loader, which waits for the network. Not part of ARTIQ's
        protocol."""
        self._perform("restart into its loader", Reply.REBOOT_IMMINENT, Request.NETBOOT)

    def measure(self, path: Path, size: int, trials: int) -> bytes:
        """Return raw samples of a path between processors, memory and logic
        (:mod:`kairos.network.paths`). PathAbsent if the device does not have the path;
        ManagementError if it refuses. Not part of ARTIQ's protocol.
        """
        reply, content = self._exchange(_wire.measure_request(path, size, trials))
        if reply == Reply.REFUSED and content:
            text = f"the device does not measure '{path.name.lower()}': {content[1:].decode(errors='replace')}"
            raise (PathAbsent if content[0] == Refusal.ABSENT else ManagementError)(text)
        if reply != Reply.MEASURED:
            raise ManagementError(f"the device at {self._where} sent an unexpected reply of type {reply}")
        return content

    def debug_allocator(self):
        """Make the device write the state of its allocator to its log. There is no reply."""
        self._send(_wire.management_request(Request.DEBUG_ALLOCATOR, b"", b""))

    def flash(self, image: bytes):
        """Replace the boot image by the bytes of another (`kairos.boot.boot_image`), and restart.

        UsageError if no device can boot from it, ManagementError if this device cannot, because it
        is a different board, or if its card cannot be written. In these cases the old image is
        kept.
        """
        _check_image(image)
        reply = self._exchange(_wire.flash_request(image, zlib.crc32(image)))
        self._expect_stored("write the boot image", Reply.REBOOT_IMMINENT, reply)

    def _expect_stored(self, action: str, expected: Reply, received: tuple[int, bytes]):
        """As `_expect`, with the device's reason if it rejects a boot image."""
        try:
            self._expect(action, expected, received)
        except ManagementError:
            _, found, reason = self._failure_reason().rpartition(IMAGE_REFUSED)
            if not found:
                raise
            raise ManagementError(f"the boot image of the device was not changed: {reason}") from None

    def _failure_reason(self) -> str:
        """Why the latest request of this connection has failed; empty if the device does not say."""
        try:
            reply, reason = self._request(Request.FAILURE_REASON)
        except ConnectionLost:
            # Firmware that does not know the request.
            return ""
        return reason.decode(errors="replace") if reply == Reply.LOG_CONTENT else ""

    def config_read(self, key: str) -> bytes:
        """Return the value of a key; ManagementError if there is none."""
        action = f"read '{key}': there is no such key, or no card"
        return self._perform(action, Reply.CONFIG_DATA, Request.CONFIG_READ, key)

    def config_write(self, key: str, value: bytes):
        """Set a key; an empty value removes it. A boot image is checked as in `flash`."""
        if key.lower() == _BOOT and value:
            _check_image(value)
        reply = self._request(Request.CONFIG_WRITE, key, value)
        self._expect_stored(f"write '{key}'", Reply.SUCCESS, reply)

    def config_remove(self, key: str):
        """Remove a key; no error if there is none."""
        self._perform(f"remove '{key}'", Reply.SUCCESS, Request.CONFIG_REMOVE, key)

    def config_erase(self):
        """Remove all keys."""
        self._perform("erase its configuration", Reply.SUCCESS, Request.CONFIG_ERASE)
