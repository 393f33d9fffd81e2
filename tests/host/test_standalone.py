"""The scheduler and the command broadcast in a run without a master."""

import pytest

from kairos.experiment.standalone import SingleRun, Unheard
from kairos.language.core import TerminationRequested


def test_nothing_competes_with_the_only_run(capsys):
    run = SingleRun()
    assert (run.rid, run.pipeline_name, run.priority, run.expid) == (0, "main", 0, None)
    assert run.check_pause() is False and run.check_termination(rid=3) is False
    assert run.get_status() == {} and run.pause() is None
    assert capsys.readouterr().out == ""


def test_submissions_are_reported_and_numbered(capsys):
    run = SingleRun()
    numbers = [run.submit("main", {"file": "scan.py"}), run.submit(priority=1)]
    assert numbers == [1, 2] and SingleRun().submit() == 1
    run.delete(2)
    assert capsys.readouterr().out.splitlines() == [
        "submission ignored, there is no scheduler: {'file': 'scan.py'}",
        "submission ignored, there is no scheduler: None",
        "submission ignored, there is no scheduler: None",
        "deletion of run 2 ignored, there is no scheduler",
    ]


def test_a_run_that_asks_itself_to_end_does_so_at_its_next_pause(capsys):
    run = SingleRun()
    run.request_termination(5)
    assert not run.check_termination() and capsys.readouterr().out == (
        "termination of run 5 ignored, there is no scheduler\n"
    )
    run.request_termination(run.rid)
    assert run.check_termination() and run.check_pause() and not run.check_pause(3)
    with pytest.raises(TerminationRequested, match="requested its own termination"):
        run.pause()


def test_commands_to_user_interfaces_go_nowhere():
    assert Unheard().issue("create_applet", "plot", "plot_xy data", group="scans") is None
