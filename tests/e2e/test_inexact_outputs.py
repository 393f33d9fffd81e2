"""Outputs that pins do not show as requested: reported once, with the line that asks for them."""

import pytest

HEAD = """\
from artiq.experiment import *


class Pulses(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl0")
        self.setattr_device("ttl4")
        self.setattr_device("core_dma")

    @kernel
    def flash(self, duration):
        self.ttl4.pulse(duration)

    @kernel
    def run(self):
        self.core.reset()
"""
FIRST = HEAD.count("\n") + 1


@pytest.fixture
def warnings(kairos, tmp_path):
    """Run these lines in a kernel; returns the warnings."""

    def warnings(body, *options):
        file = tmp_path / "pulses.py"
        file.write_text(HEAD + "".join(f"        {line}\n" for line in body))
        done = kairos("run", file, *options)
        assert done.returncode == 0, done.stderr
        return [line for line in done.stderr.splitlines() if "pulses.py:" in line]

    return warnings


@pytest.mark.parametrize(
    "body, place, by",
    [
        (["self.ttl4.pulse(20*ns)"], FIRST, 4),
        (["delay_mu(3)", "self.ttl4.on()", "delay_mu(13)", "self.ttl4.off()"], FIRST + 1, 3),
        (["self.ttl4.pulse_mu(7)"], FIRST, 7),
        (["self.flash(100*ns)"], 13, 4),
        (["with self.core_dma.record('a'):", "    self.ttl4.pulse(20*ns)", "self.core.break_realtime()",
          "self.core_dma.playback('a')"], FIRST + 1, 4),
    ],
    ids=["short", "level", "lost", "in a method", "recorded"],
)  # fmt: skip
def test_output_between_steps_is_reported_with_its_line(warnings, body, place, by):
    [line] = warnings(body)
    assert "ttl4 changes in steps of 8 ns: its output at " in line and f"rounded down by {by} ns" in line
    assert f"pulses.py:{place}: " in line, line


def test_many_roundings_are_one_line(warnings):
    loop = ["for _ in range(100):", "    self.ttl4.pulse(20*ns)", "    delay(20*ns)"]
    [line] = warnings([*loop, "self.ttl4.pulse(30*ns)"])
    assert "more, in 2 lines" in line


@pytest.mark.parametrize(
    "body, options",
    [
        (["self.ttl4.pulse(24*ns)"], []),
        (["delay(3*ns)", "self.ttl4.pulse(1*us)"], ["--no-rounding-warning"]),
        (["delay(3*ns)"], []),
    ],
    ids=["on the steps", "silenced", "no output"],
)
def test_outputs_on_steps_or_silenced_are_not_reported(warnings, body, options):
    assert warnings(body, *options) == []


@pytest.mark.parametrize(
    "body, place, more",
    [
        (["self.ttl0.pulse(1*us)"], FIRST, "; 1 more, in this line"),
        (["self.ttl0.on()"], FIRST, ""),
        (["with self.core_dma.record('a'):", "    self.ttl0.pulse(1*us)", "self.core.break_realtime()",
          "self.core_dma.playback('a')"], FIRST + 1, "; 1 more, in this line"),
    ],
    ids=["pulse", "level", "recorded"],
)  # fmt: skip
def test_pulse_of_an_input_is_reported_with_its_line(warnings, body, place, more):
    [line] = warnings(body)
    assert f"pulses.py:{place}: ttl0 is an input: its output at " in line
    assert line.endswith(f"does not reach the pin{more} (ttl0.output() before it makes ttl0 an output)")


@pytest.mark.parametrize(
    "body",
    [
        ["self.ttl0.off()"],
        ["self.ttl0.on()", "self.ttl0.output()"],
        ["self.ttl0.gate_rising(1*us)"],
        ["self.ttl0.output()", "self.ttl0.on()"],
    ],
    ids=["low", "before it becomes an output", "read", "collision, which is reported"],
)
def test_output_of_an_input_that_is_not_missed_is_not_reported(warnings, body):
    assert warnings(body) == []
