"""Autonomous functions of an AD9910, through driver, firmware, gateware and chip: RAM, ramp,
keying, phase, sync."""

from pathlib import Path

import pytest

from kairos.testing import Bench
from tests.support.databases import calibrated

EXPERIMENTS = Path(__file__).with_name("experiments") / "ad9910.py"
CABLE, LATE, LATE_RAM = 10e-9, 79e-9, 94e-9
"""From a pin to the card's clock, 8 ns of cable and 2 ns to an edge of SYNC_CLK, and from there to
the output (data sheet of the AD9910)."""


@pytest.fixture(scope="module")
def bench(lab, tmp_path_factory):
    with Bench(calibrated(lab, tmp_path_factory.mktemp("ad9910"))) as made:
        yield made


def started(bench):
    """Return the time of each update on the Urukul's pin, in seconds."""
    return [start for start, _ in bench.pin("ttl_urukul0_io_update").pulses]


ORDER = {
    "direct": [0, 0, 0, 0, 0, 0],
    "up": [0, 1, 2, 3, 3, 3],
    "there and back": [0, 0, 0, 0, 0, 0],
    "triangle": [0, 1, 2, 3, 2, 1],
    "sawtooth": [0, 1, 2, 3, 0, 1],
}
"""Words playing in the middle of steps of 4 us."""


@pytest.mark.parametrize("mode", ORDER)
def test_ram_playback_follows_each_mode(bench, mode):
    bench.run(EXPERIMENTS, "Ram", mode=mode)
    assert bench.warnings == []
    played = bench.dds("urukul0_ch1")
    start = started(bench)[-2] + CABLE + LATE_RAM
    for n, word in enumerate(ORDER[mode]):
        tone = played.at(start + 4e-6 * (n + 0.5))
        assert tone.frequency == pytest.approx(20e6 * (word + 1), abs=1), n


def test_profile_pins_control_ram_playback(bench):
    bench.run(EXPERIMENTS, "Ram", mode="there and back")
    played = bench.dds("urukul0_ch1")
    start = started(bench)[-2]
    steps = [tone for tone in played.changes if start + 20e-6 < tone.time < start + 70e-6]
    assert [round(tone.frequency / 20e6) for tone in steps[:6]] == [2, 3, 4, 3, 2, 1]
    gaps = [b.time - a.time for a, b in zip(steps[:2], steps[1:3], strict=True)]
    assert gaps == [pytest.approx(4e-6)] * 2


@pytest.mark.parametrize("destination", ["phase", "amplitude", "polar"])
def test_ram_words_drive_the_selected_destination(bench, destination):
    bench.run(EXPERIMENTS, "Ram", mode="up", destination=destination)
    assert bench.warnings == []
    assert len(bench.datasets["read"]) == 4 and bench.datasets["read"][0] != 0
    played = bench.dds("urukul0_ch1")
    start = started(bench)[-2] + CABLE + LATE_RAM
    for n in range(4):
        # The accumulator starts with the update; 40 MHz make 160 turns per step.
        tone = played.at(start + 4e-6 * n + 2e-6)
        assert tone.frequency == pytest.approx(40e6, abs=1)
        phase = (n + 1) / 8 if destination != "amplitude" else 0
        off = (tone.phase - phase + 0.5) % 1 - 0.5
        assert off == pytest.approx(0, abs=1e-3), n
        power = 0.25 * (n + 1) if destination != "phase" else 1
        assert 10 ** ((tone.power - 10) / 20) == pytest.approx(power, abs=1e-3)


def test_ramp_follows_direction_and_hold_pins(bench):
    bench.run(EXPERIMENTS, "Ramp")
    assert bench.warnings == []
    played = bench.dds("urukul0_ch1")
    swept = [tone for tone in played.changes if tone.power is not None and tone.time > started(bench)[-1]]
    highest = max(tone.frequency for tone in swept)
    assert highest == pytest.approx(100e6, abs=1)
    top = next(tone.time for tone in swept if tone.frequency == highest)
    rise = [tone for tone in swept if top - 10.1e-6 < tone.time < top]
    for tone in rise[1:]:
        assert tone.frequency == pytest.approx(100e6 - 4e12 * (top - tone.time), abs=20e3)
    assert len(rise) > 200
    held = bench.datasets["held"]
    assert 61e6 < held < 99e6
    assert any(tone.frequency == pytest.approx(held, abs=1) for tone in swept)
    assert swept[-1].frequency == pytest.approx(60e6, abs=1)
    assert bench.datasets["over"] == [0, 0b0010]


def test_output_shift_keying_switches_and_ramps_amplitude(bench):
    bench.run(EXPERIMENTS, "Key")
    assert bench.warnings == []
    played = bench.dds("urukul0_ch1")
    tones = [tone for tone in played.changes if tone.time > started(bench)[-2]]
    assert [tone.power is None for tone in tones[:3]] == [True, False, True]
    ramp = [10 ** ((tone.power - 10) / 20) for tone in tones[3:]]
    assert len(ramp) > 200
    assert ramp == sorted(ramp) and ramp[-1] == pytest.approx(1)
    # 4096 steps of 8 ns
    assert tones[-1].time - tones[3].time == pytest.approx(4096 * 8e-9, rel=0.01)


def test_phase_offset_is_applied_at_the_update(bench):
    bench.run(EXPERIMENTS, "Phase")
    played = bench.dds("urukul0_ch1")
    for n, start in enumerate(started(bench)[-3:]):
        assert played.at(start + CABLE + LATE).phase == pytest.approx(0.25 * n, abs=1e-4)


def test_matched_latency_aligns_frequency_and_amplitude(bench):
    bench.run(EXPERIMENTS, "Latency")
    played = bench.dds("urukul0_ch1")
    updates = started(bench)
    for start, early in [(updates[-3], 47e-9), (updates[-1], 79e-9)]:
        before, between = played.at(start + CABLE + early - 1e-9), played.at(start + CABLE + early)
        after = played.at(start + CABLE + LATE)
        assert (before.frequency, after.frequency) == (pytest.approx(60e6, abs=1), pytest.approx(80e6, abs=1))
        assert between.power - before.power == pytest.approx(6.02, abs=0.01)
        assert between.frequency == pytest.approx(80e6 if early == LATE else 60e6, abs=1)


def test_synchronisation_and_update_delays_are_tuned(bench):
    bench.run(EXPERIMENTS, "Tune")
    delay, window, update = bench.datasets["found"]
    # The bench's synchronisation clock is 300 ps late: 16 more steps of 75 ps are half a cycle
    # away.
    assert (delay, window) == (16, 6)
    assert update in range(4)
    assert bench.datasets["errors"] == [0, 0b0010]
    assert bench.warnings == []


def test_effective_frequency_is_read_during_a_ramp(bench):
    bench.run(EXPERIMENTS, "Effective")
    assert bench.datasets["used"] == pytest.approx(81.25e6, abs=1)
    assert bench.datasets["written"] == 0x12345678


def test_data_sheet_violation_of_ad9910_is_reported(bench):
    bench.run(EXPERIMENTS, "Forbidden")
    texts = bench.warnings
    for text in [
        "ch1: an update of 2 ns: it must last longer than a period of SYNC_CLK, 4 ns",
        "ch1: profile 7 of its RAM ends at word 5, before its first, 10",
        "ch1: its RAM is written or read while it plays (ram_enable)",
    ]:
        assert f"urukul0: {text}" in texts, texts


def test_picture_of_ad9910_output_is_written(bench, tmp_path):
    bench.run(EXPERIMENTS, "Ramp")
    start = started(bench)[-1]
    bench.dds("urukul0_ch1").draw(tmp_path / "ramp.png", start, start + 200e-6)
    assert (tmp_path / "ramp.png").read_bytes().startswith(b"\x89PNG")
