"""The page of the laboratory in a browser, through a real hub and a real laboratory."""

import re

import h5py
import numpy as np
import pytest
from playwright.sync_api import expect

from tests.support import TIMEOUT
from tests.support.browser import ENTRY, new_page, violations
from tests.support.hub import Hub, token_entry
from tests.support.laboratory import Laboratory

expect.set_options(timeout=TIMEOUT * 1000)


def submit(page, name):
    """Submit an experiment by its form."""
    # The repository has been scanned.
    expect(page.get_by_role("button", name=name)).to_be_visible()
    page.get_by_label("Search experiments").fill(name)
    page.get_by_label("Search experiments").press("Enter")
    page.get_by_role("button", name=re.compile("^Submit")).click()


def queue(page):
    return page.get_by_role("region", name="Queue")


def test_experiment_is_submitted_followed_terminated_and_repeated(chromium, hub, place):
    with new_page(chromium, hub.address) as page:
        submit(page, "Runs until")
        expect(queue(page).get_by_text("running", exact=True)).to_be_visible()
        page.get_by_label("Dataset to be drawn").select_option("patient")
        page.get_by_role("button", name="Add", exact=True).click()
        plot = page.get_by_role("article", name="patient")
        expect(plot.get_by_text("live")).to_be_visible()
        chart = plot.get_by_role("img")
        first = re.match(r"patient: (\d+) points", chart.get_attribute("aria-label"))
        expect(chart).not_to_have_attribute("aria-label", first[0])
        queue(page).get_by_role("button", name="Terminate").click()
        expect(queue(page).get_by_text("Nothing runs")).to_be_visible()
        place.release_run("patient")
        page.get_by_role("button", name="Run 0 again").click()
        expect(page.get_by_role("row", name=re.compile("^1 Patient completed"))).to_be_visible()
        page.get_by_role("button", name="1", exact=True).click()
        details = page.get_by_role("heading", name=re.compile("Run 1: Patient"))
        expect(details).to_be_visible()
        page.get_by_label("Note").fill("<b>good</b>")
        page.get_by_role("button", name="Add note").click()
        expect(page.get_by_text("<b>good</b>")).to_be_visible()
    assert place.run(1)["notes"][0]["text"] == "<b>good</b>"


def test_waiting_runs_are_held_released_moved_and_deleted(chromium, hub, place):
    with new_page(chromium, hub.address) as page:
        submit(page, "Runs until")
        for _ in range(3):
            page.get_by_role("button", name=re.compile("^Submit")).click()
        runs = queue(page).get_by_role("listitem")
        expect(runs).to_have_count(4)
        expect(runs.nth(2)).to_contain_text("run 1 is prepared and goes first")
        page.get_by_role("button", name="Run 3 earlier").click()
        expect(runs.nth(2)).to_contain_text("3 Patient")
        runs.nth(2).get_by_role("button", name="Hold").click()
        expect(runs.filter(has_text="it is held")).to_have_count(1)
        queue(page).get_by_role("button", name="Release").click()
        expect(runs.filter(has_text="it is held")).to_have_count(0)
        runs.filter(has_text=re.compile("^ *3 ")).get_by_role("button", name="Delete").click()
        expect(runs).to_have_count(3)
    assert [run["rid"] for run in place.queue()] == [0, 1, 2]


def test_run_that_asks_is_answered_in_the_page(chromium, hub, place):
    with new_page(chromium, hub.address) as page:
        submit(page, "Asks")
        page.get_by_label("power").fill("2.5")
        page.get_by_role("button", name="Answer").click()
        expect(page.get_by_role("row", name=re.compile("^0 Asks completed"))).to_be_visible()
        page.get_by_role("tab", name="Data").click()
        expect(page.get_by_role("row", name=re.compile("^power 0.0025"))).to_be_visible()
        page.get_by_role("button", name="Edit power").click()
        page.get_by_label("Value of power").fill("nonsense")
        page.get_by_role("button", name="Set").click()
        expect(page.get_by_role("status").filter(has_text="nonsense")).to_be_visible()
        page.get_by_label("Value of power").fill("7")
        page.get_by_role("button", name="Set").click()
        expect(page.get_by_role("row", name=re.compile("^power 7"))).to_be_visible()


def test_page_goes_on_after_restarts_of_laboratory_and_hub(chromium, hub, place, tmp_path):
    with new_page(chromium, hub.address, quiet=False) as page:
        submit(page, "Runs until")
        page.get_by_label("Dataset to be drawn").select_option("patient")
        page.get_by_role("button", name="Add", exact=True).click()
        expect(page.get_by_role("article", name="patient").get_by_text("live")).to_be_visible()
        place.kill()
        expect(page.get_by_text("the laboratory")).not_to_have_count(0)
        place.start()
        expect(page.get_by_role("status").filter(has_text="run 0 Patient")).to_be_visible()
        address = hub.address
        hub.close()
        expect(page.get_by_role("status").filter(has_text="hub lost")).to_be_visible()
        again = Hub(tmp_path, {}, listen=address, entries=ENTRY)
        hub.process = again.process
        expect(page.get_by_role("status").filter(has_text="run 0 Patient")).to_be_visible()
        expect(page.get_by_role("article", name="patient").get_by_text("live")).to_be_visible()
        place.release_run("patient")
        expect(page.get_by_role("row", name=re.compile("^0 Patient completed"))).to_be_visible()


def test_dataset_is_shown_and_edited_in_its_unit(chromium, hub, place):
    place.set_dataset("frequency", 2e6, True, {"unit": "MHz", "scale": 1e6, "precision": 3})
    with new_page(chromium, hub.address) as page:
        page.get_by_role("tab", name="Data").click()
        expect(page.get_by_role("row", name=re.compile("^frequency ?kept 2.000 MHz"))).to_be_visible()
        page.get_by_role("button", name="Edit frequency").click()
        page.get_by_label("Value of frequency").fill("3")
        page.get_by_role("button", name="Set").click()
        expect(page.get_by_role("row", name=re.compile("^frequency ?kept 3.000 MHz"))).to_be_visible()
        page.get_by_role("button", name="History of frequency").click()
        page.get_by_role("button", name="Restore").click()
        expect(page.get_by_role("row", name=re.compile("^frequency ?kept 2.000 MHz"))).to_be_visible()
    value = place.datasets()["frequency"][1]
    assert (value, type(value)) == (2e6, float)
    assert [write["value"] for write in place.parameter_history("frequency")] == ["2000000.0", "3000000.0", "2000000.0"]


@pytest.mark.parametrize(
    ("size", "scheme"),
    [
        ("desktop", "light"),
        ("telephone", "dark"),
        pytest.param("desktop", "dark", marks=pytest.mark.long),
        pytest.param("telephone", "light", marks=pytest.mark.long),
    ],
)
def test_page_has_no_accessibility_violation(chromium, hub, place, size, scheme):
    place.ends(place.run_of("Quick"))
    place.ends(place.run_of("Broken"))
    place.set_dataset("<i>name</i> of a dataset", float("nan"))
    rid = place.run_of("Patient")
    place.run_of("Patient", name="second")
    with new_page(chromium, hub.address, size, scheme) as page:
        expect(queue(page).get_by_text("running", exact=True)).to_be_visible()
        views = page.get_by_label("Views").get_by_role("button") if size == "telephone" else page.get_by_role("tab")
        for view in views.all():
            view.click()
            assert violations(page) == [], view.text_content()
            if view.text_content() == "Runs":
                expect(page.get_by_role("img", name="points", exact=True)).to_be_visible()  # a thumbnail
                page.get_by_role("button", name="1", exact=True).click()
                expect(page.get_by_role("heading", name=re.compile("Run 1: Broken"))).to_be_visible()
                source = page.get_by_role("region", name=re.compile(r"^lab\.py around line \d+$"))
                expect(source.locator("[aria-current]")).to_contain_text('raise ValueError("of the user")')
                assert violations(page) == []
            if view.text_content() == "Data":
                expect(page.get_by_text("<i>name</i> of a dataset").locator("visible=true").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        if size == "telephone":
            views.first.click()
        page.get_by_role("button", name=re.compile("Quick scan")).click()
        assert violations(page) == []
    assert place.status_of(rid) == "running"


def test_running_run_is_paused_and_goes_on(chromium, hub, place):
    rid = place.run_of("Patient")
    with new_page(chromium, hub.address) as page:
        queue(page).get_by_role("button", name="Pause").click()
        expect(queue(page).get_by_text("it is held")).to_be_visible()
        expect(queue(page).get_by_text("paused", exact=True)).to_be_visible()
        assert violations(page) == []
        queue(page).get_by_role("button", name="Go on").click()
        expect(queue(page).get_by_text("running", exact=True)).to_be_visible()
    assert place.status_of(rid) == "running"


def test_token_logs_in_and_role_view_is_shown_as_read_only(chromium, place, tmp_path):
    entries = ENTRY + token_entry("a view token", "view")
    hub = Hub(tmp_path, {}, entries=entries)
    try:
        place.run_of("Patient")
        with new_page(chromium, hub.address, quiet=False) as page:
            assert violations(page) == []
            page.get_by_label("Token").fill("wrong")
            page.get_by_role("button", name="Log in").click()
            expect(page.get_by_role("alert")).to_have_text("this hub does not know that token")
            page.get_by_label("Token").fill("a view token")
            page.get_by_role("button", name="Log in").click()
            expect(page.get_by_text("one who may view")).to_be_visible()
            expect(queue(page).get_by_role("button", name="Terminate")).to_be_disabled()
            page.get_by_role("button", name=re.compile("Quick scan")).click()
            expect(page.get_by_text("your token may only view")).to_be_visible()
            assert page.evaluate("document.cookie") == ""
            page.get_by_role("button", name="Log out").click()
            expect(page.get_by_label("Token")).to_be_visible()
    finally:
        hub.close()


CALIBRATIONS = """from artiq.experiment import *


class Detuning(EnvExperiment):
    def build(self):
        self.calibrates("detuning", validity=3600)

    def run(self):
        self.parameters.detuning = 5.0


class Rabi(EnvExperiment):
    def build(self):
        self.calibrates("rabi", by_hand=True)
        self.set_calibration(needs=["detuning"])

    def run(self):
        self.set_dataset("rabi", 1e5, unit="kHz", scale=1e3, broadcast=True, persist=True)
"""


@pytest.mark.parametrize("size", ["desktop", pytest.param("telephone", marks=pytest.mark.long)])
def test_calibration_is_started_and_its_value_accepted_in_the_page(chromium, hub, place, size):
    (place.folder / "repository" / "calibrations.py").write_text(CALIBRATIONS)
    place.scan()
    with new_page(chromium, hub.address, size) as page:
        if size == "telephone":
            page.get_by_label("Views").get_by_role("button", name="Values").click()
        else:
            page.get_by_role("tab", name="Calibrations").click()
        panel = page.get_by_role("region", name="Calibrations", exact=True)
        expect(panel.get_by_role("row", name=re.compile("^rabi missing it has no value"))).to_be_visible()
        panel.get_by_role("button", name="Calibrate what is stale").click()
        expect(panel.get_by_text("no value → 100 kHz")).to_be_visible()
        expect(panel.get_by_role("button", name=re.compile("^Rabi deciding, run 1"))).to_be_visible()
        assert violations(page) == []
        panel.get_by_role("button", name="Accept rabi").click()
        expect(panel.get_by_role("row", name=re.compile("^rabi 100 kHz .*valid"))).to_be_visible()
        expect(panel.get_by_role("row", name=re.compile(r"^detuning 5 \d+ s of 60 min .*valid"))).to_be_visible()
        panel.get_by_role("button", name=re.compile("^Detuning")).click()
        expect(panel.get_by_role("button", name="Calibrate 1")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert place.datasets()["rabi"][1] == 1e5


LIMITED = """from artiq.experiment import *


class Limited(EnvExperiment):
    def build(self):
        power = NumberValue(1e-3, unit="mW", min=0, max=5e-3, step=1e-4, precision=1)
        self.setattr_argument("power", power)
        self.setattr_argument("detuning", NumberValue(self.get_dataset("detuning", 1e3), unit="kHz"))
        self.setattr_argument("scan", Scannable(RangeScan(0, 1e3, 5), unit="kHz", global_max=2e3))
        self.setattr_argument("more", PYONValue([]))

    def run(self):
        self.set_dataset("given", [self.power, self.detuning])
"""


def test_form_in_a_folder_has_limits_steps_and_a_default_that_follows(chromium, hub, place):
    (place.folder / "repository" / "ions").mkdir()
    (place.folder / "repository" / "ions" / "limited.py").write_text(LIMITED)
    place.scan()
    with new_page(chromium, hub.address) as page:
        folder = page.get_by_role("button", name="ions 1", exact=True)
        expect(folder).to_be_visible()
        page.get_by_label("Search experiments").press("ArrowDown")
        expect(folder).to_be_focused()
        page.keyboard.press("ArrowLeft")
        expect(page.get_by_role("button", name="Limited", exact=True)).to_have_count(0)
        page.reload()  # which ones are closed is remembered
        expect(folder).to_have_attribute("aria-expanded", "false")
        folder.press("ArrowRight")
        folder.press("ArrowRight")
        power, submit = page.get_by_label("power", exact=True), page.get_by_role("button", name="Submit 5 points")
        page.keyboard.press("Control+p")
        page.keyboard.type("lmtd")
        page.keyboard.press("Enter")
        expect(power).to_be_focused()
        page.keyboard.type("12e-10")  # which stays as it is typed, whatever the numbers on the way are
        expect(power).to_have_value("12e-10")
        page.get_by_role("button", name="Default of power").click()
        count = page.get_by_label("Points", exact=True)
        count.fill("20000")
        expect(page.get_by_role("button", name="Submit 20000 points")).to_be_visible()
        count.fill("")
        expect(page.get_by_text("needs a value in each field")).to_be_visible()
        count.fill("5")
        more = page.get_by_label("more", exact=True)
        more.fill("[1,")
        submit.click()
        expect(page.get_by_text("argument more: not a PYON value: [1,")).to_be_visible()
        more.fill("[1, 2]")
        power.press("ArrowUp")
        expect(power).to_have_value("1.1")
        power.fill("5.1")
        expect(page.get_by_text("5.1 mW is above 5 mW")).to_be_visible()
        assert violations(page) == []
        submit.click()
        expect(page.get_by_role("alert")).to_have_text("power: 5.1 mW is above 5 mW")
        power.fill("4.9")
        page.get_by_label("To", exact=True).fill("3")
        expect(page.get_by_text("3 kHz is above 2 kHz")).to_be_visible()
        page.get_by_label("To", exact=True).fill("2")
        place.set_dataset("detuning", 2.5e3, True)
        expect(page.get_by_text("default was 1 kHz, now 2.5 kHz")).to_be_visible()
        expect(page.get_by_label("detuning", exact=True)).to_have_value("2.5")
        submit.click()
        expect(page.get_by_role("row", name=re.compile("^0 Limited completed"))).to_be_visible()
        expect(page.get_by_text("default was 1 kHz")).to_have_count(0)
    with h5py.File(place.file_of(0)) as file:
        assert file["datasets/given"][()].tolist() == [pytest.approx(4.9e-3), 2.5e3]


KINDS = """from artiq.experiment import *


class Kinds(EnvExperiment):
    def build(self):
        self.setattr_argument("beam", EnumerationValue(["axial", "radial <b>", "axial"]), "optics", "which beam")
        self.setattr_argument("cooled", BooleanValue(True))
        self.setattr_argument("span", Scannable(CenterScan(0.0, 2.0, 0.5)))

    def run(self):
        self.set_dataset("given", f"{self.beam} {self.cooled} {len(list(self.span))}", broadcast=True)
"""


def test_form_sends_choices_scans_and_scheduling_as_entered(chromium, hub, place):
    (place.folder / "repository" / "kinds.py").write_text(KINDS)
    place.scan()
    with new_page(chromium, hub.address) as page:
        page.set_default_timeout(1000 * TIMEOUT)
        page.get_by_role("button", name="Kinds", exact=True).click()
        expect(page.get_by_role("img", name="5 points")).to_be_visible()
        page.get_by_role("combobox", name="beam", exact=True).select_option("radial <b>")
        page.get_by_label("cooled", exact=True).uncheck()
        page.get_by_label("Step", exact=True).fill("1")
        expect(page.get_by_role("img", name="3 points")).to_be_visible()
        page.get_by_text("Scheduling").click()
        for name, value in (
            ("Priority", "2"),
            ("Pipeline", "night"),
            ("Repeat", "1"),
            ("Not before", "2099-01-01T00:30"),
        ):
            page.get_by_label(name, exact=True).fill(value)
        assert violations(page) == []
        page.get_by_role("button", name="Submit 3 points").click()
        waiting = queue(page).get_by_role("listitem")
        expect(waiting).to_contain_text(
            re.compile("beam = radial <b>, cooled = false.*night, priority 2,.*1 more", re.S)
        )
        expect(waiting).to_contain_text("it is due at 2099-01-01 00:30:00")
        assert [(run["pipeline"], run["priority"]) for run in place.queue()] == [("night", 2)]
        waiting.get_by_role("button", name="Delete").click()
        page.get_by_label("Not before", exact=True).fill("")
        page.get_by_role("button", name="Submit 3 points").click()
        for rid in (1, 2):
            expect(page.get_by_role("row", name=re.compile(f"^{rid} Kinds completed"))).to_be_visible()
    assert place.datasets()["given"][1] == "radial <b> False 3"


FLOP = """import math
from artiq.experiment import *


class Flop(EnvExperiment):
    def build(self):
        self.setattr_device("ccb")
        self.setattr_device("scheduler")

    def run(self):
        self.set_dataset("t", [], broadcast=True, unit="us", scale=1e-6)
        self.set_dataset("p", [], broadcast=True)
        self.ccb.issue("create_applet", "flop", "${artiq_applet}plot_xy p --x t")
        self.fit_dataset("rabi_flop", "p", x="t", name="flop")
        for n in range(40):
            self.append_to_dataset("t", n * 1e-7)
            noise = 0.01 * math.sin(7 * n)
            self.append_to_dataset("p", 0.5 - 0.49 * math.cos(math.pi * n / 15) * math.exp(-n / 300) + noise)
        import time
        while not self.scheduler.check_termination():
            time.sleep(0.05)
"""


def test_fit_is_shown_live_and_kept_with_an_ended_run(chromium, hub, place):
    (place.folder / "repository" / "flop.py").write_text(FLOP)
    place.scan()
    with new_page(chromium, hub.address) as page:
        submit(page, "Flop")
        plot = page.get_by_role("article", name="flop")
        expect(plot.get_by_label("Fit rabi_flop")).to_contain_text(re.compile(r"t_pi = 1\.[45]\d*\(\d+\) µs"))
        expect(plot.get_by_role("img")).to_have_attribute("aria-label", re.compile("40 points against t, with a fit"))
        plot.get_by_label("Fit of flop").select_option("cos")
        expect(plot.get_by_label("Fit cos")).to_contain_text(re.compile(r"f = 0\.33\d*\(\d+\) MHz"))
        plot.get_by_label("Fit of flop").select_option("no fit")
        expect(plot.get_by_label("Fit cos")).to_have_count(0)
        queue(page).get_by_role("button", name="Terminate").click()
        page.get_by_role("button", name="0", exact=True).click()
        expect(page.get_by_role("row", name=re.compile("^flop.t_pi"))).to_be_visible()
        page.get_by_label("Fit of run 0").select_option("cos")
        page.get_by_role("button", name="Keep with the run").click()
        expect(page.get_by_role("row", name=re.compile("^p.f "))).to_be_visible()
        assert violations(page) == []
    assert place.run(0)["numbers"]["p.f"][0] == pytest.approx(1 / 3e-6, rel=1e-2)


def test_alarm_in_the_header_is_acknowledged_with_a_note(chromium, tmp_path):
    folder = tmp_path / "lab"
    folder.mkdir()
    alarm = '[[alarm]]\nname = "RF & <i>co"\ndataset = "rf"\nmaximum = 2\nguidance = "call Anna"\n'
    place = Laboratory(folder, alarm)
    place.start()
    hub = Hub(tmp_path, {}, entries=ENTRY)
    try:
        with new_page(chromium, hub.address) as page:
            expect(page.get_by_role("button", name="no alarm")).to_be_visible()
            place.set_dataset("rf", 3)
            page.get_by_role("button", name="1 alarm").click()
            expect(page.get_by_role("row", name=re.compile("^RF & <i>co active .*rf = 3 is above 2"))).to_be_visible()
            assert violations(page) == []
            page.get_by_label("Note on the alarm").fill("warms up")
            page.get_by_role("button", name="Acknowledge RF & <i>co").click()
            expect(page.get_by_role("row", name=re.compile("acknowledged .*warms up"))).to_be_visible()
        assert place.alarms()[0]["note"] == "warms up"
    finally:
        hub.close()
        place.close()


def test_pipeline_is_locked_and_released_and_analysis_repeated(chromium, hub, place):
    place.ends(place.run_of("Quick"))
    with new_page(chromium, hub.address) as page:
        queue(page).get_by_role("button", name="Lock …").click()
        queue(page).get_by_label("Note on the lock").fill("<b>aligning</b>")
        assert violations(page) == []
        queue(page).get_by_role("button", name="Lock", exact=True).click()
        expect(queue(page).get_by_text("pipeline main is locked by")).to_contain_text("<b>aligning</b>")
        assert [lock["name"] for lock in place.locks()] == ["main"]
        page.on("dialog", lambda dialog: dialog.accept())
        queue(page).get_by_role("button", name="Release pipeline main").click()
        expect(queue(page).get_by_text("is locked by")).to_have_count(0)
        page.get_by_role("button", name="0", exact=True).click()
        page.get_by_role("button", name="Analyze again").click()
        page.get_by_role("button", name="Close run 0").click()
        expect(page.get_by_role("row", name=re.compile("^1 Quick completed"))).to_be_visible()
    assert place.run(1)["pipeline"] == "analysis" and place.run(1)["numbers"]["total"] == [3.0, None]


def test_two_runs_are_compared_side_by_side(chromium, hub, place):
    for n in (3, 5):
        place.ends(place.run_of("Quick", n=n))
    with new_page(chromium, hub.address) as page:
        for rid in (0, 1):
            page.get_by_label(f"Compare run {rid}").check()
        page.get_by_role("button", name="Compare 0 and 1").click()
        expect(page.get_by_role("row", name=re.compile("^n argument 3 5"))).to_be_visible()
        expect(page.get_by_role("row", name=re.compile("^total result 3 10"))).to_be_visible()
        expect(page.get_by_role("row", name=re.compile("^experiment"))).to_have_count(0)
        expect(page.get_by_role("img", name="points: 5 points")).to_be_visible()
        expect(page.get_by_role("img", name="points: 3 points")).to_be_visible()
        assert violations(page) == []
        page.get_by_label("also what is equal").check()
        expect(page.get_by_role("row", name=re.compile("^experiment Quick Quick"))).to_be_visible()
        page.get_by_role("button", name="All runs").click()
        expect(page.get_by_label("Compare run 1")).not_to_be_checked()
        page.goto(f"http://{hub.address}/?run=1")
        expect(page.get_by_role("heading", name=re.compile("^Run 1: Quick"))).to_be_visible()


def test_dataset_with_two_dimensions_is_an_image(chromium, hub, place):
    grid = np.arange(12.0).reshape(3, 4)
    grid[1, 1] = np.nan
    place.set_dataset("camera", grid, None, {"unit": "V"})
    with new_page(chromium, hub.address) as page:
        page.get_by_role("tab", name="Data").click()
        page.get_by_role("button", name="Draw camera").click()
        image = page.get_by_role("img", name="camera: 3 × 4 elements")
        expect(image).to_be_visible()
        expect(page.get_by_role("article", name="camera")).to_contain_text(re.compile(r"0\s+11 V"))
        page.wait_for_function("document.querySelector('.image canvas').width === 4")
        read = "[...document.querySelector('.image canvas').getContext('2d').getImageData(0, 0, 4, 3).data]"
        pixels = np.array(page.evaluate(read)).reshape(3, 4, 4)
        assert pixels[2, 0].tolist() == [68, 1, 84, 255], "the first element is at the bottom left"
        assert pixels[0, 3].tolist() == [253, 231, 37, 255] and pixels[1, 1, 3] == 0
        assert violations(page) == []
        grid[0, 0] = 100
        place.set_dataset("camera", grid)
        expect(page.get_by_role("article", name="camera")).to_contain_text("100 V")
