"""Waveforms of a Shuttler through compiler, firmware, gateware and the model of the card: volts and
tones at exact times."""

import re
from math import comb, cos, log10, tau
from pathlib import Path

import pytest

from kairos.coredevice.chips.shuttler import LATENCY, LEVEL_BITS, LEVEL_WORDS, OUTPUT_SPAN, TONE_GAIN
from kairos.devices import DeviceDB
from kairos.testing import Bench
from tests.support.databases import entry, written
from tests.support.gateware import database

EXPERIMENTS = Path(__file__).with_name("experiments") / "shuttler.py"
CYCLE = 8e-9
LATE = LATENCY * CYCLE
STEP = OUTPUT_SPAN / 2**LEVEL_BITS
DAC_STEP = 4 * STEP
FRACTIONS = [fraction for _, _, fraction in LEVEL_WORDS]


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    """The gateware `cards` with a driver for the relays: a file."""
    folder = tmp_path_factory.mktemp("shuttler")
    entries = DeviceDB.load(database("cards", folder)).entries
    entries["shuttler0_relay"] = entry("shuttler", "Relay", spi_device="spi_shuttler0_relay")
    return written(entries, folder)


@pytest.fixture
def bench(db):
    with Bench(db) as made:
        yield made


def differences(p0, p1=0.0, p2=0.0, p3=0.0):
    """Return the forward differences per cycle of the polynomial p0 + p1 t + p2 t**2 / 2 + p3 t**3 / 6."""
    third = p3 * CYCLE**3
    return [p0, p1 * CYCLE + p2 * CYCLE**2 / 2 + third / 6, p2 * CYCLE**2 + third, third]


def level(*polynomial, gain=1.0):
    """Return the coefficients of a polynomial in volts, divided by `gain`, as `set_waveform` takes them."""
    volts = zip(differences(*polynomial), FRACTIONS, strict=True)
    return [round(value / gain / STEP * 2**fraction) for value, fraction in volts]


def phase(turns, hz, hz_per_s=0.0):
    """Return the coefficients of a phase as `set_waveform` takes them."""
    c0, c1, c2, _ = differences(turns, hz, hz_per_s)
    return [round(c0 * 2**16), round(c1 * 2**32), round(c2 * 2**32)]


def at(polynomial, t):
    p0, p1, p2, p3 = (*polynomial, 0, 0, 0)[:4]
    return p0 + p1 * t + p2 * t**2 / 2 + p3 * t**3 / 6


def starts(bench):
    """Return the times at which triggers take effect at the outputs."""
    return [begin + LATE for begin, _ in bench.pin("ttl4").pulses]


def test_shuttler_levels_follow_requested_polynomials(bench):
    wanted = {0: (1.25,), 3: (-2.0, 3e5), 15: (4.0, -1.5e6, 2.4e11, -2.0e16)}
    bench.run(EXPERIMENTS, "Levels", **{f"a{output}": level(*polynomial) for output, polynomial in wanted.items()})
    assert bench.warnings == []
    first, second = starts(bench)
    assert second - first == pytest.approx(20.008e-6, abs=1e-12)
    constant = bench.dac("shuttler0", 0).changes
    assert constant == [(pytest.approx(first, abs=1e-12), pytest.approx(1.25, abs=DAC_STEP))]
    for output, polynomial in wanted.items():
        dac = bench.dac(f"shuttler0.ch{output}")
        for micro in range(20):
            expected = at(polynomial, micro * 1e-6)
            assert -DAC_STEP - STEP < dac.at(first + micro * 1e-6) - expected < STEP, (output, micro)
    # Renewed every microsecond; the second trigger starts output 15 anew with the same
    # coefficients, while output 3 goes on.
    cubic, ramp = bench.dac("shuttler0", 15), bench.dac("shuttler0", 3)
    times = [time for time, _ in cubic.changes]
    assert times[:21] == [pytest.approx(first + n * 1e-6, abs=1e-12) for n in range(21)]
    for micro in range(5):
        expected = at(wanted[15], micro * 1e-6)
        assert -DAC_STEP - STEP < cubic.at(second + micro * 1e-6) - expected < STEP
        assert -DAC_STEP - STEP < ramp.at(first + (20 + micro) * 1e-6) - at(wanted[3], (20 + micro) * 1e-6) < STEP
    part = bench.part("shuttler0")
    assert part["relays"] == 0xFFFF and part["ch15"]["relay"]
    assert [part[f"ch{n}"]["triggers"] for n in (0, 3, 15, 1)] == [2, 1, 2, 0]
    report = part["ch15"]
    found = [report[f"level_v{unit}"] for unit in ("", "_per_s", "_per_s2", "_per_s3")]
    assert found == [pytest.approx(value, rel=1e-3) for value in wanted[15]]


def test_tone_continues_or_restarts_at_trigger(bench):
    volts, hz, slope = 1.6, 1.3e6, 2e10
    b = level(volts, gain=TONE_GAIN)
    bench.run(EXPERIMENTS, "Tones", b=b, c=phase(0.25, hz), chirp=phase(0.125, hz, slope))
    assert bench.warnings == []
    begins = starts(bench)
    dds, dac = bench.dds("shuttler0.tone2"), bench.dac("shuttler0.ch2")
    tones = [dds.at(begin) for begin in begins]
    assert [tone.frequency for tone in tones[:3]] == [pytest.approx(hz, abs=0.03)] * 3
    power = 10 * log10(volts**2 / 100 * 1e3)
    assert [tone.power for tone in tones] == [pytest.approx(power, abs=1e-3)] * 4
    # Not cleared, the phase goes on from one trigger to the next.
    later = 0.25 + (begins[1] - begins[0]) * hz
    assert [tone.phase for tone in tones] == [
        pytest.approx(turns % 1, abs=1e-5) for turns in (0.25, later, 0.25, 0.125)
    ]
    for n in range(9):
        t = n * 1e-6
        expected = volts * cos(tau * (0.25 + hz * t))
        assert dac.at(begins[2] + t) == pytest.approx(expected, abs=2 * DAC_STEP)
    # The chirp: its phase at each renewal, and the frequency in the middle between two.
    for n in range(5):
        t = n * 1e-6
        tone = dds.at(begins[3] + t)
        assert tone.phase == pytest.approx((0.125 + hz * t + slope * t**2 / 2) % 1, abs=1e-4)
        assert tone.frequency == pytest.approx(hz + slope * (t + 0.5e-6), abs=10)
    assert bench.part("shuttler0")["ch2"]["tone_hz_per_s"] == pytest.approx(slope, rel=1e-3)


def test_gains_offsets_and_relays_are_applied(bench):
    experiment = bench.run(EXPERIMENTS, "Settings")
    assert experiment.read == [0x4000, 0, -0x8000, -0x2000, 0]
    (first,) = starts(bench)
    changes = bench.dac("shuttler0", 1).changes
    assert [volts for _, volts in changes] == [3.75, 4.6875, 0.0], "the last one: its relay opens"
    assert changes[0][0] == pytest.approx(first, abs=1e-12)
    assert changes[1][0] - first == pytest.approx(10.008e-6, abs=1e-12)
    other = bench.dac("shuttler0", 9).changes
    assert [volts for _, volts in other] == [3.75, 1.25, -0.625]
    assert [time - first for time, _ in other[1:]] == [pytest.approx(n * 1e-5 + 8e-9, abs=1e-12) for n in (2, 3)]
    part = bench.part("shuttler0")
    assert part["relays"] == 0x200 and not part["ch1"]["relay"]
    assert (part["ch9"]["factor"], part["ch9"]["offset_v"]) == (0.5, -2.5)


def test_long_wait_keeps_the_exact_waveform(db, tmp_path):
    file = tmp_path / "bench.toml"
    file.write_text("[shuttler.shuttler0]\nupdate_ns = 1_000_000\n")
    # 3.75e8 cycles: the square term wraps many times.
    a, hz = [-13107, 4, -1, 0], 1234567.0
    with Bench(db, file) as bench:
        bench.run(EXPERIMENTS, "Wait", a=a, b=level(0.5), c=phase(0.25, hz))
        assert bench.warnings == []
        (first,) = starts(bench)
        dac, dds = bench.dac("shuttler0", 4), bench.dds("shuttler0.tone5")
        for milli in (0, 1, 999, 2000, 2999):
            cycles = milli * 125_000
            parts = zip(a, FRACTIONS, range(4), strict=True)
            level_now = sum(part * comb(cycles, n) << 32 - fraction for part, fraction, n in parts)
            code = ((level_now >> 34) + 2**13) % 2**14 - 2**13
            assert dac.at(first + milli * 1e-3) == code * DAC_STEP, milli
        # A second start with the same words 3 s later changes nothing: the phase goes on
        (tone,) = dds.changes
        assert tone.phase == 0.25 and bench.part("shuttler0")["ch5"]["triggers"] == 2
        c1, cycles = phase(0.25, hz)[1], 437_500_000
        later = dds.at(tone.time + cycles * CYCLE)
        assert later.phase == pytest.approx((0.25 + cycles * c1 / 2**32) % 1, abs=1e-6)


def test_range_violation_is_reported_with_time_and_line(kairos, db):
    a, b = level(8.0), level(3.0, gain=TONE_GAIN)
    done = kairos("run", EXPERIMENTS, "-c", "Loud", "--no-table", f"a={a}", f"b={b}", device_db=db)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("bench: ")]
    text = r"shuttler0: ch6: its waveform reaches (11\.000|18\.500) V: it is limited to 10 V"
    found = [re.fullmatch(rf"bench: at [\d.]+ ms, shuttler.py:(\d+): {text}", line) for line in lines]
    assert all(found), lines
    source = EXPERIMENTS.read_text().splitlines()
    assert [source[int(match[1]) - 1].strip() for match in found] == ["self.start.trigger(mask)"] * 2, lines


def test_scope_page_shows_shuttler_volts(page_of, db):
    found = page_of(EXPERIMENTS, "-c", "Settings", device_db=db)
    times, volts = found["bench/shuttler0/ch1"]
    assert volts == [3.75, 4.6875, 0.0]
    edges, levels = found["pins/ttl4"]
    assert times[0] == edges[levels.index(1)] + 8 * LATENCY
    assert not any(name.startswith("bench/shuttler0/ch2") or "tone" in name for name in found)


def test_skipped_time_leaves_waveform_unchanged(page_of, db):
    a, b = level(0.5, 1e4), level(1.0, gain=TONE_GAIN)
    pages = [
        page_of(EXPERIMENTS, "-c", "Loud", f"a={a}", f"b={b}", *options, device_db=db)
        for options in [(), ("--no-skip",)]
    ]
    skipped, clocked = (
        {name: lane for name, lane in page.items() if name.startswith("bench/shuttler0")} for page in pages
    )
    assert skipped == clocked
    assert len(skipped["bench/shuttler0/ch6"][0]) > 10 and "bench/shuttler0.tone6/power" in skipped
