"""Journals: what was noted is read back, whatever was cut off or damaged."""

import os
import random
import subprocess
import sys
import threading
import time

import h5py
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as some
from hypothesis.extra import numpy as arrays

from kairos import pyon
from kairos.errors import UsageError
from kairos.experiment.datasets import DatasetManager
from kairos.lab import contents, journal, results, storing, values
from kairos.lab.journal import Journal, Reader
from kairos.lab.queue import Submission
from kairos.lab.run import Run
from tests.support import TIMEOUT
from tests.support.command import bounded
from tests.support.waiting import until

NUMBERS = some.one_of(
    some.integers(),
    some.floats(allow_nan=False),
    some.booleans(),
    arrays.from_dtype(numpy.dtype("int32")),
    arrays.from_dtype(numpy.dtype("float64"), allow_nan=False),
)
VALUES = some.one_of(
    NUMBERS,
    some.text(),
    some.binary(),
    some.lists(NUMBERS),
    some.lists(some.floats(allow_nan=False)),
    arrays.arrays(some.sampled_from(["<i4", "<f8", ">i2", "|b1", "<c16"]), arrays.array_shapes(min_dims=0)),
    some.dictionaries(some.text(), some.integers()),
)


def same(one, other) -> bool:
    if isinstance(one, list | tuple):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, numpy.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    return type(one) is type(other) and (one == other or (one != one and other != other))


@pytest.mark.parametrize("name", ["\0", "a/../../b", "x" * 5000, "größe" * 100, "\udcff", "", None, "a.b"])
def test_run_of_a_class_of_any_name_is_stored_in_the_folder_of_results(tmp_path, name):
    folder = tmp_path / "run"
    folder.mkdir()
    with_output = folder / "output"
    with_output.write_text("printed\n")
    log = Journal(folder / "journal")
    log.note("begin", more={"rid": 7, "started": 1e9, "expid": {"class_name": name}})
    log.note("stage", "run", more={"class_name": name, "run_time": 1e9})
    log.note("set", "x", 1.5, (0, {}))
    log.close()
    written = contents.contents_of(folder / "journal")
    record, path = results.store(folder, written, {"status": "failed", "error": None}, tmp_path / "results")
    assert path.parent.parent.parent == tmp_path / "results" and record["class_name"] == name or name == ""
    assert {each.suffix for each in path.parent.iterdir()} == {".h5", ".json", ".log"}
    assert results.stored_name(7, "Scan_2ä") == "000000007-Scan_2ä.h5"


@pytest.mark.parametrize("submitted", [{"detuning": 1.5, "name": "axial"}, {}, None])
def test_run_that_ended_before_its_build_is_entered_with_the_submitted_arguments(submitted):
    run = contents.Contents()
    run.begin = {"rid": 7, "started": 1e9, "expid": {"class_name": "Scan", "arguments": submitted}}
    record = results.record_of(run, {"status": "terminated", "error": None})
    assert record["arguments"] == {name: pyon.encode(value) for name, value in (submitted or {}).items()}


@given(VALUES)
def test_value_encoded_is_decoded_with_its_type(value):
    assert same(values.decoded(values.encoded(value)), value)


def test_value_of_structure_is_decoded_with_its_type():
    table = numpy.zeros(3, dtype=[("time", "<f8"), ("counts", "<i4", (2,)), ("place", [("x", "<f4")])])
    assert same(values.decoded(values.encoded(table)), table)


def test_value_without_text_is_described():
    class Odd:
        def __repr__(self):
            return "<odd \udc80>"

    assert values.encoded([Odd()]).kind == "repr"
    assert values.decoded(values.encoded(Odd())) == "<odd \\udc80>"


@given(some.binary(), some.sampled_from(["array", "ints", "scalar", "pyon", "x"]), some.lists(some.integers()))
def test_value_of_random_bytes_is_refused(data, kind, shape):
    try:
        values.decoded(values.Encoded(kind, "<i8", shape, data))
    except values.Undecodable:
        pass


def note_steps(log, steps):
    """Performs the steps on a manager that notes them, and on a dictionary."""
    manager = DatasetManager(note=log.note)
    for key, value, appended in steps:
        manager.set(key, list(value), {"unit": "s"}, broadcast=True)
        for number in appended:
            manager.append_to(key, number)
    return {key: entry.value for key, entry in manager.groups()["datasets"].items()}


STEPS = some.lists(some.tuples(some.sampled_from("ab\u03bc"), some.lists(NUMBERS), some.lists(NUMBERS)), max_size=6)


@given(steps=STEPS, cut=some.integers(0, 2000))
def test_journal_cut_anywhere_is_read_up_to_there(tmp_path_factory, steps, cut):
    path = tmp_path_factory.mktemp("cut") / "journal"
    log = Journal(path)
    expected = note_steps(log, steps)
    log.close()
    complete = list(Reader(path, complete=True).records())
    assert [record.number for record in complete] == list(range(len(complete)))
    assert same_datasets(contents.contents(complete), expected)
    data = path.read_bytes()
    path.write_bytes(data[: min(cut, len(data))])
    assert [record[:4] for record in Reader(path).records()] == [r[:4] for r in complete][: count(path, complete)]


def same_datasets(run, expected) -> bool:
    return {*run.written} == {*expected} and all(same(run.written[key].value, expected[key]) for key in expected)


def count(path, complete):
    return len(list(Reader(path, complete=True).records()))


@given(steps=STEPS, seed=some.integers())
def test_journal_with_random_damage_is_read(tmp_path_factory, steps, seed):
    """Only the records that were damaged are missing, and no exception is raised."""
    path = tmp_path_factory.mktemp("damage") / "journal"
    log = Journal(path)
    note_steps(log, steps)
    log.close()
    complete = [repr(record) for record in Reader(path, complete=True).records()]
    data = bytearray(path.read_bytes())
    chance = random.Random(seed)
    places = [chance.randrange(len(data)) for _ in range(chance.randrange(4))]
    for place in places:
        data[place] = chance.randrange(256)
    path.write_bytes(data + bytes(chance.randrange(5000)))
    reader = Reader(path, complete=True)
    read = [repr(record) for record in reader.records()]
    assert set(read) <= set(complete) and len(complete) - len(read) <= len(places)
    contents.contents_of(path)


def test_run_with_damaged_journal_is_stored_and_not_run_again(tmp_path, caplog):
    run = Run(Submission(5, "main", {"file": "scan.py", "class_name": "Scan"}), tmp_path / "5")
    run.folder.mkdir()
    path = run.folder / "journal"
    log = Journal(path)
    log.note("begin", more={"rid": 5, "started": 1.0})
    log.note("stage", "build", more={})
    log.note("stage", "run", more={})
    log.note("set", "points", [1, 2, 3], more=(journal.ARCHIVE, {}))
    log.note("append", "points", 4)
    log.close()
    data = bytearray(path.read_bytes())
    data[:5] = b"\xff" * 5
    for name in (b"begin", b"build", b"run"):
        data[data.index(name)] ^= 0xFF
    path.write_bytes(data)
    assert contents.progress_of(path).begun
    record = storing._store(run, {"status": "interrupted", "error": None}, tmp_path / "results")
    assert record["rid"] == 5 and record["class_name"] == "Scan"
    stored = tmp_path / "results" / record["results"]
    with h5py.File(stored) as file:
        assert list(file["datasets/points"]) == [1, 2, 3, 4]
    assert stored.with_suffix(".journal").read_bytes() == data
    assert "the journal of run 5 is damaged" in caplog.text


def test_journal_is_followed_while_it_is_written(tmp_path):
    lengths = []
    log = Journal(tmp_path / "journal", lengths.append)
    reader = Reader(tmp_path / "journal")
    log.note("set", "x", [], (7, {}))
    for number in range(1000):
        log.note("append", "x", number)
    found = []
    until(lambda: found.extend(reader.records()) or found and sum(len(r.value) for r in found[1:]) == 1000)
    assert found[0].operation == "set" and [n for r in found[1:] for n in r.value] == list(range(1000))
    assert len(found) < 100, "numbers that come together are one record"
    log.close()
    assert lengths[-1] == reader.offset == (tmp_path / "journal").stat().st_size


def test_value_that_no_record_can_hold_is_refused_in_a_line(tmp_path):
    written = Journal(tmp_path / "journal")
    for operation in ("set", "append"):
        with pytest.raises(
            UsageError, match="the dataset big is too large to be stored: 2,147,483,648 bytes"
        ) as failed:
            # No memory is taken for it.
            written.note(operation, "big", numpy.zeros(1 << 31, "u1"), (0, {}))
        assert "\n" not in str(failed.value)
    written.note("set", "small", 1, (0, {}))
    written.close()
    assert [(record.key, record.value) for record in Reader(tmp_path / "journal").records()] == [("small", 1)]


def test_journal_of_several_threads_keeps_the_order_of_each(tmp_path):
    log = Journal(tmp_path / "journal")

    def work(key):
        log.note("set", key, [], (7, {}))
        for number in range(500):
            log.note("append", key, number)
            if number == 250:
                log.note("append", key, "text")

    threads = [threading.Thread(target=work, args=(key,)) for key in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT)
    log.close()
    run = contents.contents_of(tmp_path / "journal")
    assert all(run.written[key].value == [*range(251), "text", *range(251, 500)] for key in "abcd")


def test_journal_on_full_disk_keeps_everything_until_there_is_space(tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "RETRY", 0.01)
    log = Journal(tmp_path / "journal")
    write, full = os.write, [True]

    def on_full_disk(file, data):
        if full[0]:
            write(file, bytes(data)[:5])
            raise OSError(28, "No space left on device")
        return write(file, data)

    monkeypatch.setattr(journal.os, "write", on_full_disk)
    for number in range(10):
        log.note("set", "x", number, (7, {}))
        time.sleep(0.005)
    log.flush()
    assert "No space left" in log.failure
    with pytest.raises(OSError, match="No space left"):
        log.sync()
    assert list(Reader(tmp_path / "journal").records()) == []
    full[0] = False
    log.close()
    assert [record.value for record in Reader(tmp_path / "journal").records()] == list(range(10))


WRITER = """
import sys, time
from kairos.lab.journal import Journal
log = Journal(sys.argv[1])
log.note("set", "x", [], (7, {}))
number = 0
while True:
    log.note("append", "x", number)
    number += 1
    if number % 100 == 0:
        log.flush()
        print(number, flush=True)
"""


def test_journal_of_killed_process_has_everything_that_was_flushed(tmp_path):
    command = [sys.executable, "-c", WRITER, tmp_path / "journal"]
    with bounded(subprocess.Popen(command, stdout=subprocess.PIPE, text=True)) as process:
        for _ in range(20):
            acknowledged = int(process.stdout.readline())
    found = contents.contents_of(tmp_path / "journal").written["x"].value
    assert found == list(range(len(found))) and len(found) >= acknowledged


def test_journal_becomes_file_in_artiqs_layout(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    log = Journal(folder / "journal")
    manager = DatasetManager(note=log.note)
    log.note("begin", more={"rid": 7, "started": 1.7e9, "expid": {"file": "a.py", "arguments": {}}, "pipeline": "main"})
    log.note("stage", "build", more={"class_name": "Scan"})
    manager.set("f/x", [], {"unit": "MHz", "scale": 1e6})
    manager.set("image", numpy.arange(6).reshape(2, 3), {})
    manager.set("only shown", 1, {}, broadcast=True, archive=False)
    log.note("stage", "run", more={"run_time": 1.7e9 + 1})
    for number in range(5000):
        manager.append_to("f/x", number / 7)
    manager.mutate("image", ((0, 1), (1, 3)), 9)
    log.close()
    (folder / "output").write_text("INFO:print:hello\n")
    run = contents.contents_of(folder / "journal")
    record, path = results.store(folder, run, {"status": "interrupted", "error": None}, tmp_path / "results")
    assert path.with_suffix(".log").read_text() == "INFO:print:hello\n"
    assert record["status"] == "interrupted" and record["class_name"] == "Scan"
    with h5py.File(tmp_path / "results" / record["results"]) as file:
        assert {*file["datasets"]} == {"f", "image"} and file["rid"][()] == 7
        assert file["datasets/f/x"][()].tolist() == [number / 7 for number in range(5000)]
        assert file["datasets/f/x"].compression == "gzip" and file["datasets/f/x"].attrs["unit"] == "MHz"
        assert file["datasets/image"][()].tolist() == [[0, 9, 9], [3, 4, 5]]
        assert pyon.decode(file["expid"][()].decode())["file"] == "a.py"
        assert file["run_time"][()] == 1.7e9 + 1 and file["provenance/status"][()] == b"interrupted"
