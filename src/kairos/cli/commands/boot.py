"""``kairos boot``: loading a device over the network."""

from ...contracts import management, netboot
from ..command import Command, Option
from ..options import FIRMWARE, GATEWARE, KEY, PORT, between, device, quiet


def _port(name: str, of: str, number: int):
    return Option(name, type=PORT, metavar="N", default=number, help=f"port of {of}; default: %(default)s")


COMMAND = Command(
    "load a device over the network and start it",
    device("HOST", "address of the device", required=True),
    FIRMWARE,
    GATEWARE,
    KEY,
    _port("--port", "the loader", netboot.PORT),
    _port("--management-port", "the running firmware", management.PORT),
    Option(
        "--no-restart",
        action="store_true",
        help="the loader is already waiting for the network; do not restart the device",
    ),
    Option(
        "--patience",
        type=between(0.1, kind=float),
        default=30,
        metavar="S",
        help="give up after this many seconds without progress; default: %(default)s",
    ),
    quiet("show no progress"),
    runs="boot.boot",
    examples=(
        "kairos boot -D 192.168.1.52 --gateware kairos_zc706.bit",
        "kairos boot -D 192.168.1.52 --no-restart",
    ),
)
