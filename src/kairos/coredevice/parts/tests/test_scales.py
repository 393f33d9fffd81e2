"""Scales of DACs, ADCs and attenuators."""

import pytest

from kairos.compiler.tests.jit import compile_body, evaluate
from kairos.coredevice.parts.attenuators import StepAttenuators
from kairos.coredevice.parts.scales import AmplifiedScale, Scale
from kairos.language import portable


class Volts(Scale):
    """10 V at full scale, offset binary."""

    @portable
    def refuse(self):
        raise ValueError("too much")


VOLTS = Volts(bits=16, steps=3276.8, zero=0x8000)


@pytest.mark.parametrize("volts, code", [(-10.0, 0), (0.0, 0x8000), (5.0, 0xC000), (-1e-4, 0x8000), (9.9997, 0xFFFF)])
def test_quantities_are_converted_to_codes(volts, code):
    assert VOLTS.code(volts) == code == evaluate("return self.scale.code(self.float())", volts, scale=VOLTS)
    assert VOLTS.quantity(code) == pytest.approx(volts, abs=10 / 0x8000)


@pytest.mark.parametrize("volts", [10.0, -10.001, 1e6])
def test_quantity_out_of_range_is_rejected(volts):
    with pytest.raises(ValueError, match="too much"):
        VOLTS.code(volts)
    result = compile_body("return self.scale.code(self.float())", scale=VOLTS).run(volts)
    assert result.exception[0] == "ValueError"


def test_code_conversion_uses_the_given_zero():
    span = Volts(bits=16, steps=65536)
    assert [span.code_from(4 * offset, 0.25) for offset in (0, 0x2000)] == [0x4000, 0xC000]
    with pytest.raises(ValueError, match="too much"):
        span.code_from(0xC000, 0.25)


def test_amplified_scale_uses_gain_setting():
    scale = AmplifiedScale(bits=16, span=20.48, gains=[1.0, 10.0, 100.0, 1000.0])
    assert [scale.quantity(-32768, setting) for setting in range(4)] == [-10.24, -1.024, -0.1024, -0.01024]
    assert evaluate("return self.scale.quantity(100, 3)", scale=scale) == scale.quantity(100, 3)
    for setting in (-1, 4):
        with pytest.raises(ValueError, match="invalid gain"):
            scale.quantity(0, setting)


def test_attenuations_are_converted_both_ways_or_refused():
    card = StepAttenuators()
    assert [card.att_to_mu(att) for att in (0.0, 0.125, 31.875)] == [255, 254, 0]
    assert [card.mu_to_att(code) for code in (255, 254, 0, 0x1FF)] == [0.0, 0.125, 31.875, 0.0]
    with pytest.raises(ValueError):
        card.att_to_mu(32.0)
