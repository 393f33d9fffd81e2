"""Questions of a run whether it should pause, in a tight loop."""

import pytest

from kairos.lab import own_scheduler
from kairos.lab.own_scheduler import AGAIN, OwnScheduler


class Laboratory:
    """The other end of the link: counts questions and answers them with `says`."""

    def __init__(self):
        self.questions, self.says = [], False

    def ask_if_there(self, otherwise, question, rid):
        self.questions.append((question, rid))
        return self.says

    def ask(self, service, *args, **kwargs):
        self.questions.append((service, args))
        return 8


@pytest.fixture
def asked(monkeypatch):
    """The scheduler of run 7, the laboratory, and a function that lets time pass."""
    now = [100.0]
    monkeypatch.setattr(own_scheduler.time, "monotonic", lambda: now[0])
    laboratory = Laboratory()
    scheduler = OwnScheduler(laboratory, lambda: None, 7, "main", {}, 0)

    def passes(seconds):
        now[0] += seconds

    return scheduler, laboratory, passes


def test_run_that_asks_in_every_pass_reaches_the_laboratory_at_intervals(asked):
    scheduler, laboratory, passes = asked
    for _ in range(100):
        assert not scheduler.check_pause() and not scheduler.check_termination()
        passes(AGAIN / 10)
    assert len(laboratory.questions) == 2 * 10
    laboratory.says = True
    passes(AGAIN)
    assert scheduler.check_pause() and scheduler.check_pause() and scheduler.check_termination(7)
    assert len(laboratory.questions) == 2 * 10 + 3


def test_question_after_a_request_and_about_another_run_always_reaches_the_laboratory(asked):
    scheduler, laboratory, _ = asked
    assert not scheduler.check_pause() and not scheduler.check_pause(9) and not scheduler.check_pause(9)
    assert [rid for _, rid in laboratory.questions] == [7, 9, 9]
    scheduler.submit(priority=1)
    laboratory.says = True
    assert scheduler.check_pause()
