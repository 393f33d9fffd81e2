"""``kairos lsp``: a language server. It shows in an editor, when a file is opened or saved, what `kairos check` finds,
and with ``--timing`` behind each line with outputs its least slack in a rehearsal.

Each check is a process of its own, since it imports the user's file; a newer one ends it.
"""

import asyncio
import json
import logging
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from .. import __version__
from ..diagnostics import Diagnostic
from ..errors import UsageError
from .command import above

__all__ = ["path_of", "serve"]

DATABASE = "device_db.py"
PASSED_ON = ("twin", "bench", "interlocks", "within", "least_slack", "network")
"""Options that are those of `kairos check`."""


class _Checks:
    """The checks of open files. `found(uri, result)`: called with what `kairos check --json` has printed."""

    def __init__(self, args, found):
        self._args, self._found = args, found
        self._tasks: dict[str, asyncio.Task] = {}

    def begin(self, uri: str):
        """Check a file; ends an older check of it."""
        self.end(uri)
        self._tasks[uri] = asyncio.get_running_loop().create_task(self._check(uri))

    def end(self, uri: str):
        """End the check of a file, if there is one."""
        task = self._tasks.pop(uri, None)
        if task is not None:
            task.cancel()

    async def _check(self, uri: str):
        path = path_of(uri)
        if path is None:
            return
        result = await self._printed(path, [])
        self._found(uri, result)
        if self._args.timing and all(one["severity"] != 1 for one in result["diagnostics"]):
            self._found(uri, await self._printed(path, ["--timing", *self._passed_on()]))

    def _passed_on(self) -> list[str]:
        values = {name: getattr(self._args, name) for name in PASSED_ON}
        values |= {name: str(Path(values[name]).absolute()) for name in ("bench", "interlocks") if values[name]}
        words = [word for name, value in values.items() if value for word in (f"--{name.replace('_', '-')}", value)]
        return [*words, "--no-bench"] if self._args.no_bench else words

    async def _printed(self, path: Path, words: list[str]) -> dict[str, Any]:
        """Return what `kairos check` has found; a warning that says why, if it could not check."""
        database = Path(self._args.device_db).absolute() if self._args.device_db else _database(path)
        file = f"./{path.name}"  # no option, whatever its name is
        command = [sys.executable, "-m", "kairos", "check", file, "--json", "--device-db", str(database), *words]
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=path.parent,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            printed, said = await process.communicate()
        except asyncio.CancelledError:
            with suppress(ProcessLookupError):
                process.terminate()
            raise
        try:
            return json.loads(printed)
        except ValueError:
            lines = said.decode(errors="replace").strip().splitlines() or ["it cannot be checked"]
            return {"diagnostics": [Diagnostic(lines[-1], None, lines[-1], warning=True).lsp()]}


def path_of(uri: str) -> Path | None:
    """Return the path of the file with this URI; None if it is none."""
    parts = urlsplit(uri)
    return Path(unquote(parts.path, errors="surrogateescape")) if parts.scheme == "file" else None


def _database(path: Path) -> Path:
    """Return the device database of an experiment: in its folder, or the nearest above it."""
    return next((folder / DATABASE for folder in path.parents if (folder / DATABASE).is_file()), path.parent / DATABASE)


def _is_of(file: str | None, path: Path) -> bool:
    """Return whether a diagnostic with this file, relative to that of `path`, is to be shown there."""
    whole = path.resolve()
    shown = str(whole).encode(errors="backslashreplace").decode()  # of names that are not UTF-8
    return file is None or file == shown or (path.parent / file).resolve() == whole


def _within(one: dict[str, Any], path: Path) -> dict[str, Any] | None:
    """Return a diagnostic as it is shown in the file of `path`: of another file where that is called, or else None."""
    if _is_of(one["file"], path):
        return one
    for related in one["relatedInformation"]:
        place = related["location"]
        if path_of(place["uri"]).resolve() == path.resolve():
            where = f"{Path(one['file']).name}:{one['range']['start']['line'] + 1}"
            return {**one, "range": place["range"], "message": f"{where}: {one['message']}"}
    return None


def _slack(result: dict[str, Any], path: Path) -> dict[int, int]:
    """Return the least slack in ns of each line of a file, from 1."""
    found: dict[int, int] = {}
    for timing in result.get("timing", ()):
        for line in timing["lines"]:
            if line["slack_ns"] is not None and _is_of(line["file"], path):
                found[line["line"]] = min(line["slack_ns"], found.get(line["line"], line["slack_ns"]))
    return found


def serve(args) -> int:
    """Serve the editor at standard input and output, until it closes them."""
    try:
        # An extra: few people edit experiments with it.
        from lsprotocol import types
        from pygls.lsp.server import LanguageServer  # likewise
    except ImportError:
        raise UsageError("the language server needs the package 'pygls': pip install 'kairos[lsp]'") from None
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    server = LanguageServer("kairos", __version__, text_document_sync_kind=types.TextDocumentSyncKind.None_)
    slacks: dict[str, dict[int, int]] = {}

    def found(uri: str, result: dict[str, Any]):
        path = path_of(uri)
        shown = [_within(one, path) for one in result["diagnostics"]]
        diagnostics = [_diagnostic(types, one) for one in shown if one is not None]
        server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics))
        if "timing" in result:
            slacks[uri] = _slack(result, path)
            with suppress(Exception):  # an editor that does not have this asks again by itself
                server.workspace_inlay_hint_refresh(None)

    checks = _Checks(args, found)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def check(params):
        slacks.pop(params.text_document.uri, None)
        checks.begin(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def close(params):
        checks.end(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    def hints(params):
        slack, path = slacks.get(params.text_document.uri), path_of(params.text_document.uri)
        if not slack:
            return []
        try:
            lines = path.read_text(errors="replace").split("\n")
        except OSError:
            return []  # it is no longer there
        brief = above("twin:verdict.brief")
        first, last = params.range.start.line, params.range.end.line
        return [
            types.InlayHint(_end_of(types, number, lines), f"slack {brief(slack[number + 1])}", padding_left=True)
            for number in range(first, min(last + 1, len(lines)))
            if number + 1 in slack
        ]

    # Copies, which it closes.
    server.start_io(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))
    return 0


def _end_of(types, number: int, lines: list[str]):
    """Return the position behind a line; characters of the protocol are UTF-16 code units."""
    return types.Position(number, len(lines[number].encode("utf-16-le")) // 2)


def _diagnostic(types, one: dict[str, Any]):
    """Return a diagnostic of `kairos check --json` as an object of the protocol."""
    related = [
        types.DiagnosticRelatedInformation(
            types.Location(each["location"]["uri"], _range(types, each["location"]["range"])), each["message"]
        )
        for each in one["relatedInformation"]
    ]
    return types.Diagnostic(
        _range(types, one["range"]),
        one["message"],
        severity=types.DiagnosticSeverity(one["severity"]),
        source=one["source"],
        related_information=related or None,
    )


def _range(types, found: dict[str, Any]):
    return types.Range(*(types.Position(**found[end]) for end in ("start", "end")))
