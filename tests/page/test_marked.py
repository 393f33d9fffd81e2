"""Ways to draw a dataset, the progress of a run, and the marks of old runs."""

import re

from playwright.sync_api import expect

from tests.support import TIMEOUT
from tests.support.browser import new_page, violations
from tests.support.waiting import until

expect.set_options(timeout=TIMEOUT * 1000)

SCAN = """import time
from pathlib import Path
from artiq.experiment import *

HOME = Path(__file__).parents[1]


class Scan(EnvExperiment):
    def build(self):
        self.setattr_argument("x", Scannable(RangeScan(0, 1, 8)))
        self.setattr_device("ccb")

    def run(self):
        self.set_dataset("done", 0.0, broadcast=True)
        self.set_dataset("y", [], broadcast=True)
        self.ccb.issue("create_applet", "how far", "${artiq_applet}progress_bar done --max 8")
        for number, x in enumerate(self.x):
            self.append_to_dataset("y", x)
            self.set_dataset("done", number + 1.0, broadcast=True)
            while number == 3 and not (HOME / "go").exists():
                time.sleep(0.01)
"""


def test_run_in_progress_reports_how_many_points_of_its_scan_are_made(chromium, hub, place):
    (place.folder / "repository" / "scan.py").write_text(SCAN)
    place.scan()
    rid = place.submit({**place.expid("Scan"), "file": "scan.py"})
    with new_page(chromium, hub.address) as page:
        expect(page.get_by_role("progressbar", name=f"Progress of run {rid}")).to_have_js_property("value", 4)
        expect(page.get_by_text("4 of 8 points")).to_be_visible()
        expect(page.get_by_role("progressbar", name="how far")).to_have_js_property("value", 0.5)
        expect(page.get_by_role("article", name="how far").get_by_text("50 %")).to_be_visible()
        assert violations(page) == []
        (place.folder / "go").touch()
        expect(page.get_by_role("article", name="how far").get_by_text("100 %")).to_be_visible()
    place.ends(rid)


def test_dataset_is_drawn_in_the_chosen_way(chromium, hub, place):
    place.set_dataset("counts", [float(n % 7) for n in range(50)])
    place.set_dataset("errors", [0.5] * 50)
    place.set_dataset("part", 25.0)
    with new_page(chromium, hub.address) as page:
        for kind, name, found in (
            ("as histogram", "counts", page.get_by_role("img", name=re.compile("^count: 40 points against counts"))),
            ("as number", "part", page.locator(".big", has_text="25")),
            ("as progress, %", "part", page.get_by_text("25 %")),
        ):
            page.get_by_label("Dataset to be drawn").select_option(name)
            page.get_by_label("How it is drawn").select_option(kind)
            page.get_by_role("button", name="Add", exact=True).click()
            expect(found).to_be_visible()
        page.get_by_label("Dataset to be drawn").select_option("counts")
        page.get_by_label("Error bars").select_option("errors")
        page.get_by_role("button", name="Add", exact=True).click()
        expect(page.get_by_role("img", name=re.compile("^counts: 50 points"))).to_be_visible()
        assert violations(page) == []


READ = """from artiq.experiment import *


class Read(EnvExperiment):
    def build(self):
        self.setattr_device("ccb")

    def run(self):
        self.set_dataset("laser", 411042129776393.2, broadcast=True, unit="THz", scale=1e12, precision=9)
        self.set_dataset("counts", 1234567890, broadcast=True)
        self.set_dataset("lock", "lost <b>", broadcast=True)
        for name in ("laser", "counts --digit_count 10", "lock", "lock2"):
            self.ccb.issue("create_applet", name, "${artiq_applet}big_number " + name)
        for group in ("a", ["a", "b"]):
            self.ccb.issue("create_applet", "twice", "${artiq_applet}big_number counts", group=group)
            self.ccb.issue("create_applet", "own <i>", "python own.py counts", group=group)
"""


def test_big_number_has_the_digits_that_are_wanted_and_may_be_a_text(chromium, hub, place):
    (place.folder / "repository" / "read.py").write_text(READ)
    place.ends(place.submit({**place.expid("Read"), "file": "read.py"}))
    with new_page(chromium, hub.address) as page:
        for name, shown in (
            ("laser", "411.042129776 THz"),
            ("counts --digit_count 10", "1234567890"),
            ("lock", "lost <b>"),
        ):
            expect(page.get_by_role("article", name=name, exact=True).locator(".big")).to_have_text(shown)
        expect(page.get_by_role("article", name="twice", exact=True).locator(".big")).to_have_count(2)
        page.get_by_text("2 applets are not drawn here").click()
        expect(page.get_by_text("own <i>").last).to_be_visible()
        place.set_dataset("lock", float("nan"))
        expect(page.get_by_role("article", name="lock", exact=True).locator(".big")).to_have_text("–")
        assert violations(page) == []


def test_runs_are_starred_found_by_that_and_lose_their_tags(chromium, hub, place):
    rid = place.run_of("Quick")
    place.ends(rid)
    place.tag(rid, "good <i>")
    place.ends(place.run_of("Quick"))
    with new_page(chromium, hub.address) as page:
        star = page.get_by_role("button", name=f"Star run {rid}")
        star.click()
        expect(star).to_have_attribute("aria-pressed", "true")
        page.get_by_label("Search runs").fill("tag=star")
        expect(page.get_by_role("button", name=re.compile("^Star run"))).to_have_count(1)
        page.get_by_role("button", name=str(rid), exact=True).click()
        assert violations(page) == []
        page.get_by_role("button", name="Remove tag good <i>").click()
        until(lambda: place.run(rid)["tags"] == ["star"])
        page.get_by_role("button", name="Remove tag star").click()
        until(lambda: place.run(rid)["tags"] == [])
