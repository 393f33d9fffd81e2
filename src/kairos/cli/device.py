"""``kairos device``: log, configuration and restart of a core device."""

import sys
from pathlib import Path

from ..errors import UsageError

__all__ = ["add_parser"]


def add_parser(commands):
    """Add the subcommand to those of ``kairos``."""
    parser = commands.add_parser("device", help="log, configuration and restart of a core device")
    parser.add_argument("-D", "--device", metavar="HOST[:PORT]", help="address; default: 'core' of the device database")
    parser.add_argument("--device-db", metavar="FILE", default="device_db.py", help="default: %(default)s")
    parser.add_argument("--key", metavar="FILE", help="key of the device (its configuration: auth_key), if it has one")
    parser.set_defaults(function=_device)
    tools = parser.add_subparsers(dest="tool", required=True, metavar="TOOL")
    log = tools.add_parser("log", help="print the log, or clear it")
    log.add_argument("action", nargs="?", choices=("clear",))
    config = tools.add_parser("config", help="configuration on the card of the device")
    actions = config.add_subparsers(dest="action", required=True, metavar="ACTION")
    read = actions.add_parser("read", help="print values, or write them to files")
    read.add_argument("-s", "--string", metavar="KEY", action="append", default=[])
    read.add_argument("-f", "--file", metavar=("KEY", "FILE"), nargs=2, action="append", default=[])
    write = actions.add_parser("write", help="set values")
    write.add_argument("-s", "--string", metavar=("KEY", "VALUE"), nargs=2, action="append", default=[])
    write.add_argument("-f", "--file", metavar=("KEY", "FILE"), nargs=2, action="append", default=[])
    remove = actions.add_parser("remove", help="remove keys")
    remove.add_argument("keys", metavar="KEY", nargs="+")
    actions.add_parser("erase", help="remove all keys")
    tools.add_parser("reboot", help="restart the device")
    flash = tools.add_parser("flash", help="replace the boot image and restart")
    flash.add_argument("image", metavar="FILE")
    debug = tools.add_parser("debug", help="have the device log its own state")
    debug.add_argument("what", choices=("allocator",))


def _address(args) -> tuple[str, int]:
    from ..devices import DeviceDB
    from ..network.management import PORT

    if args.device:
        host, separator, port = args.device.rpartition(":")
        if separator and port.isdecimal() and (":" not in host or host.startswith("[")):
            return host.strip("[]"), int(port)
        return args.device, PORT
    host = DeviceDB.load(args.device_db).arguments("core").get("host")
    if not isinstance(host, str) or host.startswith("emulator://"):
        raise UsageError("'core' of the device database is no device with an address: give one with --device HOST")
    return host, PORT


def _bytes_of(path) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None


def _device(args) -> int:
    from ..network.management import Management, read_key

    key = read_key(args.key) if args.key else None
    with Management(*_address(args), key=key) as device:
        match args.tool:
            case "log" if args.action == "clear":
                device.clear_log()
            case "log":
                sys.stdout.write(device.log())
            case "config":
                _config(args, device)
            case "reboot":
                device.reboot()
            case "flash":
                device.flash(_bytes_of(args.image))
            case "debug":
                device.debug_allocator()
    return 0


def _config(args, device):
    match args.action:
        case "read":
            for key in args.string:
                print(device.config_read(key).decode(errors="replace"))
            for key, path in args.file:
                Path(path).write_bytes(device.config_read(key))
        case "write":
            for key, value in args.string:
                device.config_write(key, value.encode())
            for key, path in args.file:
                device.config_write(key, _bytes_of(path))
        case "remove":
            for key in args.keys:
                device.config_remove(key)
        case "erase":
            device.config_erase()
