"""The page of the hub in Chromium: its size, and how long a user waits for what."""

import statistics
import tempfile
from contextlib import ExitStack
from pathlib import Path

from tests.support.browser import ENTRY, browser, new_page
from tests.support.hub import Hub
from tests.support.laboratory import Laboratory
from tests.support.paths import BUILD
from tests.support.waiting import until

__all__ = ["PREFIXES", "page_figures"]

PREFIXES = ("page.",)
VIEWERS = 4
LONG = 1_000_000
EXPERIMENTS = f"""
import time
import numpy
from artiq.experiment import *


class Growing(EnvExperiment):
    '''Appends 100,000 points, ten times a second'''

    def run(self):
        self.set_dataset("growing", [], broadcast=True)
        begun = time.monotonic()
        for number in range(100):
            for point in range(1000):
                self.append_to_dataset("growing", float(number * point % 977))
            time.sleep(max(0, begun + 0.1 * number - time.monotonic()))


class Long(EnvExperiment):
    '''A long dataset'''

    def run(self):
        self.set_dataset("long", numpy.sin(numpy.arange({LONG}) / 1e4), broadcast=True)


class Clock(EnvExperiment):
    '''The time, in milliseconds of a hundred seconds'''

    def build(self):
        self.setattr_device("ccb")

    def run(self):
        self.ccb.issue("create_applet", "clock", "${{artiq_applet}}big_number clock")
        for number in range(60):
            self.set_dataset("clock", [1e3 * (time.time() % 100)], broadcast=True)
            time.sleep(0.2)
"""
DRAW = """async key => {
    const named = (tag, text) => [...document.querySelectorAll(tag)].find(each => each.textContent.trim() === text);
    const select = document.querySelector("select[aria-label='Dataset to be drawn']");
    while (![...select.options].some(each => each.value === key)) await new Promise(requestAnimationFrame);
    select.value = key;
    select.dispatchEvent(new Event("change", { bubbles: true }));
    await new Promise(requestAnimationFrame);
    const begun = performance.now();
    named("button", "Add").click();
    while (!document.querySelector(`.chart[aria-label^="${key}: "]`)) await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    return performance.now() - begun;
}"""
"""Draws a dataset; returns the time until it is drawn."""
WORST_FRAME = """() => {
    window.worst = 0;
    let last = performance.now();
    const frame = now => {
        window.worst = Math.max(window.worst, now - last);
        last = now;
        requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
}"""
DELAYS = """() => {
    window.delays = [];
    const look = () => {
        const text = document.querySelector(".big")?.textContent ?? "";
        if (text !== window.seen) {
            window.seen = text;
            window.delays.push(((Date.now() % 1e5) - parseFloat(text) + 1e5) % 1e5);
        }
        requestAnimationFrame(look);
    };
    look();
}"""
"""Notes for each new number how old it is, once per frame."""


def page_figures(figures):
    """A laboratory without devices, its hub, and Chromium."""
    files = (BUILD / "page").rglob("*.gz")
    size = sum(path.stat().st_size for path in files) / 1024
    figures.add("page.bundle_kib", size, "KiB", target=300, source="all files of the page, as they are sent")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / "lab").mkdir()
        lab = Laboratory(folder / "lab")
        (lab.folder / "repository" / "lab.py").write_text(EXPERIMENTS)
        lab.start()
        stack.callback(lab.close)
        until(lambda: len(lab.experiments()["experiments"]) == 3)
        hub = Hub(folder, {}, entries=ENTRY)
        stack.callback(hub.close)
        running = stack.enter_context(browser())
        _first_paint(figures, running, hub)
        _first_draw(figures, running, hub, lab)
        _latency(figures, running, hub, lab)
        _growing(figures, running, hub, lab)


def _first_paint(figures, running, hub):
    times = []
    for _ in range(5):
        with new_page(running, hub.address) as page:
            page.get_by_role("heading", name="Queue").wait_for()
            times.append(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
    source = "from the request to the first contents, with an empty cache, on this machine"
    figures.add("page.first_paint_ms", statistics.median(times), "ms", target=500, source=source)


def _first_draw(figures, running, hub, lab):
    lab.ends(lab.submit({"file": "lab.py", "class_name": "Long", "repo_rev": None, "log_level": 30}))
    times = []
    for _ in range(3):
        with new_page(running, hub.address) as page:
            times.append(page.evaluate(DRAW, "long"))
    source = "from the click to the frame in which a dataset of a million numbers is drawn"
    figures.add("page.first_draw_1e6_ms", statistics.median(times), "ms", target=300, source=source)
    lab.delete_dataset("long")


def _latency(figures, running, hub, lab):
    with new_page(running, hub.address) as page:
        page.evaluate(DELAYS)
        lab.ends(lab.submit({"file": "lab.py", "class_name": "Clock", "repo_rev": None, "log_level": 30}))
        # The first is that of an empty text.
        delays = [delay for delay in page.evaluate("window.delays") if delay == delay][2:]
    source = "from set_dataset in an experiment to the frame that shows it"
    figures.add("page.update_latency_ms", statistics.median(delays), "ms", target=150, source=source)


def _growing(figures, running, hub, lab):
    with ExitStack() as stack:
        pages = [stack.enter_context(new_page(running, hub.address)) for _ in range(VIEWERS)]
        lab.set_dataset("growing", [0.0])
        for page in pages:
            page.evaluate(DRAW, "growing")
            page.evaluate(WORST_FRAME)
        lab.ends(lab.submit({"file": "lab.py", "class_name": "Growing", "repo_rev": None, "log_level": 30}))
        chart = pages[0].locator(".chart[aria-label^='growing: 100000 points']")
        chart.wait_for()
        worst = max(page.evaluate("window.worst") for page in pages)
    source = "longest time between two frames of any viewer while a dataset grows to 100,000 points at 10 Hz"
    figures.add("page.append_1e5_10hz_worst_frame_ms", worst, "ms", target=50, source=source, viewers=VIEWERS)
