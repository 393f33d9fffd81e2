"""The numbered facts of the specification, on the emulated device."""

import math
import re
import sys

import numpy as np
import pytest

from kairos.errors import CompileError
from kairos.language import *  # noqa: F403  (kernels may name all of it)
from kairos.language import kernel, kernel_from_string, rpc
from tests.support.paths import ROOT

from .cases import Raises, Refused, Reports
from .facts import CASES, ELSEWHERE, NUMBERS

GLOBAL = 5


class Levels:
    HIGH = 7


assert np and math and sys and GLOBAL and Levels, "kernels name these"

SPECIAL = {"int64s": np.array([1, 2]), "int64": np.int64(0)}
"""Host values that cannot be written as text in the table."""


class Program:
    """An object with a case as its kernel."""

    def __init__(self, core, body, host):
        self.core = core
        self.reported = []
        for name, value in host.items():
            if name in ("v", "m"):
                value = np.array(value)
            setattr(self, name, SPECIAL.get(value, value) if isinstance(value, str) else value)
        self.kernel_invariants = {"core", "fixed"} & {"core", *host}
        self.run = kernel_from_string(["self"], body, decorator=kernel)

    @rpc
    def report(self, *values):
        self.reported += values


@pytest.mark.parametrize(
    ("number", "case"), [(n, case) for n, cases in CASES.items() for case in cases], ids=lambda x: f"{x}"[:40]
)
def test_fact_of_the_specification_holds(core, number, case, capfd):
    program = Program(core, case.body, case.host)
    match case.outcome:
        case Refused(text):
            with pytest.raises(CompileError, match=re.escape(text)):
                program.run(program)
        case Raises(name, text):
            with pytest.raises(Exception, match=re.escape(text)) as caught:
                program.run(program)
            assert type(caught.value).__name__ == name
        case Reports(values):
            program.run(program)
            assert case.warns in capfd.readouterr().err
            assert repr(_plain(program.reported)) == repr(_plain(values))


def _plain(value):
    """Converts NumPy numbers to Python numbers; returns other values unchanged."""
    if isinstance(value, np.generic):
        return value.item()
    return type(value)(map(_plain, value)) if isinstance(value, list | tuple) else value


def test_every_fact_has_a_case():
    assert sorted([*CASES, *ELSEWHERE]) == list(NUMBERS), "once each"


@pytest.mark.parametrize("place", ELSEWHERE.values())
def test_tests_of_facts_shown_elsewhere_exist(place):
    file, _, name = place.partition("::")
    assert re.search(rf"def {name}\(", (ROOT / file).read_text())
