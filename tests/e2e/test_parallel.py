"""AD9914 on their parallel bus, and a Shuttler's relays and ADC, through drivers, firmware,
gateware and models."""

import re
from pathlib import Path

import pytest

from kairos.devices import DeviceDB
from kairos.testing import Bench
from tests.support.databases import entry, written
from tests.support.gateware import database

EXPERIMENTS = Path(__file__).with_name("experiments") / "parallel.py"
SYSCLK = 3e9
STEP = SYSCLK / 2**32
WORD = 40e-9


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    """The gateware `cards` with drivers for the devices on its buses: a file."""
    folder = tmp_path_factory.mktemp("cards")
    entries = DeviceDB.load(database("cards", folder)).entries
    for n in range(2):
        entries[f"dds{n}"] = entry("ad9914", "AD9914", sysclk=SYSCLK, bus_channel=2, channel=n)
    entries["missing"] = entry("ad9914", "AD9914", sysclk=SYSCLK, bus_channel=2, channel=5)
    entries["shuttler0_relay"] = entry("shuttler", "Relay", spi_device="spi_shuttler0_relay")
    entries["shuttler0_adc"] = entry("shuttler", "ADC", spi_device="spi_shuttler0_adc")
    return written(entries, folder)


@pytest.fixture
def bench(db):
    with Bench(db) as made:
        yield made


def test_ad9914_plays_tones_at_exact_times(bench):
    bench.run(EXPERIMENTS, "Tones")
    assert bench.warnings == []
    tones = bench.dds("dds1").changes
    frequencies = [400e6, 750e6, 123456789.015625, 750e6]
    assert [tone.frequency for tone in tones] == [pytest.approx(hz, abs=STEP / 2) for hz in frequencies]
    assert tones[2].frequency == pytest.approx(frequencies[2], abs=1e-6), "63 bits"
    assert [tone.power for tone in tones] == [pytest.approx(-6.02, abs=0.01), 0, 0, 0]
    # The update is at the cursor, 8 ns of cable before the chip; the mark is there too.
    start = next(time for time, level in bench.pin("ttl4").changes if level == 1)
    assert tones[0].time == pytest.approx(start + 8e-9, abs=1e-12)
    gaps = [after.time - before.time for before, after in zip(tones, tones[1:], strict=False)]
    assert gaps == [pytest.approx(3e-6, abs=1e-12)] * 3
    assert tones[0].phase == pytest.approx(0.25, abs=1e-4)
    assert tones[1].phase == pytest.approx(0, abs=1e-6), "an absolute phase: the accumulator is cleared"
    assert tones[2].phase == pytest.approx(750e6 * 3e-6 % 1, abs=1e-6), "and goes on from there"
    assert bench.dds("dds0").changes == bench.dds("ddsbus0.ch0").changes == [], "the other chip was not selected"
    part = bench.part("dds1")["ch1"]
    assert part["calibrated"] and part["ftw"] == round(750e6 / STEP) and part["phase_turns"] == 0
    strobes = [pulse for pulse in bench.pin("ddsbus0_fud").pulses if pulse[0] > start - 1e-9]
    assert [end - begin for begin, end in strobes] == [pytest.approx(16e-9, abs=1e-12)] * 4


@pytest.mark.parametrize(
    "what, texts",
    [
        ("raw", ["not reset since power-up", "its DAC has not been calibrated"]),
        ("sync", ["waits for a signal at SYNC_IN"]),
    ],
)
def test_data_sheet_violation_of_ad9914_is_reported(bench, what, texts):
    bench.run(EXPERIMENTS, "Wrong", what=what)
    for text in texts:
        assert any(text in warning and "ddsbus0: ch1: " in warning for warning in bench.warnings), bench.warnings


@pytest.mark.parametrize(
    "what, text", [("frequency", "less than half of its system clock"), ("amplitude", "between 0 and 1")]
)
def test_ad9914_driver_rejects_invalid_arguments(bench, what, text):
    with pytest.raises(ValueError, match=text):
        bench.run(EXPERIMENTS, "Wrong", what=what)


def test_warning_has_time_and_line(kairos, db):
    done = kairos("run", EXPERIMENTS, "-c", "Wrong", "--no-table", device_db=db)
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if "has not been calibrated" in line]
    assert line.startswith("bench: at ") and "parallel.py:" in line, line


def test_write_to_unselected_chip_is_reported(kairos, db):
    done = kairos("run", EXPERIMENTS, "-c", "MissingChip", "--no-table", device_db=db)
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("bench: ")]
    text = "a write while no chip is selected: no chip receives it; check the channel of the AD9914, there are 2"
    found = re.fullmatch(rf"bench: at [\d.]+ ms, parallel.py:(\d+): ddsbus0: {text}", line)
    assert found and "self.dds.set(400 * MHz)" in EXPERIMENTS.read_text().splitlines()[int(found[1]) - 1], line


def test_shuttler_relays_are_set_and_adc_measures_volts(db, tmp_path):
    volts = tmp_path / "bench.toml"
    volts.write_text("[shuttler.shuttler0]\nadc_volts = [0, 0, 0, -7.5]\n")
    with Bench(db, volts) as bench:
        bench.run(EXPERIMENTS, "Shuttler")
        (warning,) = bench.warnings
        assert warning == "shuttler0: ADC: it is powered down: only a reset wakes it"
        number, busy, ready, code, mode = bench.datasets["read"]
        assert (number & 0xFFF0, busy & 0x80, ready & 0x80) == (0x38D0, 0x80, 0)
        assert (code / 2**23 - 1) * 25 == pytest.approx(-7.5, abs=1e-5)
        assert mode >> 4 & 7 == 0, "continuous, after a reset"
        part = bench.part("shuttler0")
        assert part["relays"] == 1 and part["adc"]["mode"] == "continuous"


def test_scope_page_shows_ad9914_tones(page_of, db):
    found = page_of(EXPERIMENTS, "-c", "Tones", device_db=db)
    times, frequencies = found["bench/ddsbus0.ch1/frequency"]
    expected = [400e6, 750e6, 123456789.015625, 750e6]
    assert frequencies == [pytest.approx(hz, abs=STEP / 2) for hz in expected]
    assert found["bench/ddsbus0.ch1/power"][1] == [pytest.approx(-6.02, abs=0.01), 0, 0, 0]
    assert found["bench/ddsbus0.ch1/phase"][1][0] == pytest.approx(0.25, abs=1e-4)
    edges, levels = found["pins/ttl4"]
    start = edges[levels.index(1)] + 8
    assert times == [start, start + 3000, start + 6000, start + 9000]


def test_scope_page_shows_closed_relays(page_of, db):
    found = page_of(EXPERIMENTS, "-c", "Shuttler", device_db=db)
    (name,) = [name for name in found if name.endswith("/shuttler0_relay")]
    times, words = found[name]
    assert words == ["closed: 0, 1, 6, 7, 8, 10, 13, 15", "closed: 0"]
    # It ends with the latching of its last bit, before the ADC's messages.
    adc, _ = next(lane for name, lane in found.items() if "spi_shuttler0_adc/" in name and "pads" not in name)
    assert times[0] < adc[0] and adc[-1] < times[1]
