"""The panels by keyboard alone: what is needed can be reached, the focus is seen, and after something is closed it is
where it was opened."""

import re

import pytest
from playwright.sync_api import expect

from tests.support import TIMEOUT
from tests.support.browser import laboratory_and_hub, new_page, violations

expect.set_options(timeout=TIMEOUT * 1000)

FAR = 80
"""Presses of Tab within which a control must be reached."""
IS_SEEN = "each => each.matches(':focus-visible') && getComputedStyle(each).outlineStyle !== 'none'"


@pytest.fixture(scope="module")
def used(tmp_path_factory):
    """A laboratory that was used, and its hub, for all tests of this file."""
    with laboratory_and_hub(tmp_path_factory.mktemp("keyboard")) as (laboratory, hub):
        for n in (3, 5):
            laboratory.ends(laboratory.run_of("Quick", n=n))
        laboratory.set_dataset("power", 1.5, True, {"unit": "mW", "scale": 1e-3})
        laboratory.write_entry("first entry")
        yield laboratory, hub


@pytest.fixture
def page(chromium, used):
    """The page of this laboratory."""
    with new_page(chromium, used[1].address) as page:
        page.set_default_timeout(1000 * TIMEOUT)
        expect(page.get_by_role("row", name=re.compile("^1 Quick completed"))).to_be_visible()
        yield page
        assert violations(page) == []


def reach(page, control, key="Tab"):
    """Press a key until a control has the focus, which must be seen."""
    control.first.wait_for()
    for _ in range(FAR):
        if control.first.evaluate("each => each === document.activeElement"):
            assert control.first.evaluate(IS_SEEN)
            return
        page.keyboard.press(key)
    raise AssertionError(f"{control} is not reached")


def show(page, number):
    """Show a panel by its key, and go to its tab."""
    page.keyboard.press(f"Alt+{number}")


def test_runs_are_opened_compared_and_left_by_keyboard(page):
    newest = page.get_by_role("button", name="1", exact=True)
    reach(page, newest)
    page.keyboard.press("ArrowDown")
    older = page.get_by_role("button", name="0", exact=True)
    expect(older).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Close run 0")).to_be_focused()
    page.keyboard.press("Escape")
    expect(older).to_be_focused()
    reach(page, page.get_by_label("Compare run 0"))
    page.keyboard.press("Space")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Space")
    reach(page, page.get_by_role("button", name="Compare 0 and 1"), "Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("row", name=re.compile("^n argument"))).to_be_visible()
    page.keyboard.press("Escape")
    expect(older).to_be_focused()


def test_waiting_runs_are_moved_and_deleted_by_keyboard(page, used):
    rids = [used[0].run_of("Patient", name="keyboard") for _ in range(4)]
    try:
        lock = page.get_by_role("button", name="Lock …")
        reach(page, lock)
        page.keyboard.press("Enter")
        expect(page.get_by_label("What is locked", exact=True)).to_be_focused()
        page.keyboard.press("Escape")
        expect(lock).to_be_focused()
        reach(page, page.get_by_role("button", name=f"Run {rids[3]} earlier"))
        page.keyboard.press("Enter")
        runs = page.get_by_role("region", name="Queue").get_by_role("listitem")
        expect(runs.nth(2)).to_contain_text(f"{rids[3]}")
        reach(page, runs.nth(2).get_by_role("button", name="Delete"))
        page.keyboard.press("Enter")
        expect(runs).to_have_count(3)
        # The keyboard goes on where the run was.
        reach(page, runs.nth(2).get_by_role("button", name="Delete"))
    finally:
        for rid in reversed(rids):
            if used[0].status_of(rid):
                used[0].terminate(rid, force=True)
            used[0].ends(rid) if rid == rids[0] else None


def test_dataset_is_found_edited_and_its_history_left_by_keyboard(page):
    show(page, 5)
    tree = page.get_by_role("treegrid")
    reach(page, page.get_by_label("Search datasets"))
    page.keyboard.type("power")
    reach(page, tree)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    value = page.get_by_label("Value of power")
    expect(value).to_be_focused()
    page.keyboard.type("2.5")
    page.keyboard.press("Enter")
    expect(page.get_by_role("row", name=re.compile("^power kept 2.5"))).to_be_visible()
    expect(tree).to_be_focused()
    reach(page, page.get_by_role("button", name="History of power"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Close history")).to_be_focused()
    page.keyboard.press("Escape")
    expect(tree).to_be_focused()
    new = page.get_by_role("button", name="New …")
    reach(page, new, "Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Name of the new dataset")).to_be_focused()
    page.keyboard.press("Escape")
    expect(new).to_be_focused()


def test_plot_is_made_and_its_crosshair_sets_a_parameter_by_keyboard(page, used):
    used[0].set_dataset("curve", [1.0, 3.0, 2.0])
    reach(page, page.get_by_role("tab", name="Plots"))
    chosen = page.get_by_label("Dataset to be drawn")
    reach(page, chosen)
    page.keyboard.type("curve")
    reach(page, page.get_by_role("button", name="Add", exact=True))
    page.keyboard.press("Enter")
    crosshair = page.get_by_role("button", name="Crosshair of curve")
    reach(page, crosshair)
    page.keyboard.press("Enter")
    expect(page.get_by_label("Place in point")).to_be_focused()
    page.keyboard.type("1.75")
    reach(page, page.get_by_label("Parameter to be set"))
    page.keyboard.type("power")
    reach(page, page.get_by_role("button", name="Set power"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="power is set to")).to_be_visible()
    assert used[0].datasets()["power"][1] == 1.75
    page.keyboard.press("Escape")
    expect(crosshair).to_be_focused()


def test_entry_of_the_logbook_is_changed_by_keyboard(page):
    show(page, 8)
    edit = page.get_by_role("button", name=re.compile("^Edit entry")).last
    reach(page, edit)
    page.keyboard.press("Enter")
    expect(page.get_by_label(re.compile("^Text of entry"))).to_be_focused()
    page.keyboard.press("Escape")
    expect(edit).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("End")
    page.keyboard.type(", changed")
    reach(page, page.get_by_role("button", name="Save", exact=True))
    page.keyboard.press("Enter")
    expect(page.get_by_text("first entry, changed")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Edit entry")).last).to_be_focused()
