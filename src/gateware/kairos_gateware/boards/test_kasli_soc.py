"""The Kasli-SoC's clocks: from which pins, and how terminated."""

import re

import pytest
from migen import Module, Signal
from migen.build.generic_platform import Misc, Pins, Subsignal

from kairos_gateware.boards.kasli_soc import BOARD
from kairos_gateware.boards.zynq import generate, oscillator_bus
from kairos_gateware.description import check, make_variant
from kairos_gateware.verilog import convert


def resource(name):
    return next(each for each in BOARD.platform().constraint_manager.available if each[0] == name)


@pytest.mark.parametrize("name, pin", [("cdr_clk_clean_fabric", "AD23"), ("sma_clkin", "AD20")])
def test_clock_inputs_of_the_logic_are_terminated(name, pin):
    found = resource(name)
    assert any(isinstance(each, Misc) and each.misc == "DIFF_TERM=TRUE" for each in found[2:])
    (positive,) = [each for each in found[2:] if isinstance(each, Subsignal) and each.name == "p"]
    assert [each.identifiers for each in positive.constraints if isinstance(each, Pins)] == [[pin]]


def test_reset_of_synthesisers_is_held_low_at_its_pins(tmp_path):
    """Pair 7 of an Urukul resets AD9912s; an open pair is a 1 for a receiver."""
    card = {"type": "urukul", "dds": "ad9912", "ports": [2]}
    given = {"target": "kasli_soc", "variant": "x", "hw_rev": "v1.2", "peripherals": [card]}
    generate(BOARD, make_variant(check(given)), tmp_path)
    pins = (tmp_path / "kairos_kasli_soc.xdc").read_text()
    assert "LOC A15 [get_ports {eem2_d7_low_p}]" in pins and "LOC A14 [get_ports {eem2_d7_low_n}]" in pins
    logic = (tmp_path / "kairos_kasli_soc.v").read_text()
    (buffer,) = re.findall(r"OBUFTDS \w+\(([^;]*)\.O\(eem2_d7_low_p\)", logic)
    level, undriven = re.search(r"\.I\((\w+)\)", buffer)[1], re.search(r"\.T\((\w+)\)", buffer)[1]
    assert re.search(rf"assign {level} = \w+;", logic) and re.search(rf"assign {undriven} = \w+;", logic)


def test_transceivers_use_the_cleaned_clock():
    positive = resource(BOARD.cages.reference)[2]
    assert (positive.name, positive.constraints[0].identifiers) == ("p", ["R6"])


def test_bus_of_the_oscillator_is_open_drain_on_lines_of_the_processor():
    pins = {each.name: each.constraints[0].identifiers for each in resource(BOARD.oscillator)[2:4]}
    assert pins == {"scl": ["AE22"], "sda": ["AF22"]}
    dut, outward, inward = Module(), Signal(64, name="outward"), Signal(64, name="inward")
    pads = type("Pads", (), {name: Signal(name=name) for name in pins})
    oscillator_bus(dut, pads, outward, inward)
    text = str(convert(dut, {outward, inward, pads.scl, pads.sda}))
    assert text.count("IOBUF IOBUF") == 2 and text.count(".I(1'd0)") == 2
    for pin, line in (("scl", 0), ("sda", 1)):
        assert f".IO({pin})" in text and f".O(inward[{line}])" in text and f"~outward[{32 + line}]" in text
