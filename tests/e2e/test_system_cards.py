"""A satellite with a card: its chips answer over the link, and the master sees their light."""

from dataclasses import replace
from pathlib import Path

import pytest
from kairos_gateware.variants import VARIANTS

from kairos.devices import DeviceDB
from kairos.testing import Bench
from tests.support.boards import pair_description
from tests.support.databases import written
from tests.support.gateware import built, built_as
from tests.support.paths import EXAMPLES

EXPERIMENT = Path(__file__).with_name("experiments") / "system_cards.py"
LIGHT = """
[urukul.urukul0]
mmcx_hz = 125e6

[aom.aom_397]
tone = "urukul0.ch1"
centre_hz = 110e6
saturation_dbm = 10.0
delay_ns = 400

[ion.ion0]
detection = { light = "aom_397", photons_hz = 20e6 }

[photomultiplier.pmt]        # both boards have a ttl0: the database says whose it is
pin = "ttl0"
sees = ["ion0"]
efficiency = 0.02
"""

pytestmark = pytest.mark.long
"""The gateware of another board takes a minute or two to build."""


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """TTLs of the master, and the hardware of `examples/ion` on the satellite, with TTLs named
    `sat_ttl0` and so on."""
    built("pair")
    satellite = replace(VARIANTS["ion"], name="satellite_ion", uplink=True, push_inputs=False)
    built_as(satellite)
    place = tmp_path_factory.mktemp("cards")
    (place / "system.toml").write_text(pair_description("pair", satellite.name))
    entries = DeviceDB.load(EXAMPLES / "device_db.py").entries
    for name, entry in DeviceDB.load(EXAMPLES / "ion" / "device_db.py").entries.items():
        if "channel" in entry["arguments"]:
            entry["arguments"]["channel"] |= 1 << 16
        if name not in entries or "channel" in entry["arguments"]:
            entries[f"sat_{name}" if name in entries else name] = entry
    entries["core"]["arguments"]["host"] = f"emulator://{place / 'system.toml'}"
    return written(entries, place)


def test_light_made_by_satellite_is_detected_by_master(kairos, database):
    file = kairos.write(LIGHT, head="", name="light.toml")
    printed = []
    for _ in range(2):
        done = kairos("run", EXPERIMENT, "-c", "Lit", "--bench", file, "--no-table", device_db=database)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "bench:" not in done.stderr, done.stderr
        printed.append(done.stdout.splitlines()[0])
    assert printed[0] == printed[1]
    dark, bright, frequency = map(float, printed[0].split())
    # 20 MHz for 100 us, of which 2 % are counted
    assert dark == 0 and 20 < bright < 65
    assert frequency == pytest.approx(110e6, abs=0.2)


def test_bench_needs_only_the_database_and_names_missing_parts(kairos, database):
    done = kairos("run", EXPERIMENT, "-c", "Mute", "--no-table", device_db=database)
    assert done.returncode == 0, done.stdout + done.stderr
    file = kairos.write("[urukul.urukul0]\nmmcx_hz = 0\nsma_hz = 0\noscillator_hz = 0\n", head="", name="no_clock.toml")
    done = kairos("run", EXPERIMENT, "-c", "Mute", "--bench", file, "--no-table", device_db=database)
    assert "urukul0: ch1: its PLL is on but the card has no clock" in done.stderr, done.stderr
    assert f", {EXPERIMENT.name}:" in done.stderr
    done = kairos("bench", "check", device_db=database)
    assert "urukul0: Urukul of urukul0_cpld; from spi_urukul0; to nothing\n" in done.stdout, done.stdout


def test_tones_of_satellite_have_names_of_the_database(database, tmp_path):
    file = tmp_path / "light.toml"
    file.write_text(LIGHT)
    with Bench(database, file) as bench:
        bench.run(EXPERIMENT, "Lit")
        loud = [tone for tone in bench.dds("urukul0_ch1").changes if tone.power is not None]
        assert loud[-1].frequency == pytest.approx(110e6, abs=0.2)
        assert bench.warnings == []
