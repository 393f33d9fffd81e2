"""The output files of a run.

Files that cannot be written are detected before the run. Afterwards each file is written regardless
of failures of the others, the datasets first, since they cannot be obtained again.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from .. import files
from ..errors import CommandLineError, UsageError
from ..experiment.arguments import quantity
from ..pictures import FORMATS, prepare
from ..runs import ResultsFile, is_replaceable
from ..waveform.plot import write_plot
from ..waveform.vcd import write_vcd
from ..waveform.window import Window
from .printed import print_notice
from .signals import held

__all__ = ["Outputs", "check_picture", "duration_ns", "table_limit", "window_of"]

OF_PINS = ("--vcd", "--scope", "--pulses", "--plot")
"""Options of files about pin activity."""


class Outputs:
    """The output files named by the command line `args` of a run."""

    def __init__(self, args):
        named = {"-o": args.hdf5} | {
            f"--{name}": getattr(args, name) for name in ("vcd", "pulses", "scope", "log", "plot")
        }
        self.files = {option: Path(path) for option, path in named.items() if path is not None}
        self._folder = Path.cwd()
        self.results = None if args.hdf5 is None else ResultsFile(args.hdf5)
        self._quiet = args.quiet
        self._interrupted = False
        self._later: list[str] = []
        self._written_datasets: Path | None = None

    def check(self):
        """Raise UsageError for a file that cannot be written, or has an unsupported format."""
        places: dict[Path, str] = {}
        for option, path in self.files.items():
            if option == "--plot":
                check_picture(option, path)
            if option == "--scope" and path.suffix not in (".html", ".htm"):
                raise CommandLineError(f"--scope {path}: the file name of the HTML page must end with .html")
            other = places.setdefault(path.resolve(), option)
            if other != option:
                raise CommandLineError(f"{other} and {option} name the same file, {path}")
            _check_replaceable(option, path)
            if option == "-o" and path.exists() and not path.is_file() and not path.is_dir():
                raise UsageError(f"-o {path} cannot be written: it is not a regular file but a device or a pipe")
            if option == "-o" and self.results.is_folder:
                path = path / "last_rid.pyon"
            try:
                _check_place(path)
            except OSError as error:
                raise UsageError(f"{option} {path} cannot be written: {error.strerror}") from None

    def return_to_folder(self):
        """Make the names of the files mean what they did when the run began: an experiment may have changed the
        working directory. UsageError if that is gone."""
        try:
            os.chdir(self._folder)
        except OSError as error:
            raise UsageError(f"{self._folder}, in which the run began: {error.strerror}") from None

    def next_rid(self) -> int:
        """Return the number of the run; 0 if its datasets are not written."""
        return 0 if self.results is None else self.results.next_rid()

    def prepare(self):
        """Begin what takes time before the other files are written, while the device is read."""
        if "--plot" in self.files:
            prepare()

    def write_datasets(self, experiment, started: float, completed=True) -> list[str]:
        """Write the datasets of an experiment that began at `started` (Unix time), if a file is
        named; returns a line if they could not be written. `completed`: the run ended as intended.
        """
        if "-o" not in self.files:
            return []
        return self._written("-o", lambda: self._write_datasets(experiment, started, completed), self._later)

    def write(self, experiment, shown, device, why: str | None = None, interrupted=False) -> list[str]:
        """Write the other files: those about the pins, in the recording of `shown` (`Shown`; None:
        there is none, because of `why`), the pulses of the `device`, pictures of applets; returns
        one line for each that could not be written. `interrupted`: the user does not want to wait
        for them.
        """
        self._interrupted = interrupted
        # With the others, below the table.
        print(*self._later, sep="", end="")
        failures, missing = [], []
        for option in self.files:
            if option == "--log":
                failures += self._written(option, lambda: _check_log(self.files["--log"], device))
            elif option == "--plot" and shown is not None and not shown.has_activity():
                print_notice(f"kairos: no pin changes in the time to show, so --plot {self.files[option]} is not drawn")
            elif option != "-o" and shown is not None:
                failures += self._written(option, lambda option=option: self._draw(option, shown, experiment, device))
            elif option in OF_PINS:
                missing.append(option)
        if "--plot" in self.files and not self._interrupted:
            drawn, lines = self._draw_applets(experiment, has_pins=(shown or device) is not None)
            failures += lines
            if (drawn or lines) and "--plot" in missing:
                missing.remove("--plot")
        self.report_missing(why, missing)
        return failures

    def report_missing(self, why: str | None, options=None):
        """Report the files of these options, by default all that are written after a run, which are
        not written because of `why`."""
        chosen = [option for option in self.files if option != "--log"] if options is None else options
        missing = [f"{option} {self.files[option]}" for option in chosen]
        if missing:
            verb = "is" if len(missing) == 1 else "are"
            print_notice(f"kairos: {why}, so {', '.join(missing)} {verb} not written")

    def _written(self, option: str, write: Callable[[], Path | None], later: list | None = None) -> list[str]:
        """Write a file; returns a line if that fails. `write` returns the path, or None if there is
        nothing to report; the report is printed, or added to `later`."""
        named = f"{option} {self.files[option]}"
        if self._interrupted:
            return [f"{named} is not written: interrupted"]
        try:
            path = write()
        except UsageError as error:
            return [f"{option} {error}"]
        except KeyboardInterrupt:
            self._interrupted = True
            return [f"{named} is not written: interrupted"]
        except Exception as error:  # of a library that draws or stores the user's values
            return [f"{named} cannot be written: {files.reason(error)}"]
        if path is not None and not self._quiet:
            line = f"wrote {path}\n"
            print(line, end="") if later is None else later.append(line)
        return []

    def _write_datasets(self, experiment, started, completed) -> Path | None:
        """Return the file with the datasets, and with what repeats the run; None if it failed before there was
        either, which replaces nothing."""
        if not (completed or experiment.datasets.local or _has_run(experiment)):
            why = "the run has set no dataset, and no kernel has run"
            print_notice(f"kairos: -o {self.results.named} is not written: {why}")
            return None
        path = self.results.path(experiment.rid, experiment.name, started, completed)
        files.folder(path.parent)  # it may have been removed meanwhile
        try:
            experiment.write_datasets(path, started)
        except BaseException:
            self.results.give_up(path)
            raise
        self._written_datasets = path
        if self.results.was_changed and not self._quiet:
            print_notice(f"kairos: {self.results.named} was written by others during the run, and is kept")
        return path

    def add_waveform(self, experiment, started: float, waveform: dict):
        """Write the datasets again, if they are written, with the waveform of the run."""
        if self._written_datasets is not None:
            experiment.write_datasets(self._written_datasets, started, waveform)

    def _draw_applets(self, experiment, has_pins) -> tuple[list[Path], list[str]]:
        """Draw the applets of the `experiment` next to the picture of its pins; returns the
        pictures, and one line per failure."""
        path = self.files["--plot"]
        try:
            drawn, failures = experiment.applets.draw(path)
        except KeyboardInterrupt:
            return [], [f"--plot {path}: the applets are not drawn: interrupted"]
        for picture in drawn if not self._quiet else []:
            print(f"wrote {picture}")
        if not (drawn or failures or has_pins):
            failures = [
                f"--plot {path}: the experiment created no applets, and only emulated devices record their pins"
            ]
        return drawn, failures

    def _draw(self, option, shown, experiment, device) -> Path:
        title, path, recording = experiment.name, self.files[option], shown.recording
        path.parent.mkdir(parents=True, exist_ok=True)
        if option == "--vcd":
            for line in write_vcd(path, recording):
                print(f"{path}: {line}")
        elif option == "--plot":
            write_plot(path, recording, title, shown.window, shown.lanes())
        elif option == "--scope":
            # Imported late: it loads NumPy.
            from ..scope.run import write_run

            database = experiment.devices.ddb
            write_run(path, recording, database.entries, database.channel_names(), device, title)
        else:
            # Imported late: it loads NumPy and the model.
            from ..pulse import Recording as Pulses

            Pulses.of(device).save(path)
        return path


def check_picture(option: str, path):
    """Raise UsageError, naming the option, if the file name of a picture has no supported suffix."""
    if Path(path).suffix not in FORMATS:
        raise CommandLineError(
            f"{option} {path}: the file name must end with {', '.join(FORMATS)}, which selects the format"
        )


def window_of(args) -> Window:
    """Return the window that the command line requests. CommandLineError for times that are none."""
    last, last_ns = None, None
    if args.last is not None and args.last.isdecimal():
        last = int(args.last)
    elif args.last is not None:
        last_ns = duration_ns("--last", args.last)
    start, end = (
        None if text is None else duration_ns(option, text)
        for option, text in (("--from", args.start), ("--to", args.end))
    )
    if start is not None and end is not None and end <= start:
        raise CommandLineError(f"--to {args.end} is not after --from {args.start}")
    channels = None if args.channels is None else [name for name in args.channels.split(",") if name]
    return Window(start, end, channels, last, last_ns)


def duration_ns(option: str, text: str) -> int:
    """Return a time in nanoseconds; CommandLineError for a text without a unit, unless it is 0."""
    try:
        with suppress(ValueError):
            if float(text) != 0:
                raise TypeError
        return round(float(quantity(text, "s")) * 1e9)
    except (TypeError, ValueError, OverflowError):
        raise CommandLineError(f"{option} {text}: give a time with its unit, as in 20us") from None


def table_limit(text: str, noun: str) -> int | None:
    """Return the number of rows requested by ``--table``, None for all; `noun`: their name.
    UsageError if it is no number."""
    if text == "all":
        return None
    if not text.isdecimal():
        raise CommandLineError(f"--table {text}: give a number of {noun}, or 'all'")
    return int(text)


def _has_run(experiment) -> bool:
    """Return whether a kernel has begun."""
    statistics = experiment.statistics()
    return statistics is not None and bool(statistics.kernels)


def _check_log(path: Path, device):
    """Raise UsageError if the `device`, which writes its log to `path` while it runs, could not
    complete it. The partial log is reported, and truncated after a complete line."""
    if device is None or not device.is_alive() or (why := device.log_failure()) is None:
        return
    text = path.read_bytes() if path.is_file() else b""
    whole = text[: text.rfind(b"\n") + 1]
    if whole:
        os.truncate(path, len(whole))
        lines = whole.count(b"\n")
        raise UsageError(f"{path} is incomplete, it ends after {lines:,} lines: {why}")
    if path.is_file():
        path.unlink()
    raise UsageError(f"{path} cannot be written: {why}")


def _check_replaceable(option: str, path: Path):
    """Raise CommandLineError if there is a file at `path` that no run has written."""
    if path.is_file() and (path.suffix == ".py" or (option == "-o" and not is_replaceable(path))):
        kind = "a Python file" if path.suffix == ".py" else "not an HDF5 file"
        raise CommandLineError(f"{option} {path} exists and is {kind}, which is kept: give the output another name")


def _check_place(path: Path):
    """Raise OSError if a file cannot be written there. An existing file is unchanged."""
    path = path.resolve()  # a symbolic link stays, even if there is nothing yet where it leads to
    path.parent.mkdir(parents=True, exist_ok=True)
    with held():  # a signal would leave an empty file, as if it were the results
        try:
            made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        except FileExistsError:
            with path.open("ab"):
                return
        try:
            if os.path.samestat(os.fstat(made), path.stat()):  # and not a file of another run, which has just ended
                path.unlink()
        finally:
            os.close(made)
