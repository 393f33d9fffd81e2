"""The browser of all tests of pages."""

import shutil
from contextlib import contextmanager

import pytest

BROWSERS = "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"
"""Chromium, by preference: the one without a window needs two thirds of the processor time."""
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)


@contextmanager
def browser():
    """Run Chromium; skips the test if there is none."""
    if BROWSER is None:
        pytest.skip("there is no Chromium")
    # Only tests with a browser need it.
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield running
        running.close()
