"""The commands ``kairos rehearse`` and ``kairos check --timing``."""

import json
import sys
from pathlib import Path

from ..cli.bench import bench_file
from ..cli.colour import coloured
from ..cli.experiments import import_file
from ..cli.outputs import duration_ns
from ..devices import DeviceDB
from ..diagnostics import Diagnostic
from ..errors import CommandLineError, KairosError
from ..experiment.arguments import DefaultMissing
from ..experiment.environment import is_public_experiment
from ..experiment.store import DatasetStore
from ..texts import plain
from .rehearsal import Rehearsal, Twin
from .verdict import described, diagnostics, sentence, table

__all__ = ["rehearse", "timed"]


def rehearse(args) -> int:
    """Rehearse the experiment of the command line; returns 1 if it would fail."""
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
        print(coloured(f"kairos: {plain(sentence(found))}"), file=sys.stderr)
        if failure is not None and failure.text != failure.message:
            print(f"\n{plain(failure.text)}", file=sys.stderr)
    for warning in found.warnings:
        print(f"bench: {plain(warning)}", file=sys.stderr)
    for each in diagnostics(found, least_ns):
        if each.warning and failure is None:
            print(plain(each.text), file=sys.stderr)


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


def _rehearsed(args, ddb, file, arguments, class_name, cls=None) -> Rehearsal:
    within = duration_ns("--within", args.within) / 1e9
    settings = {"net_latency_ns": duration_ns("--network", args.network)}
    with Twin(ddb, bench_file(args), args.twin, settings) as twin:
        return twin.rehearse(file, class_name, arguments, DatasetStore(Path(args.dataset_db).absolute()), within, cls)
