"""The commands ``kairos rehearse`` and ``kairos check --timing``."""

import json
from dataclasses import fields
from pathlib import Path

from .. import files
from ..cli.bench import bench_file
from ..cli.experiments import import_file
from ..cli.outputs import duration_ns
from ..cli.printed import print_notice
from ..devices import DeviceDB
from ..diagnostics import Diagnostic
from ..errors import CommandLineError, KairosError, UsageError
from ..experiment.arguments import DefaultMissing
from ..experiment.environment import is_public_experiment
from ..experiment.store import DatasetStore
from ..terminal_text import plain
from .folder import changes, differs, experiments_of, known, summary
from .interlocks import FILE, Rule, load
from .rehearsal import Rehearsal, Twin, in_a_line
from .verdict import described, diagnostics, sentence, table

__all__ = ["interlocked", "rehearse", "rules", "timed"]


def rehearse(args) -> int:
    """Rehearse the experiment of the command line; returns 1 if it would fail."""
    if args.all:
        return everything(args)
    if args.record or args.against:
        raise CommandLineError("--record and --against need --all")
    found = _rehearsed(args, DeviceDB.load(args.device_db), args.file, args.arguments, args.class_name)
    least_ns = duration_ns("--least-slack", args.least_slack)
    if args.json:
        print(json.dumps(described(found)))
    else:
        if args.verbose:
            print(found.printed, end="")
        if args.lines and found.lines:
            print(table(found))
        _report(found, least_ns)
    return int(not found.passed)


def _report(found: Rehearsal, least_ns: int):
    failure = found.failure
    if found.passed:
        print(sentence(found))
    else:
        print_notice(f"kairos: {sentence(found)}")
        if failure is not None and failure.text != failure.message:
            print_notice(f"\n{failure.text}")
    for warning in found.warnings:
        print_notice(f"bench: {warning}")
    for each in diagnostics(found, least_ns):
        if each.warning and failure is None:
            print_notice(each.text)


def timed(file: str, arguments: list[str], args, ddb: DeviceDB) -> tuple[list[Diagnostic], list[dict]]:
    """Rehearse each experiment in a file; returns what was found, as diagnostics and as JSON with a
    `text`."""
    module = import_file(file, prefix="timed_")
    found: list[Diagnostic] = []
    timings: list[dict] = []
    least_ns = duration_ns("--least-slack", args.least_slack)
    for name, cls in list(vars(module).items()):
        if not is_public_experiment(cls) or cls.__module__ != module.__name__:
            continue
        if args.class_name not in (None, name):
            continue
        try:
            result = _rehearsed(args, ddb, file, arguments, name, cls)
        except (DefaultMissing, KairosError) as error:
            if isinstance(error, CommandLineError) and arguments:
                raise
            text = f"{name} cannot be rehearsed: {error}"
            found.append(Diagnostic(text, None, f"{file}: warning: {text}", True))
            continue
        found += diagnostics(result, least_ns)
        text = f"{name}: {sentence(result)}\n{table(result)}".rstrip()
        timings.append({**described(result), "text": text})
    if args.class_name is not None and not (timings or found):
        raise CommandLineError(f"{file} has no experiment '{args.class_name}'")
    return found, timings


def everything(args) -> int:
    """Rehearse all experiments of a folder; returns 1 if one would fail, or differs from what is to
    be compared."""
    root, ddb = Path(args.file), DeviceDB.load(args.device_db)
    if not root.is_dir():
        raise UsageError(f"--all needs a folder with experiments, and {root} is none")
    before = known(Path(args.against)) if args.against else {}
    found = {}
    for name, path, cls in experiments_of(root):
        try:
            if isinstance(cls, Exception):
                raise cls
            entry = summary(_rehearsed(args, ddb, path, [], cls.__name__, cls))
        except (DefaultMissing, KairosError) as error:
            lacks = isinstance(error if isinstance(error, DefaultMissing) else error.__cause__, DefaultMissing)
            verdict = "is not rehearsed" if lacks else "is impossible"
            entry = {"passed": lacks, "sentence": f"{verdict}: {in_a_line(error, path)}"}
        found[name] = entry
        changed = changes(before[name], entry) if name in before else ["new"] if before else []
        more = f" ({'; '.join(changed)})" if changed else ""
        if args.json:
            print(json.dumps({"name": name, **entry, "changes": changed}), flush=True)
        else:
            print(plain(f"{name}: {entry['sentence']}{more}"), flush=True)
    if not found and not before:
        raise UsageError(f"there are no experiments in {root}")
    gone = sorted(set(before) - set(found))
    for name in [] if args.json else gone:
        print(plain(f"{name}: it was there before"))
    if args.record:
        files.write(args.record, json.dumps(found, indent=1, sort_keys=True).encode() + b"\n")
    differing = any(name not in before or differs(before[name], found[name]) for name in found if before)
    return int(bool(gone) or differing or not all(entry["passed"] for entry in found.values()))


def interlocked(args) -> int:
    """Report the interlocks that the experiment of the command line violates; returns 1 if there
    are any, or if it fails."""
    if not _rules(args):
        raise UsageError(
            f"there are no interlocks: write {FILE} next to the device database, or give --interlocks FILE"
        )
    found = _rehearsed(args, DeviceDB.load(args.device_db), args.file, args.arguments, args.class_name)
    if args.json:
        for each in found.violations:
            print(json.dumps(vars(each)))
        return int(not found.passed)
    _report(found, 0)
    return int(not found.passed)


def rules(args):
    """Print the rules of the file of interlocks."""
    found = _rules(args)
    if not found and not args.json:
        print(f"there are no interlocks: {FILE} next to the device database declares them")
    for rule in found:
        said = {field.name: getattr(rule, field.name) for field in fields(rule)}
        said = {field.name: said[field.name] for field in fields(rule) if said[field.name] != field.default}
        if args.json:
            print(json.dumps(said))
        else:
            print(f"{said.pop('name')}: {', '.join(f'{name} = {value}' for name, value in said.items())}")


def _rules(args) -> list[Rule]:
    named = args.interlocks
    path = Path(args.device_db).parent / FILE if named is None else Path(named)
    return load(path) if named is not None or path.is_file() else []


def _rehearsed(args, ddb, file, arguments, class_name, cls=None) -> Rehearsal:
    within = duration_ns("--within", args.within) / 1e9
    settings = {"net_latency_ns": duration_ns("--network", args.network)}
    with Twin(ddb, bench_file(args), args.twin, settings, rules=_rules(args)) as twin:
        return twin.rehearse(file, class_name, arguments, DatasetStore(Path(args.dataset_db).absolute()), within, cls)
