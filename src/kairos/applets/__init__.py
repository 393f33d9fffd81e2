"""Applets: programs that show datasets in a window while experiments run, or draw them once to a
file.

A laboratory derives a widget, and its program ends with ``SimpleApplet(Widget)``, `add_dataset` for
each dataset and `run`. The source of the datasets is given on the command line: a result file, the
dataset store, or a server.

A widget is constructed as ``Widget(args, req)`` (older ones as ``Widget(args)``), and is a Qt
widget, or has ``figure``, a matplotlib figure. It has the method ``data_changed(value, metadata,
persist, mods)``: three dictionaries by dataset, and the changes; older ones take ``(data, mods)``,
with ``data[key]`` as (persist, value, metadata). With a `TitleApplet` the title is the last
argument.
"""

import argparse
import inspect
import os
import re
import sys
import time
from pathlib import Path

from ..errors import KairosError
from .sources import AppletError, FileSource, ServerSource, StoreSource
from .toolkits import show

__all__ = ["AppletError", "AppletRequests", "SimpleApplet", "TitleApplet"]

SERVER = "KAIROS_APPLET_SERVER"
"""Environment variable: HOST:PORT of the datasets of the run that has started the applet."""


class AppletRequests:
    """Requests of a widget to modify the datasets of its source."""

    def __init__(self, source):
        self._source = source

    def set_dataset(self, key, value, unit=None, scale=None, precision=None, persist=None):
        """Set a dataset."""
        metadata = {"unit": unit, "scale": scale, "precision": precision}
        given = {name: entry for name, entry in metadata.items() if entry is not None}
        self._source.set(key, value, persist, given)

    def mutate_dataset(self, key, index, value):
        """Set an element of a dataset."""
        self._source.update({"action": "setitem", "path": [key, 1], "key": index, "value": value})

    def append_to_dataset(self, key, value):
        """Append to a dataset that is a list."""
        self._source.update({"action": "append", "path": [key, 1], "x": value})

    def set_argument_value(self, expurl, key, value):
        """AppletError: there is no dashboard that has arguments."""
        raise AppletError(f"there is no dashboard to set the argument {key} of {expurl}")


class SimpleApplet:
    """A program around a widget. `argparser` accepts further options; `args` are the parsed ones,
    after `args_init`."""

    def __init__(self, main_widget_class, cmd_description=None, default_update_delay=0.0):
        self.main_widget_class = main_widget_class
        self.argparser = argparse.ArgumentParser(description=cmd_description)
        self._required: list[str] = []
        self._names: list[str] = []
        common = self.argparser.add_argument_group("where the datasets are")
        source = common.add_mutually_exclusive_group()
        source.add_argument("--file", metavar="FILE", help="an HDF5 file of kairos run -o; shown again when it changes")
        source.add_argument("--dataset-db", metavar="FILE", help="the datasets that runs keep; default: dataset_db.mdb")
        source.add_argument("--server", metavar="HOST", help="a server that publishes datasets, such as ARTIQ's master")
        common.add_argument("--port-notify", type=int, default=3250, help="its port for datasets; default: %(default)s")
        common.add_argument("--port-control", type=int, default=3251, help="its port for changes; default: %(default)s")
        shown = self.argparser.add_argument_group("how they are shown")
        shown.add_argument(
            "--update-delay", type=float, default=default_update_delay, help="seconds to wait for further changes"
        )
        shown.add_argument("--picture", metavar="FILE", help="draw what there is to this file (png, pdf, svg), and end")
        self._datasets = self.argparser.add_argument_group("datasets")

    def add_dataset(self, name, help=None, required=True):
        """Add a dataset to the command line: as a positional argument if required, else as the
        option ``--name``."""
        self._names.append(name)
        if required:
            self._required.append(name)
        self._datasets.add_argument(name if required else f"--{name}", metavar=name.upper(), help=help)

    def args_init(self, words=None):
        """Parse the command line, or the given words."""
        self.args = self.argparser.parse_args(words)

    def run(self):
        """Show the widget until its window is closed. On an error the program exits with one line."""
        self.args_init()
        try:
            source = self._source()
            try:
                show(self._create_widget, _Changes(self, source), self.args)
            finally:
                source.close()
        except KairosError as error:
            sys.exit(f"applet: {error}")

    def draw(self, words, picture, source):
        """Draw the current content of `source` to the file `picture`, with the given command-line
        words. KairosError, and SystemExit for invalid words."""
        self.args_init([*words, "--picture", str(picture)])
        show(self._create_widget, _Changes(self, source), self.args)

    def _source(self):
        args = self.args
        if args.file is not None:
            return FileSource(args.file)
        if args.server is not None:
            return ServerSource(args.server, args.port_notify, args.port_control)
        if args.dataset_db is None and SERVER in os.environ:
            host, _, port = os.environ[SERVER].rpartition(":")
            return ServerSource(host, int(port))
        path = Path(args.dataset_db or "dataset_db.mdb")
        if not path.exists():
            raise AppletError(f"there is no dataset store {path}: give --file, --dataset-db or --server")
        return StoreSource(path)

    def _create_widget(self, source):
        """Construct the widget."""
        cls = self.main_widget_class
        taken = _positional(cls.__init__) - 1 if inspect.isfunction(cls.__init__) else 2
        return cls(self.args, AppletRequests(source)) if taken >= 2 else cls(self.args)

    def _title(self, values: dict) -> str | None:
        """Return the title above the widget; None without one."""
        return None

    def _shown(self) -> set[str]:
        """Return the names of the shown datasets."""
        return {key for name in self._names if (key := getattr(self.args, name.replace("-", "_"))) is not None}


class TitleApplet(SimpleApplet):
    """An applet with a title, ``--title``, in which ``{NAME}`` is the value of a dataset of the applet."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.argparser.add_argument("--title", metavar="TEXT", help="title, in which {NAME} is the value of a dataset")

    def _title(self, values):
        def filled(place):
            try:
                return format(values[place[1]], place[2] or "")
            except (KeyError, ValueError, TypeError):
                return place[0]

        return re.sub(r"\{([^{}:]+)(?::([^{}]*))?\}", filled, self.args.title or "")


def _positional(function) -> int:
    """Return the number of positional arguments of a function; 9 for any number."""
    parameters = inspect.signature(function).parameters.values()
    if any(one.kind is one.VAR_POSITIONAL for one in parameters):
        return 9
    return sum(one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) for one in parameters)


class _Changes:
    """Passes changes to a widget, in the form that its ``data_changed`` takes."""

    def __init__(self, applet: SimpleApplet, source):
        self._applet, self.source = applet, source

    def pass_on_first(self, widget):
        """Wait for the initial datasets, and pass them to the widget."""
        for _ in range(100):
            if self.pass_on(widget):
                return
            time.sleep(0.05)
        raise AppletError("there are no datasets yet")

    def pass_on(self, widget) -> bool:
        """Pass changes to the widget; returns whether there were any."""
        new = self.source.changes()
        if new is None:
            return False
        datasets, changes = new
        shown = self._applet._shown()
        mine = {key: entry for key, entry in datasets.items() if key in shown}
        changes = [change for change in changes if _concerns(change, shown)]
        if not changes:
            return False
        title = self._applet._title({key: value for key, (_, value, *_) in mine.items()})
        ending = () if title is None else (title,)
        if _positional(widget.data_changed) >= 4:
            value, metadata, persist = (
                {key: ({} if len(entry) <= place else entry[place]) for key, entry in mine.items()}
                for place in (1, 2, 0)
            )
            widget.data_changed(value, metadata, persist, changes, *ending)
        else:
            widget.data_changed(mine, changes, *ending)
        return True


def _concerns(change, shown) -> bool:
    if change["action"] == "init":
        return True
    return (change["path"][0] if change["path"] else change.get("key")) in shown
