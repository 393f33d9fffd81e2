"""``kairos pulse``: compiles, draws, compares and measures gate sets."""

import dataclasses
import json
from pathlib import Path

import numpy

from .. import files
from ..errors import KairosError, UsageError
from ..pulse import GateSet, Model, PulseError, jaqal, load
from ..pulse.plot import write_plot
from .report import format_user_exception

__all__ = ["compile_words", "diff", "stats", "view"]

MOST = 1_000_000
"""Maximum number of cycles drawn by default."""


def _load(path) -> GateSet:
    """Load a gate set from a Python file, which may import the modules of JaqalPaw definitions, or
    a Jaqal circuit."""
    jaqal.install()
    try:
        return jaqal.load(path) if Path(path).suffix == ".jaqal" else load(path)
    except PulseError as error:
        raise UsageError(f"{path}: {error}") from None
    except (KairosError, KeyboardInterrupt, SystemExit):
        raise
    except Exception as error:
        raise UsageError(f"{path} cannot be run: {format_user_exception(error)}") from None


def _sequence(gates: GateSet, path) -> tuple[numpy.ndarray, int]:
    """Return the words that run the file's sequence, and the number of additional table words for
    its pauses."""
    before = len(gates.programming())
    try:
        run = gates.sequence()
    except PulseError as error:
        raise UsageError(f"{path}: {error}") from None
    return run, len(gates.programming()) - before


def _for_pauses(pauses: int) -> str:
    return f", and {pauses} the pauses of its sequence" if pauses else ""


def compile_words(args):
    """Write the words of a gate set and its sequence."""
    gates = _load(args.file)
    run, pauses = _sequence(gates, args.file)
    programming = gates.programming()
    words = numpy.concatenate([programming, run])
    files.write(args.output, words.tobytes())
    streamed = sum(not use.in_tables for use in gates.stats())
    counts = f"{len(programming) - pauses} program {len(gates.gates)} gates{_for_pauses(pauses)}; {len(run)} run it"
    print(f"{args.output}: {len(words)} words. {counts}")
    if streamed:
        print(f"{streamed} gates do not fit into the tables and are streamed")


def _length(gates: GateSet) -> int:
    """Return the cycles of the sequence, without waiting times."""
    lengths: dict[str, int] = {}
    for use in gates.stats():
        lengths[use.gate] = max(lengths.get(use.gate, 0), use.cycles)
    total = 0
    for step in gates.steps:
        if hasattr(step, "cases"):
            total += max(sum(lengths[name] for name in case) for case in step.cases)
        else:
            total += max((lengths[name] for name in ([step] if isinstance(step, str) else step)), default=0)
    return total


def view(args):
    """Draw the output of a sequence."""
    gates = _load(args.file)
    run, _ = _sequence(gates, args.file)
    words = numpy.concatenate([gates.programming(), run])
    channels = sorted({pulse.channel for pulses in gates.gates.values() for pulse in pulses})
    model = Model(gates.core, trigger_channels=sum(1 << channel for channel in channels))
    played = model.play(words, args.cycles or min(max(_length(gates), 1), MOST))
    if Path(args.output).suffix == ".npz":
        with files.replacing(args.output) as new, open(new, "wb") as file:
            numpy.savez(file, samples=played.samples, values=played.values, sample_rate=gates.core.sample_rate)
    else:
        write_plot(args.output, played, channels)
    print(f"{args.output}: {played.samples.shape[1]} samples of channels {', '.join(map(str, channels))}")
    for error in model.errors():
        print(f"error reported by the core: {error}")


def diff(args):
    """Count the words that change one gate set into another."""
    old, new = _load(args.file), _load(args.new)
    _sequence(old, args.file)  # adds the pauses to the tables
    _, pauses = _sequence(new, args.new)
    try:
        placed = old.successor(new.gates, new.steps)
    except PulseError as error:
        raise UsageError(f"{args.new}: {error}") from None
    run, _ = _sequence(placed, args.new)
    changes, whole = placed.changes(old), len(new.programming())
    if args.output:
        files.write(args.output, numpy.concatenate([changes, run]).tobytes())
    if args.json:
        print(json.dumps({"words": len(changes), "words_of_all": whole, "words_of_pauses": pauses, "run": len(run)}))
    else:
        counts = f"{whole - pauses} program all its gates{_for_pauses(pauses)}; {len(run)} run it"
        print(f"{len(changes)} words turn {args.file} into {args.new}. From scratch {counts}")


def stats(args):
    """Show time and memory of each gate."""
    gates = _load(args.file)
    if args.json:
        for use in gates.stats():
            print(json.dumps(dataclasses.asdict(use) | {"clock_hz": gates.core.clock}))
        return
    print(f"{'gate':24} {'channel':>7} {'us':>10} {'segments':>8} {'map':>5} {'streamed':>8} {'error':>9}  place")
    for use in gates.stats():
        time = use.cycles / gates.core.clock * 1e6
        place = "tables" if use.in_tables else "stream"
        error = f"{use.error:9.2g}" if use.error else f"{'-':>9}"
        sizes = f"{use.segments:8} {use.entries:5} {use.streamed:8}"
        print(f"{use.gate:24} {use.channel:7} {time:10.3f} {sizes} {error}  {place}")
    core = gates.core
    for channel, (used, entries, segments) in enumerate(gates.tables()):
        if used:
            room = f"{used}/{core.gates} gates, {entries}/{core.map} of the map, {segments}/{core.pulses} segments"
            print(f"channel {channel}: {room}")
    words = len(gates.programming())
    _, pauses = _sequence(gates, args.file)
    print(f"{words} words program them{_for_pauses(pauses)}")
