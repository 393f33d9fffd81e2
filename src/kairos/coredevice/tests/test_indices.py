"""Numbers beyond the channels, outputs, profiles and regions of cards: each driver refuses them, with the same line
for all methods of a card."""

import inspect

import pytest

from kairos.coredevice.chips.phaser_mtdds import checked_rf_channel
from kairos.coredevice.chips.urukul import checked_channel
from kairos.coredevice.novogorny import adc_ctrl

from .traffic import KernelError, devices, run

SPI, CARD, SERVO = 1, 40, 60
ENTRIES = {
    "spi": ("spi2.SPIMaster", {"channel": SPI}),
    "ttl": ("ttl.TTLOut", {"channel": 2}),
    "urukul8": ("urukul.CPLD", {"spi_device": "spi", "proto_rev": 8}),
    "urukul9": ("urukul.CPLD", {"spi_device": "spi", "io_update_device": "ttl"}),
    "ad9910": ("ad9910.AD9910", {"chip_select": 5, "cpld_device": "urukul9", "pll_n": 32}),
    "all8": ("ad9910.AD9910", {"chip_select": 3, "cpld_device": "urukul8", "pll_n": 32}),
    "all9": ("ad9910.AD9910", {"chip_select": 3, "cpld_device": "urukul9", "pll_n": 32}),
    "urukul9_without_update": ("urukul.CPLD", {"spi_device": "spi"}),
    "all9_without_update": ("ad9910.AD9910", {"chip_select": 3, "cpld_device": "urukul9_without_update", "pll_n": 32}),
    "shared": ("suservo.SharedDDS", {"cpld_device": "urukul9", "pll_n": 32}),
    "servo": (
        "suservo.SUServo",
        {"channel": SERVO, "pgia_device": "spi", "cpld_devices": ["urukul9"], "dds_devices": ["shared"]},
    ),
    "servo_channel": ("suservo.Channel", {"channel": SERVO - 1, "servo_device": "servo"}),
    "zotino": ("zotino.Zotino", {"spi_device": "spi", "ldac_device": "ttl"}),
    "ad53xx": ("ad53xx.AD53xx", {"spi_device": "spi", "ldac_device": "ttl"}),
    "sampler": ("sampler.Sampler", {"spi_adc_device": "spi", "spi_pgia_device": "spi", "cnv_device": "ttl"}),
    "novogorny": ("novogorny.Novogorny", {"spi_device": "spi", "cnv_device": "ttl"}),
    "mirny": ("mirny.Mirny", {"spi_device": "spi", "clk_sel": 2}),
    "almazny": ("almazny.AlmaznyLegacy", {"host_mirny": "mirny"}),
    "fastino": ("fastino.Fastino", {"channel": CARD}),
    "shuttler": ("shuttler.Config", {"channel": CARD}),
    "shuttler_adc": ("shuttler.ADC", {"spi_device": "spi"}),
    "songbird": ("songbird.Songbird", {"spi_device": "spi", "channel": CARD}),
    "ad9834": ("ad9834.AD9834", {"spi_device": "spi"}),
    "grabber": ("grabber.Grabber", {"channel_base": CARD}),
    "cxp": ("cxp_grabber.CXPGrabber", {"channel": CARD}),
    "switch": ("i2c.I2CSwitch", {}),
}


@pytest.fixture(scope="module")
def get():
    return devices(ENTRIES).get


TEXTS = {
    "urukul9": {"channel": "the channels of an Urukul are 0 to 3", "profile": "the profiles of an Urukul are 0 to 7"},
    "ad9910": {"channel": "the channels of an Urukul are 0 to 3", "profile": "the profiles of an AD9910 are 0 to 7"},
    "all9": {"dds_channel_idx": "the channels of an Urukul are 0 to 3"},
    "shared": {"channel": "the channels of an Urukul are 0 to 3"},
    "servo": {
        "adc": "the channels of a Sampler are 0 to 7",
        "channel": "the channels of a Sampler are 0 to 7",
        "gain": "the gains of a Sampler are 0 to 3",
    },
    "servo_channel": {
        "adc": "the channels of a Sampler are 0 to 7",
        "profile": "the profiles of an SU-Servo are 0 to 31",
    },
    "zotino": {"channel": "the channels of a Zotino are 0 to 31"},
    "ad53xx": {"channel": "the channels of an AD53xx are 0 to 39"},
    "sampler": {"channel": "the channels of a Sampler are 0 to 7", "gain": "the gains of a Sampler are 0 to 3"},
    "novogorny": {"channel": "the channels of a Novogorny are 0 to 7", "gain": "the gains of a Novogorny are 0 to 3"},
    "mirny": {"channel": "the channels of a Mirny are 0 to 3"},
    "almazny": {"channel": "the channels of an Almazny are 0 to 3"},
    "fastino": {"dac": "the DACs of a Fastino are 0 to 31"},
    "shuttler": {"output": "the outputs of a Shuttler are 0 to 15"},
    "shuttler_adc": {"channel": "the outputs of a Shuttler are 0 to 15"},
    "songbird": {"number": "the tones of a Songbird are 0 to 15"},
    "ad9834": {
        "freq_reg": "the frequency registers of an AD9834 are 0 and 1",
        "phase_reg": "the phase registers of an AD9834 are 0 and 1",
    },
    "grabber": {"n": "the regions of a grabber are 0 to 63"},
    "cxp": {"n": "the regions of a CoaXPress grabber are 0 to 59"},
    "switch": {"channel": "the channels of an I2C switch are 0 to 7"},
}
"""By device: parameters of its methods that number what it has several of, and what a number beyond these causes."""
ARGUMENTS = {
    **dict.fromkeys(["att", "frequency", "kp", "offset", "phase", "vfs", "voltage", "vzs", "y"], 0.0),
    **dict.fromkeys(["clear", "on"], True),
}
"""Arguments for other parameters, if they are not the integer 0, as all numbers in machine units are."""
LISTS = {"set_group": {"voltage": [0.0]}, "set_group_mu": {"data": [0]}, "get_profile_mu": {"data": [0]}}


def numbered(device, texts):
    """For each method of a device and each of its parameters in `texts`: method, arguments, place and text."""
    for name, method in inspect.getmembers(device, inspect.ismethod):
        if name.startswith("_") or inspect.isclass(method.__self__):
            continue
        parameters = list(inspect.signature(method).parameters.values())
        in_machine_units = name.endswith("_mu") or name in ("set_offset", "set_phase_reg")
        known = ({} if in_machine_units else ARGUMENTS) | LISTS.get(name, {})
        given = [known.get(each.name, 0) if each.default is each.empty else each.default for each in parameters]
        for place, parameter in enumerate(parameters):
            if parameter.name in texts:
                text = texts[parameter.name]
                if name == "set_profile":  # by the logic of the card
                    text = text.replace("an AD9910", "an Urukul")
                yield method, list(given), place, text


@pytest.mark.parametrize("name", TEXTS)
def test_number_beyond_those_of_a_card_is_refused(get, name):
    methods = list(numbered(get(name), TEXTS[name]))
    assert methods
    for method, arguments, place, text in methods:
        arguments[place] = int(text.split()[-1]) + 1
        try:
            run(method, *arguments, data=[0] * 40)
        except KernelError as error:
            assert str(error) == f"ValueError: {text}", method
        else:
            pytest.fail(f"{method.__qualname__}{tuple(arguments)} was accepted")


@pytest.mark.parametrize("name", ["urukul9", "zotino", "sampler", "servo_channel", "almazny"])
def test_negative_number_is_refused_like_one_above_the_range(get, name):
    method, arguments, place, _ = next(numbered(get(name), TEXTS[name]))
    arguments[place] = -1
    with pytest.raises(KernelError, match=r"ValueError: the .* are 0 to \d+$"):
        run(method, *arguments)


def test_host_refuses_a_number_as_kernels_do(get):
    with pytest.raises(ValueError, match="^the channels of an Urukul are 0 to 3$"):
        checked_channel(4)
    with pytest.raises(ValueError, match="^the ranges of a Novogorny are 0 to 7$"):
        adc_ctrl(softspan=-1)
    with pytest.raises(Exception, match="the tones of a Songbird are 0 to 15$"):
        tone = {"channel": CARD, "config_device": "songbird", "dds_no": 16}
        devices(ENTRIES | {"tone": ("songbird.DDS", tone)}).get("tone")


def test_sample_of_a_sampler_has_pairs_of_elements(get):
    for codes in ([0], [0] * 10):
        with pytest.raises(KernelError, match="ValueError: a sample of a Sampler has 2, 4, 6 or 8 elements"):
            run(get("sampler").sample_mu, codes, data=[0] * 5)


# A DDS with the chip select of all chips of its Urukul


@pytest.mark.parametrize("name, profiles", [("all8", 0o5 << 8), ("all9", 0o5555 << 8)])
def test_profile_of_all_chips_is_that_of_each(get, name, profiles):
    dds = get(name)
    written = run(dds.set_profile, 5).words(SPI)
    mask = 0o7 if name == "all8" else 0o7777
    assert written[-1][4] & mask << 8 == profiles


def test_update_of_all_chips_is_that_of_each(get):
    upper = [data for *_, length, _, _, data in run(get("all9_without_update").power_down).words(SPI) if length == 24]
    assert [word >> 4 & 15 for word in upper] == [15, 0]
    with pytest.raises(KernelError, match="ValueError: the channels of an Urukul are 0 to 3"):
        run(get("all9").cfg_sw, True)


def test_rf_channel_of_a_phaser_beyond_its_two_is_refused(get):
    for number in (2, -1):
        with pytest.raises(ValueError, match="^the RF channels of a Phaser are 0 and 1$"):
            checked_rf_channel(number)


def test_more_delays_than_urukuls_are_refused(get):
    with pytest.raises(KernelError, match="more delays of update pulses than the SU-Servo has Urukuls"):
        run(get("servo").set_config, 1, True, [0, 0])
