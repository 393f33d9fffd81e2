"""Device database and device manager: resolve names to driver objects."""

from .alone import DEVICES, database_of, entries_text, whole_text
from .cores import core_of, devices_on, resolved
from .database import DeviceDB, rtio_channel
from .manager import DeviceError, DeviceManager, DummyDevice, signature_of

__all__ = [
    "DEVICES",
    "DeviceDB",
    "DeviceError",
    "DeviceManager",
    "DummyDevice",
    "core_of",
    "database_of",
    "devices_on",
    "entries_text",
    "resolved",
    "rtio_channel",
    "signature_of",
    "whole_text",
]
