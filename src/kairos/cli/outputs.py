"""The output files of a run.

Files that cannot be written are detected before the run. Afterwards each file is written regardless
of failures of the others, the datasets first, since they cannot be obtained again.
"""

import os
import sys
from pathlib import Path

from .. import files
from ..errors import UsageError
from ..pictures import FORMATS
from ..runs import ResultsFile
from ..waveform.plot import write_plot
from ..waveform.vcd import write_vcd

__all__ = ["Outputs", "check_picture", "table_limit"]

OF_PINS = ("--vcd", "--scope", "--pulses")
"""Options of files about pin activity."""


class Outputs:
    """The output files named by the command line `args` of a run."""

    def __init__(self, args):
        named = {"-o": args.hdf5} | {
            f"--{name}": getattr(args, name) for name in ("vcd", "plot", "scope", "pulses", "log")
        }
        self.files = {option: Path(path) for option, path in named.items() if path is not None}
        self.results = None if args.hdf5 is None else ResultsFile(args.hdf5)
        self._quiet = args.quiet

    def check(self):
        """Raise UsageError for a file that cannot be written, or has an unsupported format."""
        places: dict[Path, str] = {}
        for option, path in self.files.items():
            if option == "--plot":
                check_picture(option, path)
            if option == "--scope" and path.suffix not in (".html", ".htm"):
                raise UsageError(f"--scope {path}: the file name of the HTML page must end with .html")
            other = places.setdefault(path.absolute(), option)
            if other != option:
                raise UsageError(f"{other} and {option} name the same file, {path}")
            if option == "-o" and path.exists() and not path.is_file() and not path.is_dir():
                raise UsageError(f"-o {path} cannot be written: it is not a regular file but a device or a pipe")
            if option == "-o" and self.results.is_folder:
                path = path / "last_rid.pyon"
            try:
                _check_place(path)
            except OSError as error:
                raise UsageError(f"{option} {path} cannot be written: {error.strerror}") from None

    def next_rid(self) -> int:
        """Return the number of the run; 0 if its datasets are not written."""
        return 0 if self.results is None else self.results.next_rid()

    def write(self, experiment, started, recording, device, completed=True):
        """Write the available results: the datasets of an experiment that began at `started` (Unix
        time), a `recording` of the pins, the pulses of the `device`. Finally raises UsageError for
        those that could not be written. `completed`: the run ended as intended.
        """
        failures = []
        for option, path in self.files.items():
            try:
                if option == "-o":
                    path = self._write_datasets(experiment, started, completed)
                    if path is None:
                        continue
                elif option == "--log":
                    _check_log(path, device)
                elif recording is None:
                    continue
                else:
                    self._draw(option, path, recording, experiment, device)
            except UsageError as error:
                failures.append(f"{option} {error}")
            except (OSError, ValueError) as error:
                failures.append(f"{option} {path} cannot be written: {files.reason(error)}")
            else:
                if not (self._quiet or option == "--log"):
                    print(f"wrote {path}")
        if "--plot" in self.files:
            failures += self._draw_applets(experiment, has_pins=(recording or device) is not None)
        if failures:
            raise UsageError("; ".join(failures))

    def _write_datasets(self, experiment, started, completed) -> Path | None:
        """Return the file with the datasets; None if a run failed before there were any, which
        replaces nothing."""
        if not (completed or experiment.datasets.local):
            print(f"kairos: -o {self.results.named} is not written: the run has set no dataset", file=sys.stderr)
            return None
        path = self.results.path(experiment.rid, experiment.name, started, completed)
        experiment.write_datasets(path, started)
        return path

    def report_no_kernel(self):
        """Report the files that are not written because no kernel has run."""
        missing = [f"{option} {path}" for option, path in self.files.items() if option in OF_PINS]
        if missing:
            print(f"kairos: no kernel has run, so {', '.join(missing)} is not written", file=sys.stderr)

    def _draw_applets(self, experiment, has_pins) -> list[str]:
        """Draw the applets of the `experiment` next to the picture of its pins; returns one line
        per failure."""
        path = self.files["--plot"]
        drawn, failures = experiment.applets.draw(path)
        for picture in drawn if not self._quiet else []:
            print(f"wrote {picture}")
        if not (drawn or failures or has_pins):
            failures = [
                f"--plot {path}: the experiment created no applets, and only emulated devices record their pins"
            ]
        return failures

    def _draw(self, option, path, recording, experiment, device):
        title = experiment.name
        path.parent.mkdir(parents=True, exist_ok=True)
        if option == "--vcd":
            for line in write_vcd(path, recording, title=title):
                print(f"{path}: {line}")
        elif option == "--plot":
            write_plot(path, recording, title=title)
        elif option == "--scope":
            # Imported late: it loads NumPy.
            from ..scope.run import write_run

            database = experiment.devices.ddb
            write_run(path, recording, database.entries, database.channel_names(), device, title)
        else:
            # Imported late: it loads NumPy and the model.
            from ..pulse import Recording as Pulses

            Pulses.of(device).save(path)


def check_picture(option: str, path):
    """Raise UsageError, naming the option, if the file name of a picture has no supported suffix."""
    if Path(path).suffix not in FORMATS:
        raise UsageError(f"{option} {path}: the file name must end with {', '.join(FORMATS)}, which selects the format")


def table_limit(text: str, noun: str) -> int | None:
    """Return the number of rows requested by ``--table``, None for all; `noun`: their name.
    UsageError if it is no number."""
    if text == "all":
        return None
    if not text.isdecimal():
        raise UsageError(f"--table {text}: give a number of {noun}, or 'all'")
    return int(text)


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


def _check_place(path: Path):
    """Raise OSError if a file cannot be written there. An existing file is unchanged."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = not path.exists()
    with path.open("ab"):
        pass
    if new:
        path.unlink()
