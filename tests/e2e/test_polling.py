"""Loops that poll the counter: the time is skipped, and they end when the program says."""

import pytest

HEAD = """import numpy as np
from artiq.experiment import *


class Exp(EnvExperiment):
"""
BODY = """
    def build(self):
        self.setattr_device("core")
        self.deadline = np.int64(0)
    @kernel
    def run(self):
        self.core.reset()
        start = self.core.get_rtio_counter_mu()
        end = start + 2_000_000_000
        at_mu(end)
        self.deadline = end
        {loop}
        late = self.core.get_rtio_counter_mu() - end
        self.check(late)
    def check(self, late):
        assert {least} <= late < {least} + 5_000, late
"""


@pytest.mark.parametrize(
    "loop, least",
    [
        ("while self.core.get_rtio_counter_mu() < end:\n            pass", 0),
        ("while end >= self.core.get_rtio_counter_mu():\n            pass", 0),
        ("while self.core.get_rtio_counter_mu() < self.deadline:\n            pass", 0),
        ("while now_mu() - self.core.get_rtio_counter_mu() > 100_000:\n            pass", -100_000),
        ("while 50_000 < end - self.core.get_rtio_counter_mu():\n            pass", -50_000),
        ("while self.core.get_rtio_counter_mu() + 2 * 1_000 <= end:\n            pass", -2_000),
    ],
)
def test_loop_that_polls_the_counter_ends_at_its_time(kairos, device_db, loop, least):
    done = kairos.run(BODY.format(loop=loop, least=least), head=HEAD, device_db=device_db)
    assert done.returncode == 0, done.stderr


def test_polling_of_a_time_that_has_passed_ends_at_once(kairos, device_db):
    loop = "while self.core.get_rtio_counter_mu() < start:\n            pass"
    done = kairos.run(
        BODY.format(loop=loop, least=-2_000_000_000).replace("5_000", "1_000_000"), head=HEAD, device_db=device_db
    )
    assert done.returncode == 0, done.stderr
