"""The steps of a repeated run's kernels, for the debugger of a page: at each call of the device's firmware, the
functions that had not returned, with lines and variables, and the text of their sources."""

import linecache
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..emulator.sources import is_own
from .lanes import Packer

__all__ = ["Steps"]


@dataclass(frozen=True)
class Steps:
    """The steps of a run."""

    steps: Sequence
    """Each with `time_ns` since power-up, the `board`, and `functions`, innermost first: `file`, `line`, `name`, and
    `variables`, pairs of name and value."""
    origin_ns: int
    """The page's time 0, since power-up."""
    texts: Mapping[str, str]
    """Texts of the run's own source files by their names, of the experiment by an empty one; others are read."""

    def __bool__(self) -> bool:
        return bool(self.steps)

    def packed(self, packer: Packer) -> dict:
        """Return the steps as JSON, with the locations of their arrays (see ``page/debugger.js``)."""
        files: dict[str, int] = {}
        words: list[int] = []
        at: list[int] = []
        boards = {name: number for number, name in enumerate(dict.fromkeys(step.board for step in self.steps))}
        for step in self.steps:
            at.append(len(words))
            words.append(len(step.functions))
            for function in step.functions:
                number = files.setdefault(function.file, len(files))
                words += [number, function.line, packer.text(function.name.rpartition(".")[2])]
                words.append(len(function.variables))
                for name, value in function.variables:
                    words += [packer.text(name), packer.text(value)]
        return {
            "t": packer.array([step.time_ns - self.origin_ns for step in self.steps], np.float64),
            "at": packer.array(at, np.uint32),
            "words": packer.array(words, np.uint32),
            "boards": list(boards),
            "on": packer.array([boards[step.board] for step in self.steps], np.uint32),
            "files": [{"name": Path(file).name, "own": is_own(file), "text": self._text(file)} for file in files],
        }

    def _text(self, file: str) -> str:
        """Return the text of a file: that of the run, else the present one; empty if there is none."""
        known = self.texts.get(Path(file).name, self.texts.get("")) if is_own(file) else None
        return "".join(linecache.getlines(file)) if known is None else known
