"""What opens within the panels, on a telephone: nothing that axe-core objects to, nothing wider than the screen."""

import re

import pytest
from playwright.sync_api import expect

from tests.support import TIMEOUT
from tests.support.browser import ENTRY, new_page
from tests.support.hub import Hub, token_entry
from tests.support.laboratory import Laboratory
from tests.support.telephone import SMALLEST, good, view

expect.set_options(timeout=TIMEOUT * 1000)

ALARM = '[[alarm]]\nname = "trap RF"\ndataset = "rf"\nmaximum = 2\nguidance = "call Anna"\n'


@pytest.fixture
def alarmed(tmp_path):
    """A laboratory with an alarm."""
    folder = tmp_path / "lab"
    folder.mkdir()
    laboratory = Laboratory(folder, ALARM)
    laboratory.start()
    yield laboratory
    laboratory.close()


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.long)])
def test_telephone_views_with_their_popups_and_forms_are_accessible(chromium, alarmed, tmp_path, scheme):
    for n in (3, 5):
        alarmed.ends(alarmed.run_of("Quick", n=n))
    alarmed.tag(0, "long" * 30)
    alarmed.set_dataset("rf", 3.0, True, {"unit": "V"})
    alarmed.set_dataset("dark", float("nan"))
    alarmed.run_of("Asks")
    hub = Hub(tmp_path, {}, entries=ENTRY)
    try:
        with new_page(chromium, hub.address, "telephone", scheme) as page:
            page.set_default_timeout(1000 * TIMEOUT)
            page.set_viewport_size(SMALLEST)
            page.get_by_role("button", name="1 alarm").click()
            expect(page.get_by_role("row", name=re.compile("^trap RF active"))).to_be_visible()
            good(page)
            page.get_by_role("button", name="1 alarm").click()
            view(page, "Start")
            page.get_by_role("button", name=re.compile("Quick scan")).click()
            page.get_by_text("Scheduling").click()
            good(page)
            page.get_by_label("Priority").fill("99999999999")
            page.locator("button.main").click()
            expect(page.get_by_text("priority cannot be 99999999999: give a whole number")).to_be_visible()
            view(page, "Data")
            expect(page.get_by_role("row", name=re.compile("^dark ?nan"))).to_be_visible()
            page.get_by_role("button", name="History of rf").click()
            page.get_by_role("button", name="Edit rf").click()
            good(page)
            page.get_by_role("button", name="Draw points").click()
            view(page, "Now")
            expect(page.get_by_label("power")).to_be_visible()  # what the run asks for
            plot = page.get_by_role("article", name="points", exact=True)
            plot.get_by_role("button", name="Crosshair of points").click()
            plot.get_by_label("Runs behind points").fill("0")
            plot.get_by_role("button", name="Draw behind").click()
            expect(plot.get_by_role("img", name=re.compile("with run 0 behind"))).to_be_visible()
            plot.get_by_label("Fit of points").select_option("line")
            expect(plot.get_by_label("Fit line")).to_be_visible()
            # What opens in a plot covers none of its buttons.
            plot.get_by_role("button", name="points to the logbook").click(trial=True)
            page.get_by_role("button", name="Lock …").click()
            good(page)
            view(page, "Values")
            expect(page.get_by_role("row", name=re.compile("^rf ?3 V"))).to_be_visible()
            good(page)
            view(page, "Runs")
            expect(page.get_by_role("button", name="Run 1 again")).to_be_in_viewport(ratio=1)
            good(page)
            for rid in (0, 1):
                page.get_by_label(f"Compare run {rid}").check()
            page.get_by_role("button", name="Compare 0 and 1").click()
            expect(page.get_by_role("row", name=re.compile("^n argument 3 5"))).to_be_visible()
            page.get_by_label("also what is equal").check()
            expect(page.get_by_role("row", name=re.compile("^tags (long){30}"))).to_be_visible()
            good(page)
    finally:
        hub.close()


def test_login_on_a_telephone_is_accessible(chromium, place, tmp_path):
    hub = Hub(tmp_path, {}, entries=ENTRY + token_entry("a token", "view"))
    try:
        with new_page(chromium, hub.address, "telephone") as page:
            expect(page.get_by_label("Token")).to_be_visible()
            good(page)
    finally:
        hub.close()
