"""Device databases for the command, and a hub for the device under test."""

import pytest

from tests.support.gateware import database
from tests.support.hub import demo_hub
from tests.support.scope import lanes, opened


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """The device database of the gateware variant `lab`."""
    return database("lab", tmp_path_factory.mktemp("lab"))


@pytest.fixture(scope="session")
def pulse(tmp_path_factory):
    """The device database of the gateware variant `pulse`."""
    return database("pulse", tmp_path_factory.mktemp("pulse"))


@pytest.fixture(scope="session")
def pulse8(tmp_path_factory):
    """The device database of the gateware variant `pulse8`, which takes minutes to build."""
    return database("pulse8", tmp_path_factory.mktemp("pulse8"))


@pytest.fixture(scope="module")
def hub(device, tmp_path_factory):
    """A hub for the device under test and a second device that does not answer."""
    with demo_hub(device, tmp_path_factory.mktemp("hub")) as hub:
        yield hub


@pytest.fixture
def page_of(kairos):
    """`page_of(experiment, *words, device_db=path)` runs an experiment with `--scope`, opens the
    page in a browser, and returns its lanes by group and name."""

    def page_of(experiment, *words, **options):
        done = kairos("run", experiment, *words, "--no-table", "--scope", "a.html", **options)
        page = kairos.directory / "a.html"
        assert done.returncode == 0 and page.exists(), done.stdout + done.stderr
        opened(page, kairos.directory / "a.png")
        return lanes(page)

    return page_of
