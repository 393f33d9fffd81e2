"""Names and texts of any size: what is long is shortened and can be had as a whole, what is not seen is written out."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.support import TIMEOUT
from tests.support.browser import SIZES, new_page, violations

expect.set_options(timeout=TIMEOUT * 1000)

LONG = 1_000_000
WORDY = '''from artiq.experiment import *


class Wordy(EnvExperiment):
    """Says much"""

    def build(self):
        self.setattr_argument("said", StringValue("short"))
        self.calibrates("wordy", by_hand=True)

    def run(self):
        self.set_dataset("told", self.said, broadcast=True)
        self.set_dataset("wordy", self.said, broadcast=True, persist=True)
        self.add_to_logbook(self.said[:100_000])
        print(self.said)
        raise ValueError("wrong: " + self.said)
'''
NAME = "begin" + "x" * 300 + "<b>\n\u202eend"
SHOWN = "<b>\\n\\u202eend"
"""How the end of this name is shown."""


FILL = """(field, text) => {
    field.value = text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
}"""


def wordy(place):
    """Make a megabyte of text everywhere; returns the number of the run."""
    (place.folder / "repository" / "wordy.py").write_text(WORDY)
    place.set_dataset(NAME, 2.5, True)
    rid = place.submit({**place.expid("Wordy", said="word " * (LONG // 5)), "file": "wordy.py"}, "main")
    place.ends(rid)
    place.tag(rid, "t" * 300)
    place.note(rid, "note " * 20_000)
    return rid


def test_long_texts_and_odd_names_are_bounded_and_complete_on_demand(chromium, hub, place):
    rid = wordy(place)
    with new_page(chromium, hub.address) as page:
        page.set_default_timeout(1000 * TIMEOUT)
        page.set_viewport_size(dict(zip(("width", "height"), SIZES["desktop"], strict=True)))
        for name in ("Data", "Calibrations", "Logbook", "Log", "Runs"):
            page.get_by_role("tab", name=name, exact=True).click()
        expect(page.get_by_role("row", name="Wordy")).to_be_visible()
        page.get_by_role("button", name=str(rid), exact=True).click()
        expect(page.get_by_text("ValueError: wrong").first).to_be_visible()
        text = page.evaluate("document.body.innerText")
        assert len(text) < 150_000, "what is long is bounded"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert violations(page) == []
        error = page.locator("pre.error")
        error.get_by_role("button", name="More of error").click()
        expect(error).to_contain_text("word " * 10_000)
        with page.expect_download() as download:
            error.get_by_role("button", name="Save error").click()
        assert Path(download.value.path()).read_text().count("word ") > LONG // 6

        page.get_by_role("tab", name="Data", exact=True).click()
        row = page.get_by_role("row").filter(has_text=SHOWN)
        shown = row.locator("bdi")
        assert shown.evaluate("each => each.textContent") == shown.inner_text()
        assert len(shown.inner_text()) <= 100
        assert shown.get_attribute("title") == "begin" + "x" * 300 + SHOWN
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        shown.evaluate("each => getSelection().selectAllChildren(each)")
        page.keyboard.press("Control+c")
        assert page.evaluate("navigator.clipboard.readText()") == NAME
        page.get_by_role("button", name="Show told").click()
        expect(page.get_by_role("button", name="Close told")).to_be_focused()
        whole = page.get_by_role("region", name="Datasets").locator("pre.output")
        whole.get_by_role("button", name="More of told").click()
        expect(whole).to_contain_text("word " * 10_000)
        page.keyboard.press("Escape")
        assert violations(page) == []


@pytest.mark.long
def test_long_words_are_refused_in_a_line_and_the_page_goes_on(chromium, hub, place):
    (place.folder / "repository" / "wordy.py").write_text(WORDY)
    place.scan()
    place.write_entry("an entry")
    with new_page(chromium, hub.address, quiet=False) as page:
        page.set_default_timeout(1000 * TIMEOUT)
        search = page.get_by_label("Search runs")
        search.evaluate(FILL, "x" * 60_000)
        refused = page.get_by_text("a search has at most 1000 characters, this one has 60000")
        expect(refused).to_be_visible()
        search.fill("nothing")
        expect(page.get_by_text("No run matches.")).to_be_visible()
        page.get_by_role("tab", name="Logbook", exact=True).click()
        search = page.get_by_label("Search the logbook")
        expect(page.get_by_text("an entry", exact=True)).to_be_visible()
        # What a page cannot ask for does not end its connection, which all panels have.
        page.evaluate("() => { window.closed = 0; WebSocket.prototype.close = () => window.closed++; }")
        for length, said in ((60_000, "at most 1000 characters"), (2 << 20, "too long to be asked for: 2.1 MB")):
            search.evaluate(FILL, "x" * length)
            expect(page.get_by_text(said)).to_be_visible()
        search.fill("entry")
        expect(page.get_by_text("too long")).to_have_count(0)
        expect(page.get_by_text("an entry", exact=True)).to_be_visible()
        page.get_by_role("button", name=re.compile("^Says much")).click()
        page.get_by_label("said", exact=True).evaluate(FILL, "x" * (2 << 20))
        page.get_by_role("button", name="Rehearse", exact=True).click()
        expect(page.get_by_text("too long to be asked for")).to_be_visible()
        place.set_dataset("after", 1.0)
        page.get_by_role("tab", name="Data", exact=True).click()
        page.get_by_label("Search datasets").evaluate(FILL, "x" * (2 << 20))
        expect(page.get_by_text("Nothing matches.")).to_be_visible()
        page.get_by_label("Search datasets").fill("")
        expect(page.get_by_role("row", name="after 1")).to_be_visible()
        assert page.evaluate("window.closed") == 0
