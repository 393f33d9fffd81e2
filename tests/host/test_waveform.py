"""Recordings of the pins: pulses, table, VCD and picture."""

import subprocess

import pytest

from kairos.waveform import Pulse, Recording, Wave, vcd
from kairos.waveform.plot import windows, write_plot
from kairos.waveform.table import format_duration, format_table
from kairos.waveform.vcd import write_vcd
from tests.support.waveforms import changes_of_vcd

TRACE = {
    "pads": [{"index": 0, "name": "p0", "channel": 4}, {"index": 1, "name": "p1", "channel": 0}],
    "events": [[0, 0, 0], [1000, 0, 1], [1008, 1, 0], [1500, 0, 0], [2000, 1, 1]],
}


def recording():
    return Recording.from_trace(TRACE, 1, {4: "ttl4"})


def test_pulses_have_start_and_width():
    seen = recording()
    assert [channel.name for channel in seen.channels] == ["p1", "ttl4"]
    assert (seen.channels[0].initial, seen.channels[1].initial) == (None, 0)
    assert seen.pulses() == [Pulse("ttl4", 0, 500), Pulse("p1", 1000, None)]
    assert (seen.origin_ns, seen.event_count, seen.duration_ns) == (1000, 4, 1000)


def test_table_of_pulses_lists_start_and_width():
    lines = format_table(recording()).splitlines()
    assert lines[2].split() == ["ttl4", "0", "500", "0", "ns", "500", "ns"]
    assert lines[3].split() == ["p1", "1,000", "-", "1", "us", "stays", "high"]
    assert "1 more" in format_table(recording(), limit=1)
    assert format_table(Recording([])).startswith("no pulses: no pin went high")


def test_durations_are_printed_in_readable_units():
    cases = {0: "0 ns", 999: "999 ns", 1000: "1 us", 1250: "1.25 us", 1_000_000_008: "1.000000008 s", -20: "-20 ns"}
    assert {ns: format_duration(ns) for ns in cases} == cases


def test_vcd_file_has_all_changes_reproducibly(tmp_path):
    write_vcd(tmp_path / "a.vcd", recording())
    write_vcd(tmp_path / "b.vcd", recording())
    text = (tmp_path / "a.vcd").read_text()
    assert text == (tmp_path / "b.vcd").read_text()
    assert "$date" not in text and "$timescale 1 ns $end" in text
    assert text.split("$enddefinitions $end\n")[1].split() == (
        '#0 $dumpvars z! 1" $end #8 0! #500 0" #1000 1! #1001'.split()
    )


@pytest.mark.parametrize("clock", [0, 1001])
def test_vcd_file_is_read_by_gtkwave(tmp_path, clock):
    """Round trip through GTKWave's own reader and writer."""
    written = clocked(clock)[1] if clock else recording()
    write_vcd(tmp_path / "a.vcd", written)
    for command in (["vcd2fst", "a.vcd", "a.fst"], ["fst2vcd", "a.fst", "-o", "b.vcd"]):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    first, again = (changes_of_vcd((tmp_path / name).read_text()) for name in ("a.vcd", "b.vcd"))
    assert first == again and any(first.values())


def test_picture_of_a_recording_is_drawn_reproducibly(tmp_path):
    write_plot(tmp_path / "a.png", recording(), "Title")
    write_plot(tmp_path / "b.png", recording(), "Title")
    data = (tmp_path / "a.png").read_bytes()
    assert data.startswith(b"\x89PNG") and len(data) > 5000
    assert data == (tmp_path / "b.png").read_bytes()


def pulses_at(*starts):
    """Returns a recording with pulses of 10 ns."""
    events = [[start + edge, 0, 1 - edge // 10] for start in starts for edge in (0, 10)]
    return Recording.from_trace({**TRACE, "events": events}, 0, {4: "ttl4"})


def test_picture_cuts_out_long_pauses(tmp_path):
    """All pieces have the same scale, and none is too narrow to be visible."""
    assert windows(pulses_at(0, 100, 200)) == [(-8.4, 218.4)], "what is spread evenly is shown whole"
    far = pulses_at(0, 100, 1_000_000, 1_000_050, 9_000_000)
    first, second, third = windows(far)
    assert first[0] < 0 and 110 < first[1] < 130 and second[0] < 1_000_000 and second[1] > 1_000_060
    assert third[0] < 9_000_000 < 9_000_010 < third[1] < 9_000_050
    assert min(end - start for start, end in (first, second, third)) >= 0.139 * (first[1] - first[0])
    # Five distant pulses are not cut: cutting three pauses would not suffice.
    assert len(windows(pulses_at(*range(0, 5_000_000, 1_000_000)))) == 1
    write_plot(tmp_path / "a.svg", far, "Title")
    text = (tmp_path / "a.svg").read_text()
    assert all(f"<!-- {start}" in text for start in ("0 ", "1,000,0", "9,000,0")), "each piece has a number, in ns"
    # Neither the length of a pulse nor the clock's own pauses are cut.
    one = {**TRACE, "events": [(0, 0, 1), (2_000_000, 0, 0)]}
    assert len(windows(Recording.from_trace(one, 0))) == 1
    assert len(windows(clocked(1001)[1])) == 1


def test_picture_without_changes_is_drawn(tmp_path):
    nothing = Recording.from_trace({**TRACE, "events": []}, 0)
    assert len(windows(nothing)) == 1
    write_plot(tmp_path / "a.png", nothing)


def clocked(changes, start_ns=0):
    """Returns a clock of 125 MHz * 5/32 on a pin, between other changes of this pin and another one."""
    wave = Wave(0, 800, 16, 3, 5, changes)
    end = wave.time_of(changes - 1)
    events = [[0, 0, 0], [400, 0, 1], [500, 0, 0], [1000, 1, 1], [1003, 1, 0], [end + 500, 0, 0], [end + 900, 0, 1]]
    return wave, Recording.from_trace({**TRACE, "events": events, "waves": [wave]}, 1, {4: "ttl4"}, start_ns)


def test_edges_of_clock_waves_follow_the_accumulator():
    for word in range(1, 17):
        wave = Wave(0, 80, 16, 3, word, 40)
        edges, accumulator, time = [], 3, 80
        while len(edges) < 40:
            after, time = (accumulator + word) % 32, time + 8
            if (after ^ accumulator) & 16:
                edges.append((time, after >> 4))
            accumulator = after
        assert list(wave.edges()) == edges
        assert [wave.time_of(number) for number in range(40)] == [time for time, _ in edges]
        for at in range(70, time + 20):
            assert list(wave.before(at).edges()) == [edge for edge in edges if edge[0] < at]
            assert list(wave.since(at).edges()) == [edge for edge in edges if edge[0] >= at]


def test_clock_wave_is_stored_as_one_entry(tmp_path):
    wave, seen = clocked(1001)
    assert (seen.event_count, len(seen.channels[1].changes)) == (1007, 4)
    assert [pulse.channel for pulse in seen.pulses()] == ["ttl4", "p1", "ttl4"]
    (clock,) = seen.clocks()
    assert (clock.start_ns, clock.changes, clock.frequency_hz) == (wave.time_of(0) - 400, 1001, 125e6 * 5 / 32)
    assert "clock, 1,001 edges, 19.53125 MHz" in format_table(seen)
    write_plot(tmp_path / "a.png", seen)
    assert write_vcd(tmp_path / "a.vcd", seen) == []
    lines = (tmp_path / "a.vcd").read_text().split("$enddefinitions $end\n")[1].split()
    edges = [f"#{time - 400}" for time, _ in wave.edges()]
    assert [line for line in lines if line in edges] == edges
    # Recording starts within the clock: the clock's level at that time is the pin's initial level.
    _, late = clocked(1001, wave.time_of(100))
    assert late.channels[1].initial == 1 - list(wave.edges())[100][1] and late.clocks()[0].changes == 901
    # A short clock is represented as pulses.
    assert not clocked(100)[1].clocks() and len(clocked(100)[1].channels[1].changes) == 104


def test_clock_with_too_many_edges_is_marked_unknown_in_vcd(tmp_path):
    wave, seen = clocked(vcd.CLOCK_EDGES + 1)
    (line,) = write_vcd(tmp_path / "a.vcd", seen)
    assert "ttl4 is x from " in line and "2,000,001 edges" in line
    text = (tmp_path / "a.vcd").read_text()
    assert line in text.replace("\n\t", " ") and len(text) < 1000
    assert f"#{wave.time_of(0) - 400} x" in text.replace("\n", " ")
