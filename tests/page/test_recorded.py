"""What the pins did in a run, with overrides by hand; what differs from another run; and its repetition on the twin."""

import re

import h5py
from playwright.sync_api import expect

from tests.support import TIMEOUT
from tests.support.browser import ENTRY, new_page, violations
from tests.support.hub import Hub
from tests.support.laboratory import Laboratory
from tests.support.paths import EXAMPLES
from tests.support.waiting import until

expect.set_options(timeout=TIMEOUT * 1000)

SETTINGS = "[rehearsal]\nwaveforms = true\n"
TWICE = '''import time
from pathlib import Path
from artiq.experiment import *

HOME = Path("FOLDER")


class Twice(EnvExperiment):
    """Pulses twice"""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")

    @kernel
    def pulse(self):
        self.core.reset()
        self.ttl4.pulse(1 * us)
        delay(100 * us)
        self.core.wait_until_mu(now_mu())

    def run(self):
        self.pulse()
        (HOME / "once").touch()
        while not (HOME / "on").exists():
            time.sleep(0.01)
        self.pulse()
'''


def finished(lab, overrides=()):
    """Run the experiment, between whose pulses these pins are high; return its number when its waveforms are there."""
    for name in ("once", "on"):
        (lab.folder / name).unlink(missing_ok=True)
    rid = lab.submit({**lab.expid("Twice"), "file": "twice.py"}, "main")
    until((lab.folder / "once").exists)
    for pin in overrides:
        lab.override("core", pin, True)
        lab.override("core", pin, None)
    (lab.folder / "on").touch()
    lab.ends(rid)
    until(lambda: _groups(lab.file_of(rid)) == {"waveform", "recorded"}, lambda: _groups(lab.file_of(rid)))
    return rid


def _groups(path):
    with h5py.File(path) as file:
        return {"waveform", "recorded"} & set(file)


def test_override_is_seen_in_the_waveform_and_among_the_differences(chromium, tmp_path):
    (tmp_path / "lab").mkdir()
    lab = Laboratory(tmp_path / "lab", SETTINGS, (EXAMPLES / "device_db.py").read_text())
    (lab.folder / "repository" / "twice.py").write_text(TWICE.replace("FOLDER", str(lab.folder)))
    lab.start()
    hub = Hub(tmp_path, {}, entries=ENTRY)
    try:
        overridden, plain = finished(lab, ["ttl6"]), finished(lab)
        with new_page(chromium, hub.address) as page:
            page.set_default_timeout(1000 * TIMEOUT)
            page.get_by_role("button", name=str(overridden), exact=True).click()
            page.get_by_role("button", name="Verify").click()
            expect(page.get_by_role("status", name="Verification")).to_contain_text(re.compile("^the same: 4 events"))
            page.get_by_role("button", name="Waveform").click()
            waveform = page.get_by_role("region", name=f"Waveform of run {overridden}")
            expect(waveform.get_by_text("overrides included")).to_be_visible()
            search = waveform.get_by_label("Search the waveform")
            search.fill("ttl6")
            search.press("Enter")
            expect(waveform.get_by_text(re.compile("^ttl6 at [1-9]"))).to_be_visible()
            page.get_by_label("Which waveform").select_option("predicted")
            expect(waveform.get_by_text("predicted by the twin")).to_be_visible()
            search.fill("ttl6")
            search.press("Enter")
            expect(waveform.get_by_text("no ttl6 behind it")).to_be_visible()
            assert violations(page) == []
            page.keyboard.press("Escape")
            page.get_by_role("button", name="All runs").or_(page.get_by_label(re.compile("^Close run"))).click()
            for rid in (overridden, plain):
                page.get_by_label(f"Compare run {rid}").check()
            page.get_by_role("button", name="Compare").click()
            events = page.get_by_role("region", name="Events that differ")
            expect(events.get_by_text("The waveforms are the same: 4 events.")).to_be_visible()
            events.get_by_label("as recorded during the runs").check()
            expect(events.get_by_role("row", name=re.compile("^ttl6 only in the first 2 events"))).to_be_visible()
            assert violations(page) == []
    finally:
        hub.close()
        lab.close()
