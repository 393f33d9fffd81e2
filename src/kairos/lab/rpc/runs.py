"""Runs that have ended as messages: what is known of them, their datasets, files, plots and waveforms."""

import asyncio
import json
import sys
from pathlib import Path

from ... import pyon, resultfiles
from ...errors import UsageError
from ...runs import folder_of
from ...waveform.stored import GROUP, RECORDED
from .. import excerpts, results, thumbnails
from .protocol import message
from .values import dataset

__all__ = ["different", "ended", "file_of", "pieces", "shown", "thumbnail", "verified", "waveform"]

OUTPUT = 64 << 10
"""Bytes of the end of a run's output."""
PIECE = 256 << 10
"""Bytes of a file that are sent at a time."""
LONGEST = 120.0
"""Seconds that reading a waveform may take."""


async def shown(lab, record: dict):
    """Return the message of a run with this record, see `history.shown`."""
    place = Path(lab.results)
    if record["results"]:
        stored = place / record["results"]
    else:
        stored = folder_of(record["started"], place) / results.stored_name(record["rid"], record["class_name"])
    log = stored.with_suffix(".log")
    (datasets, sources), output = await asyncio.to_thread(lambda: (_stored(stored), _end_of(log)))
    return message(
        "ShowRunResponse",
        run=ended(record),
        notes=[message("RunNote", **{**note, "person": note["person"] or ""}) for note in record["notes"]],
        datasets=datasets,
        output=output,
        results=record["results"] or "",
        numbers={
            name: message("RunNumber", value=number, error=error) for name, (number, error) in record["numbers"].items()
        },
        excerpts=await _excerpts(lab, record, stored),
        **sources,
    )


def file_of(lab, record: dict) -> Path:
    """Return the file of a run with this record; UsageError if it has none."""
    path = Path(lab.results) / record["results"] if record["results"] else None
    if path is None or not path.is_file():
        raise UsageError(f"run {record['rid']} has no file")
    return path


async def pieces(path: Path):
    """Yield the messages with the content of a file."""
    with path.open("rb") as file:
        size = path.stat().st_size
        yield message("RunFileResponse", name=path.name, size=size)
        while data := await asyncio.to_thread(file.read, PIECE):
            yield message("RunFileResponse", data=data)


async def thumbnail(path: Path, choices: list[tuple[str, str]]):
    """Return the message of a run's thumbnail."""
    found = await asyncio.to_thread(thumbnails.thumbnail, path, choices)
    return message("RunThumbnailResponse", **found._asdict())


async def waveform(path: Path, recorded: bool):
    """Return the message of a waveform in a run's file: the one that was `recorded`, or the other one; UsageError if it
    has none, or if that takes too long."""
    group = RECORDED if recorded else GROUP
    if not (await asyncio.to_thread(_sources, path)).get(group):
        raise UsageError(f"{path.name} has no {'recorded ' if recorded else ''}waveform")
    pipe = asyncio.subprocess.PIPE
    words = [sys.executable, "-m", "kairos.scope.stored", str(path), group]
    process = await asyncio.create_subprocess_exec(*words, stdout=pipe, stderr=pipe)
    try:
        answer, said = await asyncio.wait_for(process.communicate(), LONGEST)
    except TimeoutError:
        raise UsageError(f"the waveform in {path.name} takes more than {LONGEST:g} s to read") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        last = said.decode(errors="replace").strip().rpartition("\n")[2]
        raise UsageError(f"the waveform in {path.name} cannot be read: {last}")
    head, _, rest = answer.partition(b"\n")
    found = json.loads(head)
    length = found.pop("lanes")
    return message("RunWaveformResponse", lanes=rest[:length].decode(), arrays=rest[length:], **found)


def _sources(path: Path) -> dict[str, str]:
    """Return where the waveforms in a run's file come from, by the names of their groups."""
    try:
        with resultfiles.opened(path) as file:
            return _sources_in(file)
    except UsageError:
        return {}


def _sources_in(file) -> dict[str, str]:
    return {name: resultfiles.text_of(file, f"{name}/source") for name in (GROUP, RECORDED)}


def different(found: dict):
    """Return the message of what differs between two runs, see `kairos.lab.checks.Checks`."""
    differences = [
        message(
            "RunDifference",
            kind=each["kind"],
            channel=each.get("channel") or each.get("register") or "",
            count=each.get("count", 1),
            first_ns=each.get("first_ns", each.get("at_ns", 0)),
            last_ns=each.get("last_ns", each.get("at_ns", 0)),
            text=each["text"],
        )
        for each in found["differences"]
    ]
    return message("DiffRunsResponse", **{**found, "differences": differences})


def verified(found: dict):
    """Return the message of the comparison of a run with its repetition, likewise."""
    return message("VerifyRunResponse", **{**found, "done": True, "hash": found["hash"] or ""})


async def _excerpts(lab, record: dict, stored: Path) -> list:
    """Return the messages of the places in a run's error."""
    error = record["error"] or ""
    if not excerpts.PLACE.search(error):
        return []
    expid, revision = pyon.decode(record["expid"]), record["repo_rev"] or ""
    known = await asyncio.to_thread(excerpts.stored_sources, stored, expid.get("file") or excerpts.OWN)
    if "content" in expid:
        known.setdefault(excerpts.OWN, expid["content"])
    wanted = dict.fromkeys(place["file"] for place in excerpts.PLACE.finditer(error))
    texts = {file: await lab.repository.source_of(file, revision, known) for file in wanted}
    return [message("SourceExcerpt", **each._asdict()) for each in excerpts.excerpts(error, texts.__getitem__)]


def ended(record: dict):
    return message(
        "EndedRun",
        rid=record["rid"],
        class_name=record["class_name"] or "",
        file=str(record["file"] or ""),
        revision=record["repo_rev"] or "",
        pipeline=record["pipeline"] or "",
        status=record["status"] or "",
        error=record["error"] or "",
        person=record["person"] or "",
        started=record["started"] or 0.0,
        ended=record["ended"] or 0.0,
        arguments={name: text or "" for name, text in record["arguments"].items()},
        tags=record["tags"],
    )


def _stored(path: Path) -> tuple[dict, dict[str, str]]:
    """Return the datasets of a run's file, by key, and where its waveforms come from, see `_sources`."""
    if not path.exists():
        return {}, {}
    found: dict = {}
    with resultfiles.opened(path) as file:
        for name, node in resultfiles.datasets(resultfiles.group_of(file, "datasets")):
            given = resultfiles.value(node)
            if isinstance(given, bytes):
                given = given.decode(errors="replace")
            metadata = {key: _text(node.attrs[key]) for key in ("unit", "scale", "precision") if key in node.attrs}
            found[name] = dataset((False, given, metadata), True)
        return found, _sources_in(file)


def _text(given):
    return given.decode(errors="replace") if isinstance(given, bytes) else given


def _end_of(path: Path) -> str:
    """Return the end of a run's output."""
    if not path.exists():
        return ""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - OUTPUT))
        return file.read().decode(errors="replace")
