"""``kairos image``: boot images for SD card or flash."""

from ..command import Command, Option
from ..options import FIRMWARE, GATEWARE, JSON, output

COMMAND = Command(
    "write a boot image for SD card or flash (BOOT.BIN)",
    FIRMWARE,
    GATEWARE,
    Option("--satellite", action="store_true", help="image for a satellite: use satman.elf of the built firmware"),
    Option("--board", metavar="NAME", help="target board; default: zc706; '?' lists the boards"),
    Option(
        "--unconfirmed",
        action="store_true",
        help="state that the loader's assumptions about this board have been compared with its schematic",
    ),
    Option("--loader", metavar="ELF", help="loader; default: boot.elf of the built firmware"),
    output("output file; default: %(default)s", default="BOOT.BIN"),
    JSON,
    runs="image.write_image",
    examples=(
        "kairos image --board zc706 --gateware kairos_zc706.bit",
        "kairos image --board zc706 --satellite --gateware build/gateware/zc706_satellite/kairos_zc706.bit",
        "kairos image --board '?'",
    ),
)
