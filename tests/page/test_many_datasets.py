"""Ten thousand datasets: the page stays quick, as its work is bounded by what is in sight."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.support import TIMEOUT
from tests.support.browser import new_page, violations

expect.set_options(timeout=TIMEOUT * 1000)

MANY = """
from artiq.experiment import *


class Many(EnvExperiment):
    def build(self):
        self.setattr_device("scheduler")

    def run(self):
        for n in range(10_000):
            self.set_dataset(f"trap{n % 10}.rod{n // 100}.volt{n}", n / 7 if n % 2 else [n, 1.5], broadcast=True)
        self.set_dataset("count", 0, broadcast=True)
        while not self.scheduler.check_termination():
            self.set_dataset("count", self.get_dataset("count") + 1, broadcast=True)
"""
ELEMENTS = 5000
"""Elements of the page at most: it has no element for each dataset."""


@pytest.mark.long
@pytest.mark.parametrize("size", ["desktop", "telephone"])
def test_ten_thousand_datasets_are_searched_while_others_change(chromium, hub, place, size):
    (place.folder / "repository" / "many.py").write_text(MANY)
    rid = place.submit({"file": "many.py", "class_name": "Many", "arguments": {}, "repo_rev": None})
    with new_page(chromium, hub.address, size) as page:
        page.set_default_timeout(1000 * TIMEOUT)
        if size == "telephone":
            page.get_by_label("Views").get_by_role("button", name="Data").click()
        else:
            page.get_by_role("tab", name="Data").click()
        panel = page.get_by_role("region", name="Datasets")
        expect(panel.get_by_role("row", name=re.compile("^count [1-9]"))).to_be_visible()
        expect(panel.get_by_role("row", name="trap3. 1000 datasets")).to_be_visible()
        assert page.evaluate("document.querySelectorAll('*').length") < ELEMENTS
        search = panel.get_by_label("Search datasets")
        search.fill("volt9999")
        expect(panel.get_by_role("row", name=re.compile("^trap9.rod99.volt9999"))).to_be_visible()
        expect(panel.get_by_role("row")).to_have_count(2)
        panel.get_by_role("button", name="Tree").click()
        expect(panel.get_by_role("row")).to_have_count(2)
        search.fill("")
        expect(panel.get_by_role("row", name=re.compile("^trap0.rod0.volt0 "))).to_be_visible()
        assert page.evaluate("document.querySelectorAll('*').length") < ELEMENTS
        panel.get_by_role("button", name="Tree").click()
        search.fill("<b>")
        expect(panel.get_by_text("Nothing matches.")).to_be_visible()
        search.fill("rod0.volt4")
        assert violations(page) == []
        place.terminate(rid)
    assert json.dumps(place.datasets()["trap9.rod99.volt9999"][1]) == str(9999 / 7)
