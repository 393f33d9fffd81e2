"""``kairos image``: boot images for SD card or flash."""

from ..command import Command, Option
from ..options import FIRMWARE, GATEWARE, JSON, output

COMMAND = Command(
    "write a boot image for SD card or flash (BOOT.BIN)",
    FIRMWARE,
    GATEWARE,
    Option("--satellite", action="store_true", help="for a board behind another one: satman.elf of the built firmware"),
    Option("--board", metavar="NAME", help="board that it is for; default: zc706; '?' lists them"),
    Option("--unconfirmed", action="store_true", help="what the loader assumes of this board has been checked"),
    Option("--loader", metavar="ELF", help="default: boot.elf of the built firmware"),
    output("default: %(default)s", default="BOOT.BIN"),
    JSON,
    runs="image.write_image",
    examples=(
        "kairos image --board zc706 --gateware kairos_zc706.bit",
        "kairos image --board zc706 --satellite --gateware build/gateware/zc706_satellite/kairos_zc706.bit",
        "kairos image --board '?'",
    ),
)
