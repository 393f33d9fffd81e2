"""The converter card: the levels of the lines reproduce the samples at the receivers; pins and
constraints of a board."""

import re

import pytest
from migen import *
from migen.build.platforms import zc706

from kairos_gateware.boards import ad9739a
from kairos_gateware.boards.ad9739a import BITS, CARD, Lines, skew_ns
from kairos_gateware.boards.zynq import generate
from kairos_gateware.pad import SAMPLES
from kairos_gateware.testbenches.simulator import run_simulation
from kairos_gateware.variants import VARIANTS

from .test_boards import board, ports


def received(port, clock):
    """The numbers sampled by the converter: one from each port in turn per edge of DCI. port: for
    each bit time, the bits of one port, lowest first; clock: likewise DCI."""
    taken, before = [], 1 - clock[0]
    for bits, level in zip(port, clock, strict=True):
        assert level != before, "DCI has no edge where the data have one"
        before = level
        number = sum(bit << place for place, bit in enumerate(bits))
        taken += [number, number]
    return taken


def serialised(cycles):
    """Consecutive levels, SAMPLES bits per cycle, as the serialiser sends them: D1, the lowest,
    first."""
    return [word >> n & 1 for word in cycles for n in range(SAMPLES)]


def test_converter_gets_each_sample_twice_in_offset_binary():
    samples = [Signal((16, True)) for _ in range(SAMPLES)]
    given = [-32768, 32767, 0, -1, 1, 4, -4, 12345, *(37 * n * n - 30000 for n in range(40))]
    dut = Lines(samples)
    seen, clock = [], []

    def run():
        for first in [*range(0, len(given), SAMPLES), None]:
            for n, sample in enumerate(samples):
                yield sample.eq(0 if first is None else given[first + n])
            yield
            levels = []
            for line in dut.port:
                levels.append((yield line))
            seen.append(levels)
            clock.append((yield dut.clock))

    run_simulation(dut, run())
    # The first cycle has the previous contents: there is a register in between.
    lines = [serialised(cycle[bit] for cycle in seen[1:]) for bit in range(BITS)]
    taken = received(list(zip(*lines, strict=True)), serialised(clock[1:]))
    wanted = [(sample >> 2) + 2 ** (BITS - 1) for sample in given for _ in range(2)]
    assert taken == wanted and min(taken) == 0 and max(taken) == 2**BITS - 1


def test_wrong_number_of_samples_per_cycle_is_refused():
    with pytest.raises(ValueError, match="8 samples in a cycle, not 4"):
        Lines([Signal((16, True)) for _ in range(4)])


def test_each_pair_of_the_card_has_one_use():
    singles = {int(re.match(r"LA(\d+)", pin).group(1)) for pin in CARD["lines"].values()}
    pairs = [*CARD["db0"], *CARD["db1"], CARD["dci"]]
    assert len(set(pairs)) == len(pairs) == 2 * BITS + 1
    assert not singles & set(pairs) and len(set(CARD["lines"].values())) == len(CARD["lines"])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """(Verilog, constraints) of the variant with cards on both connectors."""
    output = tmp_path_factory.mktemp("dac")
    generate(board("zc706"), VARIANTS["dac"], output)
    return [(output / f"kairos_zc706.{kind}").read_text() for kind in ["v", "xdc"]]


def test_each_line_is_serialised_onto_its_pin(files):
    """From the pin back to the register of the sample's bit, through buffer and serialiser."""
    verilog, xdc = files
    located = {name: pin for pin, name in re.findall(r"set_property LOC (\w+) \[get_ports \{(.*?)\}\]", xdc)}
    buffers = {
        p: (level, n)
        for level, p, n in re.findall(r"^OBUFDS \w+\(\s*\.I\((\w+)\),\s*\.O\((\w+)\),\s*\.OB\((\w+)\)", verilog, re.M)
    }
    cells = {}
    for text in re.findall(r"^OSERDESE2 #\(.*?\);", verilog, re.M | re.S):
        pins = dict(re.findall(r"\.(D\d|OQ)\((.*?)\)[,\s]", text))
        cells[pins["OQ"]] = [pins[f"D{n + 1}"] for n in range(SAMPLES)]
    for connector in ["lpc", "hpc"]:
        pads = dict(zc706._connectors)[connector.upper()]
        registers = {}
        for port in ["db0", "db1"]:
            of_bits = registers[port] = []
            for bit, number in enumerate(CARD[port]):
                name = f"{connector}_dac_{port}_{bit}"
                level, negative = buffers[f"{name}_p"]
                suffix = "_CC" if number in CARD["clock_capable"] else ""
                assert located[f"{name}_p"] == pads[f"LA{number:02}{suffix}_P"]
                assert located[negative] == pads[f"LA{number:02}{suffix}_N"]
                [register] = {data.partition("[")[0] for data in cells[level]}
                assert cells[level] == [f"{register}[{n}]" for n in range(SAMPLES)]
                of_bits.append(register)
        assert registers["db0"] == registers["db1"] and len(set(of_bits)) == BITS
        clock, _ = buffers[f"{connector}_dac_dci_p"]
        assert located[f"{connector}_dac_dci_p"] == pads["LA00_CC_P"] and len(set(cells[clock])) in (1, SAMPLES)


def test_constraints_name_clocks_cells_and_ports(files):
    verilog, xdc = files
    for connector in ["lpc", "hpc"]:
        name = f"{connector}_dac"
        assert re.search(
            rf"create_generated_clock -name {name}_dci -divide_by 1 -source \[get_pins {name}_dci_serdes/CLK\]", xdc
        )
        assert re.search(rf"^\) {name}_dci_serdes\s*\(", verilog, re.M)
        limits = re.findall(rf"set_output_delay -clock {name}_dci( -clock_fall -add_delay)? -(max|min) ([\d.]+) ", xdc)
        assert [(bool(fall), limit) for fall, limit, _ in limits] == [
            (e, m) for e in (False, True) for m in ("max", "min")
        ]
        assert {float(delay) for _, _, delay in limits} == {0.722, 0.278}
        assert sum(port.startswith(f"{name}_db") for port in ports(verilog)) == 4 * BITS
    assert skew_ns() == pytest.approx(0.278)


def test_card_on_a_missing_connector_is_refused(tmp_path):
    with pytest.raises(ValueError, match="cards on lpc, hpc, but redpitaya has connectors none"):
        generate(board("redpitaya"), _without_clock(VARIANTS["dac"]), tmp_path)
    with pytest.raises(ValueError, match="has no such connector|there is no connector"):
        ad9739a.Ad9739a(zc706.Platform(), "fmc", [Signal((16, True)) for _ in range(SAMPLES)])


def _without_clock(variant):
    from dataclasses import replace

    return replace(variant, channels=(variant.channels[4],), synthesiser=0)
