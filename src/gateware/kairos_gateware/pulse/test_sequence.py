"""Vectors through the words: the values of each engine of a channel, cycle by cycle from its start.
Numbers in the tests' names are those of the conformance checks."""

import numpy as np
import pytest

from kairos_gateware.contracts import pulse as facts
from kairos_gateware.testbenches.pulse_blocks import (
    Body,
    bypass,
    expected,
    gates,
    glut,
    mlut,
    onto,
    plut,
    segments,
    vectors,
)

PLAYED = [name for name, vector in vectors().items() if "trajectory" in vector]


def compare(played, vector, channels, trajectory="trajectory"):
    for n, c in enumerate(channels):
        cycles = max(vector["total_cycles"][c].values())
        rows = segments(played, n)
        assert len(rows) == cycles
        trajectories = vector[trajectory][c] | vector.get("trajectory_continuous_commit", {}).get(c, {})
        for p, parameter in enumerate(facts.Parameter):
            want = expected(trajectories[parameter.name.lower()], cycles)
            assert rows["values"][:, p].tolist() == want, f"channel {c}, {parameter.name}"


@pytest.mark.parametrize("name", PLAYED)
def test_each_vector_gives_its_recorded_trajectory(engines, name):
    vector = vectors()[name]
    channels = list(vector["trajectory"])[: engines.channels]
    played = engines.play(
        onto(vector["words"], [int(c) for c in channels]),
        1000,
        results=[(0, 0)],
        trigger_channels=2 ** len(channels) - 1,
    )
    assert played.errors in [0, facts.Error.UNDERRUN]
    compare(played, vector, channels)


def played(engines, name, more=(), result=0):
    """The outputs of a vector's first channels, a list; `more` words follow."""
    channels = list(vectors()[name]["trajectory"])[: engines.channels]
    words = onto(vectors()[name]["words"], [int(c) for c in channels])
    asked = 2 ** len(channels) - 1
    run = engines.play([*words, *more], 1000, results=[(0, result)], trigger_channels=asked)
    return [segments(run, c) for c in range(len(channels))]


def changes(rows):
    """[cycle, value] of each change, values signed."""
    signed = [int(value) - (int(value) >> 39 << 40) for value in rows]
    return [[n, value] for n, value in enumerate(signed) if not n or value != signed[n - 1]]


def test_check_23_and_24_splines_give_their_recorded_samples(engines):
    [rows] = played(engines, "v06")
    assert len(rows) == 48
    assert rows["values"][:5, facts.Parameter.A0].tolist() == [0, 9851099136, 19712937164, 29596252978, 39511785470]
    for name in ["v06", "v07", "v08"]:
        [rows] = played(engines, name)
        [trajectory] = vectors()[name]["trajectory"].values()
        for p, parameter in enumerate(facts.Parameter):
            assert rows["values"][:, p].tolist() == expected(trajectory[parameter.name.lower()], len(rows))


def test_check_25_consecutive_segments_repeat_or_lose_no_cycle(engines):
    [steps], [spline] = played(engines, "v05"), played(engines, "v06")
    assert (len(steps), len(spline)) == (50, 48)
    assert [cycle for cycle, _ in changes(steps["values"][:, facts.Parameter.A0])] == [0, 17, 33]
    knots = vectors()["v06"]["decoded_words"]
    starts = [word["U0"] for word in knots if word["param_mask"] == 1 << facts.Parameter.A0]
    assert spline["values"][::16, facts.Parameter.A0].tolist() == starts


def test_check_27_and_29_frames_add_up_and_are_applied(engines):
    [rows] = played(engines, "v10")
    turn = 2**40 / 360
    want = [10, 10, 20, -5, 0, 7, 8, 8]
    got = [changes([row])[0][1] / turn for row in rows["values"][8::16, facts.Parameter.Z0]]
    assert np.abs(np.array(got) - want).max() < 1e-9
    # In pulses 5 and 6 the rotation follows a cleared frame at the end; the last but one is not
    # forwarded
    applied = vectors()["v10"]["applied_frame"]["0"]
    for tone in range(facts.TONES):
        assert changes(rows["applied"][:, tone]) == applied[f"tone{tone}"]


def test_check_28_frames_are_forwarded_and_inverted(engines):
    [rows] = played(engines, "v11")
    for tone in range(facts.TONES):
        assert rows["applied"][:, tone].tolist() == expected(
            vectors()["v11"]["applied_frame"]["0"][f"tone{tone}"], len(rows)
        )
    degrees = [[round(changes([row])[0][1] / 2**40 * 360) for row in rows["applied"][4::8, tone]] for tone in range(2)]
    assert degrees == [[15, 0, -45, 45, 40, 0], [0, -30, 45, 45, -40, 0]]


def test_check_30_frame_keeps_the_end_of_its_spline(engines):
    [rows] = played(engines, "v12", [bypass(Body(tau=9), 0xFF)])
    assert rows["values"][-1, facts.Parameter.Z0] == 30541989638


def test_check_32_two_half_turns_cancel_each_other(engines):
    half = Body((-(2**39), 0, 0, 0))
    run = engines.play([bypass(half, 0xFF)] * 2, 100)
    assert changes(segments(run, 0)["values"][:, facts.Parameter.Z0]) == [[0, -(2**39)], [8, 0]]
    # Vector 20 does it in its gates
    assert changes(played(engines, "v20")[0]["values"][:, facts.Parameter.Z0]) == [[0, 0], [56, -(2**39)], [144, 0]]


def test_check_33_tables_hold_programmed_words(engines):
    """Each entry that the vector writes, played on its own."""
    vector = vectors()["v15"]
    programming = onto(vector["words"], [4])[:-1]
    bodies = [int(body, 16) for body in vector["plut"].values()]
    for gate, (first, last) in vector["glut"].items():
        run = engines.play([*programming, gates([int(gate)])], 300, trigger_channels=1)
        rows = segments(run, 0)["values"]
        entries = [vector["mlut"][str(n)] for n in range(first, last + 1)]
        for entry in entries:
            body = bodies[entry["plut_addr"]]
            assert len(rows) == body >> facts.TAU_AT
            shown = [rows[0, p] for p in range(facts.PARAMETERS) if entry["param_mask"] >> p & 1]
            assert shown == [body % 2**40] * len(shown)
    assert len(played(engines, "v15")[0]) == 52


def numbered(entries, tau=4):
    """Words that make gate g of each (g, n) play n, for 4 cycles."""
    words = [plut(n, Body((n, 0, 0, 0), tau)) for _, n in entries]
    words += [mlut([(200 + n, 0xFF, n) for _, n in entries[at : at + 6]]) for at in range(0, len(entries), 6)]
    return words + [glut([(g, 200 + n, 200 + n) for g, n in entries[at : at + 6]]) for at in range(0, len(entries), 6)]


def order(run):
    return segments(run, 0)["values"][::4, facts.Parameter.F0].tolist()


def test_check_34_packed_ids_and_entries_play_as_recorded(engines):
    words = onto(vectors()["v16"]["words"], [5])
    some = numbered([(100 + n, 40 + n) for n in range(23)])
    assert order(engines.play([*some, *words[:2]], 500)) == [40 + n for n in range(23)]
    # Entries 10 to 16 of the map have parameter n and pulse n; gates 0 to 12 each have two of them
    pulses = [plut(n, Body((7 + n, 0, 0, 0), 4)) for n in range(8)] + [mlut([(17, 0x80, 7)])]
    run = engines.play([*pulses, *words[2:], gates([0, 4, 8, 12])], 300)
    assert segments(run, 0)["values"][0].tolist() == [7, 8, 9, 10, 11, 12, 13, 14]


@pytest.mark.parametrize("result", range(4))
def test_check_35_branch_longer_than_a_word_plays_all_gates(engines, result):
    """Vector 17: gates 3 and 4, a branch of 23 gates of which the vector's results have the first
    two, gate 5."""
    words = onto(vectors()["v17"]["words"], [0])
    some = numbered([(3, 43), (4, 44), (5, 45)])
    entries = [(10 * state + n, 0xFF, 10 * state + n) for state in range(4) for n in range(2)]
    some += [plut(n, Body((n, 0, 0, 0), 4)) for n, _, _ in entries]
    some += [mlut(entries[:6]), mlut(entries[6:])]
    run = engines.play([*some, *words[4:], *words[:4]], 500, results=[(100, result)])
    assert order(run) == [43, 44, 10 * result, 10 * result + 1, 45]


@pytest.mark.parametrize(
    "result, frequencies, frames",
    [(0, [[0, 0], [12, 13421772800], [24, 0]], [[0, 0]]), (1, [[0, 0]], [[0, 0], [12, 2**38]])],
)
def test_check_36_measured_result_selects_the_gate(engines, result, frequencies, frames):
    """Vector 18: zeros, then gate 0 or, with the other result, a quarter turn in 8 cycles; zeros."""
    [rows] = played(engines, "v18", result=result)
    assert len(rows) == 12 + (8 if result else 12) + 12
    assert changes(rows["values"][:, facts.Parameter.F0]) == frequencies
    assert changes(rows["values"][:, facts.Parameter.Z0]) == frames


def test_check_37_gates_and_streamed_words_play_alike(engines):
    tables, streamed = played(engines, "v20"), played(engines, "v21")
    for one, other in zip(tables, streamed, strict=True):
        assert len(one) == len(other) == 216
        assert (one["values"] == other["values"]).all() and (one["applied"] == other["applied"]).all()


def test_check_67_core_plays_words_in_their_order(engines):
    vector, amplitudes = vectors()["v22"], [facts.Parameter.A0, facts.Parameter.A1]
    [rows] = played(engines, "v22")
    faulty = segments(engines.play(onto(vector["faulty_table_words"], [0]), 500, trigger_channels=1), 0)
    ten, twenty = 27481079808, 54970548224
    for got, second in [(rows, (twenty, ten)), (faulty, (ten, twenty))]:
        steps = [[step for step in got["values"][16:36:10, p].tolist()] for p in amplitudes]
        assert steps == [[ten, twenty], list(second)]
