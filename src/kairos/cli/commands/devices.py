"""``kairos devices``: what a device database has."""

from ..command import Command
from ..options import DEVICE_DB

COMMAND = Command("list the devices of a device database", DEVICE_DB, runs="devices.show")
