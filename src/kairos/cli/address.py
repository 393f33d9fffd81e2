"""The device addressed by a command line."""

from ..contracts import session
from ..devices import DeviceDB
from ..emulator import is_emulated
from ..errors import CommandLineError, UsageError

__all__ = ["address_of", "service_of", "split"]


def address_of(args, port: int) -> tuple[str, int]:
    """Return host and port of ``--device``, else of ``core`` in the device database; `port` is the
    service's default. UsageError."""
    if args.device:
        try:
            host, own = split(args.device)
        except UsageError as error:
            raise CommandLineError(f"--device {error}") from None
        return host, port if own is None else own
    host = DeviceDB.load(args.device_db).arguments("core").get("host")
    if not isinstance(host, str) or is_emulated(host):
        raise UsageError("'core' in the device database has no address: give one with --device HOST")
    return service_of(host, port)


def service_of(host: str, port: int) -> tuple[str, int]:
    """Return host and port of a service of the device whose address is `host` in a device database:
    ``HOST``, or ``HOST:PORT`` with the port of the kernel session, from whose default the ports of
    all services are shifted alike. `port`: the service's default."""
    host, own = split(host)
    return host, port if own is None else port + own - session.PORT


def split(text: str) -> tuple[str, int | None]:
    """Split ``HOST``, ``HOST:PORT`` or ``[IPV6]:PORT`` into host and port; UsageError."""
    host, separator, port = text.rpartition(":")
    if separator and port.isdecimal() and (":" not in host or host.startswith("[")):
        if not 0 < int(port) < 1 << 16:
            raise UsageError(f"{text} has no valid port: ports are 1 to 65535")
        return host.strip("[]"), int(port)
    return text, None
