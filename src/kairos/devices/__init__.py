"""Device database and device manager: resolve names to driver objects."""

from .alone import DEVICES, database_of, entries_text, whole_text
from .database import DeviceDB, rtio_channel
from .manager import DeviceError, DeviceManager, DummyDevice, signature_of

__all__ = [
    "DEVICES",
    "DeviceDB",
    "DeviceError",
    "DeviceManager",
    "DummyDevice",
    "database_of",
    "entries_text",
    "rtio_channel",
    "signature_of",
    "whole_text",
]
