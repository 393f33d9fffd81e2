"""The transceiver of a camera: its cell, whose ports and attributes exist, its pins, its clocks beside a link, and the
change of its rate at a model of the reconfiguration port."""

import re

import pytest

from kairos_gateware.boards.coaxpress import CHANNEL
from kairos_gateware.boards.gtx import CHANNEL as OF_LINKS
from kairos_gateware.boards.gtx import REFERENCE_HZ, WAIT, QuadPll, quad_pll
from kairos_gateware.boards.kasli_soc import BOARD
from kairos_gateware.boards.rates import OF_CHANNEL, QUAD_PLL_HZ, RATES_HZ, RateControl
from kairos_gateware.boards.test_gtx import check_cell
from kairos_gateware.boards.zynq import generate
from kairos_gateware.description import check, make_variant
from kairos_gateware.testbenches.simulator import run_simulation

CAMERA = {"type": "coaxpress_sfp"}


def generated(folder, *cameras, **fields):
    """(Verilog, constraints) of a Kasli-SoC with cameras."""
    description = {"target": "kasli_soc", "variant": "x", "hw_rev": "v1.1", "peripherals": list(cameras)}
    generate(BOARD, make_variant(check(description | fields)), folder)
    return (folder / "kairos_kasli_soc.v").read_text(), (folder / "kairos_kasli_soc.xdc").read_text()


def test_cells_of_cameras_have_ports_that_exist_and_share_a_pll(tmp_path):
    verilog, constraints = generated(tmp_path, CAMERA, CAMERA | {"sfp": 2})
    check_cell(verilog, "GTXE2_CHANNEL", OF_LINKS | CHANNEL)
    assert len(re.findall(r"^GTXE2_COMMON ", verilog, re.M)) == 1 and ".CPLLPD(1'd0)" in verilog
    assert "QPLLCLK(1'd0)" not in verilog and "QPLL_FBDIV(9'd368)" in verilog
    assert constraints.count(" -period 6.4 ") == 2, "156.25 MHz at 6.25 Gbit/s"


def test_plls_make_the_rates_that_are_announced():
    """The settings of the quad's PLL are those of the description, 0170h and its dividers."""
    assert quad_pll(REFERENCE_HZ, QUAD_PLL_HZ) == QuadPll(100, 1, 2, True)
    assert [RATES_HZ[rate] for rate in OF_CHANNEL] == [1.25e9, 2.5e9, 5e9]


class Cell:
    """Registers behind a reconfiguration port. `log`: (address, value, in reset, PLL) of each write."""

    def __init__(self):
        self.words, self.log = {0x88: 0xAB32, 0xA9: 0x1008}, []

    def run(self, control, cycles, changes, seen):
        port, busy, asked = control.port, 0, None
        for cycle in range(cycles):
            for signal, value in changes.get(cycle, ()):
                yield signal.eq(value)
            if (yield port.enable):
                assert not busy, "one access at a time"
                address, busy = (yield port.address), 5
                if (yield port.writes):
                    self.words[address] = yield port.write
                    self.log.append((address, self.words[address], (yield control.hold)))
                asked = address
            busy -= busy > 0
            yield port.ready.eq(busy == 1)
            yield port.read.eq(self.words[asked] if busy == 1 else 0xFFFF)
            seen.append(((yield control.hold), (yield control.quad)))
            yield


def test_change_of_the_rate_sets_divider_and_clock_recovery_in_reset():
    """The bits of the sender's divider stay; the description's values at 3.125 and 6.25 Gbit/s, and with a PLL of half
    the rate there at the others."""
    dut, cell, seen = RateControl("sys"), Cell(), []
    times = [WAIT * 2 * n + 40 for n in range(7)]
    changes = {time: [(dut.rate, rate)] for time, rate in zip(times[1:], (2, 3, 1, 4, 0), strict=False)}
    changes |= {0: [(dut.whole, 1)], 20: [(dut.whole, 0)]}
    run_simulation(dut, cell.run(dut, times[-1], changes, seen))
    written = [(cell.log[n][1], cell.log[n + 1][1]) for n in range(0, len(cell.log), 2)]
    assert [address for address, *_ in cell.log] == [0x88, 0xA9] * 6
    assert all(held for *_, held in cell.log)
    expected = [(2, 0x1008), (2, 0x1020), (0, 0x1010), (1, 0x1010), (1, 0x1020), (2, 0x1008)]
    assert written == [(0xAB30 | divider, recovery) for divider, recovery in expected]
    for time, quad in zip(times[1:], (0, 1, 0, 0, 1, 0), strict=True):
        assert seen[time - 1] == (0, quad), "out of reset, with its PLL"
    # The PLL is changed in reset, and long before its end
    changed = [n for n in range(1, len(seen)) if seen[n][1] != seen[n - 1][1]]
    assert len(changed) == 4 and all(held for n in changed for held, _ in seen[n - 1 : n + WAIT - 10])


@pytest.mark.long
def test_cameras_are_at_pins_and_clocks_of_their_cages_beside_a_link(tmp_path):
    verilog, constraints = generated(tmp_path, CAMERA, CAMERA | {"sfp": 1}, base="satellite")
    for place, port in [("T4", "rxp"), ("R2", "txp"), ("Y4", "rxp"), ("AA2", "txp")]:
        assert re.search(rf"LOC {place} \[get_ports \{{sfp_{port}(_\d)?\}}\]", constraints)
    # Up to 5 Gbit/s, since the quad's PLL is the link's
    for name, period in [("camera3_rx", 8.0), ("camera3_tx", 8.0), ("camera1_rx", 8.0), ("link_reference", 8.0)]:
        assert constraints.count(f"create_clock -name {name} -period {period} ") == 1
    for name in ("camera1_rx", "camera1_tx", "camera3_rx", "camera3_tx"):
        assert f"set_clock_groups -asynchronous -group [get_clocks {name}]" in constraints
    assert len(re.findall(r"^GTXE2_CHANNEL ", verilog, re.M)) == 3, "with that of the link"
    assert len(re.findall(r"^IBUFDS_GTE2 ", verilog, re.M)) == 1, "one reference for all"
