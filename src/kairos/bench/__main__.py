"""``python -m kairos.bench``: runs one model in a separate process and answers requests of the emulator, one JSON
line each."""

import json
import os
import random
import runpy
import sys
import threading
import time
import traceback
from pathlib import Path

from . import LATEST, Light, Model, Tone

SIGNALS = {"tone": Tone, "light": Light}


def main():
    """Answer requests until the emulator exits."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # output of the model must not be mistaken for answers
    host = Host(answers)
    for line in sys.stdin:
        host.answer(json.loads(line))


class Host:
    """Runs the model and answers requests."""

    def __init__(self, answers):
        self._answers = answers
        self._model: Model | None = None
        self._file = ""
        self._inputs: list[str] = []
        self._timeout_s = 10.0
        self._lock = threading.Lock()
        self._thread = threading.get_ident()
        self._deadline: float | None = None
        threading.Thread(target=self._watch, daemon=True).start()

    def answer(self, request: dict):
        """Execute a request and send the result."""
        ((kind, content),) = request.items()
        if kind == "start":
            self._timeout_s = content["timeout_s"]
        self._deadline = time.monotonic() + self._timeout_s
        try:
            reply = getattr(self, f"_{kind}")(content)
        except BaseException as error:
            reply = {"error": self._described(error)}
        self._deadline = None
        self._say(reply)

    def _say(self, reply: dict):
        with self._lock:
            self._answers.write(json.dumps(reply) + "\n")

    def _start(self, options: dict) -> dict:
        self._file, self._inputs = options["file"], options["inputs"]
        sys.path.insert(0, str(Path(self._file).resolve().parent))
        cls = _class(runpy.run_path(self._file), options["class"])
        model = cls.__new__(cls)
        model.random = random.Random(options["seed"])
        model._sent, model._warned = [], []
        model._outputs = {name: (number, kind) for number, (name, kind) in enumerate(options["outputs"])}
        model.__init__(**options["arguments"])
        self._model = model
        return self._done("__init__")

    def _input(self, content) -> dict:
        at, changes = content
        self._model.input(at, {self._inputs[number]: _signal(value) for number, value in changes})
        return self._done("input", at)

    def _act(self, at) -> dict:
        self._model.next = None
        self._model.act(at)
        return self._done("act", at)

    def _report(self, at) -> dict:
        report = self._model.report(at)
        try:
            json.dumps(report, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{self._place('report')}: its report cannot be displayed: {error}") from None
        return {"report": report}

    def _done(self, method: str, at: int = -1) -> dict:
        """Collect the results of a method call."""
        model = self._model
        reply = {"send": model._sent, "warn": model._warned}
        model._sent, model._warned = [], []
        return reply | {"next": None if model.next is None else max(self._time(model.next, method), at + 1)}

    def _time(self, following, method: str) -> int:
        try:
            time = int(following)
        except (TypeError, ValueError, OverflowError):
            time = LATEST + 1
        if time > LATEST:
            raise ValueError(f"{self._place(method)}: its next is {following!r}, which is not a time in nanoseconds")
        return time

    def _place(self, method: str) -> str:
        """Return file and line of a method of the model, if it is defined there."""
        code = getattr(getattr(type(self._model), method), "__code__", None)
        return self._file if code is None or code.co_filename != self._file else f"{self._file}:{code.co_firstlineno}"

    def _described(self, error: BaseException) -> str:
        """Describe an exception, with the innermost line in the model's own file."""
        said = _said(error)
        # On one line, regardless of its text.
        text = " ".join(f"{type(error).__name__}: {said}".rstrip(": ").split())
        if said.startswith(self._file):
            return said
        if isinstance(error, SyntaxError) and error.filename == self._file:
            return f"{self._file}:{error.lineno}: {text}"
        lines = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == self._file]
        return f"{self._file}:{lines[-1].lineno}: {text}" if lines else text

    def _watch(self):
        """Abort a call that exceeds its time limit, and report its current line."""
        while (deadline := self._deadline) is None or time.monotonic() < deadline:
            time.sleep(min(0.2, self._timeout_s / 4))
        frame = sys._current_frames().get(self._thread)
        while frame is not None and frame.f_code.co_filename != self._file:
            frame = frame.f_back
        where = self._file if frame is None else f"{self._file}:{frame.f_lineno}"
        self._say({"error": f"{where}: it did not return within {self._timeout_s:g} s"})
        os._exit(1)


def _said(error: BaseException) -> str:
    """Return the text of an exception, if it can be formatted."""
    try:
        return str(error).encode("utf-8", "backslashreplace").decode()
    except Exception as another:
        return f"it cannot be displayed: {type(another).__name__}"


def _class(names: dict, wanted: str | None) -> type:
    """Return the model's class among the names of its file. ValueError if there is none, or more
    than one."""
    found = {
        name: one
        for name, one in names.items()
        if isinstance(one, type) and issubclass(one, Model) and one is not Model
    }
    if wanted is None and len(found) == 1:
        return next(iter(found.values()))
    if wanted in found:
        return found[wanted]
    known = ", ".join(found) or "none"
    if wanted is None:
        raise ValueError(
            f"it needs exactly one class derived from kairos.bench.Model, unless bench.toml names one; found {known}"
        )
    raise ValueError(f"there is no class {wanted} derived from kairos.bench.Model; found {known}")


def _signal(value):
    return SIGNALS[value[0]](*value[1:]) if isinstance(value, list) else value


if __name__ == "__main__":
    main()
