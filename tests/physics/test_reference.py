"""The stored results that the bench's models are tested against agree with QuTiP."""

import json

import pytest


def flat(value):
    """Numbers and texts of nested lists and dictionaries, in order."""
    if isinstance(value, dict):
        value = [item for pair in value.items() for item in pair]
    return [item for part in value for item in flat(part)] if isinstance(value, list) else [value]


def test_stored_results_agree_with_qutip():
    from . import reference  # QuTiP takes two seconds, and each process of the tests imports all of their files

    kept = json.loads(reference.FILE.read_text())
    now = json.loads(json.dumps(reference.cases()))
    kept.pop("qutip"), now.pop("qutip")
    for mine, theirs in zip(flat(kept), flat(now), strict=True):
        assert mine == (pytest.approx(theirs, abs=1e-8, rel=1e-9) if isinstance(theirs, float) else theirs)
