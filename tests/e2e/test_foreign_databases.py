"""Device databases as laboratories write them come up on an emulated device without an edit: every card of each
passes its selftest.

They were written for these tests, in the manners in which such files are written: generated and edited, with loops,
classes and aliases, hosts that are not reachable from here, controllers, and keys that no driver knows.
"""

import json
from pathlib import Path

import pytest

from tests.support.card_boards import card_boards
from tests.support.command import run_kairos
from tests.support.databases import entry, written
from tests.support.every_card import VARIANT, every_card
from tests.support.gateware import built

FOLDER = Path(__file__).with_name("databases")
WANTED = {
    "two_species": ("ion", {"urukul0_cpld", "ttl0_counter", "ttl7"}),
    "generated_style": ("lab", {"electrodes", "fastino0", "grabber0", "sampler0", "urukul0_cpld", "eeprom_urukul0"}),
    "stabilised": ("servo", {"suservo0", "urukul1_cpld"}),
    "two_sites": ("pair", {"trap_ttl0", "trap_ttl4", "lasers_ttl0"}),
    "old_names": ("ion", {"loop_clock_in", "ttl_in1", "ttl_in3_counter", "dds_cpld"}),
    "two_masters": ("ion", {"bob_ttl0", "bob_ttl4", "bob_urukul0_cpld"}),
    "three_racks": ("star", {"rack0/ttl00", "rack3/ttl11"}),
    "fast_cards": ("cards", {"dds_sideband", "phaser0", "shuttler0_config", "shuttler0_relay", "shuttler0_adc"}),
    "spin_lab": ("lab", {"urukul0.cpld", "electrodes", "shims", "adc", "camera", "ttl_pmt0_counter", "clk3"}),
    "museum": ("ion", {"cpld", "counter/3", "ttl7", "led"}),
    "many_tones": ("mtdds", {"scope trigger", "aod"}),
    "waves": ("songbird", {"Trig", "AWG"}),
    "imaging": ("cards", {"EMCCD", "rydberg rf", "mw", "E-field", "E-field relay", "ttl photodiode"}),
}
"""The gateware of each, and cards that must be among the tested ones."""
LONG = ["stabilised", "generated_style"]
"""Those that take longest; each kind of their cards is in another one."""


SYSTEMS = {"pair": ["pair", "satellite"], "star": ["star", "satellite"]}
CORES = {"two_masters": "bob_core"}
"""The core device of each whose cards are tested, if it is not ``core``."""
NOT_MADE = {
    "old_names": {"ttl_in0": "it is loop_clock_in"},
    "museum": {
        "dds1": "the gateware of the emulated device has no channel 0x00001a",
        **{f"TTL_IN_{letter}": f"it is ttl{n}" for n, letter in enumerate("ABCD")},
        **{f"TTL OUT {n}": f"it is ttl{n + 4}" for n in range(4)},
        "user_led": "it is led",
    },
    "two_masters": {"core": "13 cards of this core device: test them with --core core"},
    "three_racks": {
        **{f"rack4/ttl{n:02}": "the emulated device has no board 4" for n in range(12)},
        "rack4/mirny_cpld": "the emulated device has no board 4 (of rack4/spi_mirny)",
    },
}
"""Why cards of each are not tested."""


def failed_and_tested(file, variant, folder):
    page, core = folder / "cards.html", CORES.get(file.stem, "core")
    twin = ("--twin", f"emulator://{variant}", "--core", core)
    done = run_kairos("selftest", "--device-db", file, *twin, "--json", "-o", page)
    checks = [json.loads(line) for line in done.stdout.splitlines()]
    not_made = {check["card"]: check["value"] for check in checks if check["passed"] is None and check["what"] == "all"}
    if file.stem in NOT_MADE:
        assert not_made == NOT_MADE[file.stem]
    assert checks and page.exists(), done.stderr
    return [check for check in checks if check["passed"] is False], {check["card"] for check in checks}, done


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.long] * (name in LONG)) for name in WANTED])
def test_database_of_a_laboratory_comes_up_unedited(name, tmp_path):
    variant, cards = WANTED[name]
    built(*SYSTEMS.get(variant, [variant]))
    failed, tested, done = failed_and_tested(FOLDER / f"{name}.py", variant, tmp_path)
    assert failed == [] and done.returncode == 0, done.stderr
    assert cards <= tested


def test_core_device_without_a_driver_is_one_line(tmp_path):
    """An argument that it no longer has, in a database that has waited for years."""
    built("ion")
    entries = {"core": entry("core", "Core", host="10.0.0.1", ref_period=1e-9, external_clock=True)}
    page, twin = tmp_path / "cards.html", ("--twin", "emulator://ion")
    done = run_kairos("selftest", "--device-db", written(entries, tmp_path), *twin, "-o", page)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("kairos: Failed to create device 'core': TypeError: Core has no argument 'external_")
    assert done.stderr.count("\n") == 1


@pytest.mark.long
def test_database_with_cards_as_satellites_comes_up_unedited(tmp_path):
    """The gateware of three boards takes a minute to build."""
    _, system = card_boards(tmp_path)
    failed, tested, done = failed_and_tested(FOLDER / "efc_rack.py", system, tmp_path)
    assert failed == [] and done.returncode == 0, done.stderr
    assert {"shuttler0_config", "shuttler0_relay", "shuttler0_adc", "songbird0", "ttl0", "ttl4"} <= tested


def test_every_card_of_a_kasli_soc_passes_its_selftest(tmp_path):
    """How long the selftest takes is a figure: `make bench FIGURES=selftest.`."""
    failed, tested, done = failed_and_tested(every_card(tmp_path), VARIANT, tmp_path)
    assert failed == [] and done.returncode == 0, done.stderr
    assert {
        "urukul0_cpld",
        "mirny0_cpld",
        "sampler0",
        "zotino0",
        "novogorny0",
        "fastino0",
        "grabber0",
        "cxp0",
    } <= tested
