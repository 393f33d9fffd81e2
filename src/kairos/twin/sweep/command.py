"""``kairos sweep``: computes an experiment at every point of a sweep."""

from pathlib import Path

from ...cli.bench import bench_file
from ...cli.experiments import argument_texts
from ...cli.outputs import duration_ns
from ...cli.printed import print_notice
from ...errors import CommandLineError, UsageError
from ...experiment.store import DatasetStore
from ...progress import Progress
from .pool import processors
from .results import error_variable
from .run import Sweep
from .search import Objective
from .space import Space, dimension

__all__ = ["sweep"]


def sweep(args) -> int:
    """Compute the sweep of the command line; returns 1 if points have failed."""
    if not args.scan and args.repeat < 2:
        raise CommandLineError("nothing is scanned: give --scan NAME=START:STOP:NUMBER, or --repeat N")
    if args.workers is not None and args.workers < 1:
        raise CommandLineError("a sweep has at least one worker")
    space = Space(tuple(map(dimension, args.scan)), args.repeat, args.samples, args.seed)
    made = Sweep(
        args.file,
        space,
        argument_texts(args.arguments),
        args.class_name,
        args.device_db,
        bench_file(args),
        args.twin,
        {"net_latency_ns": duration_ns("--network", args.network)},
        duration_ns("--within", args.within) / 1e9,
        _kept(Path(args.dataset_db)),
        _objective(args),
        args.batch,
    )
    output = Path(args.output)
    if output.exists() and not args.force:
        raise UsageError(f"{output} exists already: give another -o, or --force")
    with Progress(unit=" points") as progress:
        computed, failed = made.run(
            output, args.workers or processors(), args.over, lambda done, total: progress("sweep", done, total)
        )
    resumed = f", {space.size - computed:,} of them before" if computed < space.size else ""
    print(f"{_points(space.size)}{resumed}; wrote {output}")
    if made.best is not None:
        values = ", ".join(f"{name} = {value:.6g}" for name, value in made.best["values"].items())
        print(f"best: {values} with {args.minimize or args.maximize} = {made.best['value']:.6g}")
    if failed:
        points = f"{_points(failed)} {'has' if failed == 1 else 'have'}"
        first = f"{made.first_error} (the first; all are in the variable '{error_variable(space)}' of {output})"
        print_notice(f"kairos: {points} failed: {first}")
    return int(failed > 0)


def _points(number: int) -> str:
    return "1 point" if number == 1 else f"{number:,} points"


def _objective(args) -> Objective | None:
    """Return what the sweep looks for."""
    if args.minimize and args.maximize:
        raise CommandLineError("a search has one goal: give --minimize or --maximize")
    wanted = args.minimize or args.maximize
    return Objective(wanted, bool(args.maximize)) if wanted else None


def _kept(path: Path) -> dict:
    """Return the persistent datasets, which every point may read."""
    if not path.exists():
        return {}
    store = DatasetStore(path)
    store.check()
    try:
        return {key: entry.value for key, entry in store.kept().items()}
    finally:
        store.close_db()
