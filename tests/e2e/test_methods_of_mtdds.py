"""Each method of the drivers of a Phaser as a satellite through compiler, firmware, gateware and the model of the card:
two RF channels with four tones each, and tones at exact times."""

from pathlib import Path

import pytest

from kairos.coredevice.chips.shuttler import LATENCY
from kairos.coredevice.phaser import PhaserDDS, PhaserMTDDS, PhaserMTDDSChannel
from kairos.testing import Bench
from tests.support.chain import Chain
from tests.support.gateware import database

EXPERIMENT = Path(__file__).with_name("experiments") / "mtdds.py"
OSCILLATOR = 2.875e9
"""Hz of an upconverter after `init`."""


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    return database("mtdds", tmp_path_factory.mktemp("mtdds"))


def test_phaser_satellite_methods_act_as_documented(db):
    with Chain(db) as chain:
        card, channel, tone = (chain.get(name) for name in ("mtdds0", "mtdds0_ch1", "mtdds0_ch1_dds2"))
        part = lambda: chain.bench.part("mtdds0")  # noqa: E731
        of_tone = lambda: part()["channel1"]["tones"][2]  # noqa: E731
        chain(card.init)
        assert part()["on"] and part()["dac"]["locked"]
        chain(channel.init)
        assert part()["channel1"]["locked"] and not part()["channel0"]["locked"]
        assert part()["channel1"]["local_oscillator_hz"] == pytest.approx(OSCILLATOR, abs=1)
        assert chain(card.get_available_tones) == 4 and chain(card.is_upconverter_variant)
        assert chain(card.upconverter_pll_locked, 1) and not chain(card.upconverter_pll_locked, 0)
        assert chain(channel.upconverter_pll_locked)
        chain(channel.attenuator.set_att, 3.0)
        assert part()["channel1"]["attenuation_db"] == 3.0
        chain(card.reset_attenuator, 1)
        assert part()["channel1"]["attenuation_db"] == 31.5
        chain(channel.attenuator.set_att, 0.0)

        chain(tone.set_frequency, -10e6)
        chain(tone.set_phase_offset, 0.25)
        chain(tone.set_amplitude, 0.5)
        assert of_tone()["frequency_hz"] == pytest.approx(-10e6, abs=0.1)
        assert (of_tone()["phase_turns"], of_tone()["amplitude"]) == (0.25, pytest.approx(0.5, abs=1e-4))
        (sounding,) = [each for each in range(8) if chain.bench.dds(f"mtdds0.ch{each}").changes]
        assert sounding == 4 + 2
        change = chain.bench.dds("mtdds0.ch6").changes[-1]
        assert change.frequency == pytest.approx(OSCILLATOR - 10e6, abs=1)
        assert change.power == pytest.approx(-6.02, abs=0.01)
        chain(tone.enable_phase_accumulator, False)
        assert (of_tone()["cleared"], of_tone()["turns"]) == (True, 0.25)
        chain(tone.enable_phase_accumulator, True)
        assert not of_tone()["cleared"]
        chain(tone.set_frequency_mu, chain(tone.frequency_to_ftw, 62.5e6))
        chain(tone.set_phase_offset_mu, chain(tone.turns_to_pow, -0.5))
        chain(tone.set_amplitude_mu, chain(tone.amplitude_to_asf, 1.0))
        wanted = {"frequency_hz": 62.5e6, "phase_turns": 0.5, "amplitude": 1.0}
        assert of_tone() | wanted == of_tone()

        mixed = lambda: part()["channel1"]["mixer_hz"]  # noqa: E731
        chain(channel.dac.enable_mixer, True)
        chain(channel.stage_dac_nco_mixer_frequency, 50e6)
        assert mixed() == 0
        chain(channel.dac.sync)
        assert mixed() == pytest.approx(50e6, abs=1)
        chain(channel.stage_dac_nco_mixer_frequency_mu, 1 << 30)
        chain(channel.dac.sync)
        assert mixed() == 250e6
        chain(channel.stage_dac_nco_mixer_phase_offset, 0.5)
        chain(channel.stage_dac_nco_mixer_phase_offset_mu, 0x4000)
        assert part()["dac"]["registers"]["CONFIG19"] == 0x4000

        chain(card.select_dac_source, 1, 0)
        assert part()["channel1"]["source"] == 0 and part()["channel0"]["source"] == 1
        chain(card.test_dac, [1, 2, 0x7FFF, 0x8000])
        assert part()["channel1"]["source"] == 1
        chain(card.set_dac_ctrl, True, False, True)
        assert not part()["on"]
        chain(card.write, 4, 0b011)
        assert part()["on"] and chain(card.read, 4) == 0b011
        for cls in (PhaserDDS, PhaserMTDDS, PhaserMTDDSChannel):
            assert chain.uncalled(cls) == set()
        assert chain.bench.warnings == []


def test_tones_begin_and_change_at_exact_times(db):
    with Bench(db) as bench:
        bench.run(EXPERIMENT)
        assert bench.warnings == []
        ((mark, _),) = bench.pin("ttl4").pulses
        begin = mark + LATENCY * 8e-9
        first, second = bench.dds("mtdds0.ch0").changes[0], bench.dds("mtdds0.ch3").changes
        assert (first.time, first.frequency) == (
            pytest.approx(begin, abs=1e-12),
            pytest.approx(OSCILLATOR + 20e6, abs=1),
        )
        assert [change.time for change in second] == [
            pytest.approx(begin + later, abs=1e-12) for later in (0.8e-6, 1.6e-6)
        ]
        assert [change.frequency - OSCILLATOR for change in second] == [pytest.approx(hz, abs=1) for hz in (-5e6, 5e6)]
