"""Tables: contents written by words, entries read by gates, branches. Numbers in the tests' names
are those of the conformance checks."""

import random

import numpy as np
import pytest

from kairos_gateware.contracts import pulse as facts
from kairos_gateware.testbenches.pulse_blocks import Body, bypass, gates, glut, mlut, plut, segments, trajectory

ALL = 0xFF
WAIT = int(facts.ToneFlag.WAIT)
F0 = facts.Parameter.F0
Mode = facts.Mode


def play(engines, words, cycles=600, **settings):
    return engines.play(words, cycles, **{"trigger_channels": 1} | settings)


def constant(value, tau=8, flags=0):
    return Body((value, 0, 0, 0), tau, flags=flags)


def one_gate_each(values, channels=1, tau=8):
    """Words that make gate n play value n on all parameters."""
    words = [plut(n, constant(value, tau), channels) for n, value in enumerate(values)]
    for first in range(0, len(values), 6):
        numbers = range(first, min(first + 6, len(values)))
        words.append(mlut([(n, ALL, n) for n in numbers], channels))
        words.append(glut([(n, n, n) for n in numbers], channels))
    return words


def f0(played, channel=0):
    return segments(played, channel)["values"][:, F0].tolist()


def test_check_38_gate_uses_words_written_before_it(engines):
    words = one_gate_each([1, 2])
    words += [gates([0]), plut(0, constant(3)), gates([0]), plut(0, constant(4)), gates([1, 0])]
    assert f0(play(engines, words)) == [1] * 8 + [3] * 8 + [2] * 8 + [4] * 8


def test_check_39_a_mask_of_parameters_is_not_stored(engines):
    words = one_gate_each([1])
    words[0] |= ALL << facts.PARAMETER_MASK_AT
    assert f0(play(engines, [*words, gates([0])])) == [1] * 8


def test_check_40_one_entry_feeds_all_parameters_or_none(engines):
    words = [plut(0, constant(1)), mlut([(0, 0, 0), (1, ALL, 0)]), glut([(0, 0, 1)]), gates([0])]
    played = play(engines, words)
    assert len(segments(played, 0)) == 8
    assert (segments(played, 0)["values"] == 1)[:, :6].all()


def test_check_41_empty_gates_take_no_cycle(engines):
    words = [*one_gate_each([1, 2]), glut([(5, 1, 0)]), gates([0, 5, 5, 1, 9, 0])]  # gate 9 was never written
    played = play(engines, words)
    assert f0(played) == [1] * 8 + [2] * 8 + [1] * 8
    assert played.errors == facts.Error.UNDERRUN


def test_gate_spans_entire_memory_map(engines):
    """All 8,192 entries that a gate can name: four times around the map as built."""
    words = [plut(0, constant(1)), mlut([(5, ALL, 0)]), glut([(0, 0, (1 << facts.MLUT_ADDRESS_BITS) - 1)]), gates([0])]
    assert f0(play(engines, words, 5000)) == [1] * 8 * 4


def test_check_42_word_without_a_mode_is_dropped(engines):
    words = [*one_gate_each([1]), 0xFFFF | 1 << facts.CHANNEL_MASK_AT, gates([0])]
    played = play(engines, words)
    assert f0(played) == [1] * 8
    assert played.errors & facts.Error.MODE


def test_check_42_count_above_the_limit_is_truncated(engines):
    words = [plut(n, constant(n)) for n in range(6)]
    words += [mlut([(n, ALL, n) for n in range(6)], count=25), glut([(0, 0, 5)]), gates([0])]
    played = play(engines, words)
    assert f0(played) == [n for n in range(6) for _ in range(8)]
    assert played.errors & facts.Error.COUNT


def test_check_43_a_word_for_no_channel_is_ignored(engines):
    played = play(engines, [*one_gate_each([1]), gates([0], channels=0), gates([0], channels=0xFC), gates([0])])
    assert f0(played) == [1] * 8
    assert played.errors == facts.Error.UNDERRUN


def test_check_44_word_for_several_channels_waits_for_room_in_all(engines):
    """Channel 1 is full: it has more words than fit after a segment that waits for the trigger."""
    rng = random.Random(44)
    values = [rng.randrange(2**39) for _ in range(200)]
    words = [bypass(constant(0, flags=WAIT), ALL, channels=2)]
    words += [bypass(constant(value), ALL, channels=3) for value in values]
    played = play(engines, words, 3000, triggers=[700], trigger_channels=2)
    for channel, before in [(0, []), (1, [0] * 8)]:
        assert f0(played, channel) == before + [value for value in values for _ in range(8)]


def test_check_48_gates_of_eight_segments_follow_without_a_gap(engines):
    """10,000 gates of eight cycles, each with eight different segments."""
    bodies = [constant(p + 1, 8) for p in range(8)]
    words = [plut(p, body) for p, body in enumerate(bodies)]
    words += [mlut([(p, 1 << p, p) for p in range(6)]), mlut([(p, 1 << p, p) for p in range(6, 8)])]
    words += [glut([(0, 0, 7)]), *[gates([0] * 20)] * 500]
    played = play(engines, words, 81_000)
    assert played.errors == facts.Error.UNDERRUN
    running = np.flatnonzero(played.states["running"])
    assert len(running) == running[-1] - running[0] + 1 == 80_000


def test_a_gate_of_eight_segments_takes_four_cycles(engines):
    bodies = [constant(p + 1, 4) for p in range(8)]
    words = [plut(p, body) for p, body in enumerate(bodies)]
    words += [mlut([(p, 1 << p, p) for p in range(6)]), mlut([(p, 1 << p, p) for p in range(6, 8)])]
    words += [glut([(0, 0, 7)]), *[gates([0] * 20)] * 50]
    played = play(engines, words, 5000)
    assert played.errors == facts.Error.UNDERRUN
    assert len(segments(played, 0)) == 4000


def test_check_65_words_and_gates_keep_the_rate_of_the_stream(engines):
    """As many words as the stream delivers in 1 us at 333 MHz, 10 times over, back to back: 325 for
    the pulse table and 8 that run gates, here 4 for each of two channels. The gates last as long as
    that, and are back to back."""
    per_run = 333 // 4 + 1
    words = one_gate_each([5], channels=3, tau=per_run)
    first = len(words)
    for round_ in range(10):
        for n in range(4):
            count = 82 if n else 79
            words += [plut(10 + (n * 82 + k) % 1000, constant(round_), 1 << k % 2) for k in range(count)]
            words += [gates([0], channels=1), gates([0], channels=2)]
    words += [plut(9, constant(0), 3)] * 20  # the stream continues after the last gate
    assert first + 10 * 333 + 20 == len(words)
    played = play(engines, words, 40 * per_run + 300, trigger_channels=3)
    assert (np.diff(played.taken.astype("i8")) == 1).all()
    for channel in range(2):
        running = np.flatnonzero(played.states["running"] >> channel & 1)
        assert len(running) == running[-1] - running[0] + 1 == 40 * per_run
    assert played.errors == facts.Error.UNDERRUN  # at the end


def test_check_65_pulse_table_is_written_a_word_a_cycle(engines):
    """Row 13 of the table of performance: so the reference core's 32,768 entries take 99 gates of
    333 words."""
    words = [plut(n, constant(n), 1 << c) for n in range(1 << 10) for c in range(2)]
    taken = play(engines, words, len(words) + 10).taken.astype("i8")
    assert taken[-1] - taken[0] + 1 == len(words) == 2 * 1024
    per_cycle = len(words) / (taken[-1] - taken[0] + 1)
    assert -(-(facts.CHANNELS << facts.PLUT_ADDRESS_BITS) // (333 * per_cycle)) == 99


def test_repeated_parameter_in_one_read_keeps_its_order(engines):
    words = [plut(0, constant(1)), plut(1, constant(2)), mlut([(0, ALL, 0), (1, ALL, 1)]), glut([(0, 0, 1)])]
    assert f0(play(engines, [*words, gates([0, 0])])) == ([1] * 8 + [2] * 8) * 2


def test_entries_beyond_tables_are_dropped_and_reported(engines):
    words = [*one_gate_each([1]), plut(1 << 10, constant(9)), mlut([(1 << 11, ALL, 0)]), gates([0])]
    played = play(engines, words)
    assert f0(played) == [1] * 8
    assert played.errors & facts.Error.ADDRESS


def branching(channels=1):
    """Gate i of state s plays 10 s + i."""
    entries = [(s, i) for s in range(4) for i in range(2)]
    words = [plut(n, constant(10 * s + i), channels) for n, (s, i) in enumerate(entries)]
    for first in [0, 6]:
        some = list(enumerate(entries))[first : first + 6]
        words.append(mlut([(n, ALL, n) for n, _ in some], channels))
        words.append(glut([(0x800 | s << 7 | i, n, n) for n, (s, i) in some], channels))
    return words


def test_check_51_branch_waiting_for_result_stalls_only_its_channel(engines):
    words = [*branching(), gates([0], Mode.BRANCH), gates([1], Mode.BRANCH_CONTINUE), bypass(constant(7), ALL, 2)]
    played = play(engines, words, results=[(300, 3)])
    assert f0(played) == [30] * 8 + [31] * 8
    starts = [np.flatnonzero(played.states["running"] >> channel & 1)[0] for channel in range(2)]
    assert starts[1] < 100 and starts[0] > 300


def test_check_51_branch_without_result_takes_state_0_in_time(engines):
    played = play(engines, [*branching(), gates([0, 1], Mode.BRANCH)], branch_timeout=200)
    assert f0(played) == [0] * 8 + [1] * 8
    assert played.errors & facts.Error.BRANCH_TIMEOUT
    assert np.flatnonzero(played.states["running"])[0] > 200


@pytest.mark.parametrize("when", [0, 5, 60])
def test_check_52_result_before_its_branch_is_kept(engines, when):
    words = [*branching(), gates([0], Mode.BRANCH), gates([1], Mode.BRANCH)]
    played = play(engines, words, gaps=[0] * (len(words) - 2) + [100, 100], results=[(when, 2), (400, 1)])
    assert f0(played) == [20] * 8 + [11] * 8


def check_random_tables(engines, seed):
    """Random gates from tables with rewrites between them, against their contents in the order of
    the stream."""
    rng = random.Random(seed)
    pulses, entries, words, played = {}, {}, [], [[] for _ in range(8)]
    for _ in range(rng.randrange(2, 8)):
        for _ in range(rng.randrange(1, 12)):
            address, body = rng.randrange(1 << 10), constant(rng.randrange(2**39), 40)
            pulses[address] = body
            words.append(plut(address, body))
        for gate in rng.sample(range(1 << 11), rng.randrange(1, 5)):
            first = rng.randrange((1 << 11) - 8)
            masks = [1 << p for p in range(8)]
            rng.shuffle(masks)
            while len(masks) > 1 and rng.random() < 0.7:
                masks.append(masks.pop() | masks.pop(0))
            slots = [(first + n, mask, rng.choice(list(pulses))) for n, mask in enumerate(masks)]
            words += [mlut(slots[n : n + 6]) for n in range(0, len(slots), 6)]
            words.append(glut([(gate, first, first + len(masks) - 1)]))
            entries = {g: e for g, e in entries.items() if abs(e[0][0] - first) > 8}
            entries[gate] = slots
        ids = [rng.choice(list(entries)) for _ in range(rng.randrange(1, 21))]
        words.append(gates(ids))
        for _, mask, address in (slot for gate in ids for slot in entries[gate]):
            for p in range(8):
                if mask >> p & 1:
                    played[p].append(pulses[address])
    gaps = [rng.randrange(8) if rng.random() < 0.1 else 0 for _ in words]
    total = sum(body.tau for body in played[0])
    rows = segments(play(engines, words, total + 600, gaps=gaps), 0)
    for p in range(6):
        assert rows["values"][:, p].tolist() == trajectory(played[p])[: len(rows)], f"seed {seed}"
    return len(rows) == total


def test_random_tables_play_as_the_model(engines):
    assert (
        sum(check_random_tables(engines, seed) for seed in range(100)) > 50
    )  # the others underrun while tables are written
