"""Gate sets in kernels: send times of words, placement of gates, rejected cases; and recordings in files."""

import json

import numpy as np
import pytest

from kairos.contracts import pulse as facts
from kairos.errors import UsageError
from kairos.pulse import Adjustable, Branch, Core, Pulse, PulseError, Recording, Room
from kairos.pulse.gateset import GateSet
from kairos.pulse.program import Program
from kairos.pulse.recording import MOST_CHANGES, Pins
from kairos.waveform import Wave

CORE = Core(clock=125e6, samples_per_cycle=8, channels=2, map=2048, pulses=1024)
GATES = {
    "x0": [Pulse(channel=0, cycles=100, freq0=1e6, amp0=Adjustable((0, 50, 0)), amp1=Adjustable(7.0))],
    "x1": [Pulse(channel=1, cycles=60, amp0=9)],
    "z": [Pulse(channel=1, cycles=8, framerot0=45.0)],
}


def test_fifo_words_stay_within_depth():
    sequence = Program(GATES, CORE).sequence([("x0", "x1"), "z"] * 3000)
    words = np.array(sequence.words, dtype="i4").view("u1").reshape(-1, 32)
    times = [int(time) // 8 for time in sequence.times_mu]
    assert times == sorted(set(times))
    assert sum(time < 0 for time in times) == sequence.ahead
    # Every 108 cycles contain two ids on channel 0 and three on channel 1; a word leaves the FIFO
    # when its first id is played.
    for channel, ids in enumerate((2, 3)):
        own = [time for time, mask in zip(times, words[:, 31], strict=True) if mask >> channel & 1]
        begins = [n * 20 / ids * 108 for n in range(len(own))]
        for n, time in enumerate(own):
            waiting = sum(begin > time for begin in begins[: n + 1])
            assert waiting <= facts.INPUT_FIFO
            assert time < begins[n]


def test_marks_of_a_sequence_give_gate_positions():
    sequence = Program(GATES, CORE).sequence([("x0", "x1"), Branch((("x1",), ("z",))), "z"])
    marks = [(mark.name, mark.channel, mark.begin_mu, mark.end_mu) for mark in sequence.marks(1000)]
    assert marks == [
        ("x0", 0, 1000, 1800),
        ("x1", 1, 1000, 1480),
        ("branch", -1, 1800, 2280),
        ("z", 1, 2280, 2344),
        ("end", -1, 2344, 2344),
    ]
    assert sequence.duration_mu == 1344
    assert sequence.find("z") == 1280
    with pytest.raises(PulseError, match="^gate w: the sequence does not have it; it has x"):
        sequence.find("w")


def test_adjustable_values_are_listed_by_segment():
    gate = Program(GATES, CORE)["x0"]
    entries = np.array(gate.adjustable[2:]).reshape(-1, facts.ADJUSTABLE_NUMBERS)
    assert entries[:, 0].tolist() == [0x101, 0x101, 4]
    assert gate.duration_mu == 800


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: Program({"rest": []}, CORE), "gate rest: this name is reserved"),
        (lambda: Program(GATES, CORE)["y"], "gate y: there is no such gate"),
        (lambda: Program(GATES, CORE).sequence(["y"]), "gate y: there is no such gate"),
        (lambda: two_branches(), "two sequences of a program have branches"),
        (
            lambda: Program({"x": [Pulse(channel=0, cycles=8, amp0=Adjustable(a)) for a in (1.0, (0, 1))]}, CORE),
            "amp0 is adjustable both as a number and as a shape",
        ),
        (lambda: Program({"x": [Pulse(channel=2, cycles=8)]}, CORE), "gate x, channel 2"),
    ],
)
def test_invalid_gate_is_rejected_by_name(make, text):
    with pytest.raises(PulseError, match=text):
        make()


def two_branches():
    program = Program(GATES, CORE)
    for _ in range(2):
        program.sequence([Branch((("z",),))])


def words_of(numbers):
    return [row.tobytes() for row in np.array(numbers, dtype="i4").view("u1").reshape(-1, 32)]


def test_gate_sets_are_not_searched_for_each_of_their_gates(monkeypatch):
    searched, own = [], GateSet.stats
    monkeypatch.setattr(GateSet, "stats", lambda gates: searched.append(1) or own(gates))

    class Counted(dict):
        def values(self):
            searched.append(1)
            return super().values()

    monkeypatch.setattr("kairos.pulse.gateset.checked_gates", Counted)
    pulse = {"channel": 0, "cycles": 8, "amp0": Adjustable(1.0)}
    Program({f"g{number}": [Pulse(**pulse, freq0=float(number))] for number in range(20)}, Core(channels=1))
    assert len(searched) <= 2


def test_words_that_kernels_may_have_changed_are_not_known():
    """Segments that can be adjusted, and everything of a gate that kernels make; so they are written again when a set
    is changed into its successor."""
    program = Program({**GATES, "new": Room(channels=[0, 1], cycles=200, segments=10)}, CORE)
    programming, known = words_of(program.programming), words_of(program.known)
    assert set(known) < set(programming) and len(set(programming)) == len(programming)
    # Two segments of amp0, one of amp1, and ten on each channel
    modes = [word[30] >> 5 for word in programming]
    assert modes == sorted(modes, reverse=True), "segments, then the map, then gates"
    uncertain = [word for word in programming if word not in known]
    assert sum(word[30] >> 5 == 3 for word in uncertain) == 3 + 2 * 10
    new = program.successor({name: [Pulse(channel=0, cycles=100, amp0=50.0)] for name in ("x0", "y")})
    assert set(words_of(new.changes_back)) >= set(uncertain)
    assert words_of(Program(GATES, CORE).successor({"z": GATES["z"]}).changes_back)


def test_room_of_a_gate_is_listed_by_channel():
    program = Program({"new": Room(channels=[0, 1], cycles=200, segments=10), **GATES}, CORE)
    room, gate = [int(number) for number in program["new"].room], program["new"]
    assert room[0] == 200 and gate.channels == 3 and gate.duration_mu == 1600
    first, second = room[1:15], room[15:]
    assert [first[0], second[0]] == [0, 1] and first[3] == second[3] == 10
    assert len(set(first[4:])) == len(set(second[4:])) == 10
    assert [int(number) for number in program["x0"].room] == [0]


@pytest.mark.parametrize(
    "room, text",
    [
        (
            Room(channels=[], cycles=100),
            "gate new: room on channels []: they are a list, as in Room(",
        ),
        (
            Room(channels=[0], cycles=100, segments=129),
            "gate new: room for 129 segments: a gate made by",
        ),
        (Room(channels=[0], cycles=8, segments=100), "gate new, channel 0"),
        (Room(channels=[5], cycles=100), "gate new, channel 5"),
    ],
)
def test_impossible_room_is_refused_by_name(room, text):
    with pytest.raises(PulseError) as error:
        Program({"new": room}, CORE)
    assert str(error.value).startswith(text)
    with pytest.raises(PulseError, match="has no room for gates made by kernels"):
        Program(GATES, CORE).successor({"new": room})


def test_recording_saved_to_file_is_loaded_unchanged(tmp_path):
    words = np.array([5 << 16 | 0b11, 1 << 38, 65535 << 23, 9 << 16 | 0b10, 0], dtype="u8")
    outputs = [{"name": "pulse0", "channel": 14, "output": 0}]
    Recording(words, outputs, 8, {"ttl4": [[16, 1]]}).save(tmp_path / "pulses.npz")
    recording = Recording.load(tmp_path / "pulses.npz")
    assert recording.span_mu(0) == (40, 72)
    assert recording.pins == {"ttl4": [[16, 1]]}
    samples = recording.samples(0, 38, 75)
    assert len(samples) == 37 and not samples[:2].any() and samples[2] == 32767 and not samples[34:].any()
    assert (samples[2:34] == recording.play(40, 72).samples[0]).all()
    with pytest.raises(UsageError, match="no channel 1"):
        recording.samples(1, 0, 8)
    (tmp_path / "bad.npz").write_bytes(b"nothing")
    with pytest.raises(UsageError, match="is not a pulse recording"):
        Recording.load(tmp_path / "bad.npz")


def test_recording_of_two_boards_keeps_them_apart(tmp_path):
    """Each has outputs and cycles of its own; a file without boards, of an earlier version, is of one."""

    def of(level):
        return [5 << 16 | 0b11, 1 << 38, level << 23, 9 << 16 | 0b10, 0]

    outputs = [{"name": name, "channel": n, "output": 0} for n, name in enumerate(["here", "there"])]
    words = np.array(of(65535) + of(32767), dtype="u8")
    Recording(words, outputs, 8, {}, [(5, 1), (5, 1)]).save(tmp_path / "two.npz")
    recording = Recording.load(tmp_path / "two.npz")
    peaks = [recording.samples(0, 40, 72, name=name).max() for name in ("here", "there")]
    assert peaks == [32767, 16383] and recording.play(40, 72, name="there").samples.shape == (1, 32)
    with pytest.raises(ValueError, match="do not have these outputs and words"):
        Recording(words, outputs, 8, {}, [(5, 1), (5, 2)])
    kept = dict(np.load(tmp_path / "two.npz"))
    old = {name: kept[name] for name in kept if name != "boards"} | {"words": kept["words"][:5]}
    old["outputs"] = json.dumps(outputs[:1])
    np.savez(tmp_path / "one.npz", **old)
    assert Recording.load(tmp_path / "one.npz").span_mu(0, "here") == (40, 72)


def test_clock_edges_are_computed_on_demand(tmp_path):
    """A clock of 62.5 MHz running for a minute beside a pulse core, written to a file and read back."""
    clock = Wave(pad=3, time_ns=1000, half=1 << 23, accumulator=0, word=1 << 23, changes=60 * 125_000_000)
    outputs = [{"name": "pulse0", "channel": 14, "output": 0}]
    pins = Pins({"clk": [(0, 0), (70 * 10**9, 1)], "ttl4": [(16, 1)]}, {"clk": [clock], "ttl4": []})
    Recording(np.array([], dtype="u8"), outputs, 8, pins).save(tmp_path / "pulses.npz")
    assert (tmp_path / "pulses.npz").stat().st_size < 10_000
    pins = Recording.load(tmp_path / "pulses.npz").pins
    assert list(pins) == ["clk", "ttl4"] and pins["ttl4"] == [[16, 1]]
    assert pins.between("clk", 10**9, 10**9 + 32) == [(10**9 + 8 * n, (n + 1) % 2) for n in range(4)]
    assert pins.between("clk", 0, 1009) == [[0, 0], (1008, 1)]
    assert len(pins.between("clk", 10**9, 10**9 + 8 * MOST_CHANGES)) == MOST_CHANGES
    with pytest.raises(
        UsageError, match=r"pin clk has changed 7500000000 times.*pins.between\(.clk., begin_mu, end_mu"
    ):
        pins["clk"]
