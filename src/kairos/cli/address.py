"""Which device a command line means."""

from ..devices import DeviceDB
from ..errors import UsageError

__all__ = ["address_of"]


def address_of(args, port: int) -> tuple[str, int]:
    """Host and port of ``--device``, else of ``core`` in the device database; `port` is what the service has."""
    if args.device:
        host, separator, own = args.device.rpartition(":")
        if separator and own.isdecimal() and (":" not in host or host.startswith("[")):
            return host.strip("[]"), int(own)
        return args.device, port
    host = DeviceDB.load(args.device_db).arguments("core").get("host")
    if not isinstance(host, str) or host.startswith("emulator://"):
        raise UsageError("'core' of the device database is no device with an address: give one with --device HOST")
    # A port there is that of the kernel session.
    address, separator, own = host.rpartition(":")
    return (address.strip("[]"), port) if separator and own.isdecimal() and address.count(":") != 1 else (host, port)
