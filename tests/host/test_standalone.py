"""The scheduler and the command broadcast in a run without a master."""

import pytest

from kairos.experiment.standalone import IgnoredCommands, SingleRun
from kairos.language.core import TerminationRequested


def test_only_run_is_never_interrupted(capsys):
    run = SingleRun()
    assert (run.rid, run.pipeline_name, run.priority, run.expid) == (0, "main", 0, None)
    assert run.check_pause() is False and run.check_termination(rid=3) is False
    assert run.get_status() == {} and run.pause() is None
    assert capsys.readouterr().out == ""


def test_submission_is_reported_and_numbered(capsys):
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


def test_self_terminated_run_ends_at_next_pause(capsys):
    run = SingleRun()
    run.request_termination(5)
    assert not run.check_termination() and capsys.readouterr().out == (
        "termination of run 5 ignored, there is no scheduler\n"
    )
    run.request_termination(run.rid)
    assert run.check_termination() and run.check_pause() and not run.check_pause(3)
    with pytest.raises(TerminationRequested, match="requested its own termination"):
        run.pause()


def test_user_interface_commands_are_ignored():
    assert IgnoredCommands().issue("create_applet", "plot", "plot_xy data", group="scans") is None
