"""``kairos image`` and ``kairos boot``: boot images, and loading a device over the network."""

import sys
from pathlib import Path

from ..errors import DeviceUnreachable, UsageError

__all__ = ["add_parsers"]


def add_parsers(commands):
    """Add the subcommands to those of ``kairos``."""
    image = commands.add_parser("image", help="write a boot image for SD card or flash (BOOT.BIN)")
    _files(image)
    image.add_argument("--board", metavar="NAME", help="board that it is for; default: zc706; '?' lists them")
    image.add_argument(
        "--unconfirmed", action="store_true", help="what the loader assumes of this board has been checked"
    )
    image.add_argument("--loader", metavar="ELF", help="default: boot.elf of the built firmware")
    image.add_argument("-o", "--output", metavar="FILE", default="BOOT.BIN", help="default: %(default)s")
    image.set_defaults(function=_image)

    boot = commands.add_parser("boot", help="load a device over the network and start it")
    boot.add_argument("-D", "--device", metavar="HOST", required=True, help="its address")
    _files(boot)
    boot.add_argument("--key", metavar="FILE", help="key of the device (its configuration: auth_key)")
    boot.add_argument("--port", type=int, help="of the loader; default: 1379")
    boot.add_argument("--management-port", type=int, help="of the running firmware; default: 1380")
    boot.add_argument("--no-restart", action="store_true", help="the device waits for the network already")
    boot.add_argument("--patience", type=float, default=30, metavar="S", help="seconds without progress; default: 30")
    boot.add_argument("-q", "--quiet", action="store_true", help="show no progress")
    boot.set_defaults(function=_boot)


def _files(parser):
    parser.add_argument("--firmware", metavar="ELF", help="default: runtime.elf of the built firmware")
    parser.add_argument("--gateware", metavar="FILE", help="bitstream; default: none")


def _built(name: str) -> Path:
    from ..emulator import build_directory

    path = build_directory() / "firmware" / name
    if not path.is_file():
        raise UsageError(f"there is no {path}: build it with 'make firmware', or name another file")
    return path


def _image(args) -> int:
    from ..boot import boards, boot_image

    loader = args.loader or _built("boot.elf")
    known = boards(loader)
    if args.board == "?":
        print(*known, sep="\n")
        return 0
    board = args.board or next(iter(known))
    if (assumed := known.get(board)) and not args.unconfirmed:
        raise UsageError(
            f"no public source confirms what the loader assumes of {board}: {assumed}. "
            "Compare it with the board's schematic, then say --unconfirmed"
        )
    image = boot_image(loader, args.firmware or _built("runtime.elf"), args.gateware, board=board)
    try:
        Path(args.output).write_bytes(image)
    except OSError as error:
        raise UsageError(f"{args.output} cannot be written: {error.strerror}") from None
    if args.gateware is None:
        print("no gateware in this image: give a bitstream with --gateware", file=sys.stderr)
    print(f"{args.output}: {len(image)} bytes, for board {board}")
    return 0


def _boot(args) -> int:
    from ..boot import PORT, firmware, gateware, load
    from ..network.management import read_key

    program = firmware(args.firmware or _built("runtime.elf"))
    bitstream = gateware(args.gateware) if args.gateware else None
    key = read_key(args.key) if args.key else None
    if not args.no_restart:
        _restart(args.device, args.management_port, key)
    progress = _Progress(quiet=args.quiet)
    losses = load(
        args.device,
        program,
        bitstream,
        port=args.port or PORT,
        key=key,
        patience=args.patience,
        progress=progress,
    )
    progress.end()
    lost = f" (connection lost {losses} times)" if losses else ""
    print(f"{args.device} is started{lost}")
    return 0


def _restart(host: str, port: int | None, key: bytes | None):
    """Have a running firmware restart into the loader."""
    from ..network.management import PORT, KeyNotKnown, Management

    try:
        with Management(host, port or PORT, timeout=3, key=key, patience=0) as device:
            device.netboot()
    except KeyNotKnown:
        # It is for the loader, then, which says for itself whether it wants one.
        _restart(host, port, None)
    except DeviceUnreachable:
        pass  # no firmware runs: the loader may be waiting


class _Progress:
    """One line on a terminal that shows how much of a file is there; nothing elsewhere."""

    WIDTH = 40

    def __init__(self, quiet: bool):
        self._shown = not quiet and sys.stderr.isatty()
        self._name = None

    def __call__(self, name: str, done: int, total: int):
        if not self._shown:
            return
        if self._name not in (None, name):
            self.end()
        self._name = name
        bar = "#" * (self.WIDTH * done // total)
        print(f"\r{name:9} [{bar:{self.WIDTH}}] {done / 1e6:6.2f} of {total / 1e6:.2f} MB", end="", file=sys.stderr)

    def end(self):
        if self._shown and self._name is not None:
            print(file=sys.stderr)
            self._name = None
