"""Each method of the drivers of an SU-Servo, through compiler, firmware, gateware, its buses and the chips on them."""

import pytest
from numpy import int64

from kairos.coredevice.suservo import SUServo, adc_mu_to_volts
from kairos.coredevice.suservo_channel import Channel, y_mu_to_full_scale
from kairos.coredevice.suservo_dds import FineUpdate, SharedDDS
from tests.support.chain import Chain
from tests.support.gateware import built
from tests.support.paths import EXAMPLES

PROFILE = 3
BENCH = """
[sampler.sampler0]
ch2 = 0.05
ch5 = -3.0
"""


@pytest.fixture
def chain(tmp_path):
    built("servo")
    bench = tmp_path / "servo.toml"
    bench.write_text(BENCH)
    with Chain(EXAMPLES / "servo" / "device_db.py", bench) as chain:
        yield chain


@pytest.mark.long
def test_servo_and_channel_methods_act_as_documented(chain):
    servo, channel = chain.get("suservo0"), chain.get("suservo0_ch1")
    chip = lambda: chain.bench.part("urukul0_cpld")["ch1"]  # noqa: E731
    chain(servo.init)
    assert chip()["clock_hz"] == 1e9
    assert chain(servo.get_status) == 2
    address = servo.state_sel | 7
    chain(servo.write, address, 0x1234)
    assert chain.advance_mu == 8 and chain(servo.read, address) == 0x1234
    chain(servo.set_pgia_mu, 2, 2)
    assert [chain.bench.part("sampler0")[f"ch{n}"]["gain"] for n in (2, 5)] == [100, 1]

    # Words of a profile, in machine units and in physical units
    words = [0] * 8
    chain(channel.set_dds_mu, PROFILE, 0x12345678, -5, 0xABCD)
    chain(channel.set_iir_mu, PROFILE, 6, -7, 8, -9, 200)
    chain(channel.get_profile_mu, PROFILE, words)
    assert words == [0xABCD, -9, 0x5678, 6 | 200 << 8, -5, -7, 0x1234, 8]
    for method, values in [(channel.set_dds_mu, (1, 2)), (channel.get_y_mu, ())]:
        for profile in (-1, 32):
            with pytest.raises(ValueError, match="the profiles of an SU-Servo are 0 to 31"):
                chain(method, profile, *values)
    chain(channel.set_dds_offset_mu, PROFILE, 77)
    chain(channel.get_profile_mu, PROFILE, words)
    assert words[4] == 77
    chain(channel.set_dds_offset, PROFILE, -0.5)
    chain(channel.get_profile_mu, PROFILE, words)
    assert words[4] == -0x10000 and chain(channel.dds_offset_to_mu, -0.5) == -0x10000
    chain(channel.set_dds, PROFILE, 80e6, 0.25, 0.5)
    chain(channel.set_iir, PROFILE, 5, 0.0, -1000.0)
    chain(channel.get_profile_mu, PROFILE, words)
    ftw = channel.dds.frequency_to_ftw(80e6)
    assert (words[6] << 16 | words[2], words[0], words[4]) == (ftw, 0x8000, 0x8000)
    assert words[3] == 5 and words[5] == 1 << 11

    chain(channel.set_y_mu, PROFILE, 0x8000)
    assert chain(channel.get_y_mu, PROFILE) == 0x8000
    assert chain(channel.set_y, PROFILE, 0.5) == round(0.5 * 131071)
    assert chain(channel.get_y, PROFILE) == pytest.approx(0.5, abs=1e-5)
    chain(channel.set, 1, 0, profile=PROFILE)
    assert chain.advance_mu == 0
    chain(servo.set_config, 1)
    chain(chain.core.break_realtime, slack_mu=20_000)
    assert chain(servo.get_status) & 1
    # The chip has the settings of the profile; nothing was integrated
    assert chip()["frequency_hz"] == pytest.approx(80e6, abs=0.2) and chip()["switch"]
    assert (chip()["phase_turns"], chip()["amplitude"]) == (0.5, pytest.approx(0.5, abs=1e-4))
    assert chain(servo.get_adc, 5) == pytest.approx(-3.0, abs=1e-3)
    assert chain(servo.get_adc, 2) == pytest.approx(0.05, abs=1e-5)
    assert adc_mu_to_volts(chain(servo.get_adc_mu, 2), 2) == pytest.approx(0.05, abs=1e-5)
    # An integrator of -1000/s: -3 V and an offset of 2.56 V are -0.043 of full scale, so Y rises by
    # 43/s, minus the rounding error of such a small coefficient
    before = chain(channel.get_y, PROFILE)
    chain(channel.set, 1, 1, profile=PROFILE)
    chain(chain.core.break_realtime, slack_mu=1_000_000)
    assert chain(channel.get_y, PROFILE) > before + 0.03
    chain(channel.set, 0, 0, profile=PROFILE)
    chain(servo.set_config, 0)
    chain(chain.core.break_realtime, slack_mu=5_000)
    assert chain(servo.get_status) & 0b11 == 0b10 and not chip()["switch"]
    held = chain(channel.get_y, PROFILE)
    assert chip()["amplitude"] == pytest.approx(held, abs=1e-3) and y_mu_to_full_scale(131071) == 1.0

    # How many conversions of the ADC are kept depends on how long the host takes.
    assert [line for line in chain.bench.warnings if "changes are kept" not in line] == []
    tracked(chain, servo, channel)
    assert chain.uncalled(SUServo) == set() and chain.uncalled(Channel) == set()
    # The servo has run so long that the edges of its ADC are too many
    assert all("changes are kept" in warning for warning in chain.bench.warnings)


def tracked(chain, servo, channel):
    """Words of phase tracking; then a phase that returns to that of an oscillator which has gone on."""
    chain(channel.set_reference_time, PROFILE, 0x12345678)
    assert chain.advance_mu == 16 and chain(channel.get_reference_time, PROFILE) == 0x12345678
    chain(channel.copy_reference_time, PROFILE)
    assert 0 <= chain(channel.get_reference_time, PROFILE) < 8, "the servo is off"
    assert chain(channel.get_tracked_ftw) == channel.dds.frequency_to_ftw(80e6)
    assert chain(channel.get_tracked_phase_accumulator) != 0
    chain(servo.clear_dds_phase_accumulator)
    chain(channel.clear_tracked_phase_accumulator)
    chain(channel.clear_tracked_ftw)
    assert (chain(channel.get_tracked_ftw), chain(channel.get_tracked_phase_accumulator)) == (0, 0)
    for profile, frequency in ((0, 80e6), (1, 81.3e6)):
        chain(channel.set_dds, profile, frequency, 0.0, 0.25)
        chain(channel.set_iir, profile, 5, 0.0)
        chain(channel.set_y, profile, 0.5)
        chain(channel.set_reference_time, profile, 4321)
    chain(servo.set_config, 1)
    for profile in (0, 1, 0):
        chain(channel.set, 1, 0, 1, profile)
        chain(chain.core.break_realtime, slack_mu=50_000)
    chain(servo.set_config, 0)
    tones = [tone for tone in chain.bench.dds("urukul0_cpld.ch1").changes if tone.power is not None][-3:]
    turns = [(tone.phase - round(tone.frequency * 2**32 / 1e9) / 2**32 * 1e9 * tone.time) % 1 for tone in tones]
    assert [round(tone.frequency / 1e5) for tone in tones] == [800, 813, 800]
    assert (turns[0] - turns[2] + 0.5) % 1 - 0.5 == pytest.approx(0, abs=1e-3)


def test_shared_synthesiser_methods_act_on_all_chips(chain):
    dds, cpld = chain.get("urukul1_dds"), chain.get("urukul1_cpld")
    part = lambda: chain.bench.part("urukul1_cpld")  # noqa: E731
    chain(cpld.init)
    chain(dds.init)
    assert [part()[f"ch{n}"]["clock_hz"] for n in range(4)] == [1e9] * 4
    assert all(part()[f"ch{n}"]["pll_locked"] for n in range(4))
    # A message to all reaches the chip that is not controlled by the servo
    chain(dds.update_dds_sel, 2)
    chain(dds.dds.write32, 0x07, 0x12345678)
    assert [part()[f"ch{n}"]["waits_for_update"] for n in range(4)] == [False, False, True, False]
    update = dds.dds.io_update
    before = [part()[f"ch{n}"]["updates"] for n in range(4)]
    for method, arguments in [
        (update.set_o, (True,)),
        (update.off, ()),
        (update.on, ()),
        (update.set_o, (False,)),
        (update.pulse_mu, (int64(1000),)),
        (update.pulse, (1e-6,)),
    ]:
        chain(method, *arguments)
    assert [part()[f"ch{n}"]["updates"] - before[n] for n in range(4)] == [4] * 4
    assert not part()["ch2"]["waits_for_update"]
    chain(cpld.cfg_mask_nu_all, 0)
    assert list(chain(dds.tune_sync_delays)) == [16] * 4
    assert chain(dds.tune_io_update_group_delay) in range(4)
    chain(dds.clear_phase_accumulators)
    assert chain(dds.frequency_to_ftw, 80e6) == dds.frequency_to_ftw(80e6) == round(0.08 * 2**32)
    assert chain(dds.turns_to_pow, 0.25) == dds.turns_to_pow(0.25) == 0x4000
    assert chain.uncalled(SharedDDS) == set() and chain.uncalled(FineUpdate) == set()
    # How many conversions of the ADC are kept depends on how long the host takes.
    assert [line for line in chain.bench.warnings if "changes are kept" not in line] == []
