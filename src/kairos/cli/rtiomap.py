"""``kairos rtiomap``: map of RTIO channels to device names, in the format of the firmware.

The map is the value of the configuration key `device_map`.
"""

import importlib
import json

from .. import _native, compat, files
from ..devices import DeviceDB
from ..errors import UsageError

__all__ = ["rtiomap"]


def rtiomap(args):
    """Write the map requested by the command line `args`, or show one."""
    if args.show:
        named = list(_read(files.read(args.file), args.file))
        if not named and not args.json:
            print("it names no channel")
        for channel, name in named:
            print(json.dumps({"channel": channel, "name": name}) if args.json else f"{channel:#08x} {name}")
        return
    channels = _channels(DeviceDB.load(args.device_db))
    files.write(args.file, _native.wire.write_device_map(sorted(channels.items())))
    print(f"wrote the names of {len(channels)} channels to {args.file}")


def _channels(ddb: DeviceDB) -> dict[int, str]:
    """Return names by channel; drivers report their channels and suffixes by `get_rtio_channels`."""
    compat.install()
    found: dict[int, str] = {}
    for name, entry in ddb.entries.items():
        if not isinstance(entry, dict) or entry.get("type") != "local":
            continue
        try:
            driver = getattr(importlib.import_module(entry["module"]), entry["class"])
        except KeyError as error:
            raise UsageError(f"{ddb.path}: the entry of '{name}' lacks {error}") from None
        except Exception as error:  # it runs when it is imported
            raise UsageError(f"{ddb.path}: the driver of '{name}' cannot be imported: {error}") from None
        if hasattr(driver, "get_rtio_channels"):
            try:
                own_channels = list(driver.get_rtio_channels(**entry.get("arguments", {})))
            except Exception as error:
                raise UsageError(f"{ddb.path}: the channels of '{name}' cannot be found: {error}") from None
            for channel, suffix in own_channels:
                own = name if suffix is None else f"{name} {suffix}"
                if channel in found:
                    raise UsageError(f"{ddb.path}: channel {channel} belongs to '{found[channel]}' and to '{own}'")
                found[channel] = own
    return found


def _read(data: bytes, path):
    """Parse a map to (channel, name); UsageError if it is invalid."""
    try:
        return _native.wire.read_device_map(data)
    except ValueError:
        raise UsageError(f"{path} is not a channel map, or is truncated") from None
