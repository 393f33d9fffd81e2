"""Waiting for a state of a device, never for a time of the machine that the tests run on.

`PATIENCE` only bounds what is broken: it is far longer than a busy machine needs, and no verdict depends on it.
"""

import time

from .raw_management import Management

PATIENCE = 90
"""Seconds."""
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
