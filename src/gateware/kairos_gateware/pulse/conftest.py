"""Verilated channels shared by the tests of this folder."""

import os
from pathlib import Path

import pytest

from kairos_gateware.testbenches.pulse import build_engines

BUILD = Path(os.environ.get("KAIROS_BUILD", Path(__file__).parents[4] / "build")) / "gateware"


@pytest.fixture(scope="session")
def engines():
    """Two channels with tables of a quarter of the size."""
    return build_engines(BUILD / "pulse_engines", channels=2, mlut_bits=11, plut_bits=10)
