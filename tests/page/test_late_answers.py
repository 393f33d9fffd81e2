"""Answers that come late: what was closed meanwhile stays closed, the keyboard stays where it is, and an older answer
does not take the place of a newer one."""

import re

import pytest
from playwright.sync_api import expect

from tests.support import TIMEOUT
from tests.support.browser import answered, awaited, held, laboratory_and_hub, new_page, wait_for

expect.set_options(timeout=TIMEOUT * 1000)


@pytest.fixture(scope="module")
def late(tmp_path_factory):
    """A laboratory and its hub for all tests of this file."""
    with laboratory_and_hub(tmp_path_factory.mktemp("late")) as running:
        yield running


@pytest.fixture
def page(chromium, late):
    """The page of this laboratory."""
    with new_page(chromium, late[1].address) as page:
        page.set_default_timeout(1000 * TIMEOUT)
        yield page


def test_history_closed_while_it_is_asked_for_again_stays_closed(late, page):
    late[0].set_dataset("tuned", 1.0, True)
    page.get_by_role("tab", name="Data").click()
    calls = held(page, "Parameters/History")
    page.get_by_role("button", name="History of tuned").click()
    wait_for(page, lambda: calls)
    calls[0].continue_()
    close = page.get_by_role("button", name="Close history")
    expect(close).to_be_focused()
    late[0].set_dataset("tuned", 2.0, True)
    wait_for(page, lambda: len(calls) > 2)
    page.keyboard.press("Escape")
    tree = page.get_by_role("treegrid")
    expect(tree).to_be_focused()
    for call in calls[1:]:
        answered(page, call)
    expect(close).to_have_count(0)
    expect(tree).to_be_focused()


def test_history_chosen_last_stays_when_an_earlier_one_arrives(late, page):
    for name in ("first", "second"):
        late[0].set_dataset(name, 1.0, True)
    page.get_by_role("tab", name="Data").click()
    calls = held(page, "Parameters/History", "first")
    page.get_by_role("button", name="History of first").click()
    wait_for(page, lambda: calls)
    page.get_by_role("button", name="History of second").click()
    expect(page.get_by_role("heading", name="second: its values")).to_be_visible()
    answered(page, calls[0])
    expect(page.get_by_role("heading", name="second: its values")).to_be_visible()


def test_newer_answer_about_a_run_is_not_replaced_by_an_older_one(late, page):
    place = late[0]
    rid = place.run_of("Quick")
    place.ends(rid)
    page.get_by_role("button", name=str(rid), exact=True).click()
    expect(page.get_by_label("Note", exact=True)).to_be_visible()
    calls = []
    page.route("**/kairos.lab.v1.Runs/Show", lambda route: route.continue_() if calls else calls.append(route))
    place.tag(rid, "older")
    wait_for(page, lambda: calls)
    call = calls[0]
    answer = call.fetch()
    place.tag(rid, "newer")
    newer = page.get_by_role("button", name="Remove tag newer")
    expect(newer).to_be_visible()
    with awaited(page, call):
        call.fulfill(response=answer)
    expect(newer).to_be_visible()


def test_keyboard_that_went_on_while_a_lock_is_taken_is_left_where_it_is(late, page):
    opener = page.get_by_role("button", name="Lock …")
    opener.click()
    calls = held(page, "Queue/Lock")
    page.get_by_label("Note on the lock").press("Enter")
    wait_for(page, lambda: calls)
    search = page.get_by_label("Search runs")
    search.focus()
    answered(page, calls[0])
    expect(page.get_by_role("form", name="Lock")).to_have_count(0)
    expect(search).to_be_focused()
    page.get_by_role("button", name=re.compile("^Release ")).click()
    expect(page.get_by_role("button", name=re.compile("^Release "))).to_have_count(0)
