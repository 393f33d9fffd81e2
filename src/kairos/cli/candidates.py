"""What may stand at the end of a command line, for the completion scripts of :mod:`kairos.cli.completion`.

A script sets the variable `SHELL_NAMED` to the name of the shell and passes the line up to the cursor. Everything here
is quick and quiet: nothing is imported that takes long, experiments are read but not executed, and what cannot be
found is left out. Files that may do harm, device databases and stores of datasets, are read by a process of their own.
"""

import faulthandler
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from . import commands, outline
from .command import Command, Option
from .line import Word, words_of

__all__ = ["SHELL_NAMED", "candidates", "main"]

SHELL_NAMED = "_KAIROS_COMPLETE"
"""Environment variable: the shell whose command line is to be completed."""
WITHIN = 2
"""Seconds after which nothing is proposed. As with all limits here, waiting for a turn on a busy machine does not
count."""
READ_TIMEOUT = 1.0
"""Seconds for a file to be read by a process of its own."""
LONGEST = 60.0
"""Seconds after which nothing is proposed in any case."""
POLL_S = 0.25
"""Seconds between two polls of a process."""
MOST_FILES = 500
"""Files of a folder that are looked into."""
_CLASS_OPTIONS = ("-c", "--class-name")


def main(line: str, shell: str) -> int:
    """Print what may stand at the end of a command line, one candidate a line."""
    own = _Time(os.getpid())

    def exit_if_over(*_):
        if own.is_over(WITHIN):
            os._exit(0)
        signal.alarm(1)

    signal.signal(signal.SIGALRM, exit_if_over)
    signal.alarm(WITHIN)
    try:
        words = words_of(line)
        # A name with control characters cannot be typed, and would garble the terminal.
        found = [text for text in candidates(words) if text.isprintable()]
        sys.stdout.write("".join(f"{words[-1].inserted(text, shell)}\n" for text in found))
        sys.stdout.flush()
    except Exception:
        return 0  # a prompt is no place for errors
    finally:
        signal.alarm(0)
    return 0


def candidates(words: list[Word]) -> list[str]:
    """Return the texts with which the last of the words may be replaced; the first one is ``kairos``."""
    texts = [word.text for word in words]
    last = texts.pop()
    if len(texts) < 2:
        return _beginning(commands.names(), last)
    command = commands.load(texts[1])
    preceding = _Preceding(command)
    for text in texts[2:]:
        if text in command.tools and not preceding.expects_value:
            command = command.tools[text]
            preceding = _Preceding(command, preceding.values)
        else:
            preceding.take(text)
    option, last_value, before = preceding.completed(last)
    if option is None and command.tools and not last.startswith("-"):
        return _beginning(command.tools, last)
    if option is None:
        return _beginning(_option_names(command), last) if last.startswith("-") else []
    found = _found(option, preceding, last_value)
    return [before + text for text in _beginning(found, last_value)]


def _beginning(texts: Iterable[str], start: str) -> list[str]:
    return sorted({text for text in texts if text.startswith(start)})


def _option_names(command: Command) -> list[str]:
    return [name for option in command.options for name in option.names if name.startswith("--")]


class _Preceding:
    """What a command line says before the word that is completed."""

    def __init__(self, command: Command, values: dict | None = None):
        """`values`: those of the options of the enclosing command."""
        self._named = {name: option for option in command.options for name in option.names if name.startswith("-")}
        self._places = [option for option in command.options if not option.names[0].startswith("-")]
        self.values: dict[str, list[str]] = dict(values or {})
        """By the first name of an option."""
        self._open: Option | None = None
        """The option whose value comes next."""

    @property
    def expects_value(self) -> bool:
        """Whether the next word is the value of an option."""
        return self._open is not None

    def take(self, text: str):
        """Take in the next word."""
        name, equals, value = text.partition("=")
        if self._open is not None:
            self._note(self._open, text)
            self._open = None
        elif equals and name in self._named:
            self._note(self._named[name], value)
        elif text in self._named:
            self._open = self._named[text] if self._named[text].takes_value else None
        elif (place := self._place()) is not None:
            self._note(place, text)

    def _note(self, option: Option, value: str):
        self.values.setdefault(option.names[0], []).append(value)

    def _place(self) -> Option | None:
        """Return the positional argument that comes next."""
        for option in self._places:
            if option.settings.get("nargs") in ("*", "+") or option.names[0] not in self.values:
                return option
        return None

    def completed(self, last: str) -> tuple[Option | None, str, str]:
        """Return the option to which the last word belongs, the part of it that is its value, and
        what is before that."""
        name, equals, value = last.partition("=")
        if self._open is not None:
            return self._open, last, ""
        if equals and name in self._named:
            return self._named[name], value, f"{name}="
        return (None if last.startswith("-") else self._place()), last, ""

    def first(self, *names: str) -> str | None:
        """Return the first value of the option that has one of these names."""
        return next((self.values[name][0] for name in names if name in self.values), None)


# Kinds of values


def _found(option: Option, preceding: _Preceding, start: str) -> Iterable[str]:
    if option.completes in _KINDS:
        return _KINDS[option.completes](preceding, start)
    if "choices" in option.settings:
        return option.settings["choices"]
    return _in_laboratory(option.completes, preceding) if option.completes else ()


def _in_laboratory(kind: str, preceding: _Preceding, of: str = "") -> list[str]:
    # Imported here: not all need it, and sockets take a while.
    from ..labfolder import names

    try:
        return names(kind, of, preceding.first("--lab"))
    except Exception:
        return []


def _files(start: str, wanted: Callable[[Path], bool]) -> list[str]:
    """Return the paths that begin with a text: folders, and files that are wanted."""
    folder, _, name = start.rpartition("/")
    place = Path(f"{folder}/" if start.startswith("/") else folder or ".").expanduser()
    before = f"{folder}/" if "/" in start else ""
    found = []
    for entry in sorted(os.scandir(place), key=lambda each: each.name)[: 10 * MOST_FILES]:
        if not entry.name.startswith(name) or (entry.name.startswith(".") and not name.startswith(".")):
            continue
        if entry.is_dir():
            found += [f"{before}{entry.name}/"] if entry.name != "__pycache__" else []
        elif len(found) < MOST_FILES and wanted(Path(entry.path)):
            found.append(before + entry.name)
    return found


def _experiment_files(preceding: _Preceding, start: str) -> list[str]:
    def wanted(path):
        return path.suffix in (".elf", ".tar") or path.suffix == ".py" and outline.is_experiment_file(path)

    return _files(start, wanted)


def _experiments(preceding: _Preceding, start: str) -> list[str]:
    return [*_in_laboratory("experiment", preceding), *_experiment_files(preceding, start)]


def _file_of(preceding: _Preceding) -> Path | None:
    named = preceding.first("file", "experiment")
    return Path(named).expanduser() if named else None


def _classes(preceding: _Preceding, start: str) -> list[str]:
    file = _file_of(preceding)
    if file is not None and file.is_file():
        return list(outline.experiments(file))
    return _in_laboratory("class", preceding, str(file or ""))


def _arguments(preceding: _Preceding, start: str) -> list[str]:
    """Return ``name=`` of each argument of the experiment, or behind it the values."""
    file, taken = _file_of(preceding), {text.partition("=")[0] for text in preceding.values.get("arguments", ())}
    if file is not None and file.is_file():
        found = outline.experiments(file)
        wanted = preceding.first(*_CLASS_OPTIONS)
        listed = found.get(wanted, {}) if wanted else {key: each[key] for each in found.values() for key in each}
        offered = [f"{key}={value}" for key, values in listed.items() for value in ["", *values]]
    else:
        offered = _in_laboratory("argument", preceding, preceding.first("experiment", "run") or "")
    name, equals, _ = start.partition("=")
    if equals:
        return [text for text in offered if text.startswith(f"{name}=") and not text.endswith("=")]
    return [text for text in offered if text.endswith("=") and text[:-1] not in taken]


def _devices(preceding: _Preceding, start: str) -> list[str]:
    database = Path(preceding.first("--device-db") or "device_db.py")
    found = _in_child(lambda: _database_names(database)) if database.is_file() else []
    return found or _in_laboratory("device", preceding)


def _database_names(path: Path) -> list[str]:
    """Return the names in a device database, as its program makes them."""
    # Imported here: it takes a while, and few words are names of devices.
    from .. import compat

    compat.install()
    names: dict = {"__file__": str(path)}
    exec(compile(path.read_bytes(), str(path), "exec"), names)
    return list(names["device_db"])


def _device_list(preceding: _Preceding, start: str) -> list[str]:
    """Devices as a list with commas."""
    before = start[: start.rfind(",") + 1]
    return [before + name for name in _devices(preceding, start) if name not in before.split(",")]


def _datasets(preceding: _Preceding, start: str) -> list[str]:
    named = preceding.first("--dataset-db")
    found = [] if named else _in_laboratory("dataset", preceding)
    return found or _stored(Path(named or "dataset_db.mdb"))


def _stored(path: Path) -> list[str]:
    return _in_child(lambda: _stored_names(path)) if path.is_file() else []


def _stored_names(path: Path) -> list[str]:
    """Return the names in a store of datasets. LMDB crashes on a damaged one."""
    import lmdb  # imported here: likewise

    with lmdb.open(str(path), subdir=False, readonly=True, lock=False) as store, store.begin() as view:
        return [bytes(key).decode() for key in view.cursor().iternext(True, False)]


class _Time:
    """The time that a process takes from now on."""

    def __init__(self, pid: int):
        self._pid, self._began = pid, time.monotonic()
        self._used, self._delayed, _ = self._seen()

    def _seen(self) -> tuple[float, float, str]:
        """Return how many seconds the process has run and waited for its turn, and its state; zeros if the system
        does not say."""
        try:
            used, delayed = map(int, Path(f"/proc/{self._pid}/schedstat").read_text().split()[:2])
            state = Path(f"/proc/{self._pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (OSError, ValueError, IndexError):
            return 0.0, 0.0, ""
        return used * 1e-9, delayed * 1e-9, state

    def is_over(self, seconds: float) -> bool:
        """Return whether it has run for that long, or has waited for that long for something else than its turn."""
        used, delayed, state = self._seen()
        passed = time.monotonic() - self._began
        if passed > LONGEST or used - self._used >= seconds:
            return True
        waits_for_turn = state == "R" and self._pid != os.getpid()
        return not waits_for_turn and passed - (delayed - self._delayed) >= seconds


def _in_child(find: Callable[[], list[str]]) -> list[str]:
    """Return what a function finds in a process of its own; nothing if it fails, or is slow."""
    ours, its = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            faulthandler.disable()
            null = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(null, number)
            with open(its, "wb") as pipe:
                pipe.write(b"\0".join(str(name).encode() for name in find()))
        finally:
            os._exit(0)
    os.close(its)
    remaining = signal.alarm(0)  # the child has a limit of its own
    read, its_time = b"", _Time(child)
    with open(ours, "rb", buffering=0) as pipe:
        while True:
            if select.select([pipe], [], [], min(POLL_S, READ_TIMEOUT))[0]:
                block = pipe.read(1 << 16)
                if not block:
                    break
                read += block
            if its_time.is_over(READ_TIMEOUT):
                break
    signal.alarm(remaining)
    with suppress(OSError):
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return [name for name in read.decode(errors="replace").split("\0") if name]


def _lockable(preceding: _Preceding, start: str) -> list[str]:
    kind = preceding.first("kind")
    return _devices(preceding, start) if kind == "device" else _in_laboratory(kind or "pipeline", preceding)


_KINDS: dict[str, Callable] = {
    "experiment file": _experiment_files,
    "experiment": _experiments,
    "class": _classes,
    "argument": _arguments,
    "device": _devices,
    "devices": _device_list,
    "dataset": _datasets,
    "lockable": _lockable,
}
"""How values are found; those of other kinds are names that the laboratory knows."""
