"""`kairos replay`: a run is repeated from what its device was told, without calling host functions."""

import base64
import json
import re
import zlib

import h5py
import numpy as np
import pytest

from kairos.session.record import Record, unpacked
from kairos.twin.replay import replayed
from tests.support.command import run_kairos
from tests.support.gateware import built, database
from tests.support.paths import EXAMPLES

BODY = """
    def count(self) -> TInt32:
        import random
        from pathlib import Path

        return int(Path("count").read_text()) + random.randrange(100)

    def refuse(self, number) -> TInt32:
        if number > 50:
            raise ValueError("too many")
        return number

    @kernel
    def pulses(self):
        self.core.reset()
        for i in range(self.count()):
            self.ttl4.pulse(1 * us)
            delay(1 * us)
        try:
            more = self.refuse(self.count())
            self.core.break_realtime()
            for i in range(more):
                self.ttl5.pulse(2 * us)
                delay(2 * us)
        except ValueError:
            self.core.break_realtime()
            self.ttl5.pulse(5 * us)

    def run(self):
        self.pulses()
        self.pulses()
"""
FAILS = """
    def prepare(self):
        self.set_dataset("prepared", True)

    def count(self) -> TInt32:
        return 3

    @kernel
    def run(self):
        self.core.reset()
        for i in range(self.count()):
            self.ttl4.pulse(1 * us)
            delay(1 * us)
        delay(-1 * s)
        self.ttl4.on()
"""


def stored(kairos, name, body, *words, code=0):
    done = kairos("run", kairos.write(body), "--no-table", "-o", name, *words)
    assert done.returncode == code, done.stderr
    return kairos.directory / name


def replay(kairos, *words):
    return run_kairos("replay", *words, cwd=kairos.directory)


def test_replay_takes_the_branches_that_host_functions_decided(kairos):
    (kairos.directory / "count").write_text("7")
    path = stored(kairos, "a.h5", BODY)
    (kairos.directory / "count").unlink()
    done = replay(kairos, "a.h5")
    with h5py.File(path) as file:
        steps, libraries, complete = unpacked(file["replay"])
    assert complete and [len(step.answers) for step in steps] == [3, 3] and len(libraries) == 1
    assert [step.connects for step in steps] == [True, False]
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("the same: ") and done.stdout.endswith("events of the pins, 2 kernels\n")


def test_replay_shows_pins_and_source_at_an_instant(kairos):
    # It sets no dataset, and fails: its file is written, since there is something to look at.
    stored(kairos, "a.h5", FAILS.replace('self.set_dataset("prepared", True)', "pass"), code=1)
    verified = run_kairos("runs", "verify", "a.h5", cwd=kairos.directory)
    assert verified.returncode == 0 and verified.stdout.startswith("the same: "), verified.stdout + verified.stderr
    lines = (kairos.directory / "exp.py").read_text().splitlines()
    done = replay(kairos, "a.h5", "--at", "2.5us", "500ns", "3.5us", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 0 and found["same"] and found["kernels"] == 1 and found["complete"]
    assert [shown["at_ns"] for shown in found["at"]] == [2500, 500, 3500]
    assert [shown["pins"]["ttl4"] for shown in found["at"]] == [1, 1, 0]
    middle = found["at"][0]
    assert middle["output"]["due_ns"] == 2000 and middle["next"]["due_ns"] == 3000
    assert middle["output"]["function"].endswith("run")
    assert "self.ttl4.pulse" in lines[middle["output"]["line"] - 1]
    text = replay(kairos, "a.h5", "--at", "2.5us").stdout
    assert "last output: " in text and "due 500 ns before" in text and "pins: ttl4 1" in text, text


@pytest.fixture(scope="module")
def ion(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ion")
    (folder / "bench.toml").write_text((EXAMPLES / "ion" / "bench.toml").read_text())
    return database("ion", folder)


def test_replay_with_an_ion_sees_the_same_photons(kairos, ion):
    experiment = EXAMPLES / "ion" / "photon_counting.py"
    done = kairos("run", experiment, "shots=5", "--no-table", "-o", "a.h5", device_db=ion)
    assert done.returncode == 0, done.stderr
    done = replay(kairos, "a.h5")
    assert done.returncode == 0 and done.stdout.startswith("the same: "), done.stdout + done.stderr


def test_file_without_a_record_is_refused_in_a_line(kairos):
    path = stored(kairos, "a.h5", FAILS.replace("delay(-1 * s)", "delay(1 * us)"))
    with h5py.File(path, "r+") as file:
        file["replay/libraries"][...] = np.zeros_like(file["replay/libraries"])
    damaged = replay(kairos, "a.h5")
    with h5py.File(path, "r+") as file:
        del file["replay"]
    without = replay(kairos, "a.h5")
    for done in (damaged, without):
        assert done.returncode == 1 and len(done.stderr.strip().splitlines()) == 1 and "a.h5" in done.stderr


ENDLESS = """
    @rpc(flags={"async"})
    def end(self):
        import os, signal, threading

        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()

    @kernel
    def run(self):
        self.core.reset()
        self.end()
        while True:
            self.core.break_realtime()
            self.ttl4.pulse(1 * us)
            delay(1 * us)
"""


def test_endless_kernel_that_was_interrupted_is_repeated_up_to_there(kairos):
    run = kairos.start(kairos.write(ENDLESS), "--no-table", "-o", "a.h5")
    said = run.communicate()[1]
    assert "interrupted" in said and (kairos.directory / "a.h5").exists(), said
    found = replayed(kairos.directory / "a.h5", debugged=True)
    assert found.differences == [] and found.recording.event_count > 0 and found.steps
    done = run_kairos("runs", "verify", "a.h5", cwd=kairos.directory)
    assert done.returncode == 1 and "its run was interrupted" in done.stderr


def test_record_beyond_its_limit_keeps_the_beginning(monkeypatch):
    monkeypatch.setattr("kairos.session.record.MOST", 100)

    class Kernel:
        library = unstripped = b"x" * 60
        subkernels = ()

    record = Record()
    record.connected()
    record.kernel(Kernel())
    record.answer(b"y" * 30)
    record.answer(b"z" * 30)
    record.kernel(Kernel())
    assert not record.complete and len(record.steps) == 1 and record.steps[0].answers == [b"y" * 30]
    assert record.steps[0].connects


VARIABLES = """
    def prepare(self):
        self.total = 0

    def more(self, number) -> TInt32:
        return number + 1

    @kernel
    def burst(self, number, width):
        for i in range(number):
            self.ttl4.pulse(width)
            delay(1 * us)
            self.total += i

    @kernel
    def run(self):
        self.core.reset()
        pair = (1, 0.5)
        for k in range(3):
            self.burst(k + 1, (k + 1) * us)
            self.more(k)
            self.core.break_realtime()
            self.ttl5.pulse(3 * us)
            print(pair[1])
"""
"""Its third burst has three pulses of 3 us."""


def line_of(kairos, text):
    lines = (kairos.directory / "exp.py").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_replay_shows_the_variables_of_kernels_forwards_and_backwards(kairos):
    stored(kairos, "a.h5", VARIABLES)
    found = replayed(kairos.directory / "a.h5", debugged=True)
    assert found.differences == [] and len(found.steps) > 30
    seen = [
        (one.line, dict(one.variables)) for step in found.steps for one in step.functions if one.name.endswith(".burst")
    ]
    pulse = line_of(kairos, "self.ttl4.pulse")
    assert {line for line, _ in seen} == {pulse}
    # Each pulse has several calls of the firmware; the values are those of the loops.
    passes = [(int(values["number"]), float(values["width"]), int(values["i"])) for _, values in seen]
    order = list(dict.fromkeys(passes))
    assert order == [(n, n * 1e-6, i) for n in (1, 2, 3) for i in range(n)]
    totals = list(dict.fromkeys(int(values["self.total"]) for _, values in seen))
    assert totals == [0, 1, 2], "what was added before each pulse, also by the bursts before"
    runs = [dict(one.variables) for step in found.steps for one in step.functions if one.name.endswith(".run")]
    assert list(dict.fromkeys(values["k"] for values in runs if "k" in values)) == ["0", "1", "2"]
    assert {values["pair"] for values in runs if "pair" in values} == {"(1, 0.5)"}
    # At any instant, in any order: that of the last burst, then one in the first.
    last, first = [
        found.steps[at].time_ns - found.recording.origin_ns for at in (len(found.steps) - 1, len(found.steps) // 4)
    ]
    for instant in (last, first):
        shown = found.at(instant)["functions"]
        assert shown[-1]["function"].endswith(".run") and shown[-1]["line"] > pulse
    assert found.at(-(10**12))["functions"] == []


def test_replay_prints_variables_and_writes_a_page_with_them(kairos):
    stored(kairos, "a.h5", VARIABLES)
    source = (kairos.directory / "exp.py").read_text()
    (kairos.directory / "exp.py").write_text("# another file by now\n")
    done = replay(kairos, "a.h5", "--at", "0s", "--scope", "page.html")
    assert done.returncode == 0, done.stderr
    # The processor is ahead of the pins: it waits for an answer of the host.
    assert " in run: pair = (1, 0.5), k = 0\n" in done.stdout, done.stdout
    content = content_of((kairos.directory / "page.html").read_text())
    own = [file for file in content["steps"]["files"] if file["own"]]
    assert [(file["name"], file["text"]) for file in own] == [("exp.py", source)], "as it was in the run"
    assert "width" in content["texts"] and "3e-6" in content["texts"]
    done = replay(kairos, "a.h5", "--scope", "nowhere/page.html")
    assert done.returncode == 1 and done.stderr.startswith("kairos: nowhere/page.html cannot be written: ")


def content_of(page):
    packed = re.search(r'id="lanes">([^<]*)<', page)[1]
    return json.loads(zlib.decompress(base64.b64decode(packed)))


CONSTANTS = """
WIDTH = 3 * us
LIMITS = (2, 0.5)
COUNTS = [4, 5, 6]

class Exp(EnvExperiment):
    kernel_invariants = {"length", "name"}

    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")
        self.length, self.name, self.count, self.total = 2e-6, "scan", 2, 0

    @kernel
    def run(self):
        self.core.reset()
        for i in range(self.count):
            self.burst(i)

    @kernel
    def burst(self, i):
        if self.name == "scan" and i < LIMITS[0]:
            self.ttl4.pulse(self.length)
            delay(WIDTH)
        self.total += COUNTS[i]
"""


def test_replay_shows_constants_that_functions_name(kairos):
    path = kairos.write(CONSTANTS, head="from artiq.experiment import *\n")
    assert kairos("run", path, "--no-table", "-o", "a.h5").returncode == 0
    found = replayed(kairos.directory / "a.h5", debugged=True)
    seen = [dict(one.variables) for step in found.steps for one in step.functions if one.name.endswith(".burst")]
    assert seen and all(
        values.items() >= {"WIDTH": "3e-6", "self.length": "2e-6", "self.name": '"scan"', "LIMITS": "(2, 0.5)"}.items()
        for values in seen
    ), seen[:1]
    assert {values["COUNTS"] for values in seen} == {"[4, 5, 6]"}
    assert not any("us" in values for values in seen), "units are no variables"
    assert list(dict.fromkeys(values["i"] for values in seen if "i" in values)) == ["0", "1"]
    runs = [dict(one.variables) for step in found.steps for one in step.functions if one.name.endswith(".run")]
    assert {values["self.count"] for values in runs} == {"2"}


NAMED = """
class Guard:
    kernel_invariants = {"core", "ttl"}

    def __init__(self, core, ttl):
        self.core, self.ttl, self.trace = core, ttl, 0

    @kernel
    def __enter__(self):
        self.trace += 1

    @kernel
    def __exit__(self, kind, value, trace):
        self.ttl.pulse(1 * us)


class Exp(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("core_dma")
        self.setattr_device("ttl4")
        self.guard = Guard(self.core, self.ttl4)

    def ask(self, number) -> TInt32:
        return number

    @kernel
    def weight(self, number) -> TInt32:
        return self.ask(-number)

    @kernel
    def run(self):
        self.core.reset()
        with self.guard:
            delay(1 * us)
            self.ask(0)
        with self.core_dma.record("trace"):
            for k in range(3):
                self.ttl4.pulse(1 * us)
                delay(1 * us)
        i = self.ask(7)
        asked = [self.ask(j) for j in range(3)]
        again = [self.ask(i) for i in range(2)]
        ordered = sorted([3, 1, 2], key=self.weight)
        self.ask(i + asked[0] + again[1] + ordered[0])
"""


def test_names_that_the_compiler_makes_up_are_not_shown(kairos):
    path = kairos.write(NAMED, head="from artiq.experiment import *\n")
    done = kairos("run", path, "--no-table", "-o", "a.h5")
    assert done.returncode == 0, done.stderr
    found = replayed(kairos.directory / "a.h5", debugged=True)
    runs = [one.variables for step in found.steps for one in step.functions if one.name.endswith("Exp.run")]
    seen: dict[str, list[str]] = {}
    for name, value in (each for variables in runs for each in variables):
        seen.setdefault(name, []).append(value)
    assert seen.keys() <= {"i", "j", "k", "asked", "again", "ordered", "i (comprehension)"}, seen.keys()
    assert set(seen["j"]) == {"0", "1", "2"} and set(seen["k"]) == {"0", "1", "2"}
    assert set(seen["i"]) | set(seen.get("i (comprehension)", [])) >= {"7", "0", "1"}


BOARDS = """
from artiq.experiment import *

class Exp(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")
        self.setattr_device("sat_ttl4")

    @subkernel(destination=1)
    def far(self, count: TInt32):
        for there in range(count):
            self.sat_ttl4.pulse(2 * us)
            delay(2 * us)

    @kernel
    def run(self):
        self.core.reset()
        for here in range(2):
            delay(20 * ms)
            self.far(here + 1)
            subkernel_await(self.far)
            self.core.break_realtime()
            self.ttl4.pulse(1 * us)
"""


def test_replay_shows_the_kernels_of_each_board(kairos):
    built("pair", "satellite")
    path = kairos.write(BOARDS, head="")
    original = EXAMPLES / "two_boards_device_db.py"
    database_file = kairos.directory / "pair_db.py"
    database_file.write_text(original.read_text().replace("__file__", repr(str(original))))
    done = kairos("run", path, "--no-table", "-o", "a.h5", device_db=database_file)
    assert done.returncode == 0, done.stderr
    found = replayed(kairos.directory / "a.h5", debugged=True)
    assert found.differences == [] and [step.time_ns for step in found.steps] == sorted(s.time_ns for s in found.steps)
    boards = list(dict.fromkeys(step.board for step in found.steps))
    assert len(boards) == 2 and all(boards)
    far = [
        (step.board, dict(one.variables))
        for step in found.steps
        for one in step.functions
        if one.name.endswith(".far") and one.line == line_of(kairos, "self.sat_ttl4.pulse")
    ]
    assert {board for board, _ in far} == {boards[1]}
    assert [values["there"] for _, values in far] == ["0", "0", "0", "0", "1", "1"]  # of the rising and falling edges
    last = found.at(found.steps[-1].time_ns - found.recording.origin_ns)["functions"]
    assert {(one["board"], one["function"].rpartition(".")[2]) for one in last} >= {
        (boards[0], "run"),
        (boards[1], "far"),
    }
