"""Device database and device manager: from a name to the object that drives a device."""

from .database import DeviceDB, rtio_channel
from .manager import DeviceError, DeviceManager, DummyDevice

__all__ = ["DeviceDB", "DeviceError", "DeviceManager", "DummyDevice", "rtio_channel"]
