"""Result files with damage, and with what no run writes: each reader reports one line, and allocates nothing for what
a file only announces."""

import random
import resource
from contextlib import suppress

import h5py
import numpy as np
import pytest

from kairos import labdata, runs
from kairos.applets.sources import FileSource
from kairos.cli import plot, waveforms
from kairos.errors import UsageError
from kairos.experiment.datasets import DatasetManager
from kairos.experiment.hdf5 import write_hdf5
from kairos.lab import analysis, comparison, excerpts, fits, history, thumbnails
from kairos.lab.rpc import runs as rpc_runs
from kairos.session.record import Record
from kairos.twin import replay, verification
from kairos.waveform import Changes, Channel, Recording
from kairos.waveform.stored import packed

READERS = {
    "plot": lambda path: (plot._datasets(path, ""), plot._title(path)),
    "applet": lambda path: FileSource(path).changes(),
    "waveform": waveforms.read_waveform,
    "chips": lambda path: waveforms.read_chips(path) == {},
    "replay": replay._read,
    "verification": verification._read,
    "labdata": labdata._datasets,
    "runs": runs._rid_in,
    "excerpts": lambda path: excerpts.stored_sources(path, "main.py"),
    "fits": lambda path: fits._Datasets(path)["curve"] is not None,
    "comparison": lambda path: comparison._contents({"results": path.name, "file": "a.py"}, path.parent),
    "thumbnails": thumbnails.thumbnail,
    "analysis": lambda path: (analysis._groups(path), analysis.source_of(path)),
    "history": lambda path: history._record_in_datasets(path, path.parent),
    "laboratory": rpc_runs._sources,
}


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    """A file with all groups."""
    path = tmp_path_factory.mktemp("result") / "result.h5"
    manager = DatasetManager()
    manager.set("curve", np.linspace(0, 1, 2000), {})
    manager.set("count", 3, {})
    recording = Recording([Channel("ttl0", 0, 0, Changes(np.arange(9), np.arange(9, dtype=np.int8) % 2))], 5)
    texts = {"experiment": "", "device_db": "device_db = {}", "arguments": "{}"}
    about = {"rid": 7, "start_time": 1.0, "run_time": 2.0, "expid": '{"class_name": "Scan"}', "artiq_version": "9"}
    write_hdf5(path, manager, about, texts, packed(recording, "emulated"), Record().packed())
    for name, read in READERS.items():
        assert read(path) not in (None, {}, "", -1), name
    return path


def each_reads(path, what):
    for name, read in READERS.items():
        try:
            read(path)
        except UsageError as error:
            assert "\n" not in str(error) and path.name in str(error), (name, what, error)
        except Exception as error:
            raise AssertionError(f"{name}, {what}") from error


def test_result_file_with_random_damage_is_one_line_for_each_reader(result, tmp_path):
    chance, content = random.Random(1), result.read_bytes()
    path = tmp_path / "damaged.h5"
    for number in range(25):
        data = bytearray(content)
        for _ in range(chance.choice([1, 3, 10])):
            data[chance.randrange(chance.choice([len(data), 4096]))] = chance.randrange(256)
        path.write_bytes(data[: chance.randrange(len(data))] if number % 10 == 0 else data)
        each_reads(path, number)


def huge(group, name):
    group.create_dataset(name, shape=(1 << 40,), dtype="f8", chunks=(1 << 20,))


def large(group, name):
    group.create_dataset(name, shape=(1 << 30,), dtype="f8", chunks=(1 << 20,))


def a_group(group, name):
    group.create_group(name)


def a_cycle(group, name):
    group[name] = h5py.SoftLink("/")


def no_target(group, name):
    group[name] = h5py.SoftLink("/nothing")


def of(value):
    def put(group, name):
        group[name] = value

    return put


INSTEAD = [huge, large, a_group, a_cycle, no_target]
INSTEAD += map(of, ["{", "[1]", -1, np.inf, h5py.Empty("f8"), np.zeros(3, [("a", "f8")]), b"\xff\x1b[2J"])


def test_result_file_with_anything_in_any_place_is_one_line_for_each_reader(result, tmp_path):
    path, names = tmp_path / "other.h5", []
    with h5py.File(result) as file:
        file.visit(names.append)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number, name in enumerate(names):
        for put in INSTEAD[number % 6 :: 6]:
            path.write_bytes(result.read_bytes())
            with h5py.File(path, "r+") as file, suppress(KeyError):
                del file[name]
                put(file, name)
            each_reads(path, (name, put))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 << 10
