"""Recordings in result files, and what differs between two of them."""

import json
import subprocess
import sys
import zlib

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from kairos.scope.stored import lanes_of_file
from kairos.waveform import Changes, Channel, Recording, Wave
from kairos.waveform.difference import differences
from kairos.waveform.stored import packed, unpacked


@some.composite
def recordings(draw):
    channels = []
    for number in range(draw(some.integers(0, 4))):
        initial = draw(some.sampled_from([0, 1, None]))
        changes, time, level = [], 0, initial
        for step in draw(some.lists(some.integers(0, 1 << 40), max_size=12)):
            time += step
            level = draw(some.sampled_from([each for each in (0, 1, None) if each != level]))
            changes.append((time, level))
        waves = [Wave(3, time + 100, 1 << 23, 5, 1 << 20, 300)] if draw(some.booleans()) else []
        channels.append(
            Channel(f"ttl{number}", draw(some.sampled_from([number, None, 1 << 17])), initial, changes, waves)
        )
    return Recording(channels, draw(some.integers(0, 1 << 50)))


@given(recordings())
def test_packed_recording_is_unpacked_unchanged(recording):
    found = unpacked(packed(recording, "emulator"))
    kept = [channel for channel in recording.channels if channel.change_count or channel.initial is not None]
    assert found.origin_ns == recording.origin_ns
    assert [(c.name, c.number, c.initial, list(c.changes)) for c in found.channels] == [
        (c.name, c.number, c.initial, list(c.changes)) for c in kept
    ]
    assert [c.waves for c in found.channels] == [c.waves for c in kept]
    assert differences(found, recording) == []


def test_million_regular_changes_take_far_less_than_a_byte_each():
    changes = [(500 * n, 1 - n % 2) for n in range(100_000)]
    assert len(packed(Recording([Channel("ttl0", 0, 0, changes)]), "emulator")["changes"]) < 5_000


def test_lanes_of_a_file_have_pins_messages_tones_and_voltages(tmp_path):
    clock, select = pulses(*range(100, 260, 10)), [(90, 0), (270, 1)]
    bus = {"spi_clk": clock, "spi_mosi": [(95, 1), (175, 0)], "spi_cs0": select}
    channels = [Channel(name, 3, int(name == "spi_cs0"), changes) for name, changes in bus.items()]
    channels += [Channel("ttl0", 0, 0, [(0, 1), (50, 0)])]
    rows = {"tones/dds.ch0": [[1000, 80e6, -3.0, 0.25], [1040, 0, np.nan, 0]], "volts/dac.ch1": [[1020, 1.5]]}
    path = tmp_path / "run.h5"
    with h5py.File(path, "w") as file:
        for name, value in {**packed(Recording(channels, 1000), "twin"), **rows}.items():
            file[f"waveform/{name}"] = value
        file["provenance/device_db"] = "print('device_db')\ndevice_db = {}\n"
        lanes, end = lanes_of_file(file)
    named = {"/".join([*lane.group, lane.name]): lane for lane in lanes}
    assert list(named["pins/ttl0"].times) == [0, 50] and end == 270
    assert list(named["bench/dds.ch0/frequency"].values)[0] == 80e6
    assert np.isnan(named["bench/dds.ch0/power"].values[1])
    assert (named["bench/dac/ch1"].unit, list(named["bench/dac/ch1"].times)) == ("V", [20])
    assert named["pins/spi/spi select 1"].texts == ["0xf0 (8 bits)"]
    done = subprocess.run([sys.executable, "-m", "kairos.scope.stored", path], check=True, stdout=subprocess.PIPE)
    head, _, rest = done.stdout.partition(b"\n")
    head = json.loads(head)
    content = json.loads(rest[: head["lanes"]])
    assert (head["source"], head["complete"], len(content["lanes"])) == ("twin", True, len(lanes))
    assert len(zlib.decompress(rest[head["lanes"] :])) % 8 == 0


def recording(**channels):
    return Recording([Channel(name, None, 0, changes) for name, changes in channels.items()])


def pulses(*times):
    return [(time, 1 - place % 2) for place, time in enumerate(times)]


def test_events_that_moved_are_reported_together():
    one = recording(a=pulses(0, 10, 20, 30), b=pulses(5, 6))
    other = recording(a=pulses(0, 10, 28, 38), b=pulses(5, 6))
    (found,) = differences(one, other)
    assert (found.kind, found.count, found.first_ns, found.last_ns, found.shift_ns) == ("moved", 2, 20, 30, 8)
    assert found.text == "a: 2 events from 20 ns to 30 ns 8 ns later"


def test_new_and_missing_events_are_not_moved_ones():
    one = recording(a=pulses(0, 10, 100, 110, 200, 230))
    other = recording(a=pulses(0, 10, 200, 230))
    (found,) = differences(one, other)
    assert (found.kind, found.count, found.first_ns) == ("missing", 2, 100)
    (found,) = differences(other, one)
    assert (found.kind, found.count, found.last_ns) == ("new", 2, 110)
    (found,) = differences(one, recording())
    assert (found.kind, found.count) == ("missing", 6)


@given(recordings(), recordings())
def test_every_difference_of_two_recordings_is_accounted_for(one, other):
    found = differences(one, other)
    gained = sum(each.count for each in found if each.kind == "new")
    lost = sum(each.count for each in found if each.kind == "missing")
    before = sum(len(channel.changes) for channel in one.channels)
    after = sum(len(channel.changes) for channel in other.channels)
    assert before - lost + gained == after


def channel(name, number, times, initial=0):
    times = np.asarray(times, np.int64)
    return Channel(name, number, initial, Changes(times, (1 - np.arange(len(times)) % 2).astype(np.int8)))


def texts(one, other):
    return [each.text for each in differences(Recording(one), Recording(other))]


MILLION = np.arange(1_000_000, dtype=np.int64) * 500


@pytest.mark.parametrize("count", [100, 3_000, 20_000, 1_000_000])
def test_missing_pulses_among_regular_ones_are_found_at_their_places(count):
    lost = [2 * place for place in (count // 5, count // 3)]
    left = np.delete(MILLION[:count], [*lost, *(place + 1 for place in lost)])
    found = differences(Recording([channel("a", 0, MILLION[:count])]), Recording([channel("a", 0, left)]))
    assert [(each.kind, each.count, each.first_ns) for each in found] == [("missing", 2, 500 * place) for place in lost]


def test_noise_of_an_input_is_one_line_for_each_kind():
    chance = np.random.default_rng(1)
    one, other = (np.unique(chance.integers(0, 1 << 30, count)) for count in (30_000, 30_500))
    kinds = [each.kind for each in differences(*(Recording([channel("a", 0, times)]) for times in (one, other)))]
    assert kinds.count("moved") == 1 and len(kinds) <= 4
    jitter = channel("a", 0, MILLION + np.append(0, chance.integers(0, 3, len(MILLION) - 1) * 8))
    (found,) = differences(Recording([channel("a", 0, MILLION)]), Recording([jitter]))
    assert (found.kind, found.shift_ns, found.most_ns) == ("moved", 8, 16)
    assert found.text.endswith(" 8 ns later to 16 ns later")


def test_pulse_that_is_later_in_each_pass_has_moved():
    later = MILLION[:20_000] + np.arange(20_000) // 10 * 8
    (found,) = differences(Recording([channel("a", 0, MILLION[:20_000])]), Recording([channel("a", 0, later)]))
    assert (found.kind, found.count, found.shift_ns, found.most_ns) == ("moved", 19_990, 8, 1999 * 8)


def test_levels_before_the_first_change_are_compared():
    one, other = channel("a", 0, [0, 10]), channel("a", 0, [0, 10])
    still = [channel("b", 1, [], level) for level in (0, None)]
    assert texts([one, still[0]], [other, still[1]]) == [
        "b: low in the first, not driven in the second at the beginning"
    ]


def test_recording_that_begins_with_another_event_is_compared_without_its_shift():
    one = [channel("a", 0, [0, 10, 30, 50]), channel("b", 1, [5, 25])]
    other = [channel("a", 0, [5000, 5010, 5030, 5050]), channel("b", 1, [5005, 5025]), channel("c", 2, [0, 1])]
    assert texts(one, other) == [
        "the second begins 5 us earlier, with another event: its times are compared without that",
        "c: 2 events from 0 ns to 1 ns only in the second",
    ]
    assert texts(other, one)[0].startswith("the second begins 5 us later")


def test_renamed_channel_is_compared_and_another_one_of_its_number_is_not():
    assert texts([channel("ttl4", 4, [0, 10])], [channel("cooling", 4, [0, 18])]) == [
        "ttl4: called cooling in the second",
        "ttl4: 1 event at 10 ns 8 ns later",
    ]
    clock = channel("urukul0_sw0", 4, range(1, 100, 7))
    assert len(texts([channel("ttl4", 4, [0, 10])], [channel("x", 1, [0, 10]), clock])) == 3


def test_channels_of_one_name_are_distinguished_by_their_boards():
    one = [channel("ttl4", 4, [0, 10]), channel("ttl4", 4 | 1 << 16, [0, 10])]
    other = [channel("ttl4", 4, [0, 10]), channel("ttl4", 4 | 1 << 16, [0, 18])]
    assert texts(one, other) == ["satellite1 ttl4: 1 event at 10 ns 8 ns later"]
    one, other = ([channel("clk", number, times) for number in (4, 5)] for times in ([0, 10], [0, 18]))
    assert len(texts(one, other)) == 2
