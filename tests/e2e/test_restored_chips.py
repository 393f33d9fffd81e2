"""`kairos runs chips RUN --restore`: a device has in its registers again what a run had left there."""

import json
from pathlib import Path

import h5py
import pytest

from kairos.devices import DeviceDB
from tests.support.command import run_kairos
from tests.support.databases import entry, written
from tests.support.gateware import database

DDS = {0: "other", 1: "chip"}
EXPERIMENTS = Path(__file__).with_name("experiments") / "set_chips.py"


def chips(kairos, *words):
    return run_kairos("runs", "chips", *words, cwd=kairos.directory)


def ran(kairos, name, file, more, output="a.h5"):
    """Run a class of the experiments with more entries in the device database; returns that database."""
    path = written(DeviceDB.load(file).entries | more, kairos.directory)
    done = kairos("run", EXPERIMENTS, "-c", name, "--no-table", "-o", output, device_db=path)
    assert done.returncode == 0, done.stdout + done.stderr
    return path


def restored(kairos, *words):
    """Restore, on a device that has just booted; returns what was found."""
    done = chips(kairos, "a.h5", *words, "--restore", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["differing"] == []
    return found


def test_restored_cards_have_the_registers_of_the_run(kairos, lab):
    ran(kairos, "Zotino", lab, {"chip": entry("zotino", "Zotino", spi_device="dio_spi0", ldac_device="ttl16")})
    state = json.loads(chips(kairos, "a.h5", "--json").stdout)
    assert state["dio_spi0.ch31.X1A"] != state["dio_spi0.ch30.X1A"] and state["fastino0.ch1.CIC"]
    assert state["dio_spi0.LEDS"] == 0xA5
    found = restored(kairos)
    assert found["restored"] == state and found["untouched"] == []
    done = chips(kairos, "a.h5", "sampler0", "urukul0", "--restore")
    assert done.returncode == 0 and done.stdout.startswith("restored 115 registers of sampler0, urukul0"), done.stdout


def test_restored_ad9910_plays_its_ram_again(kairos, lab):
    ran(kairos, "Ram", lab, {})
    found = restored(kairos, "urukul0")["restored"]
    assert found["urukul0.ch0.CFR1"] >> 31 and found["urukul0.ch0.RAM5"] == 0x600 and found["urukul0.ch0.RAM9"] == 0xA00
    assert "urukul0.ch0.RAM10" not in found, "words after the last one are 0"


@pytest.mark.long
@pytest.mark.parametrize(
    "name, module, arguments",
    [("AD9834", "ad9834", {}), ("HMC542B", "hmc542b", {}), ("Novogorny", "novogorny", {"cnv_device": "ttl16"})],
)
def test_restored_single_chip_has_the_registers_of_the_run(kairos, lab, name, module, arguments):
    ran(kairos, name, lab, {"chip": entry(module, name, spi_device="dio_spi0", **arguments)})
    assert any(restored(kairos, "dio_spi0")["restored"].values())


@pytest.mark.long
def test_restored_synthesiser_is_calibrated_and_untouched_ones_are_named(kairos, lab):
    more = {
        "mirny": entry("mirny", "Mirny", spi_device="dio_spi0", refclk=100e6, clk_sel=0),
        "chip": entry("adf5356", "ADF5356", cpld_device="mirny", sw_device="ttl16", channel=1),
        "almazny": entry("almazny", "AlmaznyLegacy", host_mirny="mirny"),
    }
    ran(kairos, "ADF5356", lab, more)
    found = restored(kairos, "dio_spi0")
    assert found["untouched"] == ["dio_spi0.ch0", "dio_spi0.ch2", "dio_spi0.ch3"]
    assert found["restored"]["dio_spi0.ch1.R0"] and found["restored"]["dio_spi0.ALMAZNY2"]


@pytest.mark.long
def test_restored_ad9912_has_the_registers_of_the_run(kairos, lab):
    entries = DeviceDB.load(lab).entries
    chip = entry("ad9912", "AD9912", cpld_device="urukul0_cpld", chip_select=4, pll_n=8)
    gone = {f"urukul0_ch{n}": "chip" for n in range(4)}
    ran(kairos, "AD9912", lab, {**gone, "chip": chip, "urukul0_cpld": entries["urukul0_cpld"]})
    assert restored(kairos, "urukul0")["restored"]["urukul0.ch0.FREQUENCY"]


@pytest.mark.long
def test_restored_ad9914_is_calibrated_and_has_the_registers_of_the_run(kairos, tmp_path):
    cards = database("cards", tmp_path)
    chips_of_bus = {name: entry("ad9914", "AD9914", sysclk=3e9, bus_channel=2, channel=n) for n, name in DDS.items()}
    ran(kairos, "AD9914", cards, chips_of_bus)
    state = json.loads(chips(kairos, "a.h5", "--json").stdout)
    (card,) = {key.partition(".")[0] for key in state if key.endswith(".PROFILE_FREQUENCY")}
    assert any(restored(kairos, card)["restored"].values())
    done = chips(kairos, "a.h5", "--restore")
    assert done.returncode == 0 and card in done.stdout and "never wrote to them: phaser0, phaser1" in done.stdout


@pytest.mark.long
def test_restored_waveforms_start_again_with_the_registers_of_the_run(kairos, tmp_path):
    relay = {"shuttler0_relay": entry("shuttler", "Relay", spi_device="spi_shuttler0_relay")}
    ran(kairos, "Waveforms", database("cards", tmp_path), relay)
    found = restored(kairos, "phaser0", "phaser1", "shuttler0")["restored"]
    assert found["phaser0.channel1.ATT"] == 255 - 8 * 4 and found["phaser0.dac.CONFIG21"] == 0xFCCC
    assert found["phaser0.channel0.TONE3"] >> 32 == 0xF0A3D70A and "phaser0.0x0d" not in found, "of its SPI bus"
    assert found["phaser1.channel1.miqro.WINDOW1002"] == 0xCCDC000 and found["phaser1.channel1.miqro.PROFILE254"]
    assert found["shuttler0.CLEAR"] == 0xF0F0 and found["shuttler0.RELAYS"] == 0x8008
    assert found["shuttler0.ch15.WORD10"] == 2**64 - 3 and found["shuttler0.ch3.SETTINGS"] == -77 & 0xFFFF


@pytest.mark.long
def test_restored_servo_has_its_cards_and_profiles_again(kairos, tmp_path):
    ran(kairos, "Servo", database("servo", tmp_path), {})
    found = restored(kairos)["restored"]
    assert found["suservo0.ch5.PROFILE17.Y"] == 0x10000 and found["suservo0.ch5.CONTROL"] == 17 << 3 | 1
    assert found["suservo0.ch5.PROFILE17.FTW_HIGH"] == 0x1999 and found["suservo0.ENABLE"] == 0
    assert found["sampler0.PGIA"] == 1 << 4 and found["urukul1.ch1.PROFILE7"] >> 32 & 0xFFFF == 0x199A
    done = chips(kairos, "a.h5", "urukul0", "--restore")
    assert done.returncode == 1 and "it belongs to the SU-Servo suservo0: name that" in done.stderr
    with h5py.File(kairos.directory / "a.h5", "r+") as file:  # as one of before
        names = file["waveform/chips/names"].asstr()[()].tolist()
        file["waveform/chips/names"][:] = [name.replace("suservo0.", "urukul0.") for name in names]
    done = chips(kairos, "a.h5", "--restore")
    assert done.returncode == 1 and "of which the file says nothing" in done.stderr


def test_unrestorable_card_is_refused_in_a_line(kairos, lab):
    path = ran(kairos, "Cards", lab, {})
    with h5py.File(kairos.directory / "a.h5", "r+") as file:
        names = file["waveform/chips/names"].asstr()[()].tolist()
        file["waveform/chips/values"][names.index("urukul0.ch2.CFR1")] |= 1 << 31
    done = chips(kairos, "a.h5", "--restore")
    assert done.returncode == 1 and done.stderr.strip().splitlines() == [
        "kairos: urukul0 cannot be restored: its RAM plays, whose words the file does not have: run an experiment that "
        "fills it; name what is to be restored: fastino0 sampler0"
    ]
    entries = DeviceDB.load(path).entries
    del entries["urukul0_cpld"]
    written(entries, kairos.directory)
    done = chips(kairos, "a.h5", "urukul0", "--restore")
    assert done.returncode == 1 and "no urukul0_cpld any more" in done.stderr
    done = chips(kairos, "a.h5", "urukul7", "--restore")
    assert done.returncode == 1 and "has no card urukul7; it has " in done.stderr


def refused(kairos, entries, *words):
    """Restore with another device database, which is refused; returns the line that says why."""
    written(entries, kairos.directory)
    done = chips(kairos, "a.h5", *words, "--restore")
    (line,) = done.stderr.strip().splitlines()
    assert done.returncode == 1 and not done.stdout
    return line


def test_registers_of_another_card_or_clock_are_refused_in_a_line(kairos, lab):
    entries = DeviceDB.load(ran(kairos, "Cards", lab, {})).entries
    urukul = entries["urukul0_cpld"]
    slower = {**urukul, "arguments": {**urukul["arguments"], "refclk": 100e6}}
    line = refused(kairos, entries | {"urukul0_cpld": slower})
    assert "urukul0 cannot be restored: its refclk was 125000000.0 in the run, and is 100000000.0 in" in line
    assert line.endswith("name what is to be restored: fastino0 sampler0")
    chip = entry("ad9912", "AD9912", cpld_device="urukul0_cpld", chip_select=7)
    line = refused(kairos, entries | {"urukul0_ch3": chip}, "urukul0")
    assert "its chip urukul0_ch3 was an AD9910 in the run, and is an AD9912 now" in line
    longer = {**entries["urukul0_ch2"], "arguments": {**entries["urukul0_ch2"]["arguments"], "pll_n": 40}}
    assert "that of urukul0_ch2: pll_n was 32" in refused(kairos, entries | {"urukul0_ch2": longer}, "urukul0")
    zotino = entry("zotino", "Zotino", spi_device="dio_spi0", ldac_device="ttl16")
    line = refused(kairos, entries | {"fastino0": zotino}, "fastino0")
    assert "it was a Fastino in the run, and is a Zotino now" in line
    with h5py.File(kairos.directory / "a.h5", "r+") as file:  # as one that does not say what its database was
        for name in {"device_db", "devices"} & set(file["provenance"]):
            del file["provenance"][name]
    assert "the run's card has no register CONTROL: it was another card" in refused(
        kairos, entries | {"fastino0": zotino}, "fastino0"
    )
    assert "no register SERIAL_CONFIG" in refused(kairos, entries | {"urukul0_ch3": chip}, "urukul0")
