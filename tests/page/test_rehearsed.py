"""What rehearsals have found, in the page's queue."""

import re
import time

import pytest
from playwright.sync_api import expect

from tests.support import PATIENCE
from tests.support.browser import ENTRY, new_page, violations
from tests.support.hub import Hub
from tests.support.laboratory import Laboratory
from tests.support.paths import EXAMPLES
from tests.support.rehearsed import KERNELS, LATE

expect.set_options(timeout=PATIENCE * 1000)
SETTINGS = '[rehearsal]\ndefault = "must"\nwithin_s = 60\n'


@pytest.fixture
def hub(tmp_path):
    """The hub of a laboratory that rehearses its runs, in which one that fails is held, and one passes that waits for
    tomorrow."""
    folder = tmp_path / "lab"
    folder.mkdir()
    laboratory = Laboratory(folder, SETTINGS, (EXAMPLES / "device_db.py").read_text())
    (folder / "repository" / "kernels.py").write_text(KERNELS)
    laboratory.start()
    hub = Hub(tmp_path, {}, entries=ENTRY)
    try:
        for name, due in (("Late", None), ("Fine", time.time() + 86400)):
            laboratory.submit({**laboratory.expid(name), "file": "kernels.py"}, "main", due_date=due)
        yield hub
    finally:
        hub.close()
        laboratory.close()


def test_waiting_run_shows_the_verdict_of_its_rehearsal(chromium, hub):
    with new_page(chromium, hub.address) as page:
        fine, late = (page.get_by_role("listitem").filter(has_text=name) for name in ("Fine", "Late"))
        expect(
            late.get_by_text(re.compile(f"^The rehearsal fails at .*kernels.py:{LATE}: RTIOUnderflow"))
        ).to_be_visible()
        expect(fine.get_by_text(re.compile("^rehearsed in .*, no underflow"))).to_be_visible()
        expect(late.get_by_text("held", exact=True)).to_be_visible()
        assert violations(page) == []


def test_form_rehearses_without_submitting_and_shows_the_lines(chromium, hub):
    with new_page(chromium, hub.address) as page:
        verdict = page.get_by_role("status", name="Rehearsal")
        page.get_by_role("button", name="Late", exact=True).click()
        page.get_by_role("button", name="Rehearse", exact=True).click()
        expect(
            verdict.get_by_text(re.compile(f"^The rehearsal fails at kernels.py:{LATE}: RTIOUnderflow"))
        ).to_be_visible()
        # What was found holds for the arguments with which it was rehearsed.
        page.get_by_label("early", exact=True).fill("5")
        expect(verdict).to_be_empty()
        page.get_by_role("button", name="Rehearse", exact=True).click()
        expect(verdict.get_by_text(re.compile("^rehearsed in .*, no underflow"))).to_be_visible()
        verdict.get_by_text("Lines with outputs").click()
        expect(verdict.get_by_role("row", name=re.compile(f"^kernels.py:{LATE} "))).to_be_visible()
        expect(page.get_by_role("button", name=re.compile(r"^Submit\s+[\d.]+ (ms|µs|s)$"))).to_be_visible()
        assert violations(page) == []
        expect(page.get_by_role("region", name="Queue").get_by_role("listitem")).to_have_count(2)
