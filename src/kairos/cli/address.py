"""The device addressed by a command line."""

from ..devices import DeviceDB
from ..emulator import is_emulated
from ..errors import UsageError

__all__ = ["address_of", "split"]


def address_of(args, port: int) -> tuple[str, int]:
    """Host and port of ``--device``, else of ``core`` in the device database; `port` is what the service has."""
    if args.device:
        host, own = split(args.device)
        return host, port if own is None else own
    host = DeviceDB.load(args.device_db).arguments("core").get("host")
    if not isinstance(host, str) or is_emulated(host):
        raise UsageError("'core' in the device database has no address: give one with --device HOST")
    # A port there is that of the kernel session.
    return split(host)[0], port


def split(text: str) -> tuple[str, int | None]:
    """Host and port of ``HOST``, ``HOST:PORT`` or ``[IPV6]:PORT``."""
    host, separator, port = text.rpartition(":")
    if separator and port.isdecimal() and (":" not in host or host.startswith("[")):
        return host.strip("[]"), int(port)
    return text, None
