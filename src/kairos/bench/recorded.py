"""Plays recorded inputs: each change of an input comes as long after a change of one of the device's outputs as it did
in the recorded run, at whatever time that is now."""

import json
from collections import Counter, defaultdict
from pathlib import Path

from kairos.bench import Model

__all__ = ["Recorded"]


class Recorded(Model):
    """`path`: JSON file with the changes, each a list of the output of the device, how many times that had changed (its
    levels begin with 0), nanoseconds from then on, the model's output, and its level."""

    def __init__(self, path):
        self._due = defaultdict(list)
        for name, count, offset, output, level in json.loads(Path(path).read_text()):
            self._due[name, count].append((offset, output, level))
        self._levels: dict[str, bool] = {}
        self._counts: Counter = Counter()

    def input(self, at, changes):
        for name, level in changes.items():
            if level != self._levels.get(name, False):
                self._levels[name] = level
                self._counts[name] += 1
                for offset, output, value in self._due.pop((name, self._counts[name]), ()):
                    self.send(output, value, offset)

    def report(self, at):
        return {"left": sum(map(len, self._due.values()))}
