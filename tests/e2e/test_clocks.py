"""Clock generators that run during an experiment: exact, without slowing it down."""

import re
from statistics import median

import pytest

from tests.support.waveforms import pulses_of_vcd

EXPERIMENT = """from artiq.experiment import *


class Clocked(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")
        self.setattr_device("ttl12")
        self.setattr_device("ttl13")

    def answer(self, number) -> TInt32:
        return number

    @kernel
    def calls(self):
        for number in range(5):
            before = self.core.get_rtio_counter_mu()
            self.answer(number)
            print("call", self.core.get_rtio_counter_mu() - before)
            self.core.break_realtime()
            self.ttl4.pulse(1*us)

    @kernel
    def run(self):
        self.core.reset()
        self.calls()
        self.ttl12.set(7.3*MHz)
        delay(1*us)
        self.ttl13.set(62.5*MHz)
        self.calls()
        delay(300*us)
        self.ttl13.stop()
        self.ttl4.pulse(1*us)
"""


def test_clock_edges_are_computed_without_slowing_calls(kairos, lab):
    """One clock runs on at the end: the recording ends a millisecond after everything else."""
    path = kairos.write("", head=EXPERIMENT)
    texts = []
    for options in [(), ("--no-skip",)]:
        done = kairos("run", path, "--vcd", "out.vcd", "--table", "1", *options, device_db=lab)
        assert done.returncode == 0 and not done.stderr, done.stderr
        texts.append((kairos.directory / "out.vcd").read_text())
        calls = [int(number) for number in re.findall(r"^call (\d+)$", done.stdout, re.M)]
        assert len(calls) == 10
        # Each waits for its pulse to be played, before or after the other.
        assert abs(median(calls[5:]) - median(calls[:5])) < 1000
    assert texts[0] == texts[1]
    assert texts[0].count("\n") > 50_000


LONG = """from artiq.experiment import *


class Long(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("urukul0_cpld")
        self.setattr_device("ttl4")
        self.setattr_device("ttl13")

    @kernel
    def run(self):
        self.core.reset()
        self.urukul0_cpld.init(blind=True)
        self.ttl13.set(62.5*MHz)
        self.ttl4.pulse(3*us)
        delay(1*s)
        self.ttl4.pulse(5*us)
        self.core.wait_until_mu(now_mu())
"""


def test_one_second_of_fast_clocks_is_recorded(kairos, lab):
    """Two hundred million edges cost as little as one; other pins are exact."""
    path = kairos.write("", head=LONG)
    options = ("--vcd", "out.vcd", "--plot", "out.png", "--table", "all")
    done = kairos("run", path, *options, device_db=lab)
    assert done.returncode == 0 and not done.stderr, done.stderr
    clock = re.search(r"^ttl13 .*clock, ([\d,]+) edges, 62.5 MHz$", done.stdout, re.M)
    # To the end of the recording, 1 ms after the last pulse; the edge at that instant is excluded.
    assert int(clock[1].replace(",", "")) == 125_000_000 + (3_000 + 5_000 + 1_000_000) // 8 - 1
    assert len(re.findall(r"^ttl13 ", done.stdout, re.M)) == 1
    assert re.search(r"^out.vcd: ttl13 is x from ", done.stdout, re.M)
    text = (kairos.directory / "out.vcd").read_text()
    (first, second) = pulses_of_vcd(re.sub(r"^x", "z", text, flags=re.M), complete=False)["ttl4"]
    assert (first[1] - first[0], second[0] - first[1], second[1] - second[0]) == (3_000, 1_000_000_000, 5_000)
    assert len(text) < 100_000 and text.count("a clock of 62.5 MHz") == 2


SLEEP = """from artiq.experiment import *
from numpy import int64


class Sleep(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_argument("times", PYONValue())

    @kernel
    def run(self):
        self.core.reset()
        for time in self.times:
            end = self.core.get_rtio_counter_mu() + int64(time)
            self.core.wait_until_mu(end)
            print(self.core.get_rtio_counter_mu() - end)
"""


@pytest.mark.parametrize("times", [[30_000_000, 5_000, 1_000_000_000], [20_000], [1_000, 100_000, 2_000_000_000]])
def test_sleep_ends_in_time_from_the_first_on(kairos, times):
    """The first sleep after power-up, too, before the firmware has measured its timer."""
    done = kairos("run", kairos.write("", head=SLEEP), f"times={times}")
    assert done.returncode == 0, done.stderr
    late = [int(line) for line in done.stdout.splitlines()[: len(times)]]
    assert all(0 < ns < 5_000 for ns in late), late
