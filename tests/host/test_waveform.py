"""Recordings of the pins: pulses, table, VCD and picture."""

import itertools
import re
import subprocess

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kairos.errors import UsageError
from kairos.waveform import Changes, Edges, Pulse, Recording, Wave, plot, vcd
from kairos.waveform.plot import windows, write_plot
from kairos.waveform.table import BusMessage, format_duration, format_table
from kairos.waveform.vcd import write_vcd
from kairos.waveform.window import Window
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
    text = "no pulses in this window: the last pin of all changes at "
    for window in (Window(start_ns=2000, channels=["ttl4"]), Window(channels=["none"])):
        assert format_table(recording(), window=window).startswith(text)


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
    assert len(windows(pulses_at(*range(0, 5_000_000, 1_000_000)))) == 5
    # Ten distant pulses are not cut: cutting seven pauses would not suffice.
    assert len(windows(pulses_at(*range(0, 10_000_000, 1_000_000)))) == 1
    write_plot(tmp_path / "a.svg", far, "Title")
    text = (tmp_path / "a.svg").read_text()
    assert all(f"<!-- {start}" in text for start in ("0 ", "1,000,0", "9,000,0")), "each piece has a number, in ns"
    # Neither the length of a pulse nor the clock's own pauses are cut.
    one = {**TRACE, "events": [(0, 0, 1), (2_000_000, 0, 0)]}
    assert len(windows(Recording.from_trace(one, 0))) == 1
    assert len(windows(clocked(1001)[1])) == 1


def test_picture_without_changes_is_not_drawn(tmp_path):
    nothing = Recording.from_trace({**TRACE, "events": []}, 0)
    assert len(windows(nothing)) == 1
    with pytest.raises(UsageError, match="no pin changes"):
        write_plot(tmp_path / "a.png", nothing)
    with pytest.raises(UsageError, match="no pin changes"):
        write_plot(tmp_path / "a.png", recording(), window=Window(start_ns=5000))


def test_window_selects_pulses_of_table_and_picture(tmp_path):
    seen = pulses_at(*range(0, 1000, 100))

    def starts(**window):
        rows = format_table(seen, None, window=Window(**window)).splitlines()[2:]
        return [int(row.split()[1]) for row in rows]

    assert starts(start_ns=205, end_ns=400) == [200, 300, 400], "also one that has begun before"
    assert starts(last=2) == [800, 900] and starts(last=100) == list(range(0, 1000, 100))
    assert starts(last_ns=115) == [800, 900] and starts(last_ns=115, end_ns=500) == [400, 500]
    assert starts(channels=["ttl4"]) == list(range(0, 1000, 100))
    assert "no pulses in this window" in format_table(seen, window=Window(channels=["p1"]))
    text = format_table(seen, window=Window(start_ns=300, skipped="of the cards"))
    assert text.startswith("3 pulses before are not shown: of the cards\n") and "... and" not in text
    assert windows(seen, window=Window(250, 650)) == [(250, 650)]
    part = Window(start_ns=205, end_ns=400).part(seen)
    assert part.channels[1].changes == [(210, 0), (300, 1), (310, 0), (400, 1)] and part.channels[1].initial == 1
    write_plot(tmp_path / "a.png", seen, window=Window(last=3))


def test_buses_are_drawn_as_words(tmp_path):
    seen = recording()
    messages = [BusMessage("dds0", 100, 600, "80 MHz"), BusMessage("dds0", 700, 1200, "a text that is too long" * 9)]
    bus = plot.Bus("dds0", 0, messages, frozenset([id(seen.channels[0])]))
    write_plot(tmp_path / "a.svg", seen, buses=[bus])
    texts = set(re.findall(r"<!-- (.*?) -->", (tmp_path / "a.svg").read_text()))
    assert {"dds0", "ttl4", "80 MHz"} <= texts and "p1" not in texts
    assert any(text.startswith("a text") and text.endswith("…") for text in texts)


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


MANY = 2_400_000
"""Changes of one pin, more than matplotlib draws as one line."""


def many():
    times = np.cumsum(np.random.default_rng(1).integers(8, 2000, MANY))
    pads, levels = np.arange(MANY) % 3 // 2, np.arange(MANY) % 3 % 2
    return Recording.from_trace({**TRACE, "events": Edges(times, pads, levels.astype(np.int8))}, 1, {4: "ttl4"})


def test_millions_of_changes_are_listed_drawn_and_written(tmp_path):
    seen = many()
    assert seen.event_count == MANY - 1
    lines = format_table(seen).splitlines()
    assert len(lines) == 43 and lines[-1].startswith(f"... and {MANY // 3 - 40:,} more")
    for name in ("a.png", "a.svg"):
        write_plot(tmp_path / name, seen)
    assert (tmp_path / "a.svg").stat().st_size < 5e6
    write_vcd(tmp_path / "a.vcd", seen)
    text = (tmp_path / "a.vcd").read_text()
    assert text.count("#") == MANY, "each time once, and the end"
    assert text.endswith(f"#{seen.duration_ns + 1}\n")


def test_thinned_picture_shows_same_levels():
    """Of each column the first and last changes are kept, so nothing visible is lost."""
    for seed in range(4):
        numbers = np.random.default_rng(seed)
        times = np.sort(numbers.choice(100_000, numbers.integers(1, 30_000), replace=False))
        levels = np.arange(len(times)) % 2
        limits = sorted(numbers.choice(100_000, 2, replace=False))
        shown, states = plot._thinned(times, levels, limits)
        assert set(zip(shown, states, strict=True)) <= set(zip(times, levels, strict=True))
        inside, kept = times[(times >= limits[0]) & (times < limits[1])], set(shown)
        columns = np.floor((inside - limits[0]) * (plot.COLUMNS / (limits[1] - limits[0])))
        for own in np.split(inside, np.flatnonzero(np.diff(columns)) + 1):
            assert {own[0], own[-1]} <= kept and len(set(own) & kept) >= min(len(own), 3)


@given(
    st.lists(st.tuples(st.sampled_from([0, 1, 7, 10**6, 10**17]), st.integers(0, 99), st.integers(-1, 2)), max_size=40)
)
def test_lines_of_vcd_equal_those_formatted_one_by_one(found):
    """Of any number of digits and any length of a variable's name."""
    idents = [f"{'v' * (number % 3)}{chr(33 + number % 90)}" for number in range(100)]
    times, rows = 0, [[] for _ in idents]
    expected = {}
    for step, channel, level in found:
        times += step
        if rows[channel] and rows[channel][-1][0] == times:
            continue
        rows[channel].append((times, level))
        expected.setdefault(times, {})[channel] = level
    changes = [
        Changes(np.array([time for time, _ in own], np.int64), np.array([level for _, level in own], np.int8))
        for own in rows
    ]
    lines = [
        line
        for time, own in expected.items()
        if time > 0
        for line in [f"#{time}\n", *(f"{vcd._TEXTS[own[channel]]}{idents[channel]}\n" for channel in sorted(own))]
    ]
    assert "".join(vcd._lines(changes, idents)) == "".join(lines)


@pytest.mark.parametrize(
    "names", [("a b\n$end", "a b\t$end"), ("größe µ", "größe µ"), ("", "\x1b[31m"), ("p\0q", "p q")]
)
def test_vcd_file_with_any_names_is_valid(tmp_path, names):
    written = recording()
    for channel, name in zip(written.channels, names, strict=True):
        channel.name = name
    write_vcd(tmp_path / "a.vcd", written)
    done = subprocess.run(["vcd2fst", "a.vcd", "a.fst"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    text = (tmp_path / "a.vcd").read_text()
    assert len(re.findall(r"^\$var wire 1 \S+ \S+ \$end$", text, re.MULTILINE)) == 2
    assert text.count("$enddefinitions") == 1 and text.isprintable() is False and "\x1b" not in text
    assert len(set(re.findall(r"^\$var wire 1 \S+ (\S+) \$end$", text, re.MULTILINE))) == 2


levels_of_pins = st.lists(st.tuples(st.integers(1, 50), st.integers(0, 1), st.sampled_from([0, 1, None])), max_size=60)


@given(levels_of_pins)
def test_arrays_of_changes_equal_lists(found):
    times = itertools.accumulate(step for step, _, _ in found)
    events = [(time, pad, level) for time, (_, pad, level) in zip(times, found, strict=True)]
    seen = Recording.from_trace({**TRACE, "events": events})
    origin = events[0][0] if events else 0
    for channel, pad in zip(seen.channels, (1, 0), strict=True):
        own = [(time - origin, level) for time, of, level in events if of == pad]
        assert list(channel.changes) == own and len(channel.changes) == len(own)
        pulses, start = [], None
        for time, level in own:
            if level == 1 and start is None:
                start = time
            elif level != 1 and start is not None:
                pulses.append(Pulse(channel.name, start, time))
                start = None
        assert list(channel.pulses()) == pulses + ([] if start is None else [Pulse(channel.name, start, None)])


@given(st.integers(1, 15), st.integers(0, 31), st.integers(0, 60))
def test_clock_edges_as_arrays_equal_those_one_by_one(word, accumulator, changes):
    wave = Wave(0, 80, 16, accumulator, word, changes)
    times, levels = wave.edge_arrays()
    assert list(zip(times.tolist(), levels.tolist(), strict=True)) == list(wave.edges())
