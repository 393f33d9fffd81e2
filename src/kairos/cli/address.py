"""The device addressed by a command line."""

from ..devices import DeviceDB
from ..emulator import is_emulated
from ..errors import UsageError

__all__ = ["address_of", "split"]


def address_of(args, port: int) -> tuple[str, int]:
    """Return host and port of ``--device``, else of ``core`` in the device database; `port` is the
    service's default."""
    if args.device:
        host, own = split(args.device)
        return host, port if own is None else own
    host = DeviceDB.load(args.device_db).arguments("core").get("host")
    if not isinstance(host, str) or is_emulated(host):
        raise UsageError("'core' in the device database has no address: give one with --device HOST")
    # A port there is that of the kernel session.
    return split(host)[0], port


def split(text: str) -> tuple[str, int | None]:
    """Split ``HOST``, ``HOST:PORT`` or ``[IPV6]:PORT`` into host and port."""
    host, separator, port = text.rpartition(":")
    if separator and port.isdecimal() and (":" not in host or host.startswith("[")):
        return host.strip("[]"), int(port)
    return text, None
