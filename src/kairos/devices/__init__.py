"""Device database and device manager: resolve names to driver objects."""

from .database import DeviceDB, rtio_channel
from .manager import DeviceError, DeviceManager, DummyDevice, signature_of

__all__ = ["DeviceDB", "DeviceError", "DeviceManager", "DummyDevice", "rtio_channel", "signature_of"]
