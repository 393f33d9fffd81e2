"""What rehearsals have found, in the page's queue."""

import re
import time
from pathlib import Path

import h5py
import pytest
from playwright.sync_api import expect

from tests.support import TIMEOUT
from tests.support.browser import ENTRY, new_page, violations
from tests.support.hub import Hub
from tests.support.laboratory import Laboratory
from tests.support.paths import EXAMPLES
from tests.support.rehearsed import KERNELS, LATE
from tests.support.waiting import until

expect.set_options(timeout=TIMEOUT * 1000)
SETTINGS = '[rehearsal]\ndefault = "must"\nwithin_s = 60\n'


@pytest.fixture
def hub(tmp_path, request):
    """The hub of a laboratory, `lab`, that rehearses its runs: one that fails is held, and one passes that waits for
    tomorrow. Its parameter: more settings."""
    folder = tmp_path / "lab"
    folder.mkdir()
    laboratory = Laboratory(folder, SETTINGS + getattr(request, "param", ""), (EXAMPLES / "device_db.py").read_text())
    (folder / "repository" / "kernels.py").write_text(KERNELS)
    (folder / "repository" / "lab.py").unlink()
    laboratory.start()
    hub = Hub(tmp_path, {}, entries=ENTRY)
    hub.lab = laboratory
    try:
        for name, due in (("Late", None), ("Fine", time.time() + 86400)):
            laboratory.submit({**laboratory.expid(name), "file": "kernels.py"}, "main", due_date=due)
        yield hub
    finally:
        hub.close()
        laboratory.close()


def has_waveforms(path):
    """Return whether both are in the file of a run: that which was recorded, and that of the twin."""
    with h5py.File(path) as file:
        return {"recorded", "waveform"} <= set(file)


def test_waiting_run_shows_the_verdict_of_its_rehearsal(chromium, hub):
    with new_page(chromium, hub.address) as page:
        fine, late = (page.get_by_role("listitem").filter(has_text=name) for name in ("Fine", "Late"))
        expect(
            late.get_by_text(re.compile(f"^The rehearsal fails at .*kernels.py:{LATE}: RTIOUnderflow"))
        ).to_be_visible()
        expect(fine.get_by_text(re.compile("^rehearsed in .*, no underflow"))).to_be_visible()
        expect(late.get_by_text("held", exact=True)).to_be_visible()
        assert violations(page) == []


def test_run_shows_its_waveform_and_gives_its_file(chromium, hub):
    rid = hub.lab.submit({**hub.lab.expid("Fine"), "file": "kernels.py"}, "other")
    hub.lab.ends(rid)
    with new_page(chromium, hub.address) as page:
        until(lambda: has_waveforms(hub.lab.file_of(rid)))
        page.get_by_role("button", name=str(rid), exact=True).click()
        with page.expect_download() as download:
            page.get_by_role("link", name=re.compile(r"-Fine\.h5$")).click()
        assert Path(download.value.path()).read_bytes() == hub.lab.file_of(rid).read_bytes()
        assert download.value.suggested_filename == hub.lab.file_of(rid).name
        page.get_by_role("button", name="Waveform").click()
        waveform = page.get_by_role("region", name=f"Waveform of run {rid}")
        lanes = waveform.get_by_role("application", name=re.compile(r"^\d+ lanes of run"))
        expect(lanes).to_be_visible()
        page.get_by_label("Which waveform").select_option("predicted")
        expect(waveform.get_by_text("predicted by the twin")).to_be_visible()
        waveform.get_by_label("Search the waveform").fill("ttl4")
        waveform.get_by_label("Search the waveform").press("Enter")
        expect(waveform.get_by_text("ttl4 at 0 ns")).to_be_visible()
        lanes.press("+")
        assert violations(page) == []
        page.screenshot(path=hub.folder / "waveform.png")


@pytest.mark.parametrize("hub", ["commits = true\n"], indirect=True)
def test_form_rehearses_without_submitting_and_shows_the_lines(chromium, hub):
    with new_page(chromium, hub.address) as page:
        page.get_by_text("Rehearsed with defaults: 1 fails, 1 passes").click()
        late, fine = page.get_by_role("list", name="Rehearsed experiments").get_by_role("listitem").all()
        expect(late).to_contain_text(re.compile(f"^Late\\s*fails.*fails at kernels.py:{LATE}: RTIOUnderflow"))
        expect(fine).to_contain_text(re.compile(r"^Fine *passes *[\d.]+ µs on the device, least slack \d.* µs"))
        verdict = page.get_by_role("status", name="Rehearsal")
        late.get_by_role("button", name="Late").click()
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
