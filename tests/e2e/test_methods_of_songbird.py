"""Each method of a Songbird's drivers through compiler, firmware, gateware and the model of the card, and tones at
exact times."""

from math import log10
from pathlib import Path

import pytest
from numpy import int64

from kairos.coredevice.chips.shuttler import LATENCY
from kairos.coredevice.songbird import DDS, Songbird, volt_to_mu
from kairos.testing import Bench
from tests.support.chain import Chain
from tests.support.gateware import database

EXPERIMENT = Path(__file__).with_name("experiments") / "songbird.py"


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    return database("songbird", tmp_path_factory.mktemp("songbird"))


def test_songbird_methods_act_as_documented(db):
    with Chain(db) as chain:
        songbird, tone = chain.get("songbird0"), chain.get("songbird0_dds1")
        part = lambda: chain.bench.part("songbird0")  # noqa: E731
        chain(songbird.init)
        assert part()["on"] and chain.bench.warnings == []
        chain(songbird.write_reg, 0x18, 0x5A)
        assert chain(songbird.read_reg, 0x18) == 0x5A == part()["registers"]["DAC24"]
        frequency = chain(tone.frequency_to_mu, 100e6)
        chain(tone.set_ampl, volt_to_mu(0.25), 0, int64(0), int64(0))
        assert chain.advance_mu == 9 * 8
        chain(tone.set_phase, 1 << 16, frequency, 0, 3)
        assert chain.advance_mu == 6 * 8 and part()["tone1"]["triggers"] == [0, 0]
        chain(tone.trigger_b)
        chain(tone.trigger_c)
        state = part()["tone1"]
        assert (state["triggers"], state["volts"], state["shift"]) == ([1, 1], 0.25, 3)
        assert state["hz"] == pytest.approx(100e6, abs=1)
        chain(tone.clear)
        assert part()["tone1"] | {"cleared": True, "turns": 0.25, "hz": 0.0} == part()["tone1"]
        chain(tone.clear, False)
        chain(songbird.clear_channel, 3, True)
        assert [part()[f"tone{n}"]["cleared"] for n in range(4)] == [False, False, False, True]
        chain(songbird.clear, 0b101)
        assert [part()[f"tone{n}"]["cleared"] for n in range(4)] == [True, False, True, False]
        chain(tone.set_waveform, volt_to_mu(-0.5), 0, int64(0), int64(0), 0, 0, 0)
        assert chain.advance_mu == 15 * 8
        chain(songbird.trigger_b, 0b10)
        chain(songbird.trigger_c, 0b10)
        # Its phase has turned at 100 MHz up to here, by as much as the kernels took
        chain(tone.clear)
        chain(tone.clear, False)
        assert part()["volts"] == -0.5
        chain(songbird.reset, 1)
        assert part()["volts"] == 0.0 and part()["tone1"]["reset"]
        chain(songbird.reset, 0)
        chain(songbird.trigger, 0b10)
        assert chain.advance_mu == 8 and part()["volts"] == -0.5
        chain(tone.trigger)
        assert part()["tone1"]["triggers"] == [4, 4]
        for cls in (Songbird, DDS):
            assert chain.uncalled(cls) == set()
        assert chain.bench.warnings == []


def test_missing_clock_is_reported_by_init(db, tmp_path):
    bench = tmp_path / "bench.toml"
    bench.write_text("[songbird.songbird0]\nclock = false\n")
    with Chain(db, bench) as chain, pytest.raises(ValueError, match="LTC2000 clock not present"):
        chain(chain.get("songbird0").init)


def test_tones_begin_and_chirp_at_exact_times(db):
    with Bench(db) as bench:
        bench.run(EXPERIMENT)
        assert bench.warnings == []
        ((mark, _),) = bench.pin("ttl4").pulses
        begin = mark + LATENCY * 8e-9
        chirping, ramp = (bench.dds(f"songbird0.tone{n}").changes for n in (0, 3))
        assert chirping[0].time == pytest.approx(begin, abs=1e-12)
        assert ramp[0].time == pytest.approx(begin, abs=1e-12)
        # Renewed every microsecond, with the mean frequency until then
        for change in chirping[3:8]:
            updates = ((change.time - begin) / 8e-9 + 62.5) / 4
            wanted = 200e6 + updates * 2**12 * 2.5e9 / 2**32
            assert change.frequency == pytest.approx(wanted, abs=5000)
        for change in ramp[:8]:
            volts = 0.125 + 1e3 * (change.time - begin)
            assert change.power == pytest.approx(10 * log10(volts**2 / 100 * 1e3), abs=2e-3)
