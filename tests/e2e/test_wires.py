"""``kairos run --wire``: inputs driven from the command line."""

from pathlib import Path

import pytest

from tests.support.command import one_line

EXPERIMENT = Path(__file__).with_name("experiments") / "wired.py"


def test_generator_cable_and_level_drive_their_inputs(kairos):
    wires = ["--wire", "ttl0=10kHz", "--wire", "ttl1=ttl4", "--wire", "ttl2=high"]
    runs = [kairos("run", EXPERIMENT, "--no-table", *wires) for _ in range(2)]
    for done in runs:
        assert (done.returncode, done.stderr) == (0, "")
        # The cable adds the 8 ns of the path from pin to pin
        assert done.stdout.splitlines()[0] == "100 8 1"
    assert runs[0].stdout.splitlines()[0] == runs[1].stdout.splitlines()[0]


def test_without_wires_no_edge_arrives(kairos):
    done = kairos("run", EXPERIMENT, "--no-table")
    assert done.stdout.splitlines()[0].split()[::2] == ["0", "0"]


@pytest.mark.parametrize(
    "wires, text",
    [
        (["ttl0"], "--wire ttl0 is not PIN=PIN, PIN=FREQUENCY or PIN=high, such as ttl0=ttl4 or ttl0=10kHz"),
        (["ttl0=10furlongs"], "--wire ttl0=10furlongs: 'furlongs' is not a unit; use one of "),
        (["ttl0=10us"], "--wire ttl0=10us: us is no unit for a value in Hz"),
        (["ttl0=ttl99"], "--wire ttl0=ttl99: the device has no pin ttl99; its inputs are "),
        (["ttl4=high"], "--wire ttl4=high: level at ttl4 cannot drive ttl4: it is an output of the device"),
        (["ttl0=high", "ttl0=ttl4"], "--wire ttl0=ttl4: loopback at ttl0 and level at ttl0 both drive the pin ttl0"),
        (["ttl0=ttl0"], "--wire ttl0=ttl0: a cable from the pin ttl0 to itself"),
        (["ttl0=0"], "--wire ttl0=0.0: a generator of 0 Hz is invalid: it must be more than 0 and at most 5000000 Hz"),
        (["ttl0=nan"], "a generator of NaN Hz is invalid"),
    ],
)
def test_invalid_wire_is_rejected_in_one_line(kairos, wires, text):
    done = kairos("run", EXPERIMENT, *[word for wire in wires for word in ("--wire", wire)])
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("kairos: ") and done.stderr.count("\n") == 1, done.stderr
    assert text in done.stderr


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        ("nothing=1", "--set nothing: no such parameter; there are acp_read_latency"),
        ("quantum=x", '--set quantum=x: "x" is not a non-negative integer'),
    ],
)
def test_wrong_parameter_of_the_emulator_is_a_wrong_command_line(kairos, setting, text):
    one_line(kairos("run", EXPERIMENT, "--set", setting), text, code=2)
