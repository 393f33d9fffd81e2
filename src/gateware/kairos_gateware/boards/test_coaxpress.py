"""The transceiver of a camera: its cell, whose ports and attributes exist, its pins and its clocks beside a link."""

import re

import pytest

from kairos_gateware.boards.coaxpress import CHANNEL
from kairos_gateware.boards.gtx import CHANNEL as OF_LINKS
from kairos_gateware.boards.kasli_soc import BOARD
from kairos_gateware.boards.test_gtx import check_cell
from kairos_gateware.boards.zynq import generate
from kairos_gateware.description import check, make_variant

CAMERA = {"type": "coaxpress_sfp"}


def generated(folder, *cameras, **fields):
    """(Verilog, constraints) of a Kasli-SoC with cameras."""
    description = {"target": "kasli_soc", "variant": "x", "hw_rev": "v1.1", "peripherals": list(cameras)}
    generate(BOARD, make_variant(check(description | fields)), "", folder)
    return (folder / "kairos_kasli_soc.v").read_text(), (folder / "kairos_kasli_soc.xdc").read_text()


def test_cell_of_a_camera_has_ports_that_exist_and_no_shared_pll(tmp_path):
    verilog, _ = generated(tmp_path, CAMERA)
    check_cell(verilog, "GTXE2_CHANNEL", OF_LINKS | CHANNEL)
    assert "GTXE2_COMMON" not in verilog and "QPLLCLK(1'd0)" in verilog and ".CPLLPD(1'd0)" in verilog


@pytest.mark.long
def test_cameras_are_at_pins_and_clocks_of_their_cages_beside_a_link(tmp_path):
    verilog, constraints = generated(tmp_path, CAMERA, CAMERA | {"sfp": 1}, base="satellite")
    for place, port in [("T4", "rxp"), ("R2", "txp"), ("Y4", "rxp"), ("AA2", "txp")]:
        assert re.search(rf"LOC {place} \[get_ports \{{sfp_{port}(_\d)?\}}\]", constraints)
    for name, period in [("camera3_rx", 16.0), ("camera3_tx", 8.0), ("camera1_rx", 16.0), ("link_reference", 8.0)]:
        assert constraints.count(f"create_clock -name {name} -period {period} ") == 1
    for name in ("camera1_rx", "camera1_tx", "camera3_rx", "camera3_tx"):
        assert f"set_clock_groups -asynchronous -group [get_clocks {name}]" in constraints
    assert len(re.findall(r"^GTXE2_CHANNEL ", verilog, re.M)) == 3, "with that of the link"
    assert len(re.findall(r"^IBUFDS_GTE2 ", verilog, re.M)) == 1, "one reference for all"
