"""Every driver named by a system description can be constructed with the arguments it gives."""

from pathlib import Path

import pytest
from kairos_gateware import description
from kairos_gateware.device_db import device_db

from kairos import compat
from kairos.devices import DeviceDB, DeviceManager

DESCRIPTIONS = Path(description.__file__).parent


@pytest.mark.parametrize("name", ["all", "lab", "servo"])
def test_generated_database_creates_its_devices(name):
    compat.install()
    db = device_db(description.make_variant(description.load(DESCRIPTIONS / f"{name}.json")), "10.0.0.1")
    db["core"]["arguments"]["host"] = None
    manager = DeviceManager(DeviceDB(db))
    drivers = [device for device, entry in db.items() if entry.get("type") == "local"]
    assert len(drivers) > 10
    for device in drivers:
        assert type(manager.get(device)).__name__ == db[device]["class"], device
