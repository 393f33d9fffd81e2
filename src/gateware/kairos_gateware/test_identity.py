"""The build id follows the logic, and nothing else."""

from dataclasses import replace

import pytest

from kairos_gateware.boards import emulator, zynq
from kairos_gateware.boards.ebaz4205 import BOARD
from kairos_gateware.build import build_id
from kairos_gateware.descriptor import Descriptor
from kairos_gateware.identity import UNIDENTIFIED, identify
from kairos_gateware.variants import VARIANTS


def _built(variant):
    top = emulator.KairosSim(variant)
    return emulator.generate(top), top.descriptor


def _constants(descriptor) -> str:
    words = enumerate(descriptor.to_words())
    return "".join(f"8'd{index}: begin\n\tword <= {word.bit_length()}'d{word};\nend\n" for index, word in words)


def test_unchanged_logic_keeps_its_build_id_and_its_verilog():
    (text, descriptor), (again, second) = _built(VARIANTS["block"]), _built(VARIANTS["block"])
    assert text == again and descriptor == second
    assert len(descriptor.build_id) == 16 and int(descriptor.build_id, 16)


def test_changed_logic_or_name_changes_the_build_id():
    variants = [VARIANTS["block"], replace(VARIANTS["block"], name="other"), VARIANTS["demo"]]
    assert len({_built(variant)[1].build_id for variant in variants}) == 3


def test_other_connector_changes_the_build_id_of_the_emulated_board():
    block = VARIANTS["block"]
    first, *others = block.channels
    variants = [replace(block, channels=(replace(first, pins=(pin,)), *others)) for pin in ("eem0:d0", "eem1:d0")]
    assert len({_built(variant)[1].build_id for variant in variants}) == 2


def test_verilog_has_the_words_of_the_identified_descriptor():
    text, descriptor = _built(VARIANTS["block"])
    words = descriptor.to_words()
    assert all(f"'d{word};" in text for word in words)
    waiting = replace(descriptor, build_id=UNIDENTIFIED).to_words()
    assert not any(f"'d{word};" in text for word in set(waiting) - set(words))


def test_board_has_the_identified_descriptor_and_the_same_id_again(tmp_path):
    first = zynq.generate(BOARD, VARIANTS["demo"], tmp_path)
    text = (tmp_path / f"{BOARD.build_name}.v").read_text()
    assert all(f"'d{word};" in text for word in first.to_words())
    assert first.build_id == build_id(VARIANTS["demo"], "ebaz4205") != build_id(VARIANTS["demo"], "sim")


def test_other_tables_with_the_same_constants_are_left_alone():
    descriptor = Descriptor("a;1", UNIDENTIFIED, 125_000_000, 3)
    table = "".join(f"8'd0: begin\n\tother <= 31'd{word};\nend\n" for word in descriptor.to_words()[1:])
    assert identify(descriptor, table + _constants(descriptor)) == table + _constants(descriptor)


def test_further_files_belong_to_the_build_id():
    ids = set()
    for others in [(), ("set_property",), (b"set_property", "")]:
        descriptor = Descriptor("a;1", UNIDENTIFIED, 125_000_000, 3)
        identify(descriptor, _constants(descriptor), *others)
        ids.add(descriptor.build_id)
    assert len(ids) == 3


def test_verilog_of_another_design_is_rejected():
    descriptor = Descriptor("a;1", UNIDENTIFIED, 125_000_000, 3)
    with pytest.raises(ValueError, match="does not have the words"):
        identify(descriptor, "module other(); endmodule")
