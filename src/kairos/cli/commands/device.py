"""``kairos device``: log, configuration and restart of a core device."""

from ..command import Command, Option
from ..options import DEVICE_DB, JSON, KEY, device


def _keys(*of_texts: str) -> tuple[Option, Option]:
    """The keys that are read or written: texts on the command line, and files."""
    settings: dict = {"action": "append", "default": []}
    texts = {"metavar": of_texts, "nargs": 2} if len(of_texts) == 2 else {"metavar": of_texts[0]}
    return (
        Option("-s", "--string", help="a value that is text", **texts, **settings),
        Option("-f", "--file", help="a value in a file", metavar=("KEY", "FILE"), nargs=2, **settings),
    )


_CONFIG = {
    "read": Command(
        "print values, or write them to files",
        *_keys("KEY"),
        JSON,
        runs="device.read",
        examples=("kairos device config read -s ip",),
    ),
    "write": Command("set values", *_keys("KEY", "VALUE"), runs="device.write"),
    "remove": Command(
        "remove keys",
        Option("keys", metavar="KEY", nargs="+", help="what is removed"),
        runs="device.remove",
        examples=("kairos device config remove ip",),
    ),
    "erase": Command("remove all keys", runs="device.erase", examples=("kairos device config erase",)),
}

_TOOLS = {
    "log": Command(
        "print the log, or clear it",
        Option("action", nargs="?", choices=("clear",), help="empty the log"),
        JSON,
        runs="device.log",
    ),
    "config": Command("configuration on the card of the device", tools=_CONFIG, kind="ACTION"),
    "reboot": Command("restart the device", runs="device.reboot"),
    "flash": Command(
        "replace the boot image and restart",
        Option("image", metavar="FILE", help="boot image (BOOT.BIN)"),
        runs="device.flash",
        examples=("kairos device -D 192.168.1.56 flash BOOT.BIN",),
    ),
    "channels": Command(
        "measure the paths between processors, memory and logic",
        Option("paths", metavar="PATH", nargs="*", help="which; default: all"),
        Option("--trials", type=int, default=100, help="of each size, large ones less often; default: %(default)s"),
        Option("--json", action="store_true", help="print JSON in place of a table"),
        Option("--plot", metavar="FILE", help="draw time and throughput over the size (png, pdf, svg)"),
        runs="channels.channels",
    ),
    "debug": Command(
        "have the device log its own state",
        Option("what", choices=("allocator",), help="the memory of the firmware"),
        runs="device.debug",
        examples=("kairos device debug allocator",),
    ),
}

COMMAND = Command(
    "log, configuration and restart of a core device",
    device("HOST[:PORT]", "address; default: 'core' of the device database"),
    DEVICE_DB,
    KEY,
    Option("--board", metavar="NAME", help="a board behind a link of the device: its name or number in 'kairos links'"),
    tools=_TOOLS,
    examples=(
        "kairos device log",
        "kairos device -D 192.168.1.56 config write -s ip 192.168.1.57",
        "kairos device --board satellite reboot",
        "kairos device channels --json",
    ),
)
