"""Odd names, a thousand arguments, files whose names are not UTF-8, values that become something else while they are
drawn, and two people who do the same at once."""

import os
import re

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.support import TIMEOUT
from tests.support.browser import held, laboratory_and_hub, new_page, violations, wait_for
from tests.support.waiting import until

expect.set_options(timeout=TIMEOUT * 1000)

MANY = '''from artiq.experiment import *


class Many(EnvExperiment):
    """<b>Many</b>"""

    def build(self):
        for n in range(1000):
            self.setattr_argument(f"a{n}", NumberValue(float(n)), f"group {n % 10}")

    def run(self):
        self.set_dataset("sum", sum(getattr(self, f"a{n}") for n in range(1000)), broadcast=True)
'''
LATIN = """from artiq.experiment import *


class Latin(EnvExperiment):
    def run(self):
        self.set_dataset("latin", 1, broadcast=True)


class Decided(EnvExperiment):
    def build(self):
        self.calibrates("decided", by_hand=True)

    def run(self):
        self.set_dataset("decided", 1.0, broadcast=True, persist=True)
"""


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """A laboratory and its hub for all tests of this file, which leave nothing running."""
    files = {"many.py": MANY, os.fsdecode(b"f\xfcr.py"): LATIN}
    with laboratory_and_hub(tmp_path_factory.mktemp("odd"), files) as running:
        yield running


def data(page):
    page.set_default_timeout(1000 * TIMEOUT)
    page.get_by_role("tab", name="Data").click()
    return page.get_by_role("region", name="Datasets", exact=True)


@pytest.mark.long
def test_run_with_a_thousand_arguments_is_submitted_and_shown(chromium, odd):
    place, hub = odd
    with new_page(chromium, hub.address) as page:
        page.set_default_timeout(1000 * TIMEOUT)
        page.get_by_role("button", name=re.compile("Many")).click()
        page.get_by_label("a500", exact=True).fill("500.5")
        page.get_by_label("a500", exact=True).press("Control+Enter")
        run = page.get_by_role("row", name=re.compile(r"^\d+ Many completed"))
        run.get_by_role("button", name=re.compile(r"^\d+$")).click()
        expect(page.get_by_role("row", name="a500 500.5")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert place.datasets()["sum"][1] == sum(range(1000)) + 0.5


def test_experiment_in_a_file_not_named_in_utf8_runs_and_repeats(chromium, odd):
    place, hub = odd
    with new_page(chromium, hub.address) as page:
        page.set_default_timeout(1000 * TIMEOUT)
        page.get_by_role("button", name="Latin", exact=True).click()
        page.locator("button.main", has_text="Submit").click()
        run = page.get_by_role("row", name=re.compile(r"^\d+ Latin completed"))
        expect(run).to_have_count(1)
        run.get_by_role("button", name=re.compile("^Run .* again")).click()
        expect(run).to_have_count(2)
    place.delete_dataset("latin")


NAMES = [
    "<img src=x>",
    "a\u202eb.c",
    "new\nline",
    "tab\t,  spaces",
    "x" * 300,
    "constructor",
    "__proto__",
    "ü/ö",
    "\0nul",
]


def test_datasets_with_odd_names_are_found_and_set(chromium, odd):
    place, hub = odd
    with new_page(chromium, hub.address) as page:
        panel = data(page)
        for name in NAMES:
            place.set_dataset(name, 1.5, True)
            panel.get_by_label("Search datasets").fill(re.split(r"[\n\0]", name)[-1])
            row = panel.get_by_role("row").nth(1)
            row.get_by_role("button", name=re.compile("^Edit ")).click()
            value = row.get_by_label(re.compile("^Value of "))
            value.fill("2.5")
            value.press("Enter")
            expect(value).to_have_count(0)
            assert place.datasets()[name][1] == 2.5
        panel.get_by_label("Search datasets").fill("")
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for name in NAMES:
        place.delete_dataset(name)


VALUES = [
    (np.zeros((3, 4)), "shape: 3 × 4 elements"),
    (7.5, "shape: 1 points"),
    ([], "shape: 0 points"),
    ([float("inf"), float("nan"), 1.0], "shape: 3 points"),
    (np.zeros((0, 4)), "shape: 0 × 4 elements"),
    (np.full((2, 2), np.nan), "shape: 2 × 2 elements"),
    ("text", None),
    ({"a": 1}, None),
    ([0, 0.5, np.float64(1), True], "shape: 4 points"),
    ([1.0, None, float("-inf")], "shape: 3 points"),
    ([[1, 2, 3], [4, 5.5, None]], "shape: 2 × 3 elements"),
    ([np.arange(2), np.arange(2.0)], "shape: 2 × 2 elements"),
    ([[1, 2], [3]], None),
    (np.zeros((2, 3, 4)), "3 dimensions"),
    ([1.0, 2.0, 3.0], "shape: 3 points"),
]
"""Values, and what is drawn of them; None: nothing, as they are no numbers."""


def test_value_that_changes_its_shape_is_drawn_in_its_new_shape(chromium, odd):
    place, hub = odd
    place.set_dataset("shape", [1.0, 2.0])
    with new_page(chromium, hub.address) as page:
        data(page).get_by_role("button", name="Draw shape").click()
        plot = page.get_by_role("article", name="shape")
        expect(plot.get_by_role("img", name="shape: 2 points")).to_be_visible()
        for value, shown in VALUES:
            place.set_dataset("shape", value)
            if shown == "3 dimensions":
                expect(plot.get_by_text("shape has 3 dimensions, and is not drawn")).to_be_visible()
            elif shown:
                expect(plot.get_by_role("img", name=shown)).to_be_visible()
            else:
                expect(plot.get_by_text("shape is no number:")).to_be_visible()
            expect(plot.get_by_text("∞")).to_have_count(0)
        plot.get_by_role("button", name="Close shape").click()
    place.delete_dataset("shape")


GROWS = """import time
from pathlib import Path

from artiq.experiment import *

HOME = Path(__file__).parents[1]


class Grows(EnvExperiment):
    def run(self):
        self.set_dataset("grown", [0], broadcast=True)
        for number, element in enumerate([0.5, None, "text", [], [4, 5, 6], [7]]):
            while not (HOME / f"step{number}").exists():
                time.sleep(0.01)
            if element == []:
                self.set_dataset("grown", [[1, 2, 3]], broadcast=True)
            else:
                self.append_to_dataset("grown", element)
"""
GROWN = ["grown: 2 points", "grown: 3 points", None, "grown: 1 × 3 elements", "grown: 2 × 3 elements", None]
"""What is drawn after each step."""


def test_list_that_grows_by_values_of_other_types_is_drawn_as_after_a_reload(chromium, odd):
    place, hub = odd
    (place.folder / "repository" / "grows.py").write_text(GROWS)
    rid = place.submit({"file": "grows.py", "class_name": "Grows", "arguments": {}, "repo_rev": None})
    with new_page(chromium, hub.address) as page:
        data(page).get_by_role("button", name="Draw grown").click()
        plot = page.get_by_role("article", name="grown", exact=True)
        expect(plot.get_by_role("img", name="grown: 1 points")).to_be_visible()
        for number, shown in enumerate(GROWN):
            (place.folder / f"step{number}").touch()
            for _ in range(2):
                if shown:
                    expect(plot.get_by_role("img", name=shown)).to_be_visible()
                else:
                    expect(plot.get_by_text("grown is no number:")).to_be_visible()
                page.reload()
    place.ends(rid)
    place.delete_dataset("grown")


NAMED = """from artiq.experiment import *


class Named(EnvExperiment):
    def build(self):
        self.setattr_argument("constructor", StringValue("text"))

    def run(self):
        self.set_dataset("toString", [1.0, 2.0])
"""


def test_names_that_every_object_has_are_those_of_their_own_runs_only(chromium, odd):
    place, hub = odd
    (place.folder / "repository" / "named.py").write_text(NAMED)
    rids = [place.submit({**place.expid("Named", constructor=text), "file": "named.py"}) for text in ("one", "other")]
    rids.append(place.run_of("Quick"))
    place.ends(rids[-1])
    place.set_dataset("with a unit", 1.0, True, {"unit": "constructor"})
    with new_page(chromium, hub.address) as page:
        page.set_default_timeout(1000 * TIMEOUT)
        cells = [
            page.get_by_role("row", name=re.compile(f"^{rid} ")).locator("[data-name=constructor]") for rid in rids
        ]
        for cell, shown in zip(cells, ("one", "other", ""), strict=True):
            expect(cell).to_have_text(shown)
        for rid in rids[1:]:
            page.get_by_label(f"Compare run {rid}").check()
        page.get_by_role("button", name=re.compile("^Compare ")).click()
        expect(page.get_by_role("row", name="constructor argument other")).to_be_visible()
        panel = data(page)
        expect(panel.get_by_role("row", name="with a unit kept 1 constructor")).to_be_visible()
    place.delete_dataset("with a unit")


def goes_on(page, calls):
    """Let the first call that is held go on."""
    wait_for(page, lambda: calls)
    return calls[0].continue_


def test_second_of_two_people_gets_the_reason_of_a_refusal(chromium, odd):
    place, hub = odd
    patient = place.run_of("Patient")
    until(lambda: place.status_of(patient) == "running")
    prepared = place.run_of("Quick")
    until(lambda: place.status_of(prepared) == "prepare_done")
    first, second = place.run_of("Quick"), place.run_of("Quick")
    place.calibrate(["decided"], True)
    try:
        with new_page(chromium, hub.address, quiet=False) as page:
            page.set_default_timeout(1000 * TIMEOUT)
            said = page.get_by_role("status")
            calls = held(page, "Queue/Move")
            page.get_by_role("button", name=f"Run {second} earlier").click()
            go = goes_on(page, calls)
            place.terminate(first, force=True)
            until(lambda: place.status_of(first) is None)
            go()
            expect(said.filter(has_text=f"run {first}")).to_be_visible()
            calls = held(page, "Queue/Hold")
            page.get_by_role("region", name="Queue").get_by_role("button", name="Hold").first.click()
            go = goes_on(page, calls)
            place.terminate(second, force=True)
            until(lambda: place.status_of(second) is None)
            go()
            expect(said.filter(has_text=f"run {second}")).to_be_visible()
            place.terminate(patient, force=True)
            page.get_by_role("tab", name="Calibrations").click()
            calls = held(page, "Calibrations/Decide")
            page.get_by_role("button", name="Accept decided").click()
            go = goes_on(page, calls)
            (proposal,) = place.proposals()
            number = proposal["id"]
            place.decide(number, False)
            go()
            expect(said.filter(has_text=f"the proposed value {number} ")).to_be_visible()
        assert "decided" not in place.datasets()
    finally:
        for run in place.queue():
            place.terminate(run["rid"], force=True)
