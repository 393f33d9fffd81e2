"""`kairos run --scope` and `kairos analyze --scope`: the pages show the device's activity."""

import re
from pathlib import Path

import numpy as np
import pytest

from tests.support.gateware import built
from tests.support.paths import EXAMPLES
from tests.support.scope import lanes
from tests.support.waveforms import expected_blink

ION = EXAMPLES / "ion"
SAME_PLACE = Path(__file__).with_name("experiments") / "same_place.py"
PINS = ["master/ttl4", "master/ttl5", "satellite1/sat_ttl4", "satellite1/sat_ttl5", "satellite1/sat_ttl6"]


def test_page_shows_pulses_of_each_pin(kairos):
    done = kairos("run", EXAMPLES / "blink.py", "--scope", "blink.html")
    assert done.returncode == 0 and "wrote blink.html" in done.stdout, done.stdout + done.stderr
    found = lanes(kairos.directory / "blink.html")
    for name, pulses in zip(("ttl4", "ttl5"), expected_blink(), strict=True):
        times, levels = found[f"pins/{name}"]
        assert times == [time for pulse in pulses for time in pulse] and levels == [1, 0] * len(pulses)


def test_page_shows_chips_and_their_tones(kairos):
    built("ion")
    run = kairos(
        "run",
        ION / "rabi_flop.py",
        "points=2",
        "shots=1",
        "longest=10e-6",
        "--scope",
        "a.html",
        device_db=ION / "device_db.py",
    )
    assert (kairos.directory / "a.html").exists(), run.stdout + run.stderr
    found = lanes(kairos.directory / "a.html")
    times, words = found["pins/spi_urukul0/urukul0_ch0"]
    assert "PROFILE7: asf 1, ftw 80.0000001 MHz" in words
    _, words = found["pins/spi_urukul0/urukul0_cpld attenuators"]
    assert words[-1] == "ATT: 0, 0, 0, 31.875 dB", "the fourth one is as after power-up"
    _, frequencies = found["bench/urukul0.ch0/frequency"]
    assert np.nanmax(frequencies) == pytest.approx(80e6, abs=0.2)
    # Photons while it is cooled and repumped, none while it is shelved; counts return at the pin.
    times, photons = found["bench/ion0/photons"]
    assert max(photons) == pytest.approx(20e6, rel=0.01) and photons[-1] == 0
    _, upper = found["bench/ion0/upper state of ion 0"]
    assert 0 <= min(upper) and 0.9 < max(upper) <= 1
    edges, levels = found["inputs/ttl0"]
    assert levels[:2] == [1, 0] and edges[1] - edges[0] == 20
    # The tone is present exactly while the switch is on, apart from the chip's delay.
    tone, _ = found["bench/urukul0.ch0/frequency"]
    switch, _ = found["pins/ttl_urukul0_sw0"]
    assert set(switch[-2:]) <= {time - 8 for time in tone}


def test_crystal_has_a_lane_per_ion(kairos):
    built("ion")
    words = ["points=1", "shots=1", "--bench", ION / "crystal.toml", "--scope", "a.html"]
    run = kairos("run", ION / "sideband_cooling.py", *words, device_db=ION / "device_db.py")
    assert run.returncode == 0, run.stderr
    found = lanes(kairos.directory / "a.html")
    own = {name.rpartition("/")[2]: values for name, (_, values) in found.items() if name.startswith("bench/calcium/")}
    assert own.keys() == {"photons", "upper state of ion 0"}
    assert 0 <= min(own["upper state of ion 0"]) and 0.1 < max(own["upper state of ion 0"]) <= 1


def test_page_shows_the_source_lines_of_pulses(kairos):
    built("ion")
    words = ["points=2", "shots=1", "longest=10e-6", "--scope", "a.html"]
    done = kairos("run", ION / "rabi_flop.py", *words, device_db=ION / "device_db.py")
    found = lanes(kairos.directory / "a.html")
    lines = {name: lane for name, lane in found.items() if name.startswith("source/")}
    assert lines, done.stdout + done.stderr
    for name in lines:
        _, file, line = name.split("/", 2)
        number, text = line.split(": ", 1)
        source = (ION / file).read_text().splitlines()[int(number) - 1].strip()
        assert source == text or source.startswith(text.removesuffix("…")), name
    called = (ION / "rabi_flop.py").read_text().split("if self.shot(")[0].count("\n") + 1
    ((name, (times, texts)),) = [one for one in lines.items() if one[0].endswith(": self.qubit.sw.pulse(length)")]
    assert name.startswith("source/rabi_flop.py/") and set(texts) == {f"ttl_urukul0_sw0 ← rabi_flop.py:{called}"}
    # Each mark is at its edge, apart from the output latency; the first pulse has no length.
    switch, _ = found["pins/ttl_urukul0_sw0"]
    assert len(times) == 4 and all(min(abs(edge - time) for edge in switch) < 40 for time in times[2:])
    # A line of a helper names its callers.
    texts = next(texts for name, (_, texts) in lines.items() if "trap.py" in name and "cooling.sw.pulse(20" in name)
    assert all(re.fullmatch(rf"ttl_urukul0_sw1 ← rabi_flop.py:\d+ ← rabi_flop.py:{called}", text) for text in texts)


def test_page_shows_lines_of_other_boards_and_dma(kairos):
    """Outputs of a satellite come from the line of the master's kernel or of a subkernel, those of
    a distributed trace on both boards from the lines that recorded and played them."""
    built("pair", "satellite")
    done = kairos(
        "run", EXAMPLES / "two_boards.py", "--scope", "a.html", device_db=EXAMPLES / "two_boards_device_db.py"
    )
    assert (kairos.directory / "a.html").exists(), done.stdout + done.stderr
    found = lanes(kairos.directory / "a.html")
    source = {name.split(": ", 1)[1]: lane for name, lane in found.items() if name.startswith("source/two_boards.py/")}
    edges = {pin.split("/")[1]: found[pin][0] for pin in PINS}

    def reached(line, channel, of_trace=""):
        """Return the number of marks of a line for a channel, each of which is at an edge of its
        pin. They name the trace."""
        pattern = re.compile(rf"{channel}( ← two_boards.py:\d+)?{of_trace}")
        texts = [(time, text) for time, text in zip(*source[line], strict=True) if pattern.fullmatch(text)]
        assert all(min(abs(edge - time) for edge in edges[channel]) < 80 for time, _ in texts), (line, channel, texts)
        return len(texts)

    # A pulse is two outputs
    assert reached("self.ttl4.pulse((i + 1) * 1 * us)", "ttl4") == 10
    assert reached("self.sat_ttl4.pulse((i + 1) * 1 * us + 1 * ns)", "sat_ttl4") == 10
    assert reached("self.sat_ttl5.pulse(1 * us)", "sat_ttl5") == 2
    played = "self.core_dma.playback_handle(handle)"
    text = (EXAMPLES / "two_boards.py").read_text()
    line = {one: text.split(one)[0].count("\n") + 1 for one in source}
    for channel in ("ttl5", "sat_ttl6"):
        recorded = f"self.{channel}.pulse(500 * ns)"
        assert reached(played, channel, f", recorded at two_boards.py:{line[recorded]}") == 8
        assert reached(recorded, channel, f", played at two_boards.py:{line[played]}") == 8


def test_dma_event_has_recording_and_playback_lines(kairos):
    """Each event of a trace has the line that recorded it, also if it replaced another trace."""
    done = kairos("run", SAME_PLACE, "--scope", "a.html")
    assert (kairos.directory / "a.html").exists(), done.stdout + done.stderr
    found = lanes(kairos.directory / "a.html")
    lines = {name.split("/")[2].split(": ", 1)[1]: lane for name, lane in found.items() if name.startswith("source/")}
    line = {one.strip(): number for number, one in enumerate(SAME_PLACE.read_text().splitlines(), 1)}
    plays = 'self.core_dma.playback("train")'
    expected = []
    for recorded, channel, count, play in [
        ("self.ttl4.pulse(1 * us)", "ttl4", 2, "self.play()  # the first"),
        ("self.ttl4.pulse(2 * us)", "ttl4", 2, "self.play()  # the second"),
        ("self.ttl5.on()", "ttl5", 1, "self.play()  # the second"),
        ("self.ttl5.off()", "ttl5", 1, "self.play()  # the second"),
    ]:
        times, texts = lines[recorded]
        assert texts == [f"{channel}, played at same_place.py:{line[plays]}"] * count
        edges, _ = found[f"pins/{channel}"]
        assert all(min(abs(edge - time) for edge in edges) < 40 for time in times)
        text = f"{channel} ← same_place.py:{line[play]}, recorded at same_place.py:{line[recorded]}"
        expected += [(time, text) for time in times]
    assert sorted(zip(*lines[plays], strict=True)) == sorted(expected)


def test_run_without_kernel_reports_missing_page(kairos):
    done = kairos.run("    def run(self):\n        pass\n", "--scope", "a.html")
    assert done.returncode == 0 and not (kairos.directory / "a.html").exists()
    assert done.stderr == "kairos: no kernel has run, so --scope a.html is not written\n"


def test_unwritable_page_is_found_before_run(kairos, tmp_path):
    (tmp_path / "file").write_text("")
    done = kairos("run", EXAMPLES / "blink.py", "--scope", tmp_path / "file" / "a.html")
    assert done.returncode == 1 and "--scope" in done.stderr and "blinked" not in done.stdout
