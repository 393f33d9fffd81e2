"""ARTIQ's commands with their flags, translated to ``kairos`` commands.

They are console scripts of the package; if ARTIQ itself is installed in the same environment, its
scripts have the same names. A flag without a counterpart is an error that says so.
"""

import argparse
import sys
from importlib import import_module

__all__ = ["analyzer", "compile_experiment", "device_database", "flash", "management", "names", "run"]


def _parser(program: str, ours: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=program, description=f"The same as `{ours}`, with ARTIQ's flags.")
    parser.add_argument("--device-db", default="device_db.py", metavar="FILE")
    return parser


def _experiment(parser):
    parser.add_argument("--dataset-db", metavar="FILE")
    parser.add_argument("-c", "--class-name", metavar="CLASS")
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("arguments", metavar="KEY=VALUE", nargs="*")


def _kairos(*words) -> int:
    # Imported late, because the command imports this package.
    return import_module("kairos.cli").main([str(word) for word in words])


def _option_words(*options) -> list[str]:
    """Return flags and values of the options that were given."""
    return [word for flag, value in options if value is not None for word in (flag, value)]


def run() -> int:
    """``artiq_run``: prints the datasets, but no pulses."""
    parser = _parser("artiq_run", "kairos run")
    _experiment(parser)
    parser.add_argument("-o", "--hdf5", metavar="FILE")
    parser.add_argument("-v", "--verbose", action="count", default=0)
    parser.add_argument("-q", "--quiet", action="count", default=0)
    args = parser.parse_args()
    options = _option_words(("-c", args.class_name), ("-o", args.hdf5), ("--dataset-db", args.dataset_db))
    options += [*["-v"] * args.verbose, *["-q"] * bool(args.quiet)]
    return _kairos("run", args.file, *args.arguments, "--device-db", args.device_db, "--no-table", *options)


def compile_experiment() -> int:
    """``artiq_compile``."""
    parser = _parser("artiq_compile", "kairos compile")
    _experiment(parser)
    parser.add_argument("-o", "--output", metavar="FILE")
    args = parser.parse_args()
    options = _option_words(("-c", args.class_name), ("-o", args.output), ("--dataset-db", args.dataset_db))
    return _kairos("compile", args.file, *args.arguments, "--device-db", args.device_db, *options)


def management() -> int:
    """``artiq_coremgmt``: its tools and their flags are those of ``kairos device``."""
    parser = _parser("artiq_coremgmt", "kairos device")
    parser.add_argument("-D", "--device", metavar="HOST")
    parser.add_argument("-s", "--drtio-dest", type=int, default=0, metavar="DESTINATION")
    parser.add_argument("tool", nargs=argparse.REMAINDER, help="log, config, reboot, flash, debug")
    args = parser.parse_args()
    board = ["--board", str(args.drtio_dest)] if args.drtio_dest else []
    return _kairos("device", *_option_words(("-D", args.device)), *board, "--device-db", args.device_db, *args.tool)


def analyzer() -> int:
    """``artiq_coreanalyzer``."""
    parser = _parser("artiq_coreanalyzer", "kairos analyze")
    parser.add_argument("-r", "--read-dump", metavar="FILE")
    parser.add_argument("-p", "--print-decoded", action="store_true")
    parser.add_argument("-w", "--write-vcd", metavar="FILE")
    parser.add_argument("-d", "--write-dump", metavar="FILE")
    parser.add_argument("-u", "--vcd-uniform-interval", action="store_true")
    args = parser.parse_args()
    if args.vcd_uniform_interval:
        parser.error("-u: Kairos writes waveforms over time only")
    if not (args.print_decoded or args.write_vcd or args.write_dump):
        print("Nothing to do: -p prints the record, -w writes it as VCD, -d as it is", file=sys.stderr)
        return 1
    options = _option_words(("--vcd", args.write_vcd), ("--dump", args.write_dump))
    table = "all" if args.print_decoded else "0"
    source = [args.read_dump] if args.read_dump else []
    return _kairos("analyze", *source, "--device-db", args.device_db, "--table", table, *options)


def names() -> int:
    """``artiq_rtiomap``."""
    return _kairos("rtiomap", *sys.argv[1:])


def flash() -> int:
    """``artiq_flash``: replaces the boot image over the network; other methods are rejected."""
    parser = _parser("artiq_flash", "kairos device flash")
    parser.add_argument("-D", "--device", metavar="HOST")
    parser.add_argument("image", metavar="FILE", help="boot image (BOOT.BIN), of kairos image")
    args = parser.parse_args()
    return _kairos("device", *_option_words(("-D", args.device)), "--device-db", args.device_db, "flash", args.image)


def device_database() -> int:
    """``artiq_ddb_template``."""
    parser = argparse.ArgumentParser(
        prog="artiq_ddb_template", description="The same as `kairos devices --from`, with ARTIQ's flags."
    )
    parser.add_argument("-o", "--output", metavar="FILE")
    parser.add_argument("-s", "--satellite", nargs=2, action="append", metavar=("DESTINATION", "FILE"))
    parser.add_argument("description", metavar="FILE", help="system description (JSON)")
    args = parser.parse_args()
    if args.satellite:
        parser.error("-s: descriptions of satellites are not supported yet")
    return _kairos("devices", "--from", args.description, *_option_words(("-o", args.output)))
