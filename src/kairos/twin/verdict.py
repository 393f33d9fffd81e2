"""What a rehearsal has found, as a sentence, a table, JSON, and diagnostics for editors."""

import linecache
from collections.abc import Iterator

from ..diagnostics import Diagnostic, Range
from ..waveform.table import aligned
from .rehearsal import Rehearsal
from .slack import KEPT, Places

__all__ = ["brief", "described", "diagnostics", "sentence", "table"]

UNITS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns"))
LONGEST = 60
"""Characters of a source line in the table."""


def brief(ns: int) -> str:
    """Format a time with three significant digits: ``1.8 µs``."""
    size, unit = next(((size, unit) for size, unit in UNITS if abs(ns) >= size), (1, "ns"))
    value = ns / size
    return f"{value:.3g} {unit}" if abs(value) < 999.5 else f"{value:,.0f} {unit}"


def _seconds(seconds: float) -> str:
    return brief(round(seconds * 1e9))


def sentence(found: Rehearsal, with_duration: bool = True) -> str:
    """Return the result in one line. `with_duration`: with the time that it took, which differs each
    time."""
    failed = found.failure is not None and not found.incomplete
    if failed or found.violations:
        return "; ".join(_wrong(found, failed))
    parts = _measured(found)
    if found.lost:
        parts += [lost.text for lost in found.lost]
    elif found.lines:
        parts.append("no underflow" if not found.stopped else "no underflow until then")
    head = f"rehearsed in {_seconds(found.wall_s)}" if with_duration else "rehearsed"
    if found.failure is not None:
        head = f"{_beyond(found)} (until then, {head}"
        return f"{head}: {', '.join(parts)})" if parts else f"{head})"
    if found.stopped:
        after = f" after {_seconds(found.wall_s)}" if with_duration else ""
        head = f"stopped{after}, since it takes longer than allowed"
    return f"{head}: {', '.join(parts)}" if parts else head


def _wrong(found: Rehearsal, failed: bool) -> Iterator[str]:
    """Yield all that is wrong: none of it hides another."""
    if failed:
        yield _failed(found)
    if found.violations:
        yield _refused(found)
    yield from (lost.text for lost in found.lost)
    if found.incomplete:
        yield _beyond(found)
    elif found.stopped:
        yield "stopped before its end, since it takes longer than allowed"


def _beyond(found: Rehearsal) -> str:
    failure = found.failure
    return (
        f"cannot be rehearsed beyond {f'line {failure.line}' if failure.place else 'its beginning'}: {failure.message}"
    )


def _refused(found: Rehearsal) -> str:
    """Return the violations of interlocks in one line."""
    texts = []
    for each in found.violations:
        place = f" at {each.place}" if each.place else ""
        texts.append(f"'{each.rule}'{place}, {brief(each.at_ns)} after the first output: {each.text}")
    return f"violates the interlock{'s' if len(texts) > 1 else ''} {'; '.join(texts)}"


def _measured(found: Rehearsal) -> list[str]:
    parts = []
    if found.points:
        parts.append(f"{found.points:,} point{'' if found.points == 1 else 's'}")
    if found.device_ns:
        parts.append(f"{brief(found.device_ns)} on the device")
    if found.least is not None:
        parts.append(f"least slack {brief(found.least.slack_ns)} at line {found.least.line}")
    return parts


def _failed(found: Rehearsal) -> str:
    failure = found.failure
    place = f"{failure.place}: " if failure.place else ""
    passes = f" in pass {failure.at_pass:,}" if failure.at_pass is not None else ""
    message = " ".join(failure.message.split())
    text = f"fails at {place}{failure.kind}{passes}: {message}"
    parts = _measured(found)
    return f"{text} (after {', '.join(parts)})" if parts else text


def table(found: Rehearsal) -> str:
    """Return a table of the lines with outputs; empty if there are none."""
    if not found.lines:
        return ""
    rows = [("place", "source", "outputs", "passes", "least slack", "in pass", "waiting")]
    for line in found.lines:
        source = linecache.getline(line.file, line.line).strip()
        rows.append(
            (
                line.place,
                source if len(source) <= LONGEST else source[: LONGEST - 1] + "…",
                f"{line.outputs:,}",
                f"{line.passes:,}",
                "-" if line.slack_ns is None else brief(line.slack_ns),
                "-" if line.at_pass is None else f"{line.at_pass:,}",
                "-" if line.waiting is None else f"{line.waiting:,}",
            )
        )
    text = "\n".join(aligned(rows, left=2))
    if sum(line.outputs for line in found.lines) >= KEPT:
        text += f"\nonly the first {KEPT:,} outputs are known"
    return text


def described(found: Rehearsal) -> dict:
    """Return the result as JSON."""
    failure = found.failure
    return {
        "name": found.name,
        "file": found.file,
        "passed": found.passed,
        "sentence": sentence(found),
        "wall_s": round(found.wall_s, 3),
        "device_ns": found.device_ns,
        "points": found.points,
        "stopped": found.stopped,
        "least_slack_ns": None if found.least is None else found.least.slack_ns,
        "lines": [{**line.described(), "channel": found.channels.get(line.channel)} for line in found.lines],
        "lost": [
            {"error": lost.error, "channel": lost.channel, "count": lost.count, "places": list(map(list, lost.places))}
            for lost in found.lost
        ],
        "violations": [dict(vars(each)) for each in found.violations],
        "failure": None if failure is None else dict(vars(failure)),
        "warnings": found.warnings,
    }


def diagnostics(found: Rehearsal, least_ns: int = 0) -> Iterator[Diagnostic]:
    """Yield what editors show at the lines: failures and lost outputs as errors, a slack below
    `least_ns` and what cannot be rehearsed as warnings."""
    failure = found.failure
    if failure is not None:
        text = _beyond(found) if found.incomplete else _failed(found)
        yield _at(failure.file or found.file, failure.line or 1, text, found.incomplete, failure.called)
    for violation in found.violations:
        text = f"violates the interlock '{violation.rule}': {violation.text}"
        yield _at(violation.file or found.file, violation.line or 1, text, False)
    for lost in found.lost:
        for file, line in lost.places or ((found.file, 1),):
            yield _at(file, line, lost.text, False)
    for line in found.lines:
        if line.slack_ns is not None and line.slack_ns < least_ns:
            passes = line.passes_from(line.called)
            text = f"its least slack is {brief(line.slack_ns)}, in pass {line.at_pass:,} of {passes:,}"
            yield _at(line.file, line.line, text, True, line.called)


def _at(file: str, line: int, text: str, warning: bool, called: Places = ()) -> Diagnostic:
    kind = "warning" if warning else "error"
    related = tuple((Range(own, (number - 1, 0), (number, 0)), "called from here") for own, number in called)
    lines = [f"{file}:{line}: {kind}: {text}", *(f"  called from {own}:{number}" for own, number in called)]
    return Diagnostic(text, Range(file, (line - 1, 0), (line, 0)), "\n".join(lines), warning, related=related)
