"""Recordings in result files, and what differs between two of them."""

import json
import subprocess
import sys
import zlib

import h5py
import numpy as np
from hypothesis import given
from hypothesis import strategies as some

from kairos.scope.stored import lanes_of_file
from kairos.waveform import Channel, Recording, Wave
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
