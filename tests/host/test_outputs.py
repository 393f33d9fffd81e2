"""Output files of a run: checked before it, and written whatever happens."""

import os
import signal
import sys
from types import SimpleNamespace

import pytest
from matplotlib.artist import Artist

from kairos.applets.live import Applets
from kairos.cli import signals
from kairos.cli.outputs import Outputs, _check_place
from kairos.cli.replaced import check_outputs
from kairos.errors import CommandLineError, UsageError
from kairos.experiment.datasets import DatasetManager
from kairos.experiment.hdf5 import write_hdf5
from kairos.experiment.store import DatasetStore
from kairos.pictures import drawing, save


def command_line(**files):
    names = ("hdf5", "vcd", "plot", "scope", "pulses", "log")
    return SimpleNamespace(**dict.fromkeys(names) | {"quiet": True} | {name: str(path) for name, path in files.items()})


def outputs(**files):
    return Outputs(command_line(**files))


def test_unwritable_file_is_found_before_run(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    os.mkfifo(tmp_path / "pipe")
    for files, text in [
        ({"hdf5": tmp_path / "pipe"}, "^-o .*pipe cannot be written: it is not a regular file but a device or a pipe"),
        ({"vcd": "/dev/null/a.vcd"}, "/dev/null/a.vcd cannot be written"),
        (
            {"plot": tmp_path / "a.bmp"},
            r"a.bmp: the file name must end with .png, .pdf, .svg, which selects the format",
        ),
        ({"scope": tmp_path / "a.png"}, r"--scope .*a.png: the file name of the HTML page must end with .html"),
        ({"vcd": tmp_path / "a", "hdf5": tmp_path / "a"}, "-o and --vcd name the same file"),
    ]:
        with pytest.raises(UsageError, match=text):
            outputs(**files).check()
    kept = tmp_path / "kept"
    kept.write_text("before")
    outputs(vcd=kept, hdf5=tmp_path / "new" / "out.h5").check()
    assert kept.read_text() == "before" and not (tmp_path / "new" / "out.h5").exists()


def test_output_never_replaces_files_of_the_user(tmp_path, monkeypatch):
    """Neither what the run reads, under any of its names, nor other files that no run has written."""
    monkeypatch.chdir(tmp_path)
    kept = {name: tmp_path / name for name in ("scan.py", "device_db.py", "bench.toml", "beams.py", "notes.txt")}
    for path in kept.values():
        path.write_text("before")
    (tmp_path / "link.vcd").symlink_to("bench.toml")
    (tmp_path / "new.log").symlink_to("new.vcd")
    for files, text in [
        ({"hdf5": "scan.py"}, "-o scan.py would replace the experiment"),
        ({"vcd": tmp_path / "device_db.py"}, "would replace the device database"),
        ({"log": "link.vcd"}, "--log link.vcd would replace the wiring of the bench"),
        ({"vcd": "beams.py"}, "--vcd beams.py exists and is a Python file"),
        ({"hdf5": "notes.txt"}, "-o notes.txt exists and is not an HDF5 file"),
        ({"vcd": "new.vcd", "log": "new.log"}, "--vcd and --log name the same file"),
    ]:
        args = command_line(**files, file="scan.py", device_db="device_db.py", bench="bench.toml")
        with pytest.raises(CommandLineError, match=text):
            check_outputs(args)
            Outputs(args).check()
    assert all(path.read_text() == "before" for path in kept.values())
    write_hdf5(tmp_path / "earlier.dat", DatasetManager())
    (tmp_path / "empty.h5").touch()
    outputs(hdf5="earlier.dat").check()
    outputs(hdf5="empty.h5", vcd="notes.txt").check()


def test_outputs_of_a_run_that_moved_are_where_they_were_named(tmp_path, monkeypatch):
    """An experiment may change the working directory, and remove the folder of the results."""
    started, elsewhere = tmp_path / "started", tmp_path / "elsewhere"
    started.mkdir()
    elsewhere.mkdir()
    monkeypatch.chdir(started)
    named = outputs(hdf5="results/o.h5")
    named.check()
    store = DatasetStore("datasets.mdb")
    monkeypatch.chdir(elsewhere)
    store.set("x", 1, persist=True)
    store.close_db()
    (started / "results").rmdir()
    named.return_to_folder()
    experiment = FinishedExperiment()
    experiment.write_datasets = lambda path, _: path.touch()
    assert named.write_datasets(experiment, 5.0) == []
    assert (started / "results" / "o.h5").exists() and (started / "datasets.mdb").exists()
    assert not list(elsewhere.iterdir())


def test_results_keep_device_files_and_symlinks(tmp_path):
    """Complete results replace regular files only, never devices, pipes or links."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="it is not a regular file but a device or a pipe"):
        write_hdf5(tmp_path / "pipe", DatasetManager())
    assert (tmp_path / "pipe").is_fifo()
    (tmp_path / "link").symlink_to(tmp_path / "results.h5")
    write_hdf5(tmp_path / "link", DatasetManager())
    assert (tmp_path / "link").is_symlink() and (tmp_path / "results.h5").is_file()
    (tmp_path / "to_nothing").symlink_to(tmp_path / "later.h5")
    _check_place(tmp_path / "to_nothing")
    assert (tmp_path / "to_nothing").is_symlink() and not (tmp_path / "later.h5").exists()


class Torn(Artist):
    def draw(self, renderer):
        raise ValueError("torn")


def test_failed_picture_keeps_the_previous_one(tmp_path):
    path = tmp_path / "a.png"
    with drawing() as pyplot:
        figure, _ = pyplot.subplots()
        save(figure, path, 50)
        before = path.read_bytes()
        figure.add_artist(Torn())
        with pytest.raises(ValueError, match="torn"):
            save(figure, path, 50)
    assert before.startswith(b"\x89PNG") and path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


def _refuse():
    raise ValueError("title too long")


ACTIVE = SimpleNamespace(has_activity=lambda: True)
"""What is shown of pins that change."""


class FinishedExperiment(SimpleNamespace):
    """An experiment that has run, with a dataset."""

    rid, name = 0, "x"

    def __init__(self):
        super().__init__(
            written=[], applets=Applets("127.0.0.1:1", windows=False), datasets=SimpleNamespace(local={"a": 1})
        )

    def write_datasets(self, path, started):
        self.written.append((path, started))


@pytest.mark.parametrize(
    "error", [ValueError("title too long\nmore"), OverflowError("Exceeded cell block limit"), KeyError]
)
def test_failed_file_does_not_prevent_others(tmp_path, error):
    """Whatever a library raises."""

    def fail():
        raise error

    experiment = FinishedExperiment()
    named = outputs(hdf5=tmp_path / "o.h5", plot=tmp_path / "o.png", vcd=tmp_path / "o.vcd", scope=tmp_path / "o.html")
    named._draw = lambda option, *_: named.files[option].write_text("") and None if option != "--scope" else fail()
    assert named.write_datasets(experiment, 5.0) == []
    (line,) = named.write(experiment, ACTIVE, None)
    said = str(error).partition("\n")[0] if isinstance(error, Exception) else "KeyError"
    assert line == f"--scope {tmp_path / 'o.html'} cannot be written: {said}"
    assert experiment.written == [(tmp_path / "o.h5", 5.0)]
    assert (tmp_path / "o.vcd").exists() and (tmp_path / "o.png").exists()


def test_file_interrupted_while_written_is_named_with_those_after_it(tmp_path):
    def interrupt():
        raise KeyboardInterrupt

    named = outputs(plot=tmp_path / "o.png", vcd=tmp_path / "o.vcd", scope=tmp_path / "o.html")
    named._draw = lambda option, *_: interrupt() if option == "--scope" else None
    assert named.write(FinishedExperiment(), ACTIVE, None) == [
        f"{option} {tmp_path / name} is not written: interrupted"
        for option, name in (("--scope", "o.html"), ("--plot", "o.png"))
    ]


def test_picture_without_activity_is_not_drawn(tmp_path, capsys):
    named = outputs(plot=tmp_path / "o.png")
    assert named.write(FinishedExperiment(), SimpleNamespace(has_activity=lambda: False), object()) == []
    assert "no pin changes in the time to show, so --plot" in capsys.readouterr().err
    assert not (tmp_path / "o.png").exists()


def test_file_without_recording_is_named(tmp_path, capsys):
    named = outputs(plot=tmp_path / "o.png", vcd=tmp_path / "o.vcd", hdf5=tmp_path / "o.h5")
    assert named.write(FinishedExperiment(), None, object(), "no kernel has run") == []
    assert capsys.readouterr().err == (
        f"kairos: no kernel has run, so --vcd {tmp_path}/o.vcd, --plot {tmp_path}/o.png are not written\n"
    )


def test_interrupt_while_a_place_is_checked_leaves_no_file(tmp_path, monkeypatch):
    """An empty file would be taken for the results of the run that was interrupted."""
    # As in a process of its own: the command may have run in this one, and pytest is a library.
    monkeypatch.setattr(signals._arrivals, "libraries", ())
    monkeypatch.setattr(signals._arrivals, "_raised", float("-inf"))
    status = os.fstat

    def interrupted(*_):
        monkeypatch.setattr(os, "fstat", status)
        signals._arrivals.arrived(signal.SIGINT, sys._getframe())
        return os.stat(tmp_path / "run.h5")

    monkeypatch.setattr(os, "fstat", interrupted)
    with pytest.raises(signals.Terminated):
        _check_place(tmp_path / "run.h5")
    assert list(tmp_path.iterdir()) == []
