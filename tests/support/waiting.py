"""Waiting for a state of a device, never for a time of the machine that the tests run on."""

import select
import time

from . import PATIENCE
from .connection import Closed
from .raw_management import Management

PAUSE = 0.02
"""Seconds between looks."""


def until(condition, tell=lambda: "it has not come true"):
    """Waits until `condition()` is true and returns its value. `tell()` says what there is instead."""
    end = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < end, tell()
        time.sleep(PAUSE)
    return value


def printed(device, text, count=1):
    """What the device has printed on its UART, once it has this text so often."""

    def found():
        assert device.process.poll() is None, f"{device.errors()}\n{device.uart()}"
        return device.uart().count(text) >= count

    until(found, lambda: f"{text!r} has not come {count} times:\n{device.uart()}\n{device.errors()}")
    return device.uart()


def let_pass(device, seconds):
    """Lets so much of the device's own time pass. It goes on while a client is connected and silent."""
    with Management(device):
        device.pass_time(seconds)


def settled(device) -> list[int]:
    """Instructions of both cores so far, once both sleep."""
    waited = device.control("wait", **{"for": "idle"}, timeout_ms=1000 * PATIENCE)
    assert waited["reached"] == "idle", waited
    return device.control("status")["instructions"]


def patiently(connect):
    """What `connect()` gives, once the device takes it: a port has three or four places, and a
    device that restarts, or has to see first that clients have gone, refuses others for a
    moment."""

    def attempt():
        try:
            return connect()
        except (Closed, OSError):
            return None

    return until(attempt, lambda: "the device does not take the connection")


def silent(device, connection):
    """Nothing has come on this connection, and nothing will before the device gets something to do."""
    settled(device)
    return not select.select([connection.socket], [], [], 0)[0]
