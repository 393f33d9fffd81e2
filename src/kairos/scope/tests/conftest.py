"""Pages in a browser."""

import shutil

import pytest

from kairos.scope.page import write_page

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="module")
def browser():
    if BROWSER is None:
        pytest.skip("there is no Chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield running
        running.close()


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
