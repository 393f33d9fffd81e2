"""The loop of an SU-Servo, closed on the bench: AD9910, modulator, photodiode, Sampler, and the
filter in the logic."""

import re

import numpy as np
import pytest

from kairos.devices import DeviceDB
from kairos.testing import Bench
from tests.support.gateware import built
from tests.support.paths import EXAMPLES

FOLDER = EXAMPLES / "servo"
PERIOD = 1.168e-6


@pytest.fixture(scope="module")
def database():
    built("servo")
    return FOLDER / "device_db.py"


def test_servo_example_stabilises_the_beam_power(database, tmp_path):
    picture = tmp_path / "servo.png"
    with Bench(database) as bench:
        bench.run(FOLDER / "servo_loop.py", figure=str(picture))
        left = bench.datasets
        assert bench.warnings == []
        before, disturbed, after = left["servo.errors"]
        # An ADC step is 0.3 mV, an amplitude step 0.4 mV of 2 V
        assert before < 0.01 and after < 0.01
        assert disturbed > 0.2, "3 dB less are seen"
        assert left["servo.ratio"] == pytest.approx(10 ** (3 / 20), rel=0.01)
        assert left["servo.status"] & 0xFF00 == 0, "Y was not limited"
        # Near the setpoint it settles exponentially, like an integrator with this gain; after 3 dB
        # of loss the amplitude's effect is smaller by a factor of sqrt(2)
        times, volts = np.array(left["servo.time_s"]), np.array(left["servo.volts"])
        half = len(times) // 2
        error = np.abs(volts[half:] - 2.0)
        near = (error < 0.3) & (error > 0.02)
        slope = np.polyfit(times[half:][near], np.log(error[near]), 1)[0]
        assert -1 / slope == pytest.approx(50e-6 * 2**0.5, rel=0.1)
        # The chip applies an update in every period of the servo
        tones = bench.dds("urukul0.ch0").changes
        steps = [b.time - a.time for a, b in zip(tones[20:60], tones[21:61], strict=True)]
        assert all(step / PERIOD == pytest.approx(round(step / PERIOD), abs=0.01) for step in steps if step > 0.2e-6)
        assert tones[40].frequency == pytest.approx(80e6, abs=1)
        # The output is off by then; the chip holds the servo's last profile
        left_there = bench.part("urukul0_cpld")["ch0"]
        assert left_there["frequency_hz"] == pytest.approx(80e6, abs=1) and not left_there["switch"]
        assert picture.read_bytes().startswith(b"\x89PNG")


def test_scope_page_shows_servo_loop(page_of, database):
    """The light settles, and recovers after 3 dB of loss."""
    found = page_of(FOLDER / "servo_loop.py", device_db=database)
    times, volts = map(np.array, found["bench/monitor/light"])
    start = times[np.argmax(volts > 0.01)]

    def light(at):
        return volts[np.searchsorted(times, start + at, "right") - 1]

    assert light(20e3) < 1.5
    assert [light(900e3), light(2000e3)] == [pytest.approx(2.0, rel=0.01)] * 2
    assert volts[(times > start + 950e3) & (times < start + 1100e3)].min() < 1.6
    _, frequencies = found["bench/urukul0.ch0/frequency"]
    assert np.nanmax(frequencies) == np.nanmin(frequencies) == pytest.approx(80e6, abs=0.2)
    # Lines of a link have their own names; a bus without chip selects has no messages.
    assert "pins/suservo0_urukul0/pads/suservo0_urukul0_clk" in found
    assert not any("suservo0_urukul1_mosi3" in name for name in found if name.startswith("inputs"))
    messages = found["pins/spi_urukul0/urukul0_dds"][1]
    assert any(text.startswith("CFR1") for text in messages), messages


RUNNING = """
class Running(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.servo = self.get_device("suservo0")
        self.led = self.get_device("suservo0_ch1")

    @kernel
    def run(self):
        self.core.reset()
        self.servo.set_config(enable=1)
        delay(100 * us)
        self.led.set(1)
"""


def test_servo_that_is_left_running_is_recorded_until_after_the_last_output(kairos, database):
    path = kairos.directory / "running.py"
    path.write_text(f"from artiq.experiment import *\n\n{RUNNING}")
    done = kairos("run", path, "--vcd", "a.vcd", device_db=database)
    assert done.returncode == 0 and "suservo0 still runs: it is recorded until 1 ms after" in done.stderr
    assert "outputs queued" not in done.stderr
    head, _, body = (kairos.directory / "a.vcd").read_text().partition("$enddefinitions")
    led = re.search(r"\$var \w+ 1 (\S+) suservo0_ch1 ", head)[1]
    moments = [(int(found[1]), found.end()) for found in re.finditer(r"(?m)^#(\d+)$", body)]
    lit = body.index(f"\n1{led}\n")
    last = max(moment for moment, place in moments if place <= lit)
    # A period of the servo is 1.2 us.
    assert 0.998e6 < moments[-1][0] - last <= 1e6


def test_channels_that_change_without_outputs_are_those_of_clocks_and_servos(database):
    ddb = DeviceDB.load(database)
    names = {name for channel, name in ddb.channel_names().items() if channel in ddb.free_running}
    assert names == {"suservo0"} | {f"ttl_urukul{n}_{line}" for n in (0, 1) for line in ("io_update", "sync")}
    assert DeviceDB({"suservo0": {"type": "local", "class": "SUServo", "arguments": {}}}).free_running == frozenset()
