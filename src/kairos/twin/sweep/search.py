"""Sweeps that look for the best values: Optuna proposes them, batch by batch, from what was found before.

A batch is proposed once the one before it is complete, and told in order, so that the points depend on the seed and
the size of the batch, and neither on the number of workers nor on who is first.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite, prod
from typing import Any

import numpy as np

from ... import pyon
from ...errors import CommandLineError, UsageError
from .space import Space

__all__ = ["BATCH", "Objective", "NoSuchObjective", "Search"]

BATCH = 4
"""Samples that are proposed together."""
_KEY = re.compile(r"(?P<key>.+?)(\[(?P<index>-?\d+)\])?")
NAMES = 10
"""Datasets that a message lists."""


class NoSuchObjective(UsageError):
    """The experiment has no number with the name of the goal."""


@dataclass(frozen=True)
class Objective:
    """What is to be the smallest, or the largest: a dataset with one number, or ``KEY[2]``, an element of one."""

    text: str
    maximize: bool = False

    @property
    def key(self) -> str:
        """The dataset."""
        return _KEY.fullmatch(self.text)["key"]

    def value(self, result: dict) -> float:
        """Return the value at a point, from its result; NoSuchObjective if there is none."""
        datasets, index = result["datasets"], _KEY.fullmatch(self.text)["index"]
        if self.key not in datasets:
            known = ", ".join(sorted(datasets)[:NAMES]) or "none"
            raise NoSuchObjective(f"the experiment sets no dataset {self.key}; it sets {known}")
        text = datasets[self.key]
        try:
            found = np.asarray(pyon.decode(text))
            return float(found if index is None else found[int(index)])
        except (TypeError, ValueError, IndexError):
            pass
        said = f"{text[:60]}…" if len(text) > 60 else text
        try:
            number = found.astype(float)
        except (NameError, TypeError, ValueError):
            raise NoSuchObjective(f"{self.key} has no numbers, but {said}: name a dataset with one") from None
        if number.ndim == 1 and number.size:
            what = f"name one of its {number.size} elements, as {self.key}[0]"
        else:
            what = f"leave {self.text.removeprefix(self.key)} out" if not number.ndim else "name a dataset with one"
        raise NoSuchObjective(f"{self.text} is not a number, but {self.key} = {said}: {what}")

    def said(self) -> str:
        """Return it as text."""
        return f"{'maximize' if self.maximize else 'minimize'} {self.text}"


class Search:
    """A search for the best of the random values of `space`. Repetitions, and all points of dimensions that are not
    random, count by their mean. CommandLineError, UsageError if Optuna is not installed."""

    def __init__(self, space: Space, goal: Objective, batch: int = BATCH):
        if not space.samples:
            raise CommandLineError(
                "what is best is looked for among random values: give --scan NAME=LOW~HIGH and --samples"
            )
        if batch < 1:
            raise CommandLineError("a batch has at least one sample")
        try:
            # An extra: few sweeps look for something.
            import optuna
        except ImportError:
            raise UsageError("a search needs the package 'optuna': pip install 'kairos[search]'") from None
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._space, self.goal, self.batch = space, goal, batch
        ranges = {each.name: each.values for each in space.dimensions if each.is_random}
        self._ranges = {
            name: optuna.distributions.FloatDistribution(values.low, values.high) for name, values in ranges.items()
        }
        self._failed = optuna.trial.TrialState.FAIL
        sampler = optuna.samplers.TPESampler(seed=space.seed_of(b"search") & 0xFFFFFFFF)
        direction = "maximize" if goal.maximize else "minimize"
        self._study = optuna.create_study(sampler=sampler, direction=direction)

    def batches(self, finished: dict[int, dict]) -> Iterator[list[int]]:
        """Yield the numbers of the points of each batch; `finished` has their results, by number, when the next one is
        asked for."""
        for first in range(0, self._space.samples, self.batch):
            samples = range(first, min(first + self.batch, self._space.samples))
            trials = {sample: self._study.ask(self._ranges) for sample in samples}
            for sample, trial in trials.items():
                self._space.draw(sample, trial.params)
            yield sorted(number for sample in samples for number in self._numbers(sample))
            for sample, trial in trials.items():
                value = self._value(sample, finished)
                if value is None:
                    self._study.tell(trial, state=self._failed)
                else:
                    self._study.tell(trial, value)

    def _numbers(self, sample: int) -> list[int]:
        """Return the numbers of the points with this sample."""
        space = self._space
        grid = prod(len(each.values) for each in space.dimensions if not each.is_random)
        return [
            (place * space.samples + sample) * space.repeats + repeat
            for place in range(grid)
            for repeat in range(space.repeats)
        ]

    def _value(self, sample: int, finished: dict[int, dict]) -> float | None:
        """Return the mean of the points of a sample; None if one has failed, or it is not finite."""
        results = [finished[number] for number in self._numbers(sample)]
        if any(result["error"] is not None for result in results):
            return None
        value = float(np.mean([self.goal.value(result) for result in results]))
        return value if isfinite(value) else None

    def best(self, finished: dict[int, dict]) -> dict[str, Any] | None:
        """Return the best sample: its number `sample`, its `values` by name, and `value`; None if all have failed."""
        found = {sample: self._value(sample, finished) for sample in range(self._space.samples)}
        known = {sample: value for sample, value in found.items() if value is not None}
        if not known:
            return None
        sample = (max if self.goal.maximize else min)(known, key=lambda each: known[each])
        values = {name: float(drawn[sample]) for name, drawn in self._space.drawn.items()}
        return {"sample": sample, "values": values, "value": known[sample]}
