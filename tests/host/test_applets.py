"""Applets: programs that display datasets of a file, the store, a server or a running experiment."""

import importlib.util
import os
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
from matplotlib import rcParams

from kairos import pictures
from kairos.applets import supplied
from kairos.applets.live import Published
from kairos.applets.sources import AppletError, FileSource, ServerSource, StoreSource
from kairos.errors import UsageError
from kairos.experiment.datasets import DatasetDB, DatasetManager
from kairos.experiment.hdf5 import write_hdf5
from kairos.experiment.store import DatasetStore
from tests.support import TIMEOUT
from tests.support.waiting import until

PROGRAM = """
from matplotlib.figure import Figure
from artiq.applets.simple import {kind}

class Curve:
    def __init__(self, {arguments}):
        self.args = args
        self.figure = Figure()

    def data_changed(self, {taken}):
        print("{taken}".split(", ")[0], {shown})
        self.figure.add_subplot().plot({data})

def main():
    applet = {kind}(Curve, default_update_delay=0.1)
    applet.add_dataset("y", "Y values")
    applet.add_dataset("x", "X values", required=False)
    applet.argparser.add_argument("--pen", type=int, default=1)
    applet.run()

if __name__ == "__main__":
    main()
"""
NEW = {
    "arguments": "args, req",
    "taken": "value, metadata, persist, mods, title",
    "shown": "sorted(value), metadata[self.args.y], persist[self.args.y], mods[0]['action'], title, self.args.pen",
    "data": "value[self.args.x], value[self.args.y]",
}
OLD = {
    "arguments": "args",
    "taken": "data, mods, title",
    "shown": "sorted(data), data[self.args.y][0], mods[0]['action'], title",
    "data": "data[self.args.y][1]",
}


@pytest.fixture
def results(tmp_path):
    """A results file of a run."""
    datasets = DatasetManager()
    datasets.set("scan.y", np.array([1.0, 4.0, 9.0]), {"unit": "ms", "scale": 1e-3})
    datasets.set("scan.x", [1, 2, 3], {})
    datasets.set("odd", {"a": (1, None)}, {})
    path = tmp_path / "results.h5"
    write_hdf5(path, datasets)
    return path


def run(*words, directory, **environment):
    return subprocess.run(
        [sys.executable, "-m", *map(str, words)],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize(("kind", "form"), [("TitleApplet", NEW), ("TitleApplet", OLD)], ids=["new", "old"])
def test_user_applet_draws_datasets_of_a_file(results, tmp_path, kind, form):
    (tmp_path / "curve.py").write_text(PROGRAM.format(kind=kind, **form))
    words = ["scan.y", "--x", "scan.x", "--file", results, "--title", "{odd} of {scan.x}", "--pen", "3"]
    done = run("kairos.compat", "curve.py", *words, "--picture", "curve.png", directory=tmp_path)
    assert done.returncode == 0, done.stderr
    printed = done.stdout.strip()
    if form is NEW:
        assert (
            printed
            == "value ['scan.x', 'scan.y'] {'scale': np.float64(0.001), 'unit': 'ms'} False init {odd} of [1 2 3] 3"
        )
    else:
        assert printed == "data ['scan.x', 'scan.y'] False init {odd} of [1 2 3]"
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("name", "words", "value"),
    [
        ("big_number", ["v"], 0.0125),
        ("image", ["v"], np.arange(6.0).reshape(2, 3)),
        ("plot_hist", ["v"], [3, 1, 2]),
        ("plot_xy", ["v", "--fit", "v", "--error", "v"], [1.0, 2.0]),
        ("plot_xy_hist", ["x", "edges", "v"], np.ones((2, 3))),
        ("progress_bar", ["v", "--max", "10"], 4),
    ],
)
def test_each_supplied_applet_draws_its_picture(tmp_path, monkeypatch, name, words, value):
    store = DatasetStore(tmp_path / "dataset_db.mdb")
    for key, kept in {"v": value, "x": [1.0, 2.0], "edges": np.arange(4)}.items():
        store.set(key, kept, persist=True, metadata={"unit": "ms", "scale": 1e-3})
    store.close_db()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(rcParams, "svg.fonttype", "none")
    for title, first in (("all", words[0]), ("absent", "absent")):
        picture = f"{title}.svg"
        monkeypatch.setattr("sys.argv", ["applets", name, first, *words[1:], "--picture", picture])
        supplied.main()
        text = (tmp_path / picture).read_text()
        assert "</svg>" in text and ("no dataset absent yet" in text) == (title == "absent")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["y"], "applet: there is no dataset store dataset_db.mdb: give --file, --dataset-db or --server"),
        (["y", "--file", "none.h5"], "applet: there is no file none.h5"),
        (
            ["y", "--file", "bad.h5", "--picture", "a.png"],
            "applet: bad.h5 cannot be read: it is not an HDF5 file, or is damaged",
        ),
        (
            ["y", "--file", "bad.h5", "--picture", "a.txt"],
            "applet: --picture a.txt: the file name of a picture must end with .png",
        ),
        (["y", "--server", "127.0.0.1", "--port-notify", "1"], "applet: no datasets at 127.0.0.1, port 1"),
        (["y", "--file", "good.h5"], "applet: no graphical toolkit is installed, or there is no display"),
    ],
)
def test_missing_input_is_reported_in_one_line(results, tmp_path, words, text):
    (tmp_path / "bad.h5").write_text("no file of this kind")
    results.rename(tmp_path / "good.h5")
    done = run("kairos.applets", "plot_xy", *words, directory=tmp_path, MPLBACKEND="agg")
    assert done.returncode == 1
    assert done.stderr.startswith(text) and len(done.stderr.splitlines()) == 1, done.stderr


def test_missing_toolkit_is_reported_in_one_line(tmp_path):
    (tmp_path / "plot.py").write_text("import PyQt4\nimport pyqtgraph\n")
    done = run("kairos.compat", "plot.py", directory=tmp_path)
    assert done.returncode == 1
    assert done.stderr == "plot.py draws with PyQt4, which is not installed: pip install PyQt4\n"


def test_widget_without_toolkit_is_rejected_with_reason(tmp_path, results):
    (tmp_path / "plot.py").write_text(
        "from artiq.applets.simple import SimpleApplet\nclass W:\n    def __init__(self, args, req):\n        pass\n"
        "applet = SimpleApplet(W)\napplet.add_dataset('y')\napplet.run()\n"
    )
    done = run("kairos.compat", "plot.py", "scan.y", "--file", results, directory=tmp_path)
    assert done.returncode == 1 and "W cannot be shown: derive it from a Qt widget" in done.stderr


def test_rewritten_file_is_reported_as_change(results):
    source = FileSource(results)
    datasets, changes = source.changes()
    assert [change["action"] for change in changes] == ["init"] and datasets["odd"][1] == {"a": (1, None)}
    assert source.changes() is None
    written = DatasetManager()
    written.set("scan.x", [1, 2, 3], {})
    written.set("new", 5, {})
    write_hdf5(results, written)
    datasets, changes = source.changes()
    assert sorted((change["action"], change["key"]) for change in changes) == [
        ("delitem", "odd"),
        ("delitem", "scan.y"),
        ("setitem", "new"),
    ]
    with pytest.raises(AppletError, match="are results: an applet cannot change them"):
        source.set("a", 1)


def test_store_reports_and_accepts_changes_of_other_processes(tmp_path):
    path = tmp_path / "store.mdb"
    store = DatasetStore(path)
    store.set("a", [1], persist=True, metadata={"unit": "s"})
    store.close_db()
    source = StoreSource(path)
    assert source.changes()[0] == {"a": (True, [1], {"unit": "s"})}
    program = (
        "from kairos.experiment.store import DatasetStore\nimport sys\n"
        "store = DatasetStore(sys.argv[1])\nstore.set('b', 2, persist=True)\nstore.close_db()"
    )
    subprocess.run([sys.executable, "-c", program, path], check=True)
    assert source.changes()[1] == [{"action": "setitem", "path": [], "key": "b", "value": (True, 2, {})}]
    source.update({"action": "append", "path": ["a", 1], "x": 7})
    source.close()
    assert DatasetStore(path).kept()["a"] == (True, [1, 7], {"unit": "s"})


def test_changed_datasets_of_a_run_are_published():
    threads = threading.active_count()
    datasets = DatasetManager(Published(DatasetDB()))
    datasets.set("early", [1], {}, broadcast=True)
    host, _, port = datasets.ddb.address.partition(":")
    source = ServerSource(host, int(port))
    seen = []

    def known(wanted):
        def have():
            new = source.changes()
            seen.extend(new[1] if new else [])
            return source._datasets == wanted

        until(have)

    known({"early": (False, [1], {})})
    for number in range(100):
        datasets.append_to("early", number)
    datasets.set("own", 1, {})
    datasets.set("late", np.int32(2), {"unit": "V"}, broadcast=True)
    known({"early": (False, [1, *range(100)], {}), "late": (False, 2, {"unit": "V"})})
    assert len(seen) < 20, "quick changes are combined"
    datasets.set("late", 3, {})
    datasets.append_to("early", 100)
    datasets.ddb.close_db()
    known({"early": (False, [1, *range(101)], {})})
    with pytest.raises(AppletError, match="does not accept dataset modifications"):
        source.set("a", 1)
    assert threading.active_count() < threads + 20


def test_missing_file_or_server_is_rejected():
    with pytest.raises(UsageError):
        FileSource("/nowhere.h5")
    with pytest.raises(AppletError, match="give --file or --dataset-db, or start the server"):
        ServerSource("127.0.0.1", 1)


LIVE = """from artiq.experiment import *

class Scan(EnvExperiment):
    def build(self):
        self.setattr_device("ccb")

    def run(self):
        self.set_dataset("scan.y", [1.0, 2.0], broadcast=True)
        self.ccb.issue("create_applet", "curve", "${artiq_applet}plot_xy scan.y --picture live.png", group=["plots"])
        self.ccb.issue("create_applet", "own", "scan.y --picture own.png", code=CODE)
        self.ccb.issue("create_applet", "module", "${python} -m shown scan.y --picture module.png")
        self.ccb.issue("create_applet", "none", "${artiq_applet}plot_xy scan.y --picture no.txt")
        self.ccb.issue("show_something", 1)
        import pathlib, time
        end = time.monotonic() + 60
        pictures = [pathlib.Path(name + ".png") for name in ("live", "own", "module")]
        while time.monotonic() < end and not all(p.exists() and b"IEND" in p.read_bytes()[-8:] for p in pictures):
            time.sleep(0.1)
        self.ccb.issue("disable_applet", "own")
        self.ccb.issue("disable_applet_group", "plots")
"""


def test_applets_created_by_experiment_are_shown(kairos):
    program = PROGRAM.format(kind="TitleApplet", **{**NEW, "data": "value[self.args.y]"})
    (kairos.directory / "shown.py").write_text(program)
    path = kairos.write(LIVE + f"\nCODE = {program!r}\n", "")
    done = kairos("run", path, "--applets")
    assert done.returncode == 0, done.stderr
    for name in ("live", "own", "module"):
        assert (kairos.directory / f"{name}.png").read_bytes().startswith(b"\x89PNG"), done.stderr
    assert "--picture no.txt" in done.stderr
    for name in ("live", "own", "module"):
        (kairos.directory / f"{name}.png").unlink()


PICTURED = """from artiq.experiment import *
import numpy as np

class Scan(EnvExperiment):
    def build(self):
        self.setattr_device("ccb")

    def applet(self, name, command, **more):
        self.ccb.issue("create_applet", name, "${artiq_applet}" + command, **more)

    def run(self):
        x = np.linspace(0, 20e-6, 25)
        fit = np.sin(3e5 * x) ** 2
        noise = np.random.default_rng(1).normal(0, 0.05, (2, 25))
        time = {"unit": "us", "scale": 1e-6}
        counts = np.random.default_rng(2).poisson(np.multiply.outer(fit, [1.0, 5.0, 9.0, 4.0, 1.0]) + 1)
        for key, value, more in [
            ("rabi.x", x, time), ("rabi.y", fit + noise[0], {}), ("rabi.fit", fit, {}),
            ("rabi.error", abs(noise[1]), {}), ("counts", [3, 17, 40, 22, 9], {}),
            ("edges", [0, 1, 2, 4, 8, 16], {}), ("hist", counts, {}),
            ("rate", 0.0123, {"unit": "mV", "scale": 1e-3}), ("camera", np.hypot(*np.indices((20, 30)) - 9), {}),
        ]:
            self.set_dataset(key, value, broadcast=True, **more)
        self.applet("Rabi flop", "plot_xy rabi.y --x rabi.x --fit rabi.fit --error rabi.error --title 'Rabi flop'",
                    group=["729", "scans"])
        self.applet("hist", "plot_hist counts --x edges")
        self.applet("number", "big_number rate --digit-count 3")
        self.applet("image", "image camera")
        self.applet("xyhist", "plot_xy_hist rabi.x edges hist")
        self.applet("bar", "progress_bar rate")
        self.ccb.issue("create_applet", "own", "nothing", code="raise ValueError('of the applet')")
        self.ccb.issue("create_applet", "own", "rabi.y", group="own", code=CODE)
        self.applet("o/wn", "plot_xy private")
        self.set_dataset("private", [1, 2])
        self.ccb.issue("disable_applet", "hist")
        raise RuntimeError("at the end")
"""


def test_applets_created_by_experiment_are_drawn(kairos):
    """Including closed applets, and applets of a failed run."""
    program = PROGRAM.format(kind="TitleApplet", **{**NEW, "data": "value[self.args.y]"})
    path = kairos.write(f"{PICTURED}\nCODE = {program!r}\n", "")
    done = kairos("run", path, "--plot", "out/pins.svg", env={"MPLBACKEND": "svg"})
    assert done.returncode == 1 and "RuntimeError: at the end" in done.stderr
    assert "out/pins-own.svg is not drawn: ValueError: of the applet" in done.stderr
    written = [line.removeprefix("wrote out/") for line in done.stdout.splitlines() if line.startswith("wrote out/")]
    names = ["729-scans-Rabi-flop", "hist", "number", "image", "xyhist", "bar", "own-own", "o-wn"]
    assert written == [f"pins-{name}.svg" for name in names], done.stderr
    for name in written:
        assert "</svg>" in (kairos.directory / "out" / name).read_text()
    assert len(list((kairos.directory / "out").iterdir())) == len(written)


def test_applet_is_drawn_only_after_matplotlib_is_loaded(results, tmp_path, monkeypatch):
    """At the end of a run it is loaded in the background, and a module that is half initialised draws nothing."""
    steps = []

    class Loading:
        def join(self):
            steps.append("loaded")

    monkeypatch.setattr(pictures, "_loading", Loading())
    construct = supplied.PlotXY.__init__

    def constructed(widget, *args):
        steps.append("constructed")
        construct(widget, *args)

    monkeypatch.setattr(supplied.PlotXY, "__init__", constructed)
    supplied.supplied("plot_xy").draw(["scan.y"], tmp_path / "picture.png", FileSource(results))
    assert steps[:2] == ["loaded", "constructed"] and (tmp_path / "picture.png").exists()


def test_plot_without_applets_and_pins_fails_with_reason(kairos):
    body = "from artiq.experiment import *\nclass Exp(EnvExperiment):\n    def run(self):\n        pass\n"
    done = kairos("run", kairos.write(body, ""), "--plot", "pins.png", device_db=real_device(kairos))
    assert done.returncode == 1
    assert done.stderr == (
        "kairos: --plot pins.png: the experiment created no applets, and only emulated devices record their pins\n"
    )


def real_device(kairos):
    """A device database of a real device, which is not reachable."""
    path = kairos.directory / "device_db.py"
    arguments = '{"host": "192.0.2.1", "ref_period": 1e-9}'
    entry = '"type": "local", "module": "artiq.coredevice.core", "class": "Core"'
    path.write_text(f'device_db = {{"core": {{{entry}, "arguments": {arguments}}}}}\n')
    return path


QT = """
from {binding} import QtWidgets, QtCore
from artiq.applets.simple import SimpleApplet

class Number(QtWidgets.QLabel):
    def __init__(self, args, req):
        super().__init__()
        self.args = args

    def data_changed(self, value, metadata, persist, mods):
        print("shown", value[self.args.num], type(self).__mro__[1].__module__, flush=True)
        if value[self.args.num] == 0:
            raise ValueError("of the widget")
        QtCore.QTimer.singleShot(0, self.close)

applet = SimpleApplet(Number)
applet.add_dataset("num")
applet.run()
"""


def test_qt_widget_is_shown_and_its_error_reported(tmp_path):
    binding = next((name for name in ("PyQt6", "PySide6", "PyQt5") if _has(name)), None)
    if binding is None:
        pytest.skip("no binding of Qt is installed")
    (tmp_path / "number.py").write_text(QT.format(binding=binding))
    store = DatasetStore(tmp_path / "dataset_db.mdb")
    store.set("n", 5, persist=True)
    done = run("kairos.compat", "number.py", "n", directory=tmp_path, QT_QPA_PLATFORM="offscreen")
    assert done.returncode == 0 and f"shown 5 {binding}.QtWidgets" in done.stdout, done.stderr
    done = run("kairos.compat", "number.py", "n", "--picture", "n.png", directory=tmp_path, QT_QPA_PLATFORM="offscreen")
    assert (tmp_path / "n.png").read_bytes().startswith(b"\x89PNG"), done.stderr
    store.set("n", 0, persist=True)
    store.close_db()
    done = run("kairos.compat", "number.py", "n", directory=tmp_path, QT_QPA_PLATFORM="offscreen")
    assert done.returncode == 1 and "ValueError: of the widget" in done.stderr


def _has(name):
    return importlib.util.find_spec(name) is not None


def test_control_characters_of_names_are_escaped_in_pictures(tmp_path):
    with pictures.drawing() as pyplot, warnings.catch_warnings():
        warnings.simplefilter("error")  # matplotlib's warning would bring them to the terminal
        figure, axes = pyplot.subplots()
        axes.plot([1, 2], label="\x1b[31mforged\rname")
        axes.legend()
        pictures.save(figure, tmp_path / "picture.svg", 50)
    assert axes.get_legend().get_texts()[0].get_text() == "\\x1b[31mforged\\rname"
