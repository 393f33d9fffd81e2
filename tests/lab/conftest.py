"""Laboratories of the tests."""

import pytest

from tests.support.laboratory import Laboratory


@pytest.fixture
def lab(tmp_path):
    """A laboratory without devices, started."""
    laboratory = Laboratory(tmp_path)
    laboratory.start()
    yield laboratory
    laboratory.close()
