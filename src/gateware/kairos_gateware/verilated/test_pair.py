"""Variants `pair` and `satellite`, verilated: a satellite behind the logic of a board, as its
processor sees it."""

import ctypes

import pytest

from kairos_gateware.analyzer.format import INPUT, OUTPUT, decode
from kairos_gateware.link.rtio.requester import SLACK
from kairos_gateware.verilated.hp_port import HpPort
from kairos_gateware.verilated.library import PlIn, PlOut, Ps

SATELLITE = 1 << 16
LINK_CYCLES = 138
"""Cycles of a vector through 125 cycles of fibre."""


@pytest.fixture
def pair(built):
    """(a board after the firmware's boot sequence, its registers)."""
    variant = built("pair")
    ps = Ps(variant.library, skip=True, satellite=built("satellite").library)
    registers = variant.registers
    ps.write(registers["rtio_phy_reset"], 0)
    ps.write(registers["initiator_ring"], Ps.BASE)
    ps.write(registers["initiator_enable"], 1)
    while ps.read(registers["satellite_state"]) & 2 == 0:
        pass
    yield ps, registers
    ps.close()


def test_satellite_records_events_received_over_the_link(pair):
    ps, registers = pair
    assert ps.read(registers["satellite_state"]) == 3
    assert ps.read(registers["satellite_one_way_delay"]) == LINK_CYCLES
    ring = {"base": HpPort.BASE, "last": HpPort.BASE + (1 << 16) - 1, "enable": 1}
    for name, value in ring.items():
        ps.write(registers[f"analyzer_{name}"], value)
    satellite = ps.satellite
    pad = next(entry["index"] for entry in satellite.library.info["pads"] if entry["name"] == "sat_ttl4")
    coarse = ps.out.sim_tsc + 2000
    assert ps.output(SATELLITE, 8 * coarse, 0, address=3) == 0
    assert ps.output(SATELLITE | 4, 8 * coarse + 5, 1) == 0
    assert ps.input(SATELLITE, 8 * coarse + 800) == (0, 8 * coarse, 0)
    assert (coarse, pad, (0xE0, 1)) in satellite.changes
    assert ps.output(SATELLITE | 4, 8 * (ps.out.sim_tsc + LINK_CYCLES + SLACK), 0) == 2
    assert ps.output(2 << 16, 8 * coarse + 80_000, 0) == 4
    assert ps.read(registers["satellite_events"]) == 2
    ps.write(registers["analyzer_enable"], 0)
    while ps.read(registers["analyzer_busy"]):
        pass
    size = ps.read(registers["analyzer_byte_count"] + 4)
    messages = decode(bytes(ps.hp.memory[:size]))
    assert [(m.channel, m.timestamp) for m in messages if m.type == OUTPUT][:2] == [
        (SATELLITE, 8 * coarse),
        (SATELLITE | 4, 8 * coarse + 5),
    ]
    assert [(m.channel, m.timestamp) for m in messages if m.type == INPUT] == [(SATELLITE, 8 * coarse)]


def test_run_ended_by_a_word_reports_whether_it_is_quiet(built):
    """Also if the caller's flag is wrong: after a skip of time the flag still has the value from
    before."""
    library = built("satellite").library
    inputs, single, run = PlIn(link_rx_up=1), PlOut(), PlOut()
    one, other = (library.dll.kairos_pl_new() for _ in range(2))
    words, cycles = 0, 0
    while words < 20:
        run.sim_quiet = 1
        ran = library.dll.kairos_pl_run(other, ctypes.byref(inputs), ctypes.byref(run), 1000, 2**64 - 1)
        for _ in range(ran):
            library.dll.kairos_pl_cycle(one, ctypes.byref(inputs), ctypes.byref(single))
        assert (run.sim_quiet, run.link_tx_valid) == (single.sim_quiet, single.link_tx_valid)
        words += run.link_tx_valid
        cycles += ran
        assert cycles < 100_000
    for pl in (one, other):
        library.dll.kairos_pl_free(pl)


@pytest.mark.parametrize("later", [0, 1024, 3072])
def test_phase_of_returning_clock_is_measured(pair, later):
    """In 1/4096 of a cycle, to 1/64; nothing is known of an absent satellite."""
    ps, registers = pair
    ps.inputs.link_rx_phase[0] = later
    ps.write(registers["satellite_measure"], 1)
    looks = 0
    while (value := ps.read(registers["satellite_phase"])) & 4096 == 0:
        looks += 1
    assert looks > 100
    assert abs((value - later + 2048) % 4096 - 2048) <= 64
    ps.satellite.plugged = False
    while ps.read(registers["satellite_state"]) & 2:
        pass
    assert ps.read(registers["satellite_phase"]) & 4096 == 0


def test_reset_drops_events_waiting_on_satellite(pair):
    ps, registers = pair
    coarse = ps.out.sim_tsc + 3000
    for n in range(20):
        assert ps.output(SATELLITE | 4 + n % 4, 8 * (coarse + n), 1) == 0
    ps.write(registers["rtio_reset"], 1)
    assert ps.output(SATELLITE | 8, 8 * (coarse + 30), 1) == 0
    ps.advance(coarse + 100)
    names = {entry["index"]: entry["name"] for entry in ps.satellite.library.info["pads"]}
    assert [(time, names[pad]) for time, pad, _ in ps.satellite.changes if time >= coarse] == [
        (coarse + 30, "sat_ttl8")
    ]
