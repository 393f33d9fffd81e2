"""Outputs that a device could not produce are reported after a run, even if its kernel did not
notice."""

import pytest

COLLISION = "RTIO collision involving channel 0x0000:ttl0: of two outputs in one cycle the one that was submitted first"


def body(text):
    lines = "".join(f"        {line}\n" for line in text.splitlines())
    return f"    @kernel\n    def run(self):\n        self.core.reset()\n{lines}"


HEAD = """from artiq.experiment import *


class Exp(EnvExperiment):
    def build(self):
        for name in ("core", "ttl0", "ttl4"):
            self.setattr_device(name)

"""


@pytest.mark.parametrize(
    "text, expected",
    [
        ("self.ttl0.output()\nself.ttl0.on()", COLLISION),
        ("self.ttl0.output()\ndelay(8*ns)\nself.ttl0.on()", None),
        ("self.ttl4.on()\nself.ttl4.off()", None),
    ],
)
def test_lost_outputs_after_kernel_end_are_reported(kairos, text, expected):
    done = kairos.run(body(text), "-q", head=HEAD)
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stderr.splitlines() if "RTIO" in line]
    assert len(said) == (expected is not None) and all(expected in line for line in said), done.stderr


def test_lost_outputs_are_reported_before_file_errors(kairos):
    done = kairos.run(body("self.ttl0.output()\nself.ttl0.on()"), "-q", "--log", "/dev/full", head=HEAD)
    assert done.returncode == 1
    assert [COLLISION in line for line in done.stderr.splitlines()] == [True, False], done.stderr
