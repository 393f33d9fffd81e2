"""Pulse cores in system descriptions: of the described size, with their levels, and with converter cards where there
are any; or refused in one line."""

import re
from pathlib import Path

import pytest

from kairos_gateware import description
from kairos_gateware.boards.kasli_soc import BOARD as KASLI_SOC
from kairos_gateware.boards.zc706 import BOARD as ZC706
from kairos_gateware.boards.zynq import generate
from kairos_gateware.description import DescriptionError, check, load, make_variant
from kairos_gateware.device_db import device_db
from kairos_gateware.phy.kinds import make_phys

FOLDER = Path(description.__file__).parent


def board(target, *cards):
    return {"target": target, "variant": "x", "hw_rev": "v1.0", "peripherals": [{"type": "pulse"} | c for c in cards]}


@pytest.mark.parametrize("name, bits, converters", [("zc706", (12, 11), ("lpc", "hpc")), ("kasli", (11, 10), ())])
def test_eight_channels_are_described_for_each_board(name, bits, converters):
    variant = make_variant(load(FOLDER / f"pulse8_{name}.json"))
    entry = device_db(variant, "x")["pulse0"]["arguments"]
    assert (entry["channels"], entry["mlut_bits"], entry["plut_bits"]) == (8, *bits)
    assert variant.converters == converters and variant.synthesiser == bool(converters)
    phys = make_phys(variant.channels).values()
    pins = [pad.pin for phy in phys for pad in phy.pads if pad.name.startswith("pulse0")]
    assert pins == ([] if converters else [f"eem{port}:d{i}" for port in range(1, 5) for i in range(8)])


@pytest.mark.long
def test_both_parts_of_a_channel_go_to_two_converters(tmp_path):
    core = {"channels": 1, "segments": 256, "entries": 512, "converters": ["lpc", "hpc"], "quadrature": True}
    variant = make_variant(check(board("zc706", core)))
    assert variant.quadrature
    generate(ZC706, variant, tmp_path)
    verilog = (tmp_path / f"{ZC706.build_name}.v").read_text()
    # A product for each part of both tones, of eight samples
    assert len(set(re.findall(r"reg signed \[\d+:0\] (\w*cosine\d+_product)", verilog))) == 2 * 2 * 8


@pytest.mark.long
@pytest.mark.parametrize("name, target", [("zc706", ZC706), ("kasli", KASLI_SOC)])
def test_eight_channels_have_all_their_pins(name, target, tmp_path):
    variant = make_variant(load(FOLDER / f"pulse8_{name}.json"))
    found = generate(target, variant, tmp_path)
    assert found.channels and (tmp_path / f"{target.build_name}.v").exists()


def test_core_of_three_channels_has_levels_on_two_ports():
    core = {"channels": 3, "ports": [4, 7], "segments": 256, "entries": 512}
    (channel, *_) = make_variant(check(board("kasli_soc", core))).channels
    assert channel.pins == tuple(f"eem4:d{i}" for i in range(8)) + tuple(f"eem7:d{i}" for i in range(4))
    assert channel.parameters == {"channels": 3, "levels": 1, "mlut_bits": 9, "plut_bits": 8}


@pytest.mark.parametrize(
    "target, cards, message",
    [
        ("kasli_soc", [{"ports": [1]}], "(pulse).ports: 8 channels have levels on 4 ports, or on none"),
        ("kasli_soc", [{"converters": ["lpc"]}], "(pulse).converters: only a zc706 has connectors for converter cards"),
        ("kasli_soc", [{"segments": 1000}], "(pulse).segments: 1000 is not one of [256, 512, 1024, 2048, 4096]"),
        ("kasli_soc", [{"channels": 9}], "(pulse).channels: 9 is greater than the maximum of 8"),
        ("zc706", [{"ports": [1, 2, 3, 4]}], "a zc706 has no connectors for cards, only pulse cores without"),
        ("zc706", [{"channels": 1, "converters": ["lpc", "hpc"]}], "(pulse).converters: there are more than channels"),
        ("zc706", [{"quadrature": True}], "(pulse).quadrature: both parts of a channel need two converters"),
        ("zc706", [{}, {"converters": ["lpc"]}], "converter cards are those of the first pulse core"),
    ],
)
def test_core_that_a_board_cannot_have_is_refused_in_one_line(target, cards, message):
    with pytest.raises(DescriptionError) as error:
        check(board(target, *cards))
    assert message in str(error.value) and "\n" not in str(error.value)
