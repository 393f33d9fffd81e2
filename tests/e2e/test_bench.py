"""What is wired to an emulated device, from the user's side: chips that answer, an ion, and faults that are told."""

import json
import re
from pathlib import Path

import pytest

from tests.support.gateware import built
from tests.support.paths import EXAMPLES

EXPERIMENT = Path(__file__).with_name("experiments") / "urukul_bench.py"
ION = EXAMPLES / "ion"
LOOP = """
[loopback.cable]
from = "ttl4"
to = "ttl1"
delay_ns = 30

[photomultiplier.dark]
pin = "ttl0"
dark_hz = 5000
"""


@pytest.fixture(scope="module")
def ion():
    """The device database of the example, whose gateware is built if it is not up to date."""
    built("ion")
    return ION / "device_db.py"


def test_a_rabi_flop_has_the_frequency_of_the_bench(kairos, ion):
    done = kairos("run", ION / "rabi_flop.py", "points=25", "shots=40", "figure='rabi.png'", device_db=ion)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(r"Rabi frequency ([\d.]+) kHz, standard error ([\d.]+) kHz", done.stdout)
    assert float(found[1]) == pytest.approx(50, rel=0.02)
    assert float(found[2]) < 1
    assert (kairos.directory / "rabi.png").read_bytes().startswith(b"\x89PNG")
    assert "bench:" not in done.stderr


def test_chips_hold_what_drivers_set(kairos, ion):
    runs = []
    for options in [(), ("--no-skip",)]:
        done = kairos("run", EXPERIMENT, "-c", "ReadBack", "--vcd", "a.vcd", *options, device_db=ion)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stderr == ""
        runs.append((done.stdout.splitlines()[0], (kairos.directory / "a.vcd").read_text()))
    values = runs[0][0].split(maxsplit=7)
    frequency, phase, amplitude, attenuation = map(float, values[:4])
    assert frequency == pytest.approx(81.25e6, abs=0.2)
    assert (phase, attenuation) == (0.25, 6.5)
    assert amplitude == pytest.approx(0.5, abs=1e-4)
    assert values[4:] == ["True", "4", "9", "[1, 2, 3, 4, -5]"]
    assert runs[0] == runs[1], "skipped time changes nothing"


def test_inputs_come_at_exact_times(kairos, ion, tmp_path):
    bench = tmp_path / "loop.toml"
    bench.write_text(LOOP)
    runs = []
    for _ in range(2):
        done = kairos("run", EXPERIMENT, "-c", "Inputs", "--bench", bench, "--no-table", device_db=ion)
        assert done.returncode == 0, done.stdout + done.stderr
        runs.append(done.stdout.splitlines()[:2])
    assert runs[0] == runs[1]
    rising, falling, nothing, counted = map(int, runs[0][0].split())
    # 8 ns of cable and 30 ns of delay
    assert (rising, falling, nothing) == (200_038, 200_141, -1)
    assert 25 < counted < 75, "50 are expected"
    assert runs[0][1] == "photon True"


def test_a_chip_without_a_clock_is_told(kairos, ion, tmp_path):
    bench = tmp_path / "bench.toml"
    bench.write_text("[urukul.urukul0]\nmmcx_hz = 0\n")
    done = kairos("run", EXPERIMENT, "-c", "NoClock", "--bench", bench, device_db=ion)
    assert done.returncode == 1
    assert "PLL lock timeout" in done.stderr
    assert re.search(r"bench: at [\d.]+ ms: urukul0: ch0: its PLL is on but the card has no clock", done.stderr)


@pytest.mark.parametrize(
    "text, line",
    [
        ("seed = 1\n[aoms.a]\n", "2: unknown field `aoms`, expected one of "),
        ("[photomultiplier.p]\npin = 'ttl6'\n", "2: p cannot drive ttl6: it is an output of the device"),
        (LOOP + "[photomultiplier.q]\npin = 'ttl1'\n", "4: cable and q both drive the pin ttl1"),
        (LOOP.replace("5000", "-1"), "9: -1 cannot be: it has to be 0 or more"),
    ],
)
def test_a_file_with_a_mistake_is_refused_in_one_line(kairos, ion, tmp_path, text, line):
    bench = tmp_path / "bench.toml"
    bench.write_text(text)
    done = kairos("run", EXPERIMENT, "-c", "Inputs", "--bench", bench, device_db=ion)
    assert done.returncode != 0
    assert f"{bench}:{line}" in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr


def test_a_file_that_is_not_there(kairos, ion):
    done = kairos("run", EXPERIMENT, "-c", "Inputs", "--bench", "none.toml", device_db=ion)
    assert (done.returncode, done.stderr) == (1, "kairos: there is no bench file none.toml\n")


def test_the_wiring_is_checked_and_drawn(kairos, ion, tmp_path):
    done = kairos("bench", "check", device_db=ion)
    assert done.returncode == 0, done.stderr
    assert "ion0: ion; from aom_729 (drive), aom_397 (detection), aom_854 (repump); to pmt (photons)" in done.stdout
    told = [json.loads(line) for line in kairos("bench", "check", "--json", device_db=ion).stdout.splitlines()]
    assert next(part for part in told if part["name"] == "ion0")["to"] == [["pmt", "photons"]]
    done = kairos("bench", "draw", "-o", "wiring.svg", device_db=ion)
    assert done.returncode == 0, done.stderr
    assert (kairos.directory / "wiring.svg").read_text().count("<!-- aom_729 -->") == 1
    bench = tmp_path / "bench.toml"
    bench.write_text("\n[ion.i]\ncoherence_s = 0\n")
    done = kairos("bench", "check", bench, device_db=ion)
    assert (done.returncode, done.stderr) == (1, f"kairos: {bench}:3: 0 cannot be: it has to be more than 0\n")
