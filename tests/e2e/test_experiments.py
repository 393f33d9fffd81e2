"""Typical laboratory experiments, run unmodified: their output, datasets, and every change of a
pin, against their specified behaviour."""

import math
import re
from pathlib import Path

import pytest

from tests.support.paths import EXAMPLES
from tests.support.spi import transfers
from tests.support.waveforms import pulses_of_vcd

EXPERIMENTS = Path(__file__).with_name("experiments")
DEMO_DB = EXAMPLES / "device_db.py"


@pytest.fixture
def lab_db(lab, tmp_path):
    """Database of variant `lab` with a Zotino at its bare SPI port, without entries that need an
    EEPROM or a clock."""
    path = tmp_path / "device_db.py"
    path.write_text(
        f"""import runpy

device_db = runpy.run_path({str(lab)!r})["device_db"]
device_db["zotino0"] = {{
    "type": "local",
    "module": "artiq.coredevice.zotino",
    "class": "Zotino",
    "arguments": {{"spi_device": "dio_spi0", "ldac_device": "ttl16"}},
}}
del device_db["urukul0_cpld"]["arguments"]["sync_device"]
for i in range(4):
    device_db[f"urukul0_ch{{i}}"]["arguments"] |= {{"sync_delay_seed": -1, "io_update_delay": 0}}
"""
    )
    return path


class Run:
    """A successful run: the lines printed by the experiment, and the pins."""

    def __init__(self, kairos, name, device_db, *arguments):
        path = kairos.directory / f"{name}.vcd"
        done = kairos("run", EXPERIMENTS / f"{name}.py", "--vcd", path, *arguments, device_db=device_db)
        assert done.returncode == 0 and done.stderr == "", done.stdout + done.stderr
        lines = done.stdout.splitlines()
        end = next(i for i, line in enumerate(lines) if re.search(r"kernels? compiled in|compiled in", line))
        self.lines = lines[:end]
        self.datasets = dict(line.split(": ", 1) for line in lines[end:] if re.match(r"[\w./]+: ", line))
        self.vcd = path.read_text()

    def pulses(self, *names):
        """Return the pulses of the channels named, in ns since the first of them; those of a single
        channel as a list."""
        found = pulses_of_vcd(self.vcd, complete=False)
        origin = min(found[name][0][0] for name in names)
        shifted = [[(start - origin, end - origin) for start, end in found[name]] for name in names]
        return shifted[0] if len(names) == 1 else shifted


def test_ramsey_experiment_writes_profiles_and_pulses_exactly(kairos, lab_db):
    run = Run(kairos, "ramsey", lab_db)
    words = [0, 0x4000, 0x8000, 0xC000]
    assert run.lines == [f"{words} {words}"]
    sw, ion = run.pulses("ttl_urukul0_sw0", "ttl4")
    assert len(sw) == 8 and len(ion) == 4
    for first, second, detected in zip(sw[::2], sw[1::2], ion, strict=True):
        assert first[1] - first[0] == second[1] - second[0] == 2500
        # Free evolution, and 1256 ns for writing the second phase
        assert second[0] - first[1] == pytest.approx(10_000 + 1256, abs=8)
        assert detected == (second[1], second[1] + 5000)
    profiles = [
        data for cs, bits, data in transfers(run.vcd, "spi_urukul0", 3, active_high=True) if cs == 4 and bits == 72
    ]
    ftw = round(80.0015e6 * 2**32 / 1e9)
    asf = round(0.5 * 0x3FFF)
    written = [
        (0x15 << 64) | (asf << 48) | (word << 32) | ftw for pair in zip([0] * 4, words, strict=True) for word in pair
    ]
    assert profiles == written


def test_photons_experiment_counts_every_pulse(kairos, lab_db):
    run = Run(kairos, "photons", lab_db)
    bins = ["bin 0 True", "bin 1 True", "bin 2 True"]
    assert run.lines == [*bins, "no more -1 0", "dark 0", "overflow", "[0, 0, 1, 1, 1, 1, 0, 0] [4, 4, 4]"]
    assert run.datasets["counts"] == "[2, 3, 4, 5]"
    assert len(run.pulses("ttl0")) == 2 + 3 + 4 + 5 + 12


def test_pulse_train_experiment_plays_exact_pulses(kairos, lab_db):
    run = Run(kairos, "pulse_train", lab_db)
    assert run.lines == ["length 8296", "handle is gone", "trace is gone"]
    gate, trigger, time = [], [(0, 100)], 100
    for pulses, period in ((20, 200), (20, 200), (2, 48)):
        for i in range(pulses):
            gate.append((time, time + 20 + 2 * i))
            if i % 4 == 0:
                trigger.append((time, time + 8))
            time += period
    trigger.append((time, time + 100))
    # The first live pulse ends as the first recorded one begins: no edge between them.
    trigger[:2] = [(0, 108)]
    assert run.pulses("ttl4", "ttl5") == [gate, trigger]


def test_feedback_experiment_computes_as_the_host(kairos, lab_db):
    run = Run(kairos, "feedback", lab_db)
    assert run.lines == [
        "as computed on the host: True 12 [640.0, 240.0, 10.0, -106.0]",
        "same integral: True",
    ]
    word = round(2**24 * 10e6 * 8e-9)
    level, clock = 2**23, []
    for _ in range(125):
        clock.append(level >> 23 & 1)
        level = (level + word) % 2**24
    rises = [8 * i for i in range(125) if clock[i] and not (i and clock[i - 1])]
    assert [start for start, _ in run.pulses("ttl12")] == rises


def test_electrodes_experiment_writes_the_expected_words(kairos, lab_db):
    run = Run(kairos, "electrodes", lab_db)

    def code(volts):
        return round(65536 * volts / 20) + 0x8000

    ramp = [[0.0, 0.5, -1.0], [1.0, 0.0, 0.0], [2.0, -0.5, 1.0]]
    codes = [[code(v) for v in point] for point in ramp]
    assert run.lines == ["refused 10.0", f"{codes} {code(0.25)}", "Invalid DAC voltage!"]
    words = [data for cs, bits, data in transfers(run.vcd, "dio_spi0", 2, trailing=True) if cs == 1]
    begin = [0x022000, 0x032000, 0x010002]
    channels = [3, 1, 4]
    points = [3 << 22 | (c + 8) << 16 | value for point in codes for c, value in zip(channels, point, strict=True)]
    assert words == [*begin, *points, 3 << 22 | 15 << 16 | code(0.25)]
    assert [data for cs, bits, data in transfers(run.vcd, "dio_spi0", 2) if cs == 2] == [0b101]
    # LDAC falls with the TTL, and the data precede it
    falls = [int(t) for t in re.findall(rf"#(\d+)\n(?:[01z]\S+\n)*?0{identifier(run.vcd, 'ttl16')}\n", run.vcd)]
    ttl = [start for start, _ in pulses_of_vcd(run.vcd, complete=False)["ttl4"]]
    assert len(ttl) == 3 and set(ttl) <= set(falls)


def identifier(vcd, name):
    """Return a VCD file's identifier of a pin."""
    return re.escape(re.search(rf"\$var wire 1 (\S+) {name} \$end", vcd)[1])


def test_readout_experiment_sets_gains_and_reads_volts(kairos, lab_db):
    run = Run(kairos, "readout", lab_db)
    assert run.lines == [
        "[-10.24, -1.024, -0.1024, -0.01024]",
        f"0xe4e4 [0, 0] {[3.0] * 8}",
        f"{32767 * 20.48 / 65536} {100 * 20.0 / 65536 / 1000}",
    ]
    assert run.datasets["volts"] == str([0.0] * 8)
    gains = [data for _, bits, data in transfers(run.vcd, "spi_sampler0_pgia", 1) if bits == 16]
    wanted = [sum((i % 4) << 2 * i for i in range(n + 1)) for n in range(8)]
    assert gains == wanted
    assert [end - start for start, end in run.pulses("ttl_sampler0_cnv")] == [30] * 4


def test_scan_experiment_stops_and_completes(kairos, lab_db):
    run = Run(kairos, "scan", lab_db)
    assert run.lines[0] == "stopped at 6"
    assert run.lines[1].startswith("lengths True ")
    assert run.lines[2] == "(np.int32(5), 0.75) 6 0.75"
    assert run.datasets["done"] == str([True] * 6 + [False] * 2)
    lengths = [int(n) for n in re.findall(r"\d+", run.datasets["length_mu"])]
    assert [end - start for start, end in run.pulses("ttl4")] == lengths[::2] and lengths[::2] == lengths[1::2]
    complete = Run(kairos, "scan", lab_db, "limit=99", 'level={"ty": "ExplicitScan", "sequence": [true]}')
    assert complete.lines[:2] == ["not stopped", "stopped at 4"]
    widths = [end - start for start, end in complete.pulses("ttl4")]
    assert sorted(widths) == [1000, 2000, 3000, 4000] != widths


def test_camera_experiment_reports_missed_frames(kairos, lab_db):
    run = Run(kairos, "camera", lab_db)
    assert run.lines == ["missed 3 [-1, -1]"]
    assert [end - start for start, end in run.pulses("ttl4")] == [10_000] * 3


def test_sequences_experiment_has_exact_parallel_pulses(kairos, lab_db):
    run = Run(kairos, "sequences", lab_db)
    assert run.lines == []
    t = 2000
    # In a parallel block the loop is one statement: its pulses follow one another.
    ttl4, ttl5, ttl6 = [(0, 1000), (t, t + 100)], [(t + 100, t + 200)], [(t + 200, t + 300)]
    ttl7 = [(t + 50, t + 70), (t + 110, t + 130)]
    t += 300 + 1000
    ttl4.append((t, t + 100))
    ttl5.append((t, t + 200))
    ttl6.append((t, t + 50))
    t += 200 + 1000
    ttl4.append((t + 50, t + 130))
    ttl6.append((t + 150, t + 158))
    ttl7.append((t, t + 208))
    assert run.pulses("ttl4", "ttl5", "ttl6", "ttl7") == [ttl4, ttl5, ttl6, ttl7]


def test_hierarchy_experiment_uses_shared_devices(kairos, lab_db):
    run = Run(kairos, "hierarchy", lab_db)
    assert run.lines == [
        "sequence 3300",
        "[10, 15, 15] 0 10 10 47",
        "Be9 4 397.0",
        "a 2",
        "[np.int32(1), np.int32(2), np.int32(4)] 1 int64",
    ]
    assert run.pulses("ttl4", "ttl5") == [[(0, 1000)], [(1200, 3200)]]
    slower = Run(kairos, "hierarchy", lab_db, "scale=2.0")
    assert slower.pulses("ttl4", "ttl5") == [[(0, 2000)], [(2200, 6200)]]


def test_arrays_experiment_prints_numpy_results(kairos):
    run = Run(kairos, "arrays", DEMO_DB)
    polynomial = 3.0 + math.atan2(9.0, 2.0)
    assert run.lines == [
        "volts [2.1, 4.8] float64",
        "times [1, 3, 5] int64",
        f"total 3500000 {polynomial}",
        "local [[0, 0, 0], [0, 1, 2]] int32",
        "product [[0, 0], [1, 1], [2, 2]] int32",
        "2 (2, 3) [ True  True] False True",
        "shapes differ",
        "out of bounds",
        "[[5, 6, 7, 99], [10, 12, 14, 16]] int32 [100, 101, 102, 103, 104]",
        f"{polynomial}",
    ]


def test_texts_experiment_prints_python_results(kairos):
    run = Run(kairos, "texts", DEMO_DB)
    assert run.lines == [
        "2 -1 True True",
        "[12, 13]",
        "[5, 30, 90, 10, 7] True True True",
        "(1, 2.5, 'x') True bc False True",
        "[3, 1, 2] 0",
        "[2, np.int32(1), 3, 0] {(np.int32(1), 'two', (np.int32(3), 4.0)): {'key': [5], 'other': 'six'}}",
    ]
    assert run.datasets == {"ion.Yb/count": "12", "ion..Ca/count": "13"}


def test_recovery_experiment_retries_lost_ions(kairos):
    run = Run(kairos, "recovery", DEMO_DB)
    assert run.lines == ["ready 7", "300 3 2 2 True", "IonLost after 3 attempts of 3", "ValueError"]


def test_idioms_experiment_prints_python_results(kairos):
    run = Run(kairos, "idioms", DEMO_DB, "--no-rounding-warning")
    assert run.lines == [
        "note locked {'a': 1} 2 2.5 {'scaled': 9.0}",
        f"8 3 2 {math.pi} 3 1000000.0",
        "note 11 {}",
        "note 9 {}",
        "int64 int range(4, 0, -2)",
    ]
    assert run.datasets == {"ns": "1520", "x.square": "[[0.0, 0.0, 0.0], [0.0, 0.0, 2.0]]"}
    assert run.pulses("ttl4", "ttl5") == [[(0, 24)], [(8, 24)]]


CLOCK = """
    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl12")
        self.setattr_device("ttl4")

    @kernel
    def run(self):
        self.core.reset()
        self.ttl12.set(FREQUENCY)
        delay(300 * us)
        self.ttl4.pulse(10 * us)
        delay(AFTER)
        self.ttl4.pulse(10 * us)
"""
CLOCK_HEAD = "from artiq.experiment import *\n\n\nclass Exp(EnvExperiment):\n"


def clock(kairos, name, device_db, frequency, after):
    body = CLOCK.replace("FREQUENCY", frequency).replace("AFTER", after)
    done = kairos.run(body, "--vcd", name, head=CLOCK_HEAD, device_db=device_db)
    assert done.returncode == 0 and done.stderr == "", done.stdout + done.stderr
    return (kairos.directory / name).read_text()


def test_recording_ends_while_clock_runs(kairos, lab_db):
    """The recording ends by itself, at a reproducible time."""
    first = clock(kairos, "a.vcd", lab_db, "0.5 * MHz", "1 * us")
    assert clock(kairos, "b.vcd", lab_db, "0.5 * MHz", "1 * us") == first
    # A millisecond after the last change of another pin, at 321 us; the clock's edge at that
    # instant is excluded.
    assert "\n#321000\n" in first and int(first.splitlines()[-1][1:]) == 1_320_001


def test_run_without_clock_is_recorded_completely(kairos, lab_db):
    vcd = clock(kairos, "a.vcd", lab_db, "0.0", "200 * ms")
    # The Sampler's mode pin is high for ever.
    assert pulses_of_vcd(vcd, complete=False)["ttl4"] == [(0, 10_000), (200_010_000, 200_020_000)]
