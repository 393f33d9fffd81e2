"""The bench of an emulated device, from the user's side: chips that answer, an ion, and reported
faults."""

import json
import re
from pathlib import Path

import h5py
import pytest

from kairos.emulator import process
from kairos.errors import EmulatorError
from kairos.testing import Bench
from tests.support.gateware import built
from tests.support.paths import EXAMPLES, ROOT

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
    """The device database of the example, whose gateware is built if it is out of date."""
    built("ion")
    return ION / "device_db.py"


def test_rabi_flop_has_the_frequency_of_the_bench(kairos, ion):
    done = kairos("run", ION / "rabi_flop.py", "points=25", "shots=40", "figure='rabi.png'", device_db=ion)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(r"Rabi frequency ([\d.]+) kHz, standard error ([\d.]+) kHz", done.stdout)
    assert float(found[1]) == pytest.approx(50, rel=0.02)
    assert float(found[2]) < 1
    assert (kairos.directory / "rabi.png").read_bytes().startswith(b"\x89PNG")
    assert "bench:" not in done.stderr


def test_chips_hold_values_set_by_drivers(kairos, ion):
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


def test_inputs_from_bench_arrive_at_exact_times(kairos, ion, tmp_path):
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


def test_pulse_table_shows_messages_instead_of_bits(kairos, ion):
    words = ["points=1", "shots=1", "--table", "all"]
    done = kairos("run", ION / "rabi_flop.py", *words, device_db=ion)
    rows = [line.split(maxsplit=7) for line in done.stdout.splitlines()]
    messages = [" ".join([row[0], row[-1]]) for row in rows if row and row[0] == "urukul0_ch1"]
    assert messages[-1] == "urukul0_ch1 PROFILE7: asf 1, ftw 110 MHz", done.stdout
    assert "ttl_urukul0_sw1" in done.stdout and "spi_urukul0_clk" not in done.stdout
    count = len(rows) - [row[:1] for row in rows].index(["channel"]) - 2
    shortened = kairos("run", ION / "rabi_flop.py", "points=1", "shots=1", "--table", "5", device_db=ion).stdout
    (more,) = re.findall(r"\.\.\. and ([\d,]+) more", shortened)
    datasets = done.stdout.count("\nrabi.")
    assert int(more.replace(",", "")) == count - datasets - 5


def test_chip_without_clock_is_reported(kairos, ion, tmp_path):
    bench = tmp_path / "bench.toml"
    bench.write_text("[urukul.urukul0]\nmmcx_hz = 0\n")
    done = kairos("run", EXPERIMENT, "-c", "NoClock", "--bench", bench, device_db=ion)
    assert done.returncode == 1
    assert "PLL lock timeout" in done.stderr
    assert re.search(
        r"bench: at [\d.]+ ms, urukul_bench.py:\d+: urukul0: ch0: its PLL is on but the card has no clock", done.stderr
    )


FAULTS = [
    ("a message without a chip select (cs is 0): no chip receives it", "no chip select"),
    ("ch0: a message ended after 12 of the 64 bits for its register PROFILE", "cut"),
    ("the device drives the pin that it drives", "driven twice"),
    ("ch2: PROFILE written but not applied: no update (IO_UPDATE) followed", "no update"),
]


def test_faults_are_reported_with_their_source_line(kairos, ion):
    done = kairos("run", EXPERIMENT, "-c", "Faults", device_db=ion)
    assert done.returncode == 0, done.stdout + done.stderr
    warnings = [
        re.fullmatch(r"bench: at [\d.]+ ms, urukul_bench.py:(\d+): (.*)", line) for line in done.stderr.splitlines()
    ]
    assert len(warnings) == len(FAULTS) and all(warnings), done.stderr
    source = EXPERIMENT.read_text().splitlines()
    for found, (text, comment) in zip(warnings, FAULTS, strict=True):
        assert text in found[2]
        assert source[int(found[1]) - 1].endswith(f"# {comment}"), found[0]


def test_part_without_pins_has_line_of_its_source(kairos, ion, tmp_path):
    bench = tmp_path / "bench.toml"
    text = (ION / "bench.toml").read_text()
    bench.write_text(text.replace("saturation_dbm = 10.0", "saturation_dbm = 0.0", 1))
    words = ["points=2", "shots=1", "longest=10e-6", "--bench", bench]
    done = kairos("run", ION / "rabi_flop.py", *words, device_db=ION / "device_db.py")
    warnings = re.findall(r"bench: at [\d.]+ ms, rabi_flop.py:(\d+): aom_729: the tone is 10.0 dB above", done.stderr)
    source = (ION / "rabi_flop.py").read_text().splitlines()
    assert warnings and all("self.qubit.sw.pulse" in source[int(line) - 1] for line in warnings), done.stderr


MODEL, DOUBLER = re.findall(
    r"```python\n(from kairos.bench import Model.*?)```", (ROOT / "docs/bench.md").read_text(), re.S
)
SHUTTER = """
[python.shutter]
file = "shutter.py"
inputs = { open = "ttl5", beam = "aom_729" }
outputs = { closed = "ttl3", monitor = "volts" }
arguments = { delay_ns = 200_000 }
timeout_s = 0.5
"""


def shutter(tmp_path, model=MODEL):
    """Return a bench with a user-defined model."""
    (tmp_path / "shutter.py").write_text(model)
    bench = tmp_path / "bench.toml"
    bench.write_text((ION / "bench.toml").read_text() + SHUTTER)
    return bench


def test_python_model_answers_at_exact_times(kairos, ion, tmp_path):
    bench = shutter(tmp_path)
    runs = []
    for options in [(), ("--no-skip",)]:
        done = kairos("run", EXPERIMENT, "-c", "Shutter", "--bench", bench, *options, device_db=ion)
        assert done.returncode == 0, done.stdout + done.stderr
        runs.append(done.stdout.splitlines()[0])
    # 8 ns of cable, and the delays given to the model.
    assert runs == ["200008 500008"] * 2
    done = kairos("bench", "check", bench, device_db=ion)
    assert "shutter: Python; from aom_729 (beam), ttl5 (open); to ttl3" in done.stdout, done.stderr


FILTER = """
from kairos.bench import Model

class Filter(Model):
    def input(self, at, changes):
        self.send("behind", changes["before"])
        self.send("seen", changes["before"].power)
"""
BETWEEN = """
[python.driver_729]
file = "doubler.py"
inputs = { seed = "urukul0.ch0" }
outputs = { doubled = "tone" }
arguments = { dbm = 10.0 }

[python.filter]
file = "filter.py"
inputs = { before = "aom_729" }
outputs = { behind = "light", seen = "volts" }

[python.listener]
file = "doubler.py"
inputs = { seed = "driver_729.doubled" }
outputs = { doubled = "tone" }
arguments = { dbm = 0.0 }
"""


def test_python_models_convert_tones_and_light_of_other_models(ion, tmp_path):
    """A doubler before the modulator and a filter after it: an ion at twice the frequency flops
    like one without."""
    (tmp_path / "doubler.py").write_text(DOUBLER)
    (tmp_path / "filter.py").write_text(FILTER)
    bench = tmp_path / "bench.toml"
    text = (ION / "bench.toml").read_text()
    for before, after in [
        ('tone = "urukul0.ch0"\ncentre_hz = 80e6\nbandwidth_hz = 30e6', 'tone = "driver_729"\ncentre_hz = 160e6'),
        ('drive = { light = "aom_729"', 'drive = { light = "filter"'),
        ("resonance_hz = 80e6 }", "resonance_hz = 160e6 }"),
    ]:
        assert text.count(before) == 1
        text = text.replace(before, after)
    bench.write_text(text + BETWEEN)
    excitations = []
    for file in (None, bench):
        with Bench(ion, file) as made:
            made.run(ION / "rabi_flop.py", points=4, shots=10, longest=20e-6)
            excitations.append(list(made.datasets["rabi.excitation"]))
            assert made.warnings == []
            if file:
                seeds, doubled = made.dds("urukul0.ch0").changes, made.dds("driver_729").changes
                assert [tone.time for tone in seeds] == [tone.time for tone in doubled]
                on = [(seed, tone) for seed, tone in zip(seeds, doubled, strict=True) if seed.power is not None]
                assert len(on) == 30
                assert all(tone.frequency == 2 * seed.frequency and tone.power == 10.0 for seed, tone in on)
                assert made.dds("listener.doubled").changes[0].power == 0.0
                assert max(volts for _, volts in made.dac("filter.seen").changes) == pytest.approx(1)
    assert excitations[0] == excitations[1]


@pytest.mark.parametrize(
    "line, instead, warnings",
    [
        ("self.is_open = self.wanted", "raise ValueError('jammed')", r"shutter.py:LINE: ValueError: jammed"),
        ("self.is_open = self.wanted", "while True: pass", r"shutter.py:LINE: it did not return within 0.5 s"),
        ("self.is_open = self.wanted", "raise ValueError('two\\nlines')", r"shutter.py:LINE: ValueError: two lines"),
        ("not self.is_open)", "'no')", r"shutter.py:LINE: TypeError: closed takes True or False, not 'no'"),
        ("self.is_open = self.wanted", "import os; os._exit(3)", r"its process has ended \(exit status: 3\)"),
    ],
)
def test_failing_python_model_ends_run_with_its_line(kairos, ion, tmp_path, line, instead, warnings):
    bench = shutter(tmp_path, MODEL.replace(line, instead))
    warnings = warnings.replace("LINE", str(MODEL[: MODEL.index(line)].count("\n") + 1))
    done = kairos("run", EXPERIMENT, "-c", "Shutter", "--bench", bench, "-o", "kept.h5", device_db=ion)
    assert done.returncode == 1
    where = re.escape(f"{bench}:") + r"\d+: the model shutter failed at \d+ ns: "
    assert re.search(where + (re.escape(f"{tmp_path}/") if "shutter.py" in warnings else "") + warnings, done.stderr), (
        done.stderr
    )
    with h5py.File(kairos.directory / "kept.h5") as file:
        assert file["datasets/before"][()] == 1


RESTLESS = """
from kairos.bench import Model

class Restless(Model):
    def __init__(self, delay_ns):
        pass

    def input(self, at, changes):
        self.next = at  # which has passed: the next nanosecond

    act = lambda self, at: self.input(at, {})
"""


@pytest.mark.long
def test_endlessly_acting_model_is_reported(ion, tmp_path, monkeypatch):
    monkeypatch.setattr(process, "READY_TIMEOUT", 1.0)
    bench = shutter(tmp_path, RESTLESS)
    bench.write_text(bench.read_text().replace('"ttl5"', '"ttl_urukul0_sw0"'))
    with Bench(ion, bench) as made, pytest.raises(EmulatorError, match=r"did not boot within \d+ s.*--no-bench"):
        made.run(ION / "rabi_flop.py", points=1, shots=1)


@pytest.mark.parametrize(
    "text, warnings",
    [
        (SHUTTER.replace("shutter.py", "none.py"), r":\d+: there is no file .*none.py"),
        (SHUTTER.replace('"ttl5"', '"ttl9"'), r":\d+: there is no pin and no part ttl9; parts are "),
        (SHUTTER.replace("delay_ns =", "delay ="), r":\d+: .*TypeError: .*unexpected keyword argument 'delay'"),
        (SHUTTER.replace("file =", "class = 'Lamp'\nfile ="), r":\d+: ValueError: there is no class Lamp derived from"),
    ],
)
def test_unconstructible_model_is_reported_in_one_line(kairos, ion, tmp_path, text, warnings):
    bench = shutter(tmp_path)
    bench.write_text((ION / "bench.toml").read_text() + text)
    done = kairos("bench", "check", bench, device_db=ion)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, done.stderr
    assert re.match(f"kairos: {re.escape(str(bench))}{warnings}", done.stderr), done.stderr


@pytest.mark.parametrize(
    "text, line",
    [
        ("seed = 1\n[aoms.a]\n", "2: unknown field `aoms`, expected one of "),
        ("[photomultiplier.p]\npin = 'ttl6'\n", "2: p cannot drive ttl6: it is an output of the device"),
        (LOOP + "[photomultiplier.q]\npin = 'ttl1'\n", "4: cable and q both drive the pin ttl1"),
        (LOOP.replace("5000", "-1"), "9: -1 is invalid: it must be 0 or more"),
    ],
)
def test_invalid_bench_file_is_refused_in_one_line(kairos, ion, tmp_path, text, line):
    bench = tmp_path / "bench.toml"
    bench.write_text(text)
    done = kairos("run", EXPERIMENT, "-c", "Inputs", "--bench", bench, device_db=ion)
    assert done.returncode != 0
    assert f"{bench}:{line}" in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr


def test_missing_bench_file_is_reported(kairos, ion):
    done = kairos("run", EXPERIMENT, "-c", "Inputs", "--bench", "none.toml", device_db=ion)
    assert (done.returncode, done.stderr) == (1, "kairos: there is no bench file none.toml\n")


def test_wiring_of_a_bench_is_checked_and_drawn(kairos, ion, tmp_path):
    done = kairos("bench", "check", device_db=ion)
    assert done.returncode == 0, done.stderr
    assert "ion0: ion; from aom_729 (drive), aom_397 (detection), aom_854 (repump); to pmt (photons)" in done.stdout
    warnings = [json.loads(line) for line in kairos("bench", "check", "--json", device_db=ion).stdout.splitlines()]
    assert next(part for part in warnings if part["name"] == "ion0")["to"] == [["pmt", "photons"]]
    done = kairos("bench", "draw", "-o", "wiring.svg", device_db=ion)
    assert done.returncode == 0, done.stderr
    assert (kairos.directory / "wiring.svg").read_text().count("<!-- aom_729 -->") == 1
    bench = tmp_path / "bench.toml"
    bench.write_text("\n[ion.i]\ncoherence_s = 0\n")
    done = kairos("bench", "check", bench, device_db=ion)
    assert (done.returncode, done.stderr) == (1, f"kairos: {bench}:3: 0 is invalid: it must be more than 0\n")
