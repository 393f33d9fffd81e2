"""Generated from the table of names: `python -m kairos.compat.stubs src` renews it."""
from kairos.devices import DeviceManager as DeviceManager
from kairos.devices import DeviceError as DeviceError
from kairos.devices import DummyDevice as DummyDevice
from kairos.compat.databases import DatasetManager as DatasetManager
