"""What the commands that list something say while there is nothing."""

from tests.support.command import run_kairos

LISTS = (
    "datasets list",
    "parameters list",
    "parameters stale",
    "parameters proposed",
    "queue list",
    "runs list",
    "runs list nothing",
    "locks list",
    "layouts list",
    "logbook list",
    "logbook list nothing",
    "alarms list",
    "alarms history",
    "calibrate --list",
    "interlocks list",
)


def test_command_without_anything_to_list_reports_it_in_a_line(lab):
    for words in LISTS:
        done = run_kairos(*words.split(), cwd=lab.folder)
        assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (0, "", 1), (words, done)
        done = run_kairos(*words.split(), "--json", cwd=lab.folder)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), (words, done)
