"""A Phaser on the bench, through driver, firmware, the link in the gateware and the card's model."""

from pathlib import Path

import numpy as np
import pytest

from kairos.testing import Bench
from tests.support.gateware import database

EXPERIMENTS = Path(__file__).with_name("experiments") / "phaser.py"
FRAME = 320e-9
SAMPLES = 440e-9
"""From the end of a frame until the next sample, which it does not have, is at the DAC, less those of a frame."""
CARRIER = 2.875e9
"""Of an upconverter with the settings of `init`, Hz."""


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
    assert [tone.frequency for tone in tones] == [
        pytest.approx(hz, abs=0.1) for hz in (CARRIER + 11.5e6, CARRIER + 9e6, 0)
    ]
    assert [tone.power for tone in tones[:2]] == [pytest.approx(-6.02, abs=0.01)] * 2
    # Samples are in the following frame, arrive at the card one frame later, after 8 ns of cable, and are played
    # after that.
    start = next(time for time, level in bench.pin("ttl4").changes if level == 1)
    assert tones[0].time - start - 8e-9 == pytest.approx(2 * FRAME + SAMPLES, abs=1e-12)
    assert tones[1].time - (start + 3e-6) - 8e-9 == pytest.approx(2 * FRAME + SAMPLES, abs=40e-9)
    # Phases are continuous where the frequency changes.
    turned = (tones[0].phase + (CARRIER + 11.5e6) * (tones[1].time - tones[0].time)) % 1
    assert (tones[1].phase - turned + 0.5) % 1 - 0.5 == pytest.approx(0, abs=1e-4)
    (quiet, silent) = bench.dds("phaser0.ch9").changes
    assert quiet.power == pytest.approx(-12.04, abs=0.01) and quiet.frequency == pytest.approx(CARRIER + 10e6, abs=0.1)
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
    [("delay_of_sync", "SYNC delay out of bounds"), ("amplitude", "between 0 and 1")],
)
def test_phaser_driver_rejects_invalid_arguments(bench, what, text):
    with pytest.raises(ValueError, match=text):
        bench.run(EXPERIMENTS, "Wrong", what=what)


def test_missing_phaser_is_reported_by_board_check(kairos, db):
    done = kairos("run", EXPERIMENTS, "-c", "Wrong", "what='board'", "--no-bench", device_db=db)
    assert done.returncode != 0 and "the card is not a Phaser" in done.stderr


def test_other_phaser_gateware_is_rejected(tmp_path, db):
    file = tmp_path / "bench.toml"
    file.write_text("[phaser.phaser0]\ngw_rev = 2\n")
    with Bench(db, file=file) as bench, pytest.raises(ValueError, match="does not match gw_rev"):
        bench.run(EXPERIMENTS, "Wrong", what="board")


def test_initialised_phaser_has_a_carrier_and_no_alarms(bench):
    bench.run(EXPERIMENTS, "Initialised")
    assert bench.warnings == []
    assert [bench.datasets[name] for name in ("alarms", "status", "temperature", "attenuation")] == [0, 0x26, 35, 0]
    part = bench.part("phaser0")
    assert part["dac"]["locked"] and part["channel0"]["locked"] and part["channel1"]["locked"]
    assert part["dac"]["registers"]["CONFIG9"] >> 13 == 4, "the middle of the good distances"
    tone = bench.dds("phaser0.ch0").changes[-1]
    assert tone.frequency == pytest.approx(CARRIER + 1e6, abs=0.1) and tone.power == pytest.approx(-3.0)


def test_mixers_of_the_dac_shift_the_tone(bench):
    bench.run(EXPERIMENTS, "Initialised", mixed=-60e6)
    tone = bench.dds("phaser0.ch0").changes[-1]
    assert tone.frequency == pytest.approx(CARRIER - 59e6, abs=0.3)


def test_phaser_without_upconverters_is_initialised(tmp_path, db):
    file = tmp_path / "bench.toml"
    file.write_text("[phaser.phaser0]\nbaseband = true\n")
    with Bench(db, file=file) as bench:
        bench.run(EXPERIMENTS, "Initialised")
        assert bench.warnings == []
        assert bench.dds("phaser0.ch0").changes[-1].frequency == pytest.approx(1e6, abs=0.1)


def test_scope_page_shows_phaser_tones(page_of, db):
    found = page_of(EXPERIMENTS, "-c", "Tones", device_db=db)
    times, frequencies = found["bench/phaser0.ch7/frequency"]
    assert frequencies[:2] == [pytest.approx(hz, abs=0.1) for hz in (CARRIER + 11.5e6, CARRIER + 9e6)]
    _, powers = found["bench/phaser0.ch7/power"]
    assert powers[:2] == [pytest.approx(-6.02, abs=0.01)] * 2
    edges, levels = found["pins/ttl4"]
    start = edges[levels.index(1)]
    assert times[0] - start - 8 == pytest.approx((2 * FRAME + SAMPLES) * 1e9)
    _, powers = found["bench/phaser0.ch9/power"]
    assert powers[0] == pytest.approx(-12.04, abs=0.01) and np.isnan(powers[-1]), "silent at the end"
