"""Pages in a browser."""

import pytest

from kairos.scope.page import write_page
from kairos.scope.tests.chromium import browser as chromium


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.fixture
def show(browser, tmp_path):
    """Open a page of lanes; at the end its console must be empty."""
    said, pages = [], []

    def show(lanes, end, title="a <b>title</b> & more", size=(1000, 600), steps=None, **kind):
        path = tmp_path / "page.html"
        write_page(path, title, lanes, end, steps)
        page = browser.new_page(viewport={"width": size[0], "height": size[1]}, **kind)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(path.as_uri())
        page.wait_for_function("window.scope && scope.frames > 0")
        pages.append(page)
        return page

    yield show
    for page in pages:
        page.wait_for_function("!scope.asked")
        page.close()
    assert said == []
