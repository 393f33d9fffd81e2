"""Engines of a channel that get segments in words: values, alignment, triggers, underruns. Numbers
in the tests' names are those of the conformance checks in docs/gateware/pulse.md."""

import random

import numpy as np
import pytest

from kairos_gateware.contracts import pulse as facts
from kairos_gateware.testbenches.pulse_blocks import Body, bypass, segments, trajectory

WAIT = int(facts.ToneFlag.WAIT)
ALL = 0xFF
FRAMES = [facts.Parameter.Z0, facts.Parameter.Z1]
F0, A0, Z0 = facts.Parameter.F0, facts.Parameter.A0, facts.Parameter.Z0


def play(engines, words, cycles=400, **settings):
    return engines.play(words, cycles, **{"trigger_channels": 1} | settings)


def shown(engines, bodies, p=F0):
    """The values of parameter `p` while it plays `bodies`, the others being quiet for as long."""
    rest = Body(tau=sum(body.tau for body in bodies))
    words = [bypass(rest, ALL & ~(1 << p)), *[bypass(body, 1 << p) for body in bodies]]
    return segments(play(engines, words), 0)["values"][:, p].tolist()


EXAMPLES = {
    17: (Body((0, 8, 0, 0), 4, 0), [0, 8, 16, 24]),
    18: (Body((0, 3, 0, 0), 6, 1), [0, 1, 2, 3, 4, 5]),
    19: (Body((0, -3, 0, 0), 6, 1), [0, -2, -4, -6, -8, -10]),
    20: (Body((10, 0, 4, 0), 6, 1), [10, 10, 11, 13, 16, 20]),
    21: (Body((0, 0, 0, 64), 8, 2), [0, 0, 0, 1, 4, 10, 20, 35]),
    22: (Body((0x7FFFFFFFF0, 0x10, 0, 0), 3, 0), [0x7FFFFFFFF0, 0x8000000000, 0x8000000010]),
}


@pytest.mark.parametrize("check", EXAMPLES)
def test_check_17_to_22_interpolated_values_equal_the_examples(engines, check):
    body, values = EXAMPLES[check]
    assert shown(engines, [body]) == [value % 2**40 for value in values]


def test_check_26_one_cycle_segments_follow_without_a_gap(engines):
    bodies = [Body((1 + n * n, 0, 0, 0), 1) for n in range(16)]
    # The FIFO holds them all before the others, which end with the last of them, arrive
    words = [bypass(body, 1) for body in bodies] + [bypass(Body(tau=16), ALL & ~1)]
    values = segments(play(engines, words), 0)["values"][:, F0]
    assert values.tolist() == [1 + n * n for n in range(16)]


def test_check_31_first_frame_applies_if_both_are_forwarded(engines):
    forward = int(facts.FrameFlag.FORWARD0)
    words = [
        bypass(Body((5, 0, 0, 0), flags=forward), 1 << Z0),
        bypass(Body((7, 0, 0, 0), flags=forward | int(facts.FrameFlag.FORWARD1)), 1 << facts.Parameter.Z1),
        bypass(Body(), ALL & ~0xC0),
    ]
    assert segments(play(engines, words), 0)["applied"].tolist() == [[5, 7]] * 8


def armed_at(played):
    return int(np.flatnonzero(played.states["armed"] & 1)[0])


def test_check_45_all_engines_start_with_the_trigger(engines):
    rng = random.Random(45)
    for _ in range(30):
        words = [bypass(Body((p + 1, 0, 0, 0), 20, flags=WAIT), 1 << p, channels=3) for p in range(8)]
        rng.shuffle(words)
        when = rng.randrange(60, 200)
        played = play(engines, words, 300, triggers=[when], trigger_channels=3)
        for channel in range(2):
            values = played.shown[:, channel]["values"]
            assert not values[: when + 2].any()
            assert (values[when + 2] == np.arange(1, 9)).all()
        assert played.errors == facts.Error.UNDERRUN


def test_check_46_early_trigger_is_reported_or_kept(engines):
    words = [bypass(Body((1, 0, 0, 0), 20, flags=WAIT), ALL)]
    gaps = [50]
    loose = play(engines, words, 100, gaps=gaps, triggers=[10, 80])
    assert loose.errors & facts.Error.TRIGGER_EARLY
    assert np.flatnonzero(loose.states["running"])[0] == 81
    strict = play(engines, words, 100, gaps=gaps, triggers=[10], trigger_strict=1)
    assert not strict.errors & facts.Error.TRIGGER_EARLY
    assert np.flatnonzero(strict.states["running"])[0] == armed_at(strict) + 1


def test_check_47_closing_packet_is_held_until_the_trigger(engines):
    words = [bypass(Body(tau=122), ALL), bypass(Body(tau=122, flags=WAIT), ALL)]
    played = play(engines, words, triggers=[])
    assert played.errors == 0
    assert played.states["armed"][-1] == 1
    assert len(segments(played, 0)) == 122


def test_check_49_aligned_underrun_mutes_and_playback_continues(engines):
    first, second = Body((3 << 30, 0, 0, 0), 10), Body((5 << 30, 0, 0, 0), 10)
    played = play(engines, [bypass(first, ALL), bypass(second, ALL)], 300, gaps=[0, 100])
    running = np.flatnonzero(played.states["running"])
    stop, again = running[9] + 2, running[10] + 1
    values = played.shown[:, 0]["values"]
    for p in facts.Parameter:
        amplitude = p in [facts.Parameter.A0, facts.Parameter.A1]
        assert values[stop, p] == values[again - 1, p] == (0 if amplitude else 3 << 30)
    # Frames continue from their previous value
    assert values[again, F0] == 5 << 30 and values[again, Z0] == 8 << 30
    assert played.errors == facts.Error.UNDERRUN
    assert played.shown[stop, 0]["underrun"] == ALL


def test_check_49_underrun_with_hold_keeps_the_amplitude(engines):
    played = play(engines, [bypass(Body((3 << 30, 0, 0, 0), 10), ALL)], hold=1)
    assert played.shown[-1, 0]["values"][A0] == 3 << 30


@pytest.mark.parametrize("waiting", [1, 31])
def test_check_49_misaligned_underrun_discards_up_to_the_next_wait(engines, waiting):
    """Parameter 3 lacks its second segment; all others have some more after it. The next pulse
    starts all of them."""
    body = Body((9, 0, 0, 0), 10)
    words = [bypass(body, ALL), *[bypass(body, ALL & ~8)] * waiting]
    words += [bypass(Body((p, 0, 0, 0), 16, flags=WAIT), 1 << p) for p in range(8)]
    gaps = [0] * (1 + waiting) + [200] + [0] * 7
    played = play(engines, words, 700, gaps=gaps)
    assert played.errors & facts.Error.MISALIGN
    last = played.shown[segment_start(played) + 10, 0]
    assert last["underrun"] == 8
    values = segments(played, 0)["values"]
    assert len(values) == 10 + 16
    frames = [trajectory([body, Body((p, 0, 0, 0), 1)], True)[-1] for p in FRAMES]
    assert values[-1].tolist() == [0, 1, 2, 3, 4, 5, *frames]


def segment_start(played):
    return int(np.flatnonzero(played.states["running"])[0]) + 1


def test_engine_waiting_too_long_for_others_is_a_fault(engines):
    words = [bypass(Body(tau=10), 0x7F), bypass(Body(tau=100), 0x80), bypass(Body(flags=WAIT), ALL)]
    assert play(engines, words, misalign_limit=90).errors == facts.Error.UNDERRUN  # 90 cycles apart are allowed
    assert play(engines, words, misalign_limit=89).errors & facts.Error.MISALIGN


def test_zero_length_segment_is_skipped_and_its_rotation_kept(engines):
    empty, body = Body((100, 0, 0, 0), 0), Body((7, 0, 0, 0), 4)
    clear = Body((50, 0, 0, 0), 0, flags=int(facts.FrameFlag.CLEAR))
    words = [bypass(body, ALL), bypass(empty, ALL), bypass(body, ALL), bypass(clear, ALL), bypass(body, ALL)]
    played = play(engines, words)
    assert played.errors == facts.Error.TAU0 | facts.Error.UNDERRUN
    values = segments(played, 0)["values"]
    assert values[:, F0].tolist() == [7] * 12
    assert values[:, Z0].tolist() == [7] * 4 + [7 + 100 + 7] * 4 + [50 + 7] * 4


def test_clear_flag_of_any_zero_length_segment_is_applied(engines):
    empty, body = Body((100, 0, 0, 0), 0), Body((7, 0, 0, 0), 4)
    clear = Body((50, 0, 0, 0), 0, flags=int(facts.FrameFlag.CLEAR))
    played = play(engines, [bypass(each, ALL) for each in (body, clear, empty, empty, body)])
    assert segments(played, 0)["values"][:, Z0].tolist() == [7] * 4 + [50 + 100 + 100 + 7] * 4


def test_time_is_skipped_only_while_idle(engines):
    """Between a word and its effect, and while engines run, the core is not settled; while it
    waits, it is."""
    words = [bypass(Body((1, 0, 0, 0), 20, flags=WAIT), ALL)]
    played = play(engines, words, 400, gaps=[50], triggers=[200])
    settled = played.states["settled"]
    moving = np.flatnonzero(settled == 0)
    armed = armed_at(played)
    assert moving.tolist() == [*range(50, armed), *range(200, 221)]


def random_program(rng):
    """Segments of each parameter, with equal totals, as lists of `Body`; and words that stream them
    in order of start."""
    total = rng.randrange(200, 600)
    flags = [facts.FrameFlag.CLEAR, facts.FrameFlag.AT_END, facts.FrameFlag.FORWARD0, facts.FrameFlag.INVERT0]
    parameters, words = [], []
    for p in range(8):
        bodies, start = [], 0
        count = rng.randrange(1, 41)
        while start < total:
            tau = min(rng.randrange(1, 201), total - start) if len(bodies) < count else total - start
            u = tuple(rng.choice([0, rng.randrange(-(2**39), 2**39)]) for _ in range(4))
            chosen = sum(int(flag) for flag in flags if rng.random() < 0.3) if p in FRAMES else 0
            body = Body(u, tau, rng.randrange(32), chosen | (WAIT if not start else 0))
            words.append((start, p, body))
            bodies.append(body)
            start += tau
        parameters.append(bodies)
    words.sort(key=lambda word: word[:2])
    return total, parameters, [bypass(body, 1 << p) for _, p, body in words]


def check_random_program(engines, seed):
    """Streamed by start times a program starves only if the stream is slower than its segments:
    then it is cut off there."""
    rng = random.Random(seed)
    total, parameters, words = random_program(rng)
    stalls = rng.choice([0, 0.05, 0.2])
    gaps = [rng.randrange(1, 20) if rng.random() < stalls else 0 for _ in words]
    played = play(engines, words, 2 * total + len(words) + sum(gaps) + 200, gaps=gaps)
    rows = segments(played, 0)
    dry = bool(played.errors & facts.Error.MISALIGN)
    assert dry or len(rows) == total, f"seed {seed}"
    for p, bodies in enumerate(parameters):
        want = trajectory(bodies, p in FRAMES)[: len(rows)]
        assert rows["values"][:, p].tolist() == want, f"seed {seed}, parameter {p}"
    return dry


def test_check_50_random_programs_obey_alignment_and_triggers(engines):
    assert sum(check_random_program(engines, seed) for seed in range(200)) < 150  # many play to the end


@pytest.mark.long
def test_check_50_many_random_programs_obey_alignment_and_triggers(engines):
    for seed in range(200, 10_200):
        check_random_program(engines, seed)
