"""Two browsers at the same thing: whoever comes second is told, and both end with the same."""

import re

import pytest
from playwright.sync_api import expect

from tests.support import TIMEOUT
from tests.support.browser import held, laboratory_and_hub, new_page

expect.set_options(timeout=TIMEOUT * 1000)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A laboratory and its hub for all tests of this file."""
    with laboratory_and_hub(tmp_path_factory.mktemp("two")) as running:
        yield running


@pytest.fixture
def both(chromium, shared):
    """Two pages."""
    with new_page(chromium, shared[1].address, quiet=False) as one, new_page(chromium, shared[1].address) as other:
        for page in (one, other):
            page.set_default_timeout(1000 * TIMEOUT)
        yield one, other


def show(page, name):
    page.get_by_role("tab", name=name).click()


def test_new_dataset_of_a_name_just_taken_is_not_overwritten(both, shared):
    place, (one, other) = shared[0], both
    for page in both:
        show(page, "Data")
        page.get_by_role("button", name="New …").click()
        page.get_by_label("Name of the new dataset").fill("fresh")
        page.get_by_label("Value of the new dataset").fill("1" if page is one else "2")
    calls, add = held(one, "Datasets/Set"), {"name": "Add", "exact": True}
    one.get_by_role("button", **add).last.click()
    one.wait_for_function("document.querySelector('form.buttons [aria-disabled=true]')")
    other.get_by_role("button", **add).last.click()
    expect(one.get_by_role("row", name=re.compile("^fresh kept 2"))).to_be_visible()
    calls[0].continue_()
    expect(one.get_by_role("status").filter(has_text="fresh is 2 by now")).to_be_visible()
    expect(one.get_by_label("Value of the new dataset")).to_have_value("1")
    assert place.dataset("fresh")[1] == 2


def test_value_that_another_has_just_set_is_replaced_at_the_second_attempt_only(both, shared):
    place, (one, other) = shared[0], both
    place.set_dataset("edited", 1.0, True)
    for page in both:
        show(page, "Data")
        page.get_by_role("button", name="Edit edited").click()
        page.get_by_label("Value of edited").fill("5" if page is one else "7")
    calls = held(one, "Datasets/Set")
    one.get_by_label("Value of edited").press("Enter")
    one.wait_for_function("document.querySelector('.editing [aria-disabled=true]')")
    other.get_by_label("Value of edited").press("Enter")
    expect(one.get_by_text("now 7")).to_be_visible()
    calls[0].continue_()
    one.unroute_all()
    expect(one.get_by_role("status").filter(has_text="edited is 7 by now")).to_be_visible()
    assert place.dataset("edited")[1] == 7
    one.get_by_label("Value of edited").press("Enter")
    for page in both:
        expect(page.get_by_role("row", name="edited kept 5")).to_be_visible()
    assert place.dataset("edited")[1] == 5


def test_value_that_a_run_changes_all_the_time_is_set(both, shared):
    place, (one, _) = shared[0], both
    (place.folder / "repository" / "counts.py").write_text(
        "from artiq.experiment import *\n\nclass Counts(EnvExperiment):\n    def build(self):\n"
        "        self.setattr_device('scheduler')\n\n    def run(self):\n"
        "        while not self.scheduler.check_termination():\n"
        "            self.set_dataset('level', 0.0, broadcast=True)\n"
        "            self.set_dataset('level', 1.0, broadcast=True)\n"
    )
    place.scan()
    rid = place.submit({"file": "counts.py", "class_name": "Counts", "arguments": {}, "repo_rev": None})
    show(one, "Data")
    one.get_by_role("button", name="Edit level").click()
    one.get_by_label("Value of level").fill("7")
    one.get_by_label("Value of level").press("Enter")
    expect(one.get_by_role("status").filter(has_text="level is set")).to_be_visible()
    place.terminate(rid)
    place.ends(rid)


def test_open_history_of_a_value_follows_another_browser(both, shared):
    place, (_, other) = shared[0], both
    place.set_dataset("tuned", 1.0, True)
    for page in both:
        show(page, "Data")
        page.get_by_role("button", name="History of tuned").click()
    place.set_dataset("tuned", 2.0, True)
    for page in both:
        expect(page.get_by_role("row", name=re.compile(r"^2 \d"))).to_be_visible()
    other.get_by_role("button", name="Restore").click()
    for page in both:
        expect(page.get_by_role("row", name=re.compile(r"^1 \d"))).to_have_count(2)


def test_notes_and_tags_of_a_run_are_the_same_in_both(both, shared):
    place, (one, other) = shared[0], both
    rid = place.run_of("Quick")
    place.ends(rid)
    for page in both:
        show(page, "Runs")
        page.get_by_role("button", name=str(rid), exact=True).click()
        page.get_by_label("Note", exact=True).fill("of the other" if page is other else "typed")
    other.get_by_role("button", name="Add note").click()
    expect(one.get_by_text("of the other")).to_be_visible()
    expect(one.get_by_label("Note", exact=True)).to_have_value("typed")
    other.get_by_label("Tag", exact=True).fill("good")
    other.get_by_role("button", name="Add tag").click()
    expect(one.get_by_role("button", name="Remove tag good")).to_be_visible()
    one.get_by_role("button", name=f"Close run {rid}").click()
    other.get_by_role("button", name="Remove tag good").click()
    expect(one.get_by_role("row", name=re.compile(f"^{rid} Quick"))).not_to_contain_text("good")
