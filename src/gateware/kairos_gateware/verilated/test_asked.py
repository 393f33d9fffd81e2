"""The gateware without pushed inputs, verilated: the CPU requests each event."""

import dataclasses

import pytest

from kairos_gateware.boards import emulator
from kairos_gateware.descriptor import Descriptor
from kairos_gateware.variants import VARIANTS
from kairos_gateware.verilated import verilate
from kairos_gateware.verilated.library import Library, Ps

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def ps(tmp_path_factory):
    output = tmp_path_factory.mktemp("asked")
    top = emulator.KairosSim(dataclasses.replace(VARIANTS["demo"], push_inputs=False))
    (output / f"{emulator.TOP}.v").write_text(emulator.generate(top))
    with verilate.building_alone(output):
        ps = Ps(Library(verilate.compile_library(output, emulator.TOP, "asked", top.pads)))
    registers = {r.name: r.address for r in Descriptor.from_bytes(ps.read_descriptor()).registers}
    assert "initiator_input_ring" not in registers
    ps.write(registers["rtio_phy_reset"], 0)
    ps.write(registers["initiator_ring"], Ps.BASE)
    ps.write(registers["initiator_enable"], 1)
    yield ps
    ps.close()


def test_input_request_is_answered_after_read_latency(ps):
    coarse = ps.out.sim_tsc + 100
    assert ps.output(0, 8 * coarse, 0, address=3) == 0
    ps.advance(coarse + 20)
    ps.bursts.clear()
    start = ps.cycle
    assert ps.input(0, -1) == (0, 8 * coarse, 0)
    assert [burst[0] - start for burst in ps.bursts] == [2, ps.read_latency + 7]
    assert ps.input(0, 0) == (1, -1, 0)
    assert ps.input(5, 0)[0] == 8


def test_overflow_is_reported_before_kept_events(ps):
    start = ps.out.sim_tsc + 200
    assert ps.output(1, 8 * start, 1, address=2) == 0
    ps.schedule = [(start + 10 + n, 1, 255 * ((n + 1) & 1)) for n in range(160)]  # 80 rising edges
    ps.advance(start + 200)
    assert ps.input(1, 0)[0] == 2
    stamps = []
    while (result := ps.input(1, 0))[0] == 0:
        stamps.append(result[1])
    assert stamps == [8 * (start + 10 + 2 * n) for n in range(65)]
