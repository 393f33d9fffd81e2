"""``kairos device``: log, configuration and restart of a core device."""

from ..command import Command, Option
from ..options import DEVICE_DB, JSON, KEY, device


def _keys(*of_texts: str) -> tuple[Option, Option]:
    """The keys that are read or written: texts on the command line, and files."""
    settings: dict = {"action": "append", "default": []}
    texts = {"metavar": of_texts, "nargs": 2} if len(of_texts) == 2 else {"metavar": of_texts[0]}
    return (
        Option("-s", "--string", help="a value given as text", **texts, **settings),
        Option("-f", "--file", help="a value stored in a file", metavar=("KEY", "FILE"), nargs=2, **settings),
    )


_CONFIG = {
    "read": Command(
        "print the values of keys, or write them to files",
        *_keys("KEY"),
        JSON,
        runs="device.read",
        examples=("kairos device config read -s ip",),
    ),
    "write": Command("set the values of keys", *_keys("KEY", "VALUE"), runs="device.write"),
    "remove": Command(
        "remove keys",
        Option("keys", metavar="KEY", nargs="+", help="keys to remove"),
        runs="device.remove",
        examples=("kairos device config remove ip",),
    ),
    "erase": Command("remove all keys", runs="device.erase", examples=("kairos device config erase",)),
}

_TOOLS = {
    "log": Command(
        "print or clear the log",
        Option("action", nargs="?", choices=("clear",), help="clear the log instead of printing it"),
        JSON,
        runs="device.log",
    ),
    "config": Command("read or change the configuration on the device's SD card", tools=_CONFIG, kind="ACTION"),
    "reboot": Command("restart the device", runs="device.reboot"),
    "flash": Command(
        "replace the boot image and restart",
        Option("image", metavar="FILE", help="boot image (BOOT.BIN)"),
        runs="device.flash",
        examples=("kairos device -D 192.168.1.56 flash BOOT.BIN",),
    ),
    "paths": Command(
        "measure latency and throughput of the paths between processors, memory and logic",
        Option("paths", metavar="PATH", nargs="*", help="paths to measure; default: all"),
        Option(
            "--trials",
            type=int,
            default=100,
            help="number of trials per size, fewer for large sizes; default: %(default)s",
        ),
        Option("--json", action="store_true", help="print JSON instead of a table"),
        Option(
            "--disturbances",
            metavar="SEED",
            type=int,
            default=0,
            help="emulated devices: model refreshes of the memory, contention and interrupts; default: none",
        ),
        Option("--plot", metavar="FILE", help="plot time and throughput over size (.png, .pdf, .svg)"),
        runs="paths.measure_paths",
    ),
    "doctor": Command(
        "compare device, device database and system description, and say what is wrong and what to do",
        Option("--description", metavar="FILE", help="system description (JSON) that the gateware was built from"),
        JSON,
        runs="doctor.doctor",
        examples=("kairos device doctor", "kairos device doctor --description lab.json"),
    ),
    "debug": Command(
        "write internal state of the device to its log",
        Option("what", choices=("allocator",), help="memory allocator of the firmware"),
        runs="device.debug",
        examples=("kairos device debug allocator",),
    ),
}

COMMAND = Command(
    "show the log, change the configuration, or restart a core device",
    device("HOST[:PORT]", "address; default: that of 'core' in the device database"),
    DEVICE_DB,
    KEY,
    Option(
        "--board",
        metavar="NAME",
        help="board connected through a link of the device, by its name or number in 'kairos links'",
    ),
    tools=_TOOLS,
    examples=(
        "kairos device log",
        "kairos device -D 192.168.1.56 config write -s ip 192.168.1.57",
        "kairos device --board satellite reboot",
        "kairos device paths --json",
    ),
)
