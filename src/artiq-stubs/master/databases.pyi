"""Generated from the table of names: `python -m kairos.compat.stubs src` renews it."""
from kairos.compat.databases import DeviceDB as DeviceDB
from kairos.compat.databases import DatasetDB as DatasetDB
from kairos.compat.databases import device_db_from_file as device_db_from_file
