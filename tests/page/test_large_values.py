"""Values that are large: an image of 2000 × 4000 numbers (64 MB), and texts of megabytes that somebody pastes."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.support import TIMEOUT
from tests.support.browser import new_page

expect.set_options(timeout=TIMEOUT * 1000)


@pytest.mark.long
def test_image_of_64_megabytes_is_set_and_drawn(chromium, hub, place):
    place.set_dataset("camera", np.arange(8e6).reshape(2000, 4000))
    with new_page(chromium, hub.address) as page:
        page.get_by_role("tab", name="Data").click()
        page.get_by_role("button", name="Draw camera").click()
        expect(page.get_by_role("img", name="camera: 2000 × 4000 elements")).to_be_visible()


def test_text_of_megabytes_is_pasted_as_a_new_dataset(chromium, hub, place):
    with new_page(chromium, hub.address) as page:
        page.get_by_role("tab", name="Data").click()
        page.get_by_role("button", name="New …").click()
        page.get_by_label("Name of the new dataset").fill("pasted")
        page.get_by_label("Value of the new dataset").evaluate(
            """field => {
                field.value = `"${"x".repeat(5 << 20)}"`;
                field.dispatchEvent(new Event("input", { bubbles: true }));
            }"""
        )
        page.get_by_role("button", name="Add", exact=True).last.click()
        expect(page.get_by_role("row", name=re.compile("^pasted kept xxx"))).to_be_visible()
    assert place.datasets()["pasted"][1] == "x" * (5 << 20)
