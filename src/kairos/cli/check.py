"""``kairos check``: builds the experiments in the given files and checks their kernels with the compiler.

For an experiment it checks `run`, if that is a kernel, and every other kernel of its class whose
arguments are known without running anything: from their defaults, or from annotations, for which a
value of the type is substituted. Functions called by a kernel are checked with it. Before that the
experiment is prepared, as in a run, because kernels use attributes set there; no device is touched:
the core device has no address meanwhile. If `prepare` needs one, or fails, that is a warning, and
what kernels miss because of it is not an error.
"""

import copy
import inspect
import json
import sys
import tokenize
import traceback
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path

from ..coredevice.core import load_compiler
from ..devices import DeviceDB, DeviceManager
from ..diagnostics import MISSING_ATTRIBUTE, Diagnostic, Range
from ..errors import CommandLineError, KairosError
from ..experiment.arguments import DefaultMissing
from ..experiment.datasets import DatasetManager
from ..experiment.environment import ProcessArgumentManager, is_public_experiment
from ..experiment.standalone import IgnoredCommands, SingleRun
from ..numeric import Wide
from ..terminal_text import plain
from .colour import coloured
from .command import above
from .experiments import import_file
from .options import TWIN
from .printed import print_notice, styled
from .report import UserCodeError
from .sarif import sarif

__all__ = ["check"]


def check(args) -> int:
    """Check the files of the command line; returns 1 if there are errors, or with `strict`
    warnings."""
    ddb = DeviceDB.load(args.device_db)
    files = [text for text in args.files if "=" not in text or Path(text).exists()]
    arguments = [text for text in args.files if text not in files]
    args.timing = args.timing or _asks_rehearsal(args)
    if arguments and not args.timing:
        raise CommandLineError(f"{arguments[0]}: arguments have a meaning with --timing only")
    found: dict[Diagnostic, None] = {}  # ordered; findings reached from several kernels are reported once
    timings = []
    for file in files:
        own = dict.fromkeys(_of_file(file, ddb))
        found |= own
        if args.timing and all(diagnostic.warning for diagnostic in own):
            # Declared by name: it is in a package above this one.
            timed, more = above("twin:commands.timed")(file, arguments, args, ddb)
            found |= dict.fromkeys(timed)
            timings += more
    if args.format == "json":
        more = {"timing": timings} if args.timing else {}
        print(json.dumps({"diagnostics": [diagnostic.lsp() for diagnostic in found], **more}, indent=2))
    elif args.format == "sarif":
        print(json.dumps(sarif(list(found)), indent=2))
    else:
        for timing in timings:
            print(timing["text"] + "\n")
        text = "\n\n".join(diagnostic.text for diagnostic in found)
        styled(coloured(plain(text), sys.stdout) + ("\n" if found else ""))
        print_notice(_summary(found, len(files)))
    return int(any(args.strict or not diagnostic.warning for diagnostic in found))


def _asks_rehearsal(args) -> bool:
    """Return whether an option was given that has a meaning for a rehearsal only."""
    given = {option: getattr(args, option.names[0].lstrip("-").replace("-", "_")) for option in TWIN}
    return any(value and value != option.settings.get("default") for option, value in given.items())


def _summary(found, files: int) -> str:
    warnings = sum(diagnostic.warning for diagnostic in found)
    counts = ((len(found) - warnings, "error"), (warnings, "warning"), (files, "file"))
    errors, warned, checked = (f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts)
    return f"{errors}, {warned} in {checked}"


def _of_file(file: str, ddb: DeviceDB) -> Iterator[Diagnostic]:
    """Yield the errors of a file and of its kernels."""
    try:
        module = import_file(file, prefix="checked_")
    except UserCodeError as error:
        yield _of_python(file, error.__cause__ or error)
        return
    experiments = [value for value in vars(module).values() if is_public_experiment(value)]
    for cls in experiments:
        if cls.__module__ == module.__name__:
            yield from _of_experiment(file, cls, ddb)


def _of_experiment(file: str, cls: type, ddb: DeviceDB) -> Iterator[Diagnostic]:
    devices = DeviceManager(_unreachable(ddb), {"scheduler": SingleRun(), "ccb": IgnoredCommands()})
    try:
        instance = cls((devices, DatasetManager(), ProcessArgumentManager({}), {}))
        unprepared = _prepare(file, instance)
        yield from unprepared
        for kernel, arguments in _kernels(cls):
            for found in load_compiler().check(kernel, (instance, *arguments), core=instance.core):
                if not (unprepared and found.kind == MISSING_ATTRIBUTE):
                    yield found
    except (DefaultMissing, KairosError) as error:
        text = f"{cls.__name__} cannot be checked: {error}"
        place = _line(file, inspect.getsourcelines(cls)[1])
        yield Diagnostic(text, place, f"{file}:{place.start[0] + 1}: warning: {text}", warning=True)
    except Exception as error:
        yield _of_python(file, error)
    finally:
        devices.close_devices()


def _unreachable(ddb: DeviceDB) -> DeviceDB:
    """Return the database with core devices that have no address."""
    entries = copy.deepcopy(ddb.entries)
    for entry in entries.values():
        if isinstance(entry, dict) and entry.get("class") == "Core" and isinstance(entry.get("arguments"), dict):
            entry["arguments"]["host"] = None
    return DeviceDB(entries, ddb.path)


def _prepare(file: str, instance) -> list[Diagnostic]:
    """Prepare an experiment; returns a warning if that is impossible here."""
    try:
        with redirect_stdout(sys.stderr):
            instance.prepare()
    except Exception as error:
        found = _of_python(file, error)
        text = (
            f"prepare() does not work without a device, so the attributes that it sets are not known: {found.message}"
        )
        number = found.place.start[0] + 1
        return [Diagnostic(text, found.place, f"{file}:{number}: warning: {text}", warning=True)]
    return []


_STAND_INS = {"bool": False, "int32": 0, "int64": 0, "float": 0.0, "str": "", "none": None}


def _kernels(cls: type) -> Iterator[tuple]:
    """Yield the kernels of a class that can be checked, with their arguments after `self`."""
    compiler = load_compiler()
    for name in dir(cls):
        kernel = inspect.getattr_static(cls, name)
        info = getattr(kernel, "artiq_embedded", None)
        if info is None or info.core_name is None or info.destination is not None or name.startswith("__"):
            continue  # subkernels are checked with the kernels that start them
        arguments = []
        for parameter in list(inspect.signature(info.function).parameters.values())[1:]:
            if parameter.default is not parameter.empty:
                break
            kind = compiler.plain_annotation(parameter.annotation, info.function)
            if kind not in _STAND_INS:
                break
            arguments.append(Wide(0) if kind == "int64" else _STAND_INS[kind])
        else:
            yield kernel, arguments
            continue
        if parameter.default is not parameter.empty:
            yield kernel, arguments


def _line(file: str, number: int) -> Range:
    """Return the range of a whole line, numbered from 1."""
    return Range(file, (number - 1, 0), (number, 0))


def _of_python(file: str, error: BaseException) -> Diagnostic:
    """Convert an exception of the file's own code, located at the innermost of its lines."""
    own = str(Path(file).resolve())
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if str(Path(frame.filename).resolve()) == own]
    here = _line(file, (lines or [1])[-1] or 1)
    text = f"{type(error).__name__}: {error.msg if isinstance(error, SyntaxError) else error}"
    place, related = here, ()
    if isinstance(error, SyntaxError) and error.lineno and error.filename:
        is_own = str(Path(error.filename).resolve()) == own
        place = _of_syntax(file if is_own else error.filename, error)
        related = () if is_own else ((here, "imported here"),)
    head = f"{place.file}:{place.start[0] + 1}: error: {text}"
    return Diagnostic(text, place, head, related=related)


def _of_syntax(file: str, error: SyntaxError) -> Range:
    """Return where a file cannot be parsed: a whole line, if the columns are not known."""
    # Of files as they are read Python counts bytes, of texts characters.
    error = _of_text(file, error)
    line, column, end = error.text or "", error.offset or 0, error.end_offset or 0
    if not 0 < column <= len(line) + 1:
        return _line(file, error.lineno)
    is_within = error.end_lineno == error.lineno and column < end <= len(line) + 1
    ends = (column, end if is_within else column + 1)
    units = (len(line[: each - 1].encode("utf-16-le", "surrogatepass")) // 2 for each in ends)
    return Range(file, *((error.lineno - 1, character) for character in units))


def _of_text(file: str, error: SyntaxError) -> SyntaxError:
    """Return the error of parsing a file as text; `error` if that is another one."""
    try:
        with tokenize.open(file) as source:
            compile(source.read(), file, "exec", dont_inherit=True)
    except SyntaxError as again:
        return again if again.lineno == error.lineno else error
    except (OSError, ValueError):
        pass
    return error
