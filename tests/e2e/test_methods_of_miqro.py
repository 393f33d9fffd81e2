"""A Phaser with Miqro gateware, and the servos of a Phaser: each method of the drivers through the whole chain, up to
the tones at the card's outputs."""

import numpy as np
import pytest

from kairos.coredevice.phaser import Miqro, MiqroChannel
from kairos.coredevice.phaser_chips import ChannelChips
from tests.support.chain import Chain
from tests.support.gateware import database

CARRIER = 2.875e9
"""Of an upconverter with the settings of `init`, Hz."""
SERVO = {"set_servo", "set_iir_mu", "set_iir"}


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    return database("cards", tmp_path_factory.mktemp("cards"))


def memory(part, kind):
    """Return the words of a memory of channel 1, by place."""
    return {int(place): word for place, word in part["channel1"]["miqro"][kind].items()}


def test_miqro_methods_play_pulses_as_documented(db):
    with Chain(db) as chain:
        phaser = chain.get("phaser1")
        part = lambda: chain.bench.part("phaser1")  # noqa: E731
        chain(phaser.init)
        assert part()["dac"]["locked"] and part()["channel0"]["locked"] and part()["channel1"]["locked"]
        assert [part()[f"channel{n}"]["miqro"]["pulses"] for n in range(2)] == [1, 1], "of their resets"
        channel = phaser.channel[1]
        pulses = channel.miqro
        chain(pulses.set_profile_mu, 15, 31, 0x1234_5678, 0x4000, 0x2000)
        assert memory(part(), "profiles") == {(15 << 6 | 31 << 1): 0x1234_5678, (15 << 6 | 31 << 1 | 1): 0x2000_4000}
        assert chain(pulses.set_profile, 0, 7, 10e6, 0.5, 0.25) == 171798692
        assert memory(part(), "profiles")[7 << 1 | 1] == 0x4000_8000
        assert chain(pulses.set_window_mu, 0x40, [0x4000, 0x2000], rate=25, order=0) == 0x43
        assert memory(part(), "windows") == {0: 1 | 3 << 30, 0x40: 2 | 24 << 10 | 3 << 30, 0x41: 0x4000, 0x42: 0x2000}
        assert chain(pulses.set_window, 0x80, [(0.5, 0.0)], 100e-9, 1) == pytest.approx(200e-9)
        data = [0, 0, 0]
        assert chain(pulses.encode, 0x40, [7], data) == 1
        chain(pulses.pulse_mu, [0x40 | 7 << 10])
        assert part()["channel1"]["miqro"]["pulses"] == 2
        chain(pulses.pulse, 0x80, [7])
        last = part()["channel1"]["miqro"]["last_pulse"]
        assert (last["window"], last["profiles"]) == (0x80, [7, *[0] * 15])
        chain(channel.set_att, 3.0)
        chain(pulses.reset)
        assert part()["channel1"]["miqro"]["last_pulse"]["window"] == 0
        assert chain.bench.warnings == []
        for cls in (Miqro, MiqroChannel):
            inherited = {name for name in dir(ChannelChips) if not name.startswith("_")}
            # Those of all channels: test_methods_of_cards.py
            assert {name for name in chain.uncalled(cls) if name not in inherited} <= {
                "begin", "begin_samples", "get_dac_data", "set_dac_test", "set_duc_cfg", "set_duc_frequency",
                "set_duc_frequency_mu", "set_duc_phase", "set_duc_phase_mu",
            }  # fmt: skip


def test_servo_sets_the_amplitude_from_its_input(db, tmp_path):
    """An integrator with an offset: y falls, or rises, by a step every 264 ns; then it holds."""
    file = tmp_path / "bench.toml"
    file.write_text("[phaser.phaser0]\nadc1 = 0.5\nadc_full_scale = 2.0\n")
    with Chain(db, file) as chain:
        phaser = chain.get("phaser0")
        channel, servo = phaser.channel[1], lambda: chain.bench.part("phaser0")["channel1"]["servo"]
        chain(phaser.init)
        assert (servo()["enabled"], servo()["hold"], servo()["input_volts"]) == (False, True, 0.5)
        # Half of the input, and a quarter of full scale
        chain(channel.set_iir, 0, 0.5, y_offset=0.25)
        chain(channel.set_att, 0.0)
        chain(channel.set_duc_cfg)
        chain(phaser.duc_stb)
        chain(channel.oscillator[0].set_frequency, 1e6)
        chain(channel.oscillator[0].set_amplitude_phase, 1.0)
        chain(channel.set_servo, profile=0, enable=1)
        assert (servo()["code"], servo()["output"]) == (8192, 4096 + 8192)
        tone = chain.bench.dds("phaser0.ch5").changes[-1]
        assert tone.power == pytest.approx(20 * np.log10((4096 + 8192) / 32768), abs=1e-3)
        chain(channel.set_servo, profile=0, enable=1, hold=1)
        chain(channel.set_iir_mu, 0, 0, 0, 0, 0)
        assert servo()["output"] == 4096 + 8192, "it holds"
        chain(channel.set_servo, profile=1, enable=0)
        assert chain.bench.dds("phaser0.ch5").changes[-1].power == pytest.approx(0.0, abs=1e-6)
        assert chain.bench.warnings == []
        chain(channel.set_iir, 2, 0.5, y_offset=-0.25)
        chain(channel.set_servo, profile=2, enable=1)
        assert servo()["output"] == 32767
        assert chain.bench.warnings == [
            "phaser0: channel 1: the offset -8192 of its servo's profile 2 is negative: in the card it has no sign, "
            "and gives full scale"
        ]
