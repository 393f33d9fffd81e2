"""Numbers of the host that are data of a kernel library: one library serves for all their values."""

import math

import numpy as np
import pytest

from kairos import compiler
from kairos.compiler import quoting, scalars
from kairos.compiler.cache import Cache
from kairos.language import TFloat, kernel

from .test_cache import same_but_for_the_name


class Core:
    ref_period = 1e-9


class Part:
    kernel_invariants = {"gain"}

    def __init__(self, gain, offset):
        self.gain, self.offset = gain, offset


class Scan:
    def __init__(self):
        self.core = Core()
        self.detuning = 1.5
        self.count = 3
        self.on = True
        self.wide = 1 << 40
        self.tuple = (1, 2)
        self.parts = [Part(1, 2.0), Part(1, 3.0)]
        self.total = 0

    @property
    def doubled(self):
        return 2 * self.detuning

    @kernel
    def run(self, x, y=2) -> TFloat:
        total = self.detuning + self.doubled
        for _ in range(self.count):
            total += 1.0
        if self.on:
            total += float(self.wide)
        for part in self.parts:
            total += part.offset * part.gain
        self.total += 1
        return total + x * y + self.tuple[0]

    def expected(self, x, y=2):
        value = 3 * self.detuning + self.count + (self.wide if self.on else 0)
        return value + sum(part.offset * part.gain for part in self.parts) + x * y + self.tuple[0]


@pytest.fixture
def scan(tmp_path):
    made = Scan()
    made.cache = Cache(tmp_path / "cache")
    return made


def compiled(scan, *args, cache=None, **kwargs):
    options = {"core": scan.core, "set_result": print}
    return compiler.compile_kernel(Scan.run, (scan, *args), kwargs, cache=cache or scan.cache, **options)


CHANGES = {
    "a float": ("detuning", (2.5, -0.0, math.nan, math.inf)),
    "an int": ("count", (4, 0, -7)),
    "a bool": ("on", (False, True, False)),
    "a wide int": ("wide", (1 << 41, -(1 << 62), 1 << 33)),
}


@pytest.mark.parametrize(("name", "values"), CHANGES.values(), ids=CHANGES)
def test_number_that_changes_is_data_from_then_on(scan, name, values):
    assert not compiled(scan, 5).cached
    setattr(scan, name, values[0])
    assert not compiled(scan, 5).cached, "before it was a constant"
    for value in values[1:]:
        setattr(scan, name, value)
        found, fresh = compiled(scan, 5), compiled(scan, 5, cache=Cache(None))
        assert found.cached
        assert same_but_for_the_name(found.library, fresh.library)
        assert same_but_for_the_name(found.unstripped, fresh.unstripped)


def test_numbers_that_change_together_are_compiled_once(scan):
    compiled(scan, 5)
    for point in range(1, 5):
        scan.detuning, scan.count, scan.on = point / 3, point, point % 2 == 0
        scan.parts[1].offset = point * 1.5
        assert compiled(scan, 5).cached == (point > 1)


def test_number_beyond_its_width_is_compiled_again(scan):
    compiled(scan, 5)
    scan.count = 4
    compiled(scan, 5)
    scan.count = 1 << 40
    assert not compiled(scan, 5).cached
    scan.count = (1 << 40) + 1
    assert compiled(scan, 5).cached
    scan.count = np.int64(6)
    assert not compiled(scan, 5).cached
    scan.count = 9
    assert compiled(scan, 5).cached


def test_arguments_of_the_call_are_data(scan):
    assert not compiled(scan, 5).cached
    for args, kwargs in (((6,), {}), ((-1,), {}), ((7,), {})):
        found, fresh = compiled(scan, *args, **kwargs), compiled(scan, *args, cache=Cache(None), **kwargs)
        assert found.cached and same_but_for_the_name(found.library, fresh.library)
    assert not compiled(scan, 5, y=3).cached, "another call"
    assert compiled(scan, 8, y=9).cached
    assert not compiled(scan, 5, 3).cached
    assert compiled(scan, 8, 9).cached
    assert not compiled(scan, 5.5).cached
    assert compiled(scan, 6.5).cached


def test_attribute_that_the_kernel_assigns_is_data_at_once(scan):
    compiled(scan, 5)
    scan.total = 17
    assert compiled(scan, 5).cached


def test_declared_invariant_stays_a_constant(scan):
    for gain in (1, 2, 3):
        for part in scan.parts:
            part.gain = gain
        assert not compiled(scan, 5).cached
    compiled(scan, 5)


def test_tuple_stays_a_constant(scan):
    for first in (1, 2, 3):
        scan.tuple = (first, 2)
        assert not compiled(scan, 5).cached


def test_choice_of_data_does_not_depend_on_the_cache(scan, tmp_path):
    def libraries(cache):
        fresh = Scan()
        found = []
        for value in (1.5, 2.5, 1.5):
            fresh.detuning = value
            found.append(compiled(fresh, 5, cache=cache).library)
        return found

    cache = Cache(tmp_path / "other")
    first, again, without = libraries(cache), libraries(cache), libraries(Cache(None))
    for one, two, three in zip(first, again, without, strict=True):
        assert same_but_for_the_name(one, two) and same_but_for_the_name(one, three)
    assert first[0] != first[2], "a constant before the first change"


def test_every_number_as_data_needs_one_library(scan, monkeypatch):
    monkeypatch.setattr(scalars, "_every_number", True)
    monkeypatch.setattr(quoting, "libraries", lambda: ())  # this file is a part of Kairos
    for point in range(3):
        fresh = Scan()
        fresh.detuning, fresh.count, fresh.on = point * 0.5, point, point == 1
        found = compiled(fresh, point, cache=scan.cache)
        assert found.cached == (point > 0)
        assert same_but_for_the_name(found.library, compiled(fresh, point, cache=Cache(None)).library)
    for part in fresh.parts:
        part.gain = 9
    assert not compiled(fresh, 5, cache=scan.cache).cached, "declared as an invariant"
