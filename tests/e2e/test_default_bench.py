"""A device database alone is enough: the chips of its cards answer, without a bench file."""

from pathlib import Path

import pytest

from kairos.devices import DeviceDB
from tests.support.databases import calibrated, written

EXPERIMENTS = Path(__file__).with_name("experiments") / "default_bench.py"


def test_chips_of_cards_answer_without_a_bench_file(kairos, lab):
    database = calibrated(lab, kairos.directory)
    done = kairos("run", EXPERIMENTS, "-c", "Init", "--no-table", device_db=database)
    assert done.returncode == 0, done.stdout + done.stderr
    frequency, amplitude = map(float, done.stdout.splitlines()[0].split())
    assert frequency == pytest.approx(81.25e6, abs=0.2)
    assert amplitude == pytest.approx(0.5, abs=1e-4)
    done = kairos("run", EXPERIMENTS, "-c", "Init", "--no-bench", device_db=database)
    assert "proto_rev" in done.stderr, "nothing answers where nothing is wired"


def test_settings_of_database_apply_to_card_models(kairos, lab):
    """User-chosen names, AD9912 chips, revision 8 of the logic, another reference at another
    connector."""
    entries = DeviceDB.load(calibrated(lab, kairos.directory)).entries
    cpld = entries.pop("urukul0_cpld")
    cpld["arguments"] |= {"proto_rev": 8, "clk_sel": 1, "refclk": 100e6}
    del cpld["arguments"]["sync_device"]
    entries["light"] = cpld
    entries["beam"] = {
        "type": "local",
        "module": "artiq.coredevice.ad9912",
        "class": "AD9912",
        "arguments": {"chip_select": 6, "cpld_device": "light", "sw_device": "ttl_urukul0_sw2", "pll_n": 10},
    }
    entries["dds_729"] = "beam"
    for number in range(4):
        del entries[f"urukul0_ch{number}"]
    database = written(entries, kairos.directory)
    done = kairos("run", EXPERIMENTS, "-c", "Elsewhere", "--no-table", device_db=database)
    assert done.returncode == 0, done.stdout + done.stderr
    frequency, revision = map(float, done.stdout.splitlines()[0].split())
    assert (frequency, revision) == (pytest.approx(100e6, abs=1e-3), 8)
    assert "bench:" not in done.stderr
    done = kairos("bench", "check", device_db=database)
    assert done.returncode == 0, done.stderr
    assert "urukul0: Urukul of light; from spi_urukul0; to nothing\n" in done.stdout
    entries["other_beam"] = entries["beam"] | {"arguments": {"chip_select": 6, "cpld_device": "light"}}
    done = kairos("bench", "check", device_db=written(entries, kairos.directory))
    assert done.stdout.endswith("beam, other_beam drive one chip: chip_select 6 of light\n")
