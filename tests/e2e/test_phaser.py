"""A Phaser on the bench, through driver, firmware, the link in the gateware and the card's model."""

from pathlib import Path

import numpy as np
import pytest

from kairos.testing import Bench
from tests.support.gateware import database

EXPERIMENTS = Path(__file__).with_name("experiments") / "phaser.py"
FRAME = 320e-9


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    return database("cards", tmp_path_factory.mktemp("cards"))


@pytest.fixture
def bench(db):
    with Bench(db) as made:
        yield made


def test_phaser_plays_tones_at_exact_times(bench):
    bench.run(EXPERIMENTS, "Tones")
    assert bench.warnings == []
    sample, leds, errors, word = bench.datasets["read"]
    assert (sample, leds, errors) == (0x12345678, 0x2A, 0)
    assert word == round(10e6 / 125e6 * 2**30)
    assert bench.datasets["frame"] % 320 == 0
    part = bench.part("phaser0")
    assert (part["leds"], part["sync_delay"], part["configuration"]) == (0x2A, 5, 0b11001010)
    assert part["fan"] == pytest.approx(0.6) and part["crc_errors"] == 0
    channel = part["channel1"]
    assert channel["upconverter_hz"] == pytest.approx(10e6, abs=0.1) and channel["upconverter_turns"] == 0.25
    tones = bench.dds("phaser0.ch7").changes
    assert [tone.frequency for tone in tones] == [pytest.approx(hz, abs=0.1) for hz in (11.5e6, 9e6, 0)]
    assert [tone.power for tone in tones[:2]] == [pytest.approx(-6.02, abs=0.01)] * 2
    # An event is sent in the following frame, and arrives at the card one frame later, after 8 ns
    # of cable.
    start = next(time for time, level in bench.pin("ttl4").changes if level == 1)
    assert tones[0].time - start - 8e-9 == pytest.approx(2 * FRAME, abs=1e-12)
    assert FRAME <= tones[1].time - (start + 3e-6) - 8e-9 <= 2 * FRAME + 8e-9
    # Phases are continuous where the frequency changes.
    turned = (tones[0].phase + 11.5e6 * (tones[1].time - tones[0].time)) % 1
    assert (tones[1].phase - turned + 0.5) % 1 - 0.5 == pytest.approx(0, abs=1e-4)
    (quiet, silent) = bench.dds("phaser0.ch9").changes
    assert quiet.power == pytest.approx(-12.04, abs=0.01) and quiet.frequency == pytest.approx(10e6, abs=0.1)
    assert silent.power is None, "the test sample is no tone"


def test_implausible_phaser_settings_are_reported(bench):
    bench.run(EXPERIMENTS, "Wrong", what="loud")
    for text in [
        "channel 0: it has a tone, but the DAC is in reset, asleep or off (set_cfg)",
        "channel 0: its oscillators add up to 1.50 of full scale: it clips",
        "its register 0x00 cannot be written",
        "channel 0: settings of its upconverter were not applied: no duc_stb followed",
    ]:
        assert f"phaser0: {text}" in bench.warnings, bench.warnings
    assert any("its SPI bus" in warning for warning in bench.warnings)


@pytest.mark.parametrize(
    "what, text",
    [("delay_of_sync", "between 0 and 7"), ("amplitude", "between 0 and 1")],
)
def test_phaser_driver_rejects_invalid_arguments(bench, what, text):
    with pytest.raises(ValueError, match=text):
        bench.run(EXPERIMENTS, "Wrong", what=what)


def test_missing_phaser_is_reported_by_board_check(kairos, db):
    done = kairos("run", EXPERIMENTS, "-c", "Wrong", "what='board'", "--no-bench", device_db=db)
    assert done.returncode != 0 and "the card is not a Phaser" in done.stderr


def test_other_phaser_gateware_is_rejected(tmp_path, db):
    from kairos.devices import DeviceDB
    from tests.support.databases import written

    entries = DeviceDB.load(db).entries
    entries["phaser0"]["arguments"]["gw_rev"] = 2
    with Bench(written(entries, tmp_path)) as bench, pytest.raises(ValueError, match="does not match gw_rev"):
        bench.run(EXPERIMENTS, "Wrong", what="board")


def test_scope_page_shows_phaser_tones(page_of, db):
    found = page_of(EXPERIMENTS, "-c", "Tones", device_db=db)
    times, frequencies = found["bench/phaser0.ch7/frequency"]
    assert frequencies[:2] == [pytest.approx(hz, abs=0.1) for hz in (11.5e6, 9e6)]
    _, powers = found["bench/phaser0.ch7/power"]
    assert powers[:2] == [pytest.approx(-6.02, abs=0.01)] * 2
    edges, levels = found["pins/ttl4"]
    start = edges[levels.index(1)]
    assert times[0] - start - 8 == pytest.approx(2 * FRAME * 1e9)
    _, powers = found["bench/phaser0.ch9/power"]
    assert powers[0] == pytest.approx(-12.04, abs=0.01) and np.isnan(powers[-1]), "silent at the end"
