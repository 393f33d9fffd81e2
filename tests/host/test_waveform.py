"""Recordings of the pins: pulses, table, VCD, picture."""

import subprocess

import pytest

from kairos.waveform import Pulse, Recording, Wave, vcd
from kairos.waveform.pauses import between_pauses
from kairos.waveform.plot import write_plot
from kairos.waveform.recording import Channel
from kairos.waveform.table import format_duration, format_table
from kairos.waveform.vcd import write_vcd
from tests.support.waveforms import changes_of_vcd

TRACE = {
    "pads": [{"index": 0, "name": "p0", "channel": 4}, {"index": 1, "name": "p1", "channel": 0}],
    "events": [[0, 0, 0], [1000, 0, 1], [1008, 1, 0], [1500, 0, 0], [2000, 1, 1]],
}


def recording():
    return Recording.from_trace(TRACE, 1, {4: "ttl4"})


def test_pulses():
    seen = recording()
    assert [channel.name for channel in seen.channels] == ["p1", "ttl4"]
    assert (seen.channels[0].initial, seen.channels[1].initial) == (None, 0)
    assert seen.pulses() == [Pulse("ttl4", 0, 500), Pulse("p1", 1000, None)]
    assert (seen.origin_ns, seen.event_count, seen.duration_ns) == (1000, 4, 1000)


def test_table():
    lines = format_table(recording()).splitlines()
    assert lines[2].split() == ["ttl4", "0", "500", "0", "ns", "500", "ns"]
    assert lines[3].split() == ["p1", "1,000", "-", "1", "us", "stays", "high"]
    assert "1 more" in format_table(recording(), limit=1)
    assert format_table(Recording([])).startswith("no pulses: no pin went high")


def test_durations():
    cases = {0: "0 ns", 999: "999 ns", 1000: "1 us", 1250: "1.25 us", 1_000_000_008: "1.000000008 s", -20: "-20 ns"}
    assert {ns: format_duration(ns) for ns in cases} == cases


def test_vcd(tmp_path):
    write_vcd(tmp_path / "a.vcd", recording())
    write_vcd(tmp_path / "b.vcd", recording())
    text = (tmp_path / "a.vcd").read_text()
    assert text == (tmp_path / "b.vcd").read_text()
    assert "$date" not in text and "$timescale 1 ns $end" in text
    assert text.split("$enddefinitions $end\n")[1].split() == (
        '#0 $dumpvars z! 1" $end #8 0! #500 0" #1000 1! #1001'.split()
    )


@pytest.mark.parametrize("clock", [0, 1001])
def test_gtkwave_reads_what_is_written(tmp_path, clock):
    """Its own reader and writer, there and back."""
    written = clocked(clock)[1] if clock else recording()
    write_vcd(tmp_path / "a.vcd", written)
    for command in (["vcd2fst", "a.vcd", "a.fst"], ["fst2vcd", "a.fst", "-o", "b.vcd"]):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    first, again = (changes_of_vcd((tmp_path / name).read_text()) for name in ("a.vcd", "b.vcd"))
    assert first == again and any(first.values())


def test_picture(tmp_path):
    write_plot(tmp_path / "a.png", recording(), "Title")
    write_plot(tmp_path / "b.png", recording(), "Title")
    data = (tmp_path / "a.png").read_bytes()
    assert data.startswith(b"\x89PNG") and len(data) > 5000
    assert data == (tmp_path / "b.png").read_bytes()


def clocked(changes, start_ns=0):
    """A clock of 125 MHz * 5/32 at a pin between changes of its own and of another."""
    wave = Wave(0, 800, 16, 3, 5, changes)
    end = wave.time_of(changes - 1)
    events = [[0, 0, 0], [400, 0, 1], [500, 0, 0], [1000, 1, 1], [1003, 1, 0], [end + 500, 0, 0], [end + 900, 0, 1]]
    return wave, Recording.from_trace({**TRACE, "events": events, "waves": [wave]}, 1, {4: "ttl4"}, start_ns)


def at(*times):
    """A recording with changes at these times."""
    return Recording([Channel("a", 0, 0, [(time, number % 2) for number, time in enumerate(times, 1)])])


@pytest.mark.parametrize(
    ("times", "pieces"),
    [
        ([0, 1000], [(0, 1000)]),
        ([0, 10, 100_000, 100_020], [(0, 10), (100_000, 100_020)]),
        # As few pauses as do
        (
            [0, 10, 2_000_000, 2_000_010, 3_000_000, 3_000_010],
            [(0, 10), (2_000_000, 2_000_010), (3_000_000, 3_000_010)],
        ),
        ([0, 10, 2_000_000, 2_000_010, 2_100_000, 2_100_010], [(0, 10), (2_000_000, 2_100_010)]),
        # More pauses than are left out
        ([n * 1000 for n in range(20)], [(0, 19_000)]),
    ],
)
def test_a_picture_leaves_out_long_pauses(times, pieces):
    assert between_pauses(at(*times)) == pieces


def test_what_a_clock_does_is_no_pause():
    wave = Wave(pad=0, time_ns=0, half=8, accumulator=0, word=1, changes=1000)
    seen = Recording([Channel("clock", 0, 0, [(0, 1), (100_000, 0)], [wave])])
    assert between_pauses(seen) == [(0, 100_000)]


def test_a_picture_of_pieces_has_an_axis_for_each(tmp_path):
    write_plot(tmp_path / "a.svg", at(0, 10, 2_000_000, 2_000_010))
    write_plot(tmp_path / "b.svg", at(0, 10, 20, 30))
    assert [(tmp_path / f"{name}.svg").read_text().count("<!-- time ") for name in "ab"] == [2, 1]


def test_waves_as_the_logic_counts():
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


def test_a_clock_is_kept_as_one(tmp_path):
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
    # The run began in the middle: the clock's level by then is the pin's first one.
    _, late = clocked(1001, wave.time_of(100))
    assert late.channels[1].initial == 1 - list(wave.edges())[100][1] and late.clocks()[0].changes == 901
    # A short one is pulses.
    assert not clocked(100)[1].clocks() and len(clocked(100)[1].channels[1].changes) == 104


def test_clocks_that_are_too_long_for_a_file(tmp_path):
    wave, seen = clocked(vcd.CLOCK_EDGES + 1)
    (line,) = write_vcd(tmp_path / "a.vcd", seen)
    assert "ttl4 is x from " in line and "2,000,001 edges" in line
    text = (tmp_path / "a.vcd").read_text()
    assert line in text.replace("\n\t", " ") and len(text) < 1000
    assert f"#{wave.time_of(0) - 400} x" in text.replace("\n", " ")
