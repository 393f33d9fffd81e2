"""``kairos boot``: loading a device over the network."""

from ...contracts import management, netboot
from ..command import Command, Option
from ..options import FIRMWARE, GATEWARE, KEY, device, quiet


def _port(name: str, of: str, number: int):
    return Option(name, type=int, default=number, help=f"of {of}; default: %(default)s")


COMMAND = Command(
    "load a device over the network and start it",
    device("HOST", "its address", required=True),
    FIRMWARE,
    GATEWARE,
    KEY,
    _port("--port", "the loader", netboot.PORT),
    _port("--management-port", "the running firmware", management.PORT),
    Option("--no-restart", action="store_true", help="the device waits for the network already"),
    Option("--patience", type=float, default=30, metavar="S", help="seconds without progress; default: %(default)s"),
    quiet("show no progress"),
    runs="boot.boot",
    examples=(
        "kairos boot -D 192.168.1.52 --gateware kairos_zc706.bit",
        "kairos boot -D 192.168.1.52 --no-restart",
    ),
)
