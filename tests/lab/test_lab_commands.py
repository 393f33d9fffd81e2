"""The commands of a laboratory, on one without devices and on an emulated device with an ion."""

import json
import logging
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy
import pytest

from kairos.controllers import Client
from tests.support import TIMEOUT
from tests.support.command import bounded, one_line, run_kairos
from tests.support.gateware import built
from tests.support.laboratory import SETTINGS
from tests.support.waiting import until


@pytest.fixture
def kairos_in(lab):
    """Runs a command in the laboratory's folder."""

    def run(*words, **options):
        return run_kairos(*words, cwd=lab.folder, **options)

    until(lambda: lab.experiments()["experiments"])
    return run


def printed(done) -> str:
    assert done.returncode == 0 and not done.stderr, done.stdout + done.stderr
    return done.stdout


def objects(done) -> list:
    return [json.loads(line) for line in printed(done).splitlines()]


def test_experiments_are_submitted_by_name_and_file_and_found_in_the_history(lab, kairos_in):
    listed = printed(kairos_in("experiments")).splitlines()
    assert listed[0].split() == ["experiment", "class", "file"] and any(
        line.split() == ["Quick", "scan", "Quick", "lab.py"] for line in listed
    )
    (shown,) = objects(kairos_in("experiments", "show", "Quick", "--json"))
    assert shown["arginfo"]["n"][0]["default"] == 3
    assert "n" in printed(kairos_in("experiments", "show", "Quick scan")) and printed(kairos_in("experiments", "scan"))
    assert printed(kairos_in("submit", "Quick scan", "n=2", "--wait")) == "run 0\nrun 0: completed\n"
    assert objects(kairos_in("submit", "Quick", "-w", "--json")) == [{"rid": 1, "status": "completed"}]
    unlisted = lab.folder / "outside.py"
    unlisted.write_text("from artiq.experiment import *\nclass Out(EnvExperiment):\n    def run(self): 1 / 0\n")
    failed = kairos_in("submit", unlisted, "-w")
    assert failed.returncode == 1 and failed.stdout == "run 2\nrun 2: failed\n"
    assert [run["rid"] for run in objects(kairos_in("runs", "list", "--json"))] == [2, 1, 0]
    assert [run["rid"] for run in objects(kairos_in("runs", "list", "quick", "n=2", "--json"))] == [0]
    assert "ZeroDivisionError" in printed(kairos_in("runs", "show", "2"))
    assert "n" in printed(kairos_in("runs", "compare", "0", "1"))
    assert objects(kairos_in("runs", "compare", "0", "1", "--json")) == [
        {"n": ["2", None], "results": {"total": [1.0, 3.0]}}
    ]
    assert printed(kairos_in("runs", "repeat", "0", "n=5")) == "run 3\n"
    assert lab.ends(3)["arguments"] == {"n": "5"}
    printed(kairos_in("runs", "tag", "good", "0", "3"))
    printed(kairos_in("runs", "note", "0", "the first"))
    assert [run["rid"] for run in objects(kairos_in("runs", "list", "tag=good", "--json"))] == [3, 0]
    for text in ("GOOD", "first"):
        assert [run["rid"] for run in objects(kairos_in("runs", "list", text, "--json"))][-1:] == [0], text
    assert "good" in (shown := printed(kairos_in("runs", "show", "0"))) and "the first" in shown
    assert printed(kairos_in("runs", "reindex")) == "4 runs\n"
    assert "worker(0,lab.py): print:printed" in printed(kairos_in("log"))
    assert "lab.py" in objects(kairos_in("log", "--json"))[0]["source"]


def test_file_is_submitted_as_it_is_written_without_a_scan_before(lab, kairos_in):
    file = lab.folder / "repository" / "new.py"
    program = "from artiq.language import *\nclass New(EnvExperiment):\n def build(self): ...\n def run(self): ..."
    file.write_text(program)
    assert printed(kairos_in("submit", "New", "-w")) == "run 0\nrun 0: completed\n"
    file.write_text(program.replace("...", 'self.setattr_argument("n", NumberValue(1))', 1))
    assert printed(kairos_in("submit", "new.py", "n=2", "-w")) == "run 1\nrun 1: completed\n"
    assert lab.ends(1)["arguments"] == {"n": "2"}
    file.write_text("1 / 0")
    one_line(kairos_in("submit", "new.py", "m=2"), "New has no argument m; it takes n", 2)


def test_wrong_submission_is_reported_in_a_line(lab, kairos_in):
    one_line(kairos_in("submit", "Nothing"), "there is no experiment or file 'Nothing'")
    (lab.folder / "repository" / "again.py").write_text((lab.folder / "repository" / "lab.py").read_text())
    printed(kairos_in("experiments", "scan"))
    one_line(kairos_in("submit", "Quick"), "more than one experiment has the class Quick: give 'Quick scan' or", 2)
    one_line(kairos_in("submit", "lab.py"), "more than one experiment in lab.py: choose with -c Quick|Patient", 2)
    one_line(kairos_in("submit", "Quick scan", "m=1"), "Quick has no argument m; it takes n", 2)
    one_line(kairos_in("submit", "Quick scan", "n=1.5"), "argument n = 1.5: 1.5 is not an integer", 2)
    one_line(kairos_in("submit", "Quick scan", "--due", "soon"), "'soon' is not a time", 2)
    one_line(kairos_in("runs", "show", "77"), "there is no finished run 77")
    one_line(kairos_in("runs", "list", "rid=abc"), "rid is a number")
    one_line(kairos_in("queue", "hold", "77"), "there is no run 77 in the queue")
    one_line(kairos_in("queue", "move", "77"), "give one of --before RUN and --behind RUN", 2)
    one_line(kairos_in("parameters", "history", "none"), "there is no parameter none")
    assert lab.queue() == [] and lab.runs() == []


def test_queue_is_shown_and_changed(lab, kairos_in):
    lab.run_of("Patient", name="long")
    until(lambda: lab.counted("long"))
    for n in (1, 2):
        printed(kairos_in("submit", "Quick scan", f"n={n}", "--hold", "not yet", *["-v"] * n))
    assert [run["expid"]["log_level"] for run in lab.queue()] == [logging.WARNING, logging.INFO, logging.DEBUG]
    printed(kairos_in("queue", "move", "2", "--before", "1"))
    printed(kairos_in("queue", "edit", "1", "n=7", "--priority", "-1"))
    one_line(kairos_in("queue", "edit", "1", "n=x"), "argument n = x: ", 2)
    table = printed(kairos_in("queue")).splitlines()
    assert [line.split()[0] for line in table] == ["run", "0", "2", "1"]
    assert "it is held: not yet" in table[2] and "n=7" in table[3]
    for rid in ("1", "2"):
        printed(kairos_in("queue", "release", rid))
    ended = kairos_in("queue", "terminate", "77", "0")
    assert ended.returncode == 1 and ended.stderr == "kairos: there is no run 77 in the queue\n"
    until(lambda: not lab.queue())
    assert objects(kairos_in("queue", "list", "--json")) == [] and printed(kairos_in("queue")) == "the queue is empty\n"
    assert lab.begun() == [0, 2, 1]


def test_values_are_shown_with_their_history(lab, kairos_in):
    printed(kairos_in("datasets", "set", "frequency", "1.5e6"))
    printed(kairos_in("datasets", "set", "frequency", "2.5e6"))
    assert printed(kairos_in("datasets", "get", "frequency")) == "2500000.0\n"
    assert lab.datasets()["frequency"][1] == 2.5e6
    newest, oldest = objects(kairos_in("parameters", "history", "frequency", "--json"))
    assert (newest["value"], oldest["value"]) == ("2500000.0", "1500000.0") and newest["person"]
    printed(kairos_in("parameters", "restore", "frequency", oldest["id"]))
    (shown,) = objects(kairos_in("parameters", "list", "--json"))
    assert shown["pyon"] == "1500000.0"
    assert "1500000" in printed(kairos_in("parameters"))
    printed(kairos_in("datasets", "delete", "frequency"))
    assert objects(kairos_in("parameters", "history", "frequency", "--json"))[0]["value"] is None


def test_large_values_are_set_by_command_program_and_client(lab, kairos_in):
    image = numpy.arange(4e6).reshape(2000, 2000)  # 32 MB
    lab.set_dataset("image", image)
    assert (lab.dataset("image")[1] == image).all() and lab.dataset_metadata("image") == {}
    port = Client("127.0.0.1", lab.ports["control"], "dataset_db")
    port.set("column", image[0].repeat(500))
    assert len(lab.dataset("column")[1]) == 1_000_000
    numbers = [0.5] * 50_000  # no command line is as long
    printed(kairos_in("datasets", "set", "numbers", "-", input=str(numbers)))
    assert lab.dataset("numbers")[:2] == (True, numbers)
    one_line(kairos_in("datasets", "set", "numbers", "-", input="0.5 " * 50_000), "is not a PYON value", 2)
    assert lab.dataset("absent") is None
    port.close_rpc()


def test_lists_of_datasets_send_texts_to_people_and_values_to_programs(lab, kairos_in):
    assert on_terminal(lab, "datasets", "list") == "there is no dataset in the laboratory\n"
    lab.set_dataset("long", [1e-6 * number for number in range(1000)], True, {"unit": "us", "scale": 1e-6})
    lab.set_dataset("name", "b")
    short = "[0.0, 1.0, 2.0, 3.0, ..., 996.0, 997.0, 998.0, 999.0] (1,000 elements) us"
    assert on_terminal(lab, "datasets", "list") == f"long: {short}\nname: b\n"
    assert lab.dataset_texts(persistent=True) == {"long": short}
    assert short in printed(kairos_in("parameters", "list"))
    piped = printed(kairos_in("datasets", "list"))
    assert piped.startswith("long: [0.0, 1.0, 2.0, 3.0, 4.0, ") and len(piped) > 5000
    (value,) = [each["value"] for each in objects(kairos_in("datasets", "list", "--json")) if each["key"] == "long"]
    assert value == lab.datasets()["long"][1]


def on_terminal(lab, *words) -> str:
    """Return what a command prints on a terminal."""
    ours, its = os.openpty()
    command = [sys.executable, "-m", "kairos", *words]
    subprocess.run(command, stdout=its, cwd=lab.folder, check=True, timeout=TIMEOUT)
    os.close(its)
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        parts = []
        try:
            while part := terminal.read(4096):
                parts.append(part)
        except OSError:  # the end of a terminal
            pass
    return b"".join(parts).decode().replace("\r\n", "\n")


def test_datasets_and_log_are_followed_over_a_restart(lab, kairos_in):
    words = [sys.executable, "-m", "kairos"]
    options = {"cwd": lab.folder, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}

    def started(*more):
        return bounded(subprocess.Popen([*words, *more], **options))

    with (
        started("watch", "points", "--json") as watch,
        started("log", "-f", "-n", "0") as log,
        started("log", "-f") as unread,
        started("submit", "lab.py", "-c", "Patient", "-p", "other", "--wait") as waits,
        ThreadPoolExecutor(1) as reader,
    ):
        lab.set_dataset("points", ["before"])
        values, numbers = [], []

        def watched():
            line = json.loads(watch.stdout.readline())
            values.append(line["pyon"] and json.loads(line["pyon"])), numbers.append(line["number"])
            return line["start"]

        while ["before"] not in values:
            start = watched()
        lab.run_of("Quick")
        while [0, 1, 2] not in values:
            assert watched() == start
        assert values[-4:] == [[], [0], [0, 1], [0, 1, 2]]
        assert numbers[-4:] == [*range(numbers[-4], numbers[-4] + 4)]
        lab.delete_dataset("points")
        assert watched() == start and values[-1] is None and numbers[-1] > numbers[-2]
        # It may begin to follow only after some runs have printed.
        found = reader.submit(lambda: any("print:printed" in line for line in log.stdout))
        try:
            while not found.done():
                lab.ends(lab.run_of("Quick"))
        except BaseException:
            log.kill()  # who reads it is waited for
            raise
        assert found.result()
        assert waits.stdout.readline().startswith("run ")
        lab.kill()
        assert "does not answer" in log.stderr.readline()
        assert "does not answer" in waits.stderr.readline()
        lab.start()
        lab.release_run("patient")
        last = lab.run_of("Quick")
        lab.ends(last)  # it may be logged before it is followed again
        while watched() == start:
            pass  # of the runs before
        texts = [log.stdout.readline()]
        while f"worker({last},lab.py): print:printed" not in texts[-1]:
            assert texts[-1], "it has ended"
            texts.append(log.stdout.readline())
        assert "is back" in log.stderr.readline()
        printed_ones = [text for text in texts if "print:printed" in text]
        assert len(printed_ones) == len(set(printed_ones)), "none twice"
        assert waits.wait(TIMEOUT) == 0 and waits.stdout.readline().endswith(": completed\n")
        unread.stdout.close()
        assert unread.wait(TIMEOUT) == 1, "it sees that nobody reads, although nothing is logged"


def test_laboratory_that_is_not_there_is_reported_in_a_line(tmp_path):
    one_line(run_kairos("queue", cwd=tmp_path), "no laboratory is running in")
    one_line(run_kairos("lab", "--lab", tmp_path / "none"), "there is no folder")


def test_new_laboratory_runs_a_kernel_on_an_ion(tmp_path):
    built("ion")
    assert "wrote trap" in printed(run_kairos("new", "--lab", "trap", cwd=tmp_path))
    one_line(run_kairos("new", "--lab", "trap", cwd=tmp_path), "already exists")
    folder = tmp_path / "trap"
    settings = folder / "lab.toml"
    settings.write_text(settings.read_text() + SETTINGS)
    with (folder / "output").open("wb") as output:
        command = [sys.executable, "-m", "kairos", "lab"]
        lab = subprocess.Popen(command, cwd=folder, stdout=output, stderr=output, start_new_session=True)
    try:
        until(lambda: "is up at localhost" in (folder / "output").read_text())
        done = run_kairos("submit", "rabi_flop.py", "points=3", "shots=5", "--wait", cwd=folder)
        lines = printed(done).splitlines()  # between them may be what its rehearsal has found
        assert (lines[0], lines[-1]) == ("run 0", "run 0: completed")
        (run,) = objects(run_kairos("runs", "list", "--json", cwd=folder))
        assert run["class_name"] == "RabiFlop" and (folder / "results" / run["results"]).exists()
        values = {
            entry["key"]: entry["value"] for entry in objects(run_kairos("datasets", "list", "--json", cwd=folder))
        }
        assert set(values) == {"excitation", "length"} and len(values["excitation"]) == 3
        shown = printed(run_kairos("experiments", "show", "Rabi flop", cwd=folder))
        assert ["longest", "NumberValue", "60", "us"] in [line.split() for line in shown.splitlines()]
        device = objects(run_kairos("lab", "status", "--json", cwd=folder))
        assert device[0]["runs"] == 1
        done = run_kairos("submit", "rabi_flop.py", "points=2", "shots=1", "--wait", cwd=folder)
        assert printed(done).splitlines()[-1] == "run 1: completed", "the device lives on"
        until(lambda: "the same" in run_kairos("runs", "verify", "1", cwd=folder).stdout)
        printed(run_kairos("submit", "rabi_flop.py", "points=1000", "shots=100", cwd=folder))
        until(lambda: [run["points"] for run in objects(run_kairos("queue", "list", "--json", cwd=folder))] > [0])
        printed(run_kairos("queue", "terminate", "2", cwd=folder))
        until(lambda: not objects(run_kairos("queue", "list", "--json", cwd=folder)))
        assert objects(run_kairos("runs", "list", "--json", cwd=folder))[0]["status"] != "completed"
        printed(run_kairos("lab", "end", cwd=folder))
        assert lab.wait(TIMEOUT) == 0
    finally:
        if lab.poll() is None:
            os.killpg(lab.pid, signal.SIGTERM)
            lab.wait(TIMEOUT)
