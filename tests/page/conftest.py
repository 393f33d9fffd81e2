"""Laboratory, hub and browser of the tests of the page."""

import pytest

from tests.support.browser import ENTRY, browser
from tests.support.hub import Hub
from tests.support.laboratory import Laboratory


@pytest.fixture(scope="module")
def chromium():
    """A running Chromium; no other may run in the same process, so it ends with the file."""
    with browser() as running:
        yield running


@pytest.fixture
def place(tmp_path):
    """A laboratory without devices."""
    folder = tmp_path / "lab"
    folder.mkdir()
    laboratory = Laboratory(folder)
    laboratory.start()
    yield laboratory
    laboratory.close()


@pytest.fixture
def hub(place, tmp_path):
    """The hub of the laboratory, without tokens."""
    hub = Hub(tmp_path, {}, entries=ENTRY)
    yield hub
    hub.close()
