"""The compiler's words have the intended effect in the logic: numbers, flags, lists, splines and
frames from Hz, degrees and seconds to engines. Numbers in the tests' names are those of the
conformance checks."""

import numpy as np
import pytest
from kairos.pulse import Core, GateSet, Pulse, PulseError

from kairos_gateware.contracts import pulse as facts
from kairos_gateware.testbenches.pulse_blocks import expected, segments, vectors

STREAMED = Core(gates=0)
TURN = 1 << facts.VALUE_BITS
A0, F0, P0 = facts.Parameter.A0, facts.Parameter.F0, facts.Parameter.P0


def show(engines, pulses, channel=0):
    """The outputs of a channel's engines for pulses that the compiler converts to words, cycle by
    cycle."""
    words = GateSet({"gate": pulses}, core=STREAMED).sequence(["gate"], close=False)
    numbers = [int.from_bytes(word.tobytes(), "little") for word in words]
    run = engines.play(numbers, 42_000 if len(pulses) == 1 else 1000, trigger_channels=1 << channel)
    return segments(run, channel)


def as_vector(engines, name, *pulses):
    """Checks that they play the same as the vector's words."""
    vector = vectors()[name]
    [channel] = vector["trajectory"]
    rows = show(engines, pulses, pulses[0].channel)
    wanted = vector["trajectory"][channel] | vector.get("trajectory_continuous_commit", {}).get(channel, {})
    assert len(rows) == max(vector["total_cycles"][channel].values())
    for parameter in facts.Parameter:
        assert rows["values"][:, parameter].tolist() == expected(wanted[parameter.name.lower()], len(rows)), parameter
    return rows


def constant(engines, **value):
    [parameter] = [{"freq0": F0, "amp0": A0, "phase0": P0}[name] for name in value]
    return int(show(engines, [Pulse(channel=0, cycles=8, **value)])["values"][0, parameter])


def refused(**value):
    with pytest.raises(PulseError):
        GateSet({"gate": [Pulse(channel=0, **value)]}, core=STREAMED)


@pytest.mark.parametrize(
    "hertz, word",
    [(200e6, 0x3E80000000), (1, 1342), (10e6, 0x0320000000), (-42.5e6, 0xF2B8000000), (-409.6e6, 0x8000000000)],
)
def test_check_1_and_2_frequency_in_hertz_gives_its_word(engines, hertz, word):
    assert constant(engines, freq0=hertz) == word


def test_check_2_frequency_at_half_the_sample_rate_is_refused():
    refused(cycles=8, freq0=409.6e6)


def test_check_3_phase_in_degrees_gives_its_word(engines):
    degrees = [350, 180, 540, -180, 720.5, 179.9999999999, -190, 0.25]
    half = 0x8000000000
    words = [0xF8E38E38E4, half, half, half, 0x005B05B05B, 0x7FFFFFFFFF, 0x78E38E38E4, 0x002D82D82E]
    assert [constant(engines, phase0=phase) for phase in degrees] == words


def test_check_4_amplitude_in_percent_gives_its_word_or_is_refused(engines):
    words = [0x1FFF800000, 0x3FFF800000, 0x7FFF800000, -0x7FFF800000 % TURN]
    assert [constant(engines, amp0=amplitude) for amplitude in (50, 100, 200, -200)] == words
    refused(cycles=8, amp0=201)


def test_check_5_duration_in_seconds_gives_rounded_cycles(engines):
    seconds = [1e-6, 1.25e-6, 10e-9, 0.3e-6, 100e-6]
    assert [len(show(engines, [Pulse(channel=0, duration=s)])) for s in seconds] == [409, 512, 4, 122, 40_960]


def test_check_6_square_pulse_plays_as_its_vector(engines):
    as_vector(engines, "v03", Pulse(channel=1, duration=1.25e-6, freq0=200e6, amp0=50, phase0=90))


def test_check_7_and_8_zeros_play_on_one_channel_or_both(engines):
    as_vector(engines, "v01", Pulse(channel=0, cycles=100))
    both = [Pulse(channel=c, cycles=100) for c in range(2)]
    for channel in range(2):
        rows = show(engines, both, channel)
        assert len(rows) == 100 and not rows["values"].any()


def test_check_9_flags_reach_their_outputs_and_frames(engines):
    tones = {"freq0": 200e6, "amp0": 100, "freq1": -42.5e6, "amp1": 25.5, "phase1": -90}
    frames = {"framerot0": 45, "framerot1": -30, "clear": 3, "at_end": 1, "forward": (2, 1), "invert": (2, 0)}
    masks = {"wait": True, "sync": 3, "enable": 2, "feed_forward": 1, "gpo": 1}
    rows = as_vector(engines, "v04", Pulse(channel=1, cycles=64, **tones, **frames, **masks))
    # Bits as the channel outputs them: synchronise, feed-forward, enable, general purpose, two of
    # each
    assert rows["levels"].tolist() == [0b01_10_01_11] + [0b01_10_01_00] * 63
    for tone in range(facts.TONES):
        wanted = expected(vectors()["v04"]["applied_frame"]["1"][f"tone{tone}"], 64)
        assert rows["applied"][:, tone].tolist() == wanted


def test_check_10_list_of_amplitudes_plays_as_steps(engines):
    as_vector(engines, "v05", Pulse(channel=0, cycles=50, amp0=[10, 20, 30]))
    refused(cycles=7, amp0=[1, 2])


def test_check_11_to_14_splines_and_mixed_words_play_as_vectors(engines):
    as_vector(engines, "v07", Pulse(channel=1, cycles=50, freq1=(1e6, 1.5e6, 1.2e6, 0.8e6, 1e6)))
    as_vector(engines, "v06", Pulse(channel=0, cycles=48, amp0=(0, 60, 100, 20)))
    as_vector(engines, "v08", Pulse(channel=0, cycles=40, phase0=(0, 200, 400, 600, 800)))
    as_vector(engines, "v13", Pulse(channel=0, cycles=61, amp0=[(0, 30, 60, 80), 80, [40, 20]]))


@pytest.mark.parametrize("slope", [1 << 20, -(1 << 20)])
def test_check_15_slope_of_a_power_of_two_is_encoded_exactly(engines, slope):
    hertz = slope / TURN * STREAMED.sample_rate
    rows = show(engines, [Pulse(channel=0, cycles=16, freq0=(0.0, hertz))])
    assert rows["values"][:, F0].tolist() == [slope * n // 16 % TURN for n in range(16)]


def test_check_16_rotations_continue_across_segments(engines):
    pulses = [
        Pulse(channel=0, cycles=10, framerot0=15),
        Pulse(channel=0, cycles=30, framerot0=(0, 10, -10, -5)),
        Pulse(channel=0, cycles=10),
    ]
    rows = as_vector(engines, "v12", *pulses)
    turns = rows["values"][:, facts.Parameter.Z0].astype(np.int64) * 360 / TURN
    assert abs(turns[-1] - 10) < 1e-6
