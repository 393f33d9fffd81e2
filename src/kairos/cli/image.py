"""``kairos image``: boot images for SD card or flash."""

import json

from .. import files
from ..boot import boards, boot_image, check_chip
from ..emulator.artifacts import built_firmware
from ..errors import CommandLineError, UsageError
from .printed import print_notice

__all__ = ["write_image"]


def write_image(args):
    """Write a boot image, or list the boards supported by the loader."""
    loader = args.loader or built_firmware("boot.elf")
    known = boards(loader)
    if args.board == "?":
        for name, unconfirmed in known.items():
            print(json.dumps({"board": name, "unconfirmed": unconfirmed}) if args.json else name)
        return
    board = args.board or next(iter(known))
    if (assumed := known.get(board)) and not args.unconfirmed:
        raise UsageError(
            f"the loader's assumptions about {board} are not confirmed by public sources: {assumed}. "
            "Compare them with the board's schematic, then use --unconfirmed"
        )
    if args.satellite and args.firmware:
        raise CommandLineError("--satellite and --firmware exclude each other")
    firmware = args.firmware or built_firmware("satman.elf" if args.satellite else "runtime.elf")
    if args.gateware is not None:
        check_chip(args.gateware, board)
    image = boot_image(loader, firmware, args.gateware, board=board)
    files.write(args.output, image)
    if args.gateware is None:
        print_notice("this image contains no gateware: give a bitstream with --gateware")
    if args.json:
        print(json.dumps({"file": args.output, "bytes": len(image), "board": board}))
    else:
        role = ", a satellite" if args.satellite else ""
        print(f"{args.output}: {len(image)} bytes, for board {board}{role}")
