"""``python -m kairos.bench``: one model in a process of its own, asked by the emulator: a line of JSON, a line back."""

import json
import os
import random
import runpy
import sys
import threading
import time
import traceback
from pathlib import Path

from . import Light, Model, Tone

SIGNALS = {"tone": Tone, "light": Light}


def main():
    """Answer until the emulator has gone."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what the model prints is no answer
    host = Host(answers)
    for line in sys.stdin:
        host.answer(json.loads(line))


class Host:
    """The model and what it is asked."""

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
        """Do what is asked, and say what came of it."""
        ((kind, content),) = request.items()
        if kind == "start":
            self._timeout_s = content["timeout_s"]
        self._deadline = time.monotonic() + self._timeout_s
        try:
            reply = getattr(self, f"_{kind}")(content)
        except BaseException as error:
            reply = {"error": self._told(error)}
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
        model._outputs = {name: (number, volts) for number, (name, volts) in enumerate(options["outputs"])}
        model.__init__(**options["arguments"])
        self._model = model
        return self._done()

    def _input(self, content) -> dict:
        at, changes = content
        self._model.input(at, {self._inputs[number]: _signal(value) for number, value in changes})
        return self._done(at)

    def _act(self, at) -> dict:
        self._model.next = None
        self._model.act(at)
        return self._done(at)

    def _report(self, at) -> dict:
        return {"report": self._model.report(at)}

    def _done(self, at: int = -1) -> dict:
        model = self._model
        reply = {"send": model._sent, "warn": model._warned}
        model._sent, model._warned = [], []
        following = None if model.next is None else max(int(model.next), at + 1)
        return reply | {"next": following}

    def _told(self, error: BaseException) -> str:
        """What has been raised, with the innermost line of the model's own file."""
        text = f"{type(error).__name__}: {error}".rstrip(": ")
        if isinstance(error, SyntaxError) and error.filename == self._file:
            return f"{self._file}:{error.lineno}: {text}"
        lines = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == self._file]
        return f"{self._file}:{lines[-1].lineno}: {text}" if lines else text

    def _watch(self):
        """End a call that has had its time, and say where it is."""
        while (deadline := self._deadline) is None or time.monotonic() < deadline:
            time.sleep(min(0.2, self._timeout_s / 4))
        frame = sys._current_frames().get(self._thread)
        while frame is not None and frame.f_code.co_filename != self._file:
            frame = frame.f_back
        where = self._file if frame is None else f"{self._file}:{frame.f_lineno}"
        self._say({"error": f"{where}: it has not come to an end within {self._timeout_s:g} s"})
        os._exit(1)


def _class(names: dict, wanted: str | None) -> type:
    """The model's class among the names of its file. ValueError if there is none, or more than one."""
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
            f"it has to have one class derived from kairos.bench.Model, or bench.toml names it; it has {known}"
        )
    raise ValueError(f"it has no class {wanted} derived from kairos.bench.Model; it has {known}")


def _signal(value):
    return SIGNALS[value[0]](*value[1:]) if isinstance(value, list) else value


if __name__ == "__main__":
    main()
