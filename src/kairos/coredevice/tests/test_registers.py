"""Fields and registers: on the host, and in kernels executed on this machine."""

import pytest
from numpy import int64

from kairos.compiler.tests.jit import compile_body, evaluate
from kairos.coredevice.chips import ad53xx, ad9910, sampler, urukul
from kairos.coredevice.parts.numbers import to_int32
from kairos.coredevice.registers import Field, Register


class Status(Register):
    """Fields at the ends of a word."""

    chip = "Example"
    width = 32
    reset = 0x8000_0010

    top = Field(31, 1, doc="highest bit")
    offset = Field(8, 8, signed=True, unit="V", steps=16, doc="two's complement")
    mode = Field(4, 2, reset=1, values={"OFF": 0, "ON": 1, "AUTO": 2}, doc="mode")
    level = Field(0, 4, range=(2, 9), doc="level")


def test_register_fields_are_encoded_with_defaults():
    assert Status.encode() == 0x8000_0010
    assert Status.encode(top=0, mode="AUTO", level=9) == 0x29
    assert Status.encode(offset=-1.5) == 0x8000_0010 | 0xE8 << 8
    assert to_int32(Status.encode()) == -(2**31) + 16
    # As the data sheet's reset value, with a PLL of 40 times the reference
    word = ad9910.CFR3.encode(drv0=0, refclk_divider_bypass=1, vco_sel=5, icp=7, pll_enable=1, pll_n=40)
    assert word == 0x0807_C000 | 5 << 24 | 7 << 19 | 1 << 8 | 40 << 1


def test_repeated_fields_are_encoded_as_lists():
    assert sampler.PGIA.encode(gain=["X1", "X10", "X100", "X1000", 0, 0, 0, 3]) == 3 << 14 | 0b11_10_01_00
    assert sampler.PGIA.encode(gain=2) == 0xAAAA
    assert sampler.PGIA.decode(0xE4)["gain"] == ["X1", "X10", "X100", "X1000"] + ["X1"] * 4
    with pytest.raises(ValueError, match="gain of PGIA are 8 numbers, not 2"):
        sampler.PGIA.encode(gain=[1, 2])


def test_register_words_are_decoded_into_fields():
    assert Status.decode(0xF829) == {"top": 0, "offset": -0.5, "mode": "AUTO", "level": 9}
    assert ad9910.RAM_PROFILE.decode(1023 << 30 | 4)["end"] == 1023
    assert ad9910.RAM_PROFILE.decode(4)["mode"] == "CONT_RAMPUP"


@pytest.mark.parametrize(
    "fields, error, text",
    [
        ({"level": 1}, ValueError, "level of an Example is between 2 and 9, not 1"),
        ({"offset": 8.0}, ValueError, "offset of an Example is between -128 and 127, not 128"),
        ({"mode": "FAST"}, ValueError, "mode of Status is one of OFF, ON, AUTO, not 'FAST'"),
        ({"level": 0.5}, ValueError, "level of Status is a plain number, not a quantity such as 0.5"),
        ({"leve1": 3}, TypeError, "the Example has no field leve1 in Status; it has top, offset, mode, level"),
    ],
)
def test_invalid_field_value_is_rejected(fields, error, text):
    with pytest.raises(error, match=text):
        Status.encode(**fields)


NUMBERS = [-(2**31), -1, 0, 5, 2**31 - 1]
NARROW, WIDE = (Status.offset, sampler.PGIA.gain), (urukul.CFG9.clk_div, urukul.CFG9.profile)


@pytest.mark.parametrize("kind, fields, factor", [("int32", NARROW, 1), ("int64", WIDE, 0x12345)])
def test_kernel_and_host_field_operations_agree(kind, fields, factor):
    """Each operation on a single field and on several, on words of 32 and of 64 bits."""
    operations = [
        *("field.place(3)", "field.get(n)", "field.put(~n, 2)", "field.put_all(n, 5)"),
        *("several.get_at(n, 3)", "several.put_at(n, 3, 1)"),
        *("several.switch_at(n, 2, True)", "several.switch_at(n, 2, False)"),
    ]
    field, several = fields
    head = f"n = self.{kind}()\nfield = self.field\nseveral = self.several\n"
    compiled = compile_body(f"{head}return ({', '.join(operations)})", field=field, several=several)
    for number in NUMBERS:
        known = {"field": field, "several": several, "n": number * factor}
        expected = [int(eval(operation, known)) for operation in operations]
        result = compiled.run(number * factor)
        assert result.exception is None
        assert list(result.value) == ([to_int32(word) for word in expected] if kind == "int32" else expected)


def test_register_word_has_its_fields():
    assert ad9910.CFR2.word() == ad9910.CFR2.reset
    assert ad53xx.WORD.word(3, 11, 0x1234) == ad53xx.WORD.encode(mode="DATA", target=11, data=0x1234)
    values = {"step": 5, "end": 1023, "start": 3, "nodwell_high": 1, "mode": 2}
    high, low = ad9910.RAM_PROFILE.words(**values)
    assert high << 32 | low == ad9910.RAM_PROFILE.encode(**values)
    body = (
        "high, low = self.profile.words(asf=-1, pow=-1, ftw=-1)\nreturn int64(high) << 32 | (int64(low) & 0xffffffff)"
    )
    assert evaluate(body, profile=ad9910.PROFILE) == 0x3FFF_FFFF_FFFF_FFFF


def test_single_field_ignores_index():
    assert urukul.CFG8.profile.put_at(int64(0), 3, 5) == 5 << 8
    assert urukul.CFG9.profile.put_at(int64(0), 3, 5) == 5 << 17
