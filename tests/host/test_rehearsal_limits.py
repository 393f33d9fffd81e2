"""How long a rehearsal may take: by the clock, or by processor time if it gives way to others."""

import os
import time
from contextlib import suppress

import pytest

from kairos.twin import rehearsal
from kairos.twin.rehearsal import TimeUp, _limited


def waits(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.01)


def test_limit_of_time_is_kept():
    with pytest.raises(TimeUp), _limited(0.1):
        waits(60)


def test_limit_of_processor_time_does_not_count_waiting():
    with _limited(0.1, 60, lambda: 0.0):
        waits(0.5)
    begun = time.monotonic()
    with pytest.raises(TimeUp), _limited(0.1, 60, lambda: time.monotonic() - begun):
        waits(60)


def test_limit_of_processor_time_has_an_end_by_the_clock():
    with pytest.raises(TimeUp), _limited(0.1, 0.5, lambda: 0.0):
        waits(60)


def test_experiment_that_catches_every_exception_is_ended_with_its_process(monkeypatch, capfd):
    monkeypatch.setattr(rehearsal, "STUBBORN", 0.3)
    pid = os.fork()
    if pid == 0:
        with _limited(0.1):
            while True:
                with suppress(BaseException):
                    time.sleep(0.01)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1
    assert "takes longer than 0.1 s, and catches every exception" in capfd.readouterr().err
