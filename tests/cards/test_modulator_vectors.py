"""Chips behind the DACs of a Phaser: register words of a DAC34H84 and a TRF372017, dividers of the latter."""

import re

import pytest

from kairos.coredevice.dac34h84 import DAC34H84, middle
from kairos.coredevice.tests.traffic import KernelError, devices, run
from kairos.coredevice.trf372017 import TRF372017
from kairos.errors import UsageError
from tests.support.vectors import GROUPS, vectors

SPI = 1
ENTRIES = {
    "spi": ("spi2.SPIMaster", {"channel": SPI}),
    "lo": ("trf372017.TRF372017", {"spi_device": "spi", "refclk": 125e6}),
    "outside": ("trf372017.TRF372017", {"spi_device": "spi", "refclk": 125e6, "use_external_lo": True}),
    "dac": ("dac34h84.DAC34H84", {"spi_device": "spi", "input_sample_rate": 500e6}),
    "slow": ("dac34h84.DAC34H84", {"spi_device": "spi", "input_sample_rate": 250e6}),
}


@pytest.fixture(scope="module")
def get():
    return devices(ENTRIES).get


def hexadecimal(words, digits):
    return [f"{word & 0xFFFFFFFF:0{digits}x}" for word in words]


def settings(text):
    return {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", text)}


@vectors("trf372017_mmap")
def test_trf372017_registers_are_made_from_settings(get, vector):
    text = vector["settings"]
    if "words" in vector:
        assert " ".join(hexadecimal(TRF372017(settings(text)).get_mmap(), 8)) == vector["words"]
    else:
        chip = get("outside" if "use_external_lo=True" in text else "lo")
        assert hexadecimal(chip.mmap, 8)[3] == vector["changed"].split()[0]
        plain = TRF372017().get_mmap()
        assert chip.mmap[:3] + chip.mmap[4:] == plain[:3] + plain[4:]


@vectors("trf372017_calculate_pll")
def test_trf372017_dividers_are_calculated(get, vector):
    lo = get("lo")
    found = lo.calculate_pll(vector["refclk"], vector["f"])
    assert [int(number) for number in found] == vector["pll"]
    assert lo.calculate_cal_clk_sel(vector["refclk"], found[0]) == vector["cal_clk_sel"]
    assert [int(number) for number in run(lo.calculate_pll, vector["refclk"], vector["f"]).value] == vector["pll"]


@vectors("dac34h84_mmap")
def test_dac34h84_registers_are_made_from_settings(get, vector):
    text = vector["settings"]
    default = GROUPS["dac34h84_mmap"][0]["words"].split()
    rate = re.search(r"input_sample_rate=(\w+)", text)
    words = get({"500e6": "dac", "250e6": "slow"}[rate[1]]).mmap if rate else DAC34H84(settings(text)).get_mmap()
    found = hexadecimal(words, 6)
    if "words" in vector:
        assert found == vector["words"].split()
    else:
        named = vector["changed"].split()
        assert set(named) <= set(found)
        assert all(new == old or new in named for new, old in zip(found, default, strict=True))


def test_unknown_settings_of_the_chips_are_refused():
    with pytest.raises(KeyError, match="invalid setting"):
        DAC34H84({"interpolate": 1})
    with pytest.raises(UsageError, match="a TRF372017 has no setting 'n_int'"):
        TRF372017({"n_int": 25})
    with pytest.raises(Exception, match="Invalid DAC sample rate"):
        devices(ENTRIES | {"x": ("dac34h84.DAC34H84", {"spi_device": "spi", "input_sample_rate": 125e6})}).get("x")


@pytest.mark.parametrize(
    "refclk, f, text",
    [
        (125e6, 299e6, "Requested frequency out of range"),
        (125e6, 4.9e9, "Requested frequency out of range"),
        (1.0, 1e9, "Cannot find a PLL parameter that fits the requirement"),
    ],
)
def test_impossible_mixer_frequency_is_refused(get, refclk, f, text):
    with pytest.raises(ValueError, match=text):
        get("lo").calculate_pll(refclk, f)


def sent(traffic):
    return [(cs, length, word) for cs, length, _, _, word in traffic.words(SPI)]


def test_modulator_is_initialised_and_tuned(get):
    """The chip is asked for its identity, gets its words, and is calibrated at 2.875 GHz."""
    traffic = run(get("lo").init, data=[0x60, 0])
    words = [f"{word:08x}" for cs, length, word in sent(traffic) if length == 32]
    map_ = hexadecimal(get("lo").mmap, 8)
    assert words[0] == "80000008" and words[2:9] == map_
    assert words[9] == map_[3], "the output is off already"
    dividers = words[10:14]
    assert dividers == [map_[0], map_[1], map_[2], map_[5]], "2.875 GHz is what the map has"
    assert words[14] == f"{int(map_[1], 16) | 1 << 31:08x}"
    assert words[-1] == f"{int(map_[3], 16) & ~(1 << 14):08x}"
    assert (0, 1, 0) in sent(traffic), "a clock without a chip, before an answer"
    for data, text in [([0x40], "TRF372017 chip id mismatch"), ([0x60, 1 << 12], "TRF372017 VCO calibration error")]:
        with pytest.raises(KernelError, match=f"ValueError: {text}"):
            run(get("lo").init, data=data)
    words = [word for _, _, word in sent(run(get("outside").init, data=[0x60]))]
    assert words[-1] == get("outside").mmap[3] & 0xFFFFFFFF & ~(3 << 12), "the oscillator's output is on"


def test_dac_is_initialised_and_its_fifo_tuned(get):
    """Version, state after a reset, all words, synchronisation, PLL, distances of the FIFO's pointers."""
    alarms = [1 << 11, 0, 0, 0, 1 << 12, 1, 1 << 13, 1 << 11]
    answers = [0x5409, 0x049C, 0x9988, 0x2C60 | 3, 0x4000, *alarms]
    traffic = run(get("dac").init, data=answers)
    words = [word for _, _, word in sent(traffic)]
    end = 3 + len(get("dac").mmap)
    assert words[0] == 0x020080
    assert hexadecimal(words[3:end], 6) == hexadecimal(get("dac").mmap, 6)
    assert words[end + 1 : end + 3] == [0x1F9988, 0x1F998A]
    assert words[end + 4] == 0x182463, "the divider is not synchronised any more"
    # 1, 2, 3 and 5 are good
    assert words[-2:] == [0x094000 & 0xFF1FFF | 2 << 13, 0x050000]
    for wrong, text in [
        ([0], "DAC34H84 version mismatch"),
        ([0x5409, 0], "DAC34H84 reset fail"),
        ([0x5409, 0x049C, 0, 1], "DAC34H84 PLL fail to lock"),
        ([0x5409, 0x049C, 0, 4, 0, *([1 << 11] * 8)], "no good FIFO offset"),
    ]:
        with pytest.raises(KernelError, match=f"ValueError: {text}"):
            run(get("dac").init, data=wrong)


@pytest.mark.parametrize("good, best", [(0b00111000, 4), (0b11000011, 7), (0b10000001, 7), (0b00000001, 0), (0xFF, 7)])
def test_middle_of_good_fifo_offsets_is_found(good, best):
    assert middle(good) == best


def test_mixer_of_the_dac_is_staged_and_enabled(get):
    dac = get("dac")
    assert [word for *_, word in sent(run(dac.stage_nco_mixer_frequency, 1, 250e6))] == [0x160000, 0x174000]
    assert [word for *_, word in sent(run(dac.stage_nco_mixer_phase_offset, 0, 0.25))] == [0x124000]
    assert sent(run(dac.enable_mixer, True, data=[0x70A2]))[-1][2] == 0x0270F2
    assert sent(run(dac.enable_mixer, False, data=[0x70F2]))[-1][2] == 0x0270A2
    assert run(dac.read_temperature, data=[0x1900]).value == 25
    assert run(dac.read, 5, data=[0x1234]).value == 0x1234
    for method in (dac.stage_nco_mixer_frequency, dac.stage_nco_mixer_phase_offset):
        with pytest.raises(KernelError, match="ValueError: Invalid channel number"):
            run(method, 2, 0.0)
