"""Analyzer dumps converted to VCD files, from handwritten messages."""

import io

import pytest

from kairos.network.analyzer import Dump, InputMessage, OutputMessage, StoppedMessage
from kairos.waveform.analysis import write_dump

DEVICES = {
    "pin": {"type": "local", "class": "TTLInOut", "arguments": {"channel": 1}},
    "clock": {"type": "local", "class": "TTLClockGen", "arguments": {"channel": 2}},
}


def changes(messages, period=1e-9, devices=DEVICES):
    """Returns the time unit, and (time, name, value) of every change after the initial values."""
    file = io.StringIO()
    write_dump(file, Dump(99, True, [*messages, StoppedMessage(0)]), devices, period)
    lines = file.getvalue().splitlines()
    names = {line.split()[3]: line.split()[4] for line in lines if line.startswith("$var")}
    found, time = [], 0
    for line in lines[lines.index("$dumpvars") :]:
        if line.startswith("#"):
            time = int(line[1:])
        elif line.startswith("b"):
            value, identifier = line[1:].split()
            found.append((time, names[identifier], int(value, 2) if set(value) <= {"0", "1"} else value))
        elif line[:1] in "01x" and line[1:] in names:
            found.append((time, names[line[1:]], line[0]))
    return lines[0], [change for change in found if change[1] != "rtio_slack"]


def test_driven_pin_has_values_only_while_driven():
    messages = [
        OutputMessage(1, 1000, 900, 0, 1),  # output level, while the pin is an input
        OutputMessage(1, 1010, 900, 1, 1),
        OutputMessage(1, 1020, 900, 0, 0),
        OutputMessage(1, 1030, 900, 2, 1),  # the sensitivity does not affect the pin
        OutputMessage(1, 1040, 900, 1, 0),
        InputMessage(1, 1050, 1060, 1),
    ]
    _, found = changes(messages)
    wanted = [(0, "x"), (10, "1"), (20, "0"), (40, "x"), (50, "1")]
    assert [(time, value) for time, name, value in found if name == "pin"] == wanted


def test_non_ttl_channel_shows_its_words():
    _, found = changes([OutputMessage(2, 5, 0, 0, 1 << 23), OutputMessage(7, 6, 0, 0, 1)])
    assert found[-1] == (0, "clock", 1 << 23), "a channel that nobody owns is left out"


@pytest.mark.parametrize(
    ("period", "timescale", "steps"), [(1e-9, "1 ns", 1), (8e-9, "1 ns", 8), (1e-8, "10 ns", 1), (2.5e-10, "10 ps", 25)]
)
def test_vcd_timescale_is_a_power_of_ten(period, timescale, steps):
    first, found = changes([OutputMessage(1, 0, 0, 1, 1), OutputMessage(1, 4, 0, 0, 1)], period)
    assert first == f"$timescale {timescale} $end"
    assert found[-1] == (4 * steps, "pin", "1")
