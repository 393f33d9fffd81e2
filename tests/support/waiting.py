"""Waits for states of a device, never for real time."""

import select
import time

from . import TIMEOUT
from .connection import Closed
from .raw_management import Management

PAUSE = 0.02
"""Seconds between polls."""
LOST = 10
"""Seconds after which a connection that nobody answers is made anew."""


def until(condition, describe=lambda: "it has not come true", pause=lambda: time.sleep(PAUSE)):
    """Wait until `condition()` is true and return its value. `describe()` describes the state after a
    timeout; `pause()` is called between polls."""
    end = time.monotonic() + TIMEOUT
    while not (value := condition()):
        assert time.monotonic() < end, describe()
        pause()
    return value


def printed(device, text, count=1):
    """Wait until the device has printed a text `count` times on its UART; returns its output."""

    def found():
        assert device.process.poll() is None, f"{device.errors()}\n{device.uart()}"
        return device.uart().count(text) >= count

    until(found, lambda: f"{text!r} has not come {count} times:\n{device.uart()}\n{device.errors()}")
    return device.uart()


def let_pass(device, seconds):
    """Let device time pass, which advances while a client is connected and silent."""
    # A device that restarts just then knows nothing of the connection that it has taken.
    with patiently(lambda: Management(device, patience=LOST)):
        device.pass_time(seconds)


def settled(device) -> list[int]:
    """Wait until both cores sleep; returns the instructions executed so far."""
    waited = device.control("wait", **{"for": "idle"}, timeout_ms=1000 * TIMEOUT)
    assert waited["reached"] == "idle", waited
    return device.control("status")["instructions"]


def patiently(connect):
    """Retry `connect()` until the device accepts it: a port has three or four places, and a device
    that is restarting, or has yet to notice disconnected clients, refuses others for a moment."""

    def attempt():
        try:
            return connect()
        except (Closed, OSError):
            return None

    return until(attempt, lambda: "the device does not take the connection")


def silent(device, connection):
    """Return whether nothing has arrived on this connection, once the device is idle."""
    settled(device)
    return not select.select([connection.socket], [], [], 0)[0]
