"""Clock generators that run beside an experiment: exact, and at the cost of neither time nor speed."""

import re
from statistics import median

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


def test_edges_are_calculated_and_calls_are_not_slower(kairos, lab):
    """One clock runs on at the end: the recording ends a millisecond behind everything else."""
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
