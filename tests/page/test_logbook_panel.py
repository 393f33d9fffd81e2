"""The panel of the logbook: entries by people and runs, plots pasted from panels, two people at once."""

import base64
import re

import pytest
from playwright.sync_api import expect

from tests.support import TIMEOUT
from tests.support.browser import new_page, violations

expect.set_options(timeout=TIMEOUT * 1000)
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGD4DwABBAEAX+XDSwAAAABJRU5ErkJggg=="
"""A picture of one pixel."""


def opened(page, size="desktop"):
    """Open the panel; returns it."""
    if size == "telephone":
        page.get_by_label("Views").get_by_role("button", name="Logbook").click()
    else:
        page.get_by_role("tab", name="Logbook").click()
    return page.get_by_role("region", name="Logbook", exact=True)


@pytest.mark.parametrize("size", ["desktop", pytest.param("telephone", marks=pytest.mark.long)])
def test_plot_is_pasted_into_the_logbook_and_exported(chromium, hub, place, size):
    place.set_dataset("counts", [3.0, 1.0, float("nan"), 2.0])
    with new_page(chromium, hub.address, size) as page:
        if size == "telephone":
            page.get_by_label("Views").get_by_role("button", name="Data").click()
            page.get_by_role("button", name="Draw counts").click()
            page.get_by_label("Views").get_by_role("button", name="Now").click()
        else:
            page.get_by_role("tab", name="Data").click()
            page.get_by_role("button", name="Draw counts").click()
        expect(page.get_by_role("img", name="counts: 4 points")).to_be_visible()
        page.get_by_role("button", name="counts to the logbook").click()
        panel = page.get_by_role("region", name="Logbook", exact=True)
        expect(panel.get_by_alt_text("Pasted plot")).to_be_visible()
        panel.get_by_label("New entry").fill("<b>dark</b> counts & more")
        panel.get_by_label("Run that the entry is about").fill("twelve")
        panel.get_by_role("button", name="Write").click()
        expect(page.get_by_text("'twelve' is not the number of a run")).to_be_visible()
        panel.get_by_label("Run that the entry is about").fill("#12")
        panel.get_by_role("button", name="Write").click()
        entry = panel.get_by_role("article", name="Entry 1")
        expect(entry).to_contain_text("<b>dark</b> counts & more")
        expect(entry).to_contain_text("run 12")
        expect(entry.get_by_alt_text("Plot of entry 1")).to_be_visible()
        expect(panel.get_by_label("New entry")).to_have_value("")
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        with page.expect_download() as download:
            panel.get_by_role("button", name="Export").click()
        text = download.value.path().read_text()
        picture = re.search(r"!\[entry 1\]\(data:image/png;base64,([^)]+)\)", text)
        assert base64.b64decode(picture[1]) == place.entry_picture(1)
        assert "<b>dark</b> counts & more" in text
        panel.get_by_label("Search the logbook").fill("run=13")
        expect(panel.get_by_text("Nothing matches.")).to_be_visible()


BUSY = """
window.IntersectionObserver = class {
  constructor(report) { this.report = report; }
  observe() { setTimeout(() => this.report([{ isIntersecting: false }, { isIntersecting: true }])); }
  disconnect() {}
};
"""
"""A browser that reports two moments at once, as one does that is busy."""


@pytest.mark.parametrize("condition", ["busy", "lost"])
def test_picture_of_an_entry_comes_in_a_busy_browser_and_after_a_lost_answer(chromium, hub, place, condition):
    picture = base64.b64decode(PIXEL)
    place.write_entry("first", None, picture)
    with new_page(chromium, hub.address, quiet=False) as page:
        if condition == "busy":
            page.add_init_script(BUSY)
        else:
            page.route("**/kairos.lab.v1.Logbook/Picture", lambda route: route.abort(), times=1)
        page.reload()
        expect(opened(page).get_by_alt_text("Plot of entry 1")).to_be_visible()


def test_export_of_the_logbook_without_one_picture_keeps_the_rest(chromium, hub, place):
    for text in ("first", "second"):
        place.write_entry(text, None, base64.b64decode(PIXEL))
    with new_page(chromium, hub.address, quiet=False) as page:
        expect(opened(page).get_by_alt_text("Plot of entry 1")).to_be_visible()
        expect(opened(page).get_by_alt_text("Plot of entry 2")).to_be_visible()
        page.route("**/kairos.lab.v1.Logbook/Picture", lambda route: route.abort(), times=1)
        with page.expect_download() as download:
            opened(page).get_by_role("button", name="Export").click()
        text = download.value.path().read_text()
    assert "first" in text and "second" in text
    assert text.count("data:image/png;base64,") == 1


def test_entry_changed_by_another_person_is_reported_to_its_editor(chromium, hub, place):
    number = place.write_entry("first", None)
    with new_page(chromium, hub.address) as one, new_page(chromium, hub.address, quiet=False) as other:
        for page in (one, other):
            panel = opened(page)
            panel.get_by_role("button", name=f"Edit entry {number}").click()
            panel.get_by_label(f"Text of entry {number}").fill("of one" if page is one else "of the other")
        opened(one).get_by_role("button", name="Save").click()
        expect(opened(one).get_by_text("of one")).to_be_visible()
        expect(opened(other).get_by_text("somebody has changed it since: “of one”")).to_be_visible()
        opened(other).get_by_role("button", name="Save").click()
        expect(other.get_by_role("status").filter(has_text="was changed by somebody meanwhile")).to_be_visible()
        expect(opened(other).get_by_label(f"Text of entry {number}")).to_have_value("of the other")
    assert [entry["text"] for entry in place.logbook()] == ["of one"]


def test_unwritten_entry_survives_a_reload(chromium, hub, place):
    with new_page(chromium, hub.address) as page:
        opened(page).get_by_label("New entry").fill("half a thought")
        page.reload()
        expect(opened(page).get_by_label("New entry")).to_have_value("half a thought")
        opened(page).get_by_label("New entry").press("Control+Enter")
        expect(opened(page).get_by_role("article", name="Entry 1")).to_contain_text("half a thought")
        page.on("dialog", lambda dialog: dialog.accept())
        opened(page).get_by_role("button", name="Withdraw entry 1").click()
        expect(opened(page).get_by_role("article")).to_have_count(0)
