"""Outputs of cards set by hand: what the chips have in their registers afterwards."""

import json

import pytest

from kairos.devices import DeviceDB
from kairos.outputs import CLASS, EXPERIMENT
from tests.support.command import run_kairos
from tests.support.databases import entry, written
from tests.support.gateware import database


def state(kairos, path, output, values, *words):
    """Set an output on a device that has just booted; returns the registers of its chips, and what was said."""
    given = [f"output={output}", f"values={json.dumps(values)}", *words]
    done = kairos("run", EXPERIMENT, "-c", CLASS, "--no-table", "-o", "a.h5", *given, device_db=path)
    assert done.returncode == 0, done.stdout + done.stderr
    chips = run_kairos("runs", "chips", "a.h5", "--json", cwd=kairos.directory)
    return json.loads(chips.stdout), done.stdout


def test_tone_is_set_with_its_attenuator_on_a_card_that_was_not_initialised(kairos, lab):
    tone = {"frequency": 125e6, "amplitude": 0.5, "attenuation": 10.0}
    found, said = state(kairos, lab, "urukul0_ch2", tone)
    assert "urukul0_ch2: frequency 125 MHz, amplitude 0.5, attenuation 10 dB; the card was initialised" in said
    profile = found["urukul0.ch2.PROFILE7"]
    assert profile >> 48 in (0x1FFF, 0x2000), hex(profile)
    assert profile & 0xFFFFFFFF == 1 << 29
    assert [value for key, value in found.items() if key.startswith("urukul0.") and "ATT" in key] == [0xAF << 16]


@pytest.mark.long
def test_ad9912_and_ad9914_and_channel_of_a_dac_are_set_by_hand(kairos, lab, tmp_path):
    entries = DeviceDB.load(lab).entries
    for number in range(4):
        del entries[f"urukul0_ch{number}"]
    chip = entry("ad9912", "AD9912", cpld_device="urukul0_cpld", chip_select=4, pll_n=8)
    dac = entry("zotino", "Zotino", spi_device="dio_spi0", ldac_device="ttl16")
    path = written(entries | {"chip": chip, "dac": dac}, kairos.directory)
    found, _ = state(kairos, path, "chip", {"frequency": 100e6})
    assert found["urukul0.ch0.FREQUENCY"] == round(2**48 * 100e6 / 1e9), found
    found, _ = state(kairos, path, "dac:31", {"voltage": 5.0})
    assert found["dio_spi0.ch31.X1A"] == 0xC000
    cards = DeviceDB.load(database("cards", tmp_path)).entries
    chip = entry("ad9914", "AD9914", sysclk=3e9, bus_channel=2, channel=1)
    found, _ = state(
        kairos, written(cards | {"chip": chip}, kairos.directory), "chip", {"frequency": 750e6}, "initialise=true"
    )
    assert found["ddsbus0.ch1.PROFILE_FREQUENCY"] == 1 << 30 and found["ddsbus0.ch0.PROFILE_FREQUENCY"] == 0
