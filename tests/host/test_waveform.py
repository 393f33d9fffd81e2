"""Recordings of the pins: pulses, table, VCD, picture."""

from kairos.waveform import Pulse, Recording
from kairos.waveform.plot import write_plot
from kairos.waveform.table import format_duration, format_table
from kairos.waveform.vcd import write_vcd

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


def test_picture(tmp_path):
    write_plot(tmp_path / "a.png", recording(), "Title")
    write_plot(tmp_path / "b.png", recording(), "Title")
    data = (tmp_path / "a.png").read_bytes()
    assert data.startswith(b"\x89PNG") and len(data) > 5000
    assert data == (tmp_path / "b.png").read_bytes()
