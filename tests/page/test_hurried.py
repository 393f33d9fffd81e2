"""Hands that are quicker than the page: letters, keys and clicks before a frame is drawn, before an answer has come, or
while what is under them changes, go to what they were meant for, once; nothing that was typed is lost."""

import re
from contextlib import contextmanager

import h5py
import pytest
from playwright.sync_api import expect

from tests.support import TIMEOUT
from tests.support.browser import held, laboratory_and_hub, new_page, wait_for
from tests.support.waiting import until

expect.set_options(timeout=TIMEOUT * 1000)

FORM = """from artiq.experiment import *


class Form(EnvExperiment):
    def build(self):
        self.setattr_argument("detuning", NumberValue(self.get_dataset("detuning", 1.5)))
        self.setattr_argument("constructor", StringValue("text"))
        self.setattr_argument("times", Scannable(ExplicitScan([1.0, 2.0])))

    def run(self):
        self.set_dataset("given", [self.detuning, *self.times])
"""


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """A laboratory and its hub for all tests of this file, which leave nothing running."""
    with laboratory_and_hub(tmp_path_factory.mktemp("hurried"), {"form.py": FORM}) as running:
        yield running


@contextmanager
def opened(chromium, quick, **options):
    """Open the page once the repository is scanned."""
    with new_page(chromium, quick[1].address, **options) as page:
        page.set_default_timeout(1000 * TIMEOUT)
        yield page


def without_frames(page):
    """From now on the page draws no frame that its code waits for."""
    page.evaluate("window.requestAnimationFrame = () => 0")


def form(page, name="Form"):
    """Open the form of an experiment; returns the form."""
    page.get_by_role("button", name=name, exact=True).click()
    return page.locator("section form", has=page.get_by_role("heading", name=re.compile(f"^{name} ")))


def data(page):
    page.get_by_role("tab", name="Data").click()
    return page.get_by_role("region", name="Datasets", exact=True)


def newest(place):
    """Return the number of the newest run that has ended; -1 if there is none."""
    return max((run["rid"] for run in place.runs()), default=-1)


def test_letters_after_a_key_belong_to_the_field_that_it_opens_before_any_frame(chromium, quick):
    place, _ = quick
    place.set_dataset("hurry.a", 1.0)
    place.set_dataset("hurry.b", 2.0)
    with opened(chromium, quick) as page:
        expect(page.get_by_role("button", name="Form", exact=True)).to_be_visible()
        panel = data(page)
        panel.get_by_label("Search datasets").fill("hurry")
        expect(panel.get_by_role("row", name="hurry.a 1")).to_be_visible()
        without_frames(page)
        page.keyboard.press("Control+p")
        page.keyboard.type("form")
        expect(page.get_by_label("Search experiments")).to_have_value("form")
        page.keyboard.press("Enter")
        page.keyboard.type("7")
        expect(page.get_by_label("detuning", exact=True)).to_have_value("7")
        panel.get_by_role("treegrid").focus()
        for key in ("ArrowDown", "ArrowDown", "Enter"):
            page.keyboard.press(key)
        page.keyboard.type("8")
        expect(panel.get_by_label("Value of hurry.a")).to_have_value("8")
        page.keyboard.press("Escape")
        page.keyboard.press("ArrowDown")
        expect(panel.get_by_role("row", name="hurry.b 2")).to_have_attribute("aria-selected", "true")
        panel.get_by_role("button", name="New …").focus()
        page.keyboard.press("Enter")
        page.keyboard.type("hurry.c")
        expect(panel.get_by_label("Name of the new dataset")).to_have_value("hurry.c")
        page.get_by_role("button", name="Layout", exact=True).focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        page.keyboard.press("Escape")
        expect(page.get_by_role("button", name="Layout", exact=True)).to_be_focused()
        page.keyboard.press("Alt+9")
        expect(page.get_by_role("log", name="Records, newest first")).to_be_visible()
    for name in ("hurry.a", "hurry.b"):
        place.delete_dataset(name)


def test_page_without_frames_receives_changes_of_datasets(chromium, quick):
    place, _ = quick
    with opened(chromium, quick) as page:
        panel = data(page)
        page.get_by_role("button", name="Tree").click()
        without_frames(page)
        for number in range(5):
            place.set_dataset("unframed", number)
            expect(panel.get_by_role("row", name=f"unframed {number}")).to_be_visible()
    place.delete_dataset("unframed")


@pytest.mark.parametrize("way", ["Enter", "held Enter", "Control+Enter", "double click"])
def test_form_that_is_sent_twice_at_once_submits_one_run(chromium, quick, way):
    place, _ = quick
    before = newest(place)
    with opened(chromium, quick) as page:
        entered = form(page)
        field, button = (
            entered.get_by_label("detuning", exact=True),
            entered.get_by_role("button", name=re.compile("^Submit")),
        )
        calls = held(page, "Queue/Submit")
        if way == "double click":
            button.dblclick()
        elif way == "held Enter":
            field.focus()
            for _ in range(4):
                page.keyboard.down("Enter")  # the second one and later ones are repetitions
            page.keyboard.up("Enter")
        else:
            field.press(way)
            field.press(way)
        wait_for(page, lambda: calls)
        expect(button).to_be_disabled()
        calls[0].continue_()
        expect(page.get_by_role("status").filter(has_text=f"run {before + 1} submitted")).to_be_visible()
        expect(button).to_be_enabled()
        if way == "held Enter":
            # Also if each is answered before the next one.
            page.unroute_all()
            field.focus()
            page.keyboard.down("Enter")
            expect(page.get_by_role("status").filter(has_text=f"run {before + 2} submitted")).to_be_visible()
            page.keyboard.down("Enter")
            page.keyboard.up("Enter")
        elif way == "double click":
            page.unroute_all()
            button.click()
            expect(page.get_by_role("status").filter(has_text=f"run {before + 2} submitted")).to_be_visible()
            page.mouse.down(click_count=2)
            page.mouse.up(click_count=2)
        # Whatever was sent has arrived before this.
        page.get_by_role("button", name="Rescan").click()
        expect(page.get_by_role("status").filter(has_text="scanned")).to_be_visible()
        until(lambda: not place.queue())
        assert len(calls) == 1
    assert newest(place) == before + (1 if "Enter" == way or "Control" in way else 2)


def test_list_of_a_scan_is_submitted_as_it_is_typed(chromium, quick):
    place, _ = quick
    before = newest(place)
    with opened(chromium, quick) as page:
        entered = form(page)
        values = entered.get_by_label("Values", exact=True)
        values.fill("3, 4 x")
        expect(entered.get_by_text("needs numbers only")).to_be_visible()
        values.press("Control+Enter")
        expect(entered.get_by_role("alert")).to_have_text("times needs numbers only")
        values.fill("3, 4, ")
        expect(values).to_have_value("3, 4, ")
        values.press("Control+Enter")
        expect(page.get_by_role("status").filter(has_text=f"run {before + 1} submitted")).to_be_visible()
    place.ends(before + 1)
    with h5py.File(place.file_of(before + 1)) as file:
        assert file["datasets/given"][()].tolist() == [1.5, 3.0, 4.0]


def default_of_detuning(place):
    """Return the default that forms are offered, which follows the dataset after a moment."""
    return place.experiments()["experiments"]["Form"]["arginfo"]["detuning"][0]["default"]


def test_default_that_changes_in_a_focused_field_keeps_typed_digits(chromium, quick):
    place, _ = quick
    place.set_dataset("detuning", 1.5, True)
    try:
        with opened(chromium, quick) as page:
            expect(page.get_by_role("button", name="Form", exact=True)).to_be_visible()
            page.keyboard.press("Control+p")
            page.keyboard.type("form")
            page.keyboard.press("Enter")
            field = page.get_by_label("detuning", exact=True)
            expect(field).to_be_focused()
            place.set_dataset("detuning", 2.5, True)
            expect(field).to_have_value("2.5")  # all of it is still chosen
            page.keyboard.type("75")
            expect(field).to_have_value("75")
            page.get_by_role("button", name="Default of detuning").click()
            expect(field).to_have_value("2.5")
            field.click()
            page.keyboard.press("End")
            place.set_dataset("detuning", 3.5, True)
            expect(page.get_by_text("default was 1.5, now 3.5")).to_be_visible()
            page.keyboard.press("Backspace")
            page.keyboard.type("6")
            expect(field).to_have_value("2.6")
    finally:
        place.delete_dataset("detuning")
        until(lambda: default_of_detuning(place) == 1.5)  # which forms of other tests show


def test_arguments_of_the_last_run_leave_fields_typed_meanwhile(chromium, quick):
    place, _ = quick
    arguments = {"detuning": 9.0, "constructor": "old"}
    rid = place.submit({"file": "form.py", "class_name": "Form", "arguments": arguments, "repo_rev": None})
    place.ends(rid)
    with opened(chromium, quick) as page:
        entered = form(page)
        expect(entered.get_by_label("constructor", exact=True)).to_have_value("text")
        calls = held(page, "Runs/Find", "class_name=Form")
        entered.get_by_role("button", name="Last arguments").click()
        wait_for(page, lambda: calls)
        entered.get_by_label("constructor", exact=True).fill("new")
        calls[0].continue_()
        expect(entered.get_by_label("detuning", exact=True)).to_have_value("9")
        expect(entered.get_by_label("constructor", exact=True)).to_have_value("new")


def waiting_runs(place, count):
    """Submit runs that wait behind one that runs; returns all numbers."""
    rids = [place.run_of("Patient")]
    until(lambda: place.status_of(rids[0]) == "running")
    rids.append(place.run_of("Quick"))  # which is prepared
    until(lambda: place.status_of(rids[1]) == "prepare_done")
    return rids + [place.run_of("Quick") for _ in range(count)]


def end(place):
    for run in reversed(place.queue()):
        place.terminate(run["rid"], force=True)
    until(lambda: not place.queue())


def middle(page, button):
    box = button.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_second_click_of_a_double_click_ignores_the_row_that_moved_there(chromium, quick):
    place, _ = quick
    rids = waiting_runs(place, 3)
    try:
        with opened(chromium, quick) as page:
            runs = page.get_by_role("region", name="Queue").get_by_role("listitem")
            expect(runs).to_have_count(5)
            at = middle(page, runs.nth(2).get_by_role("button", name="Delete"))
            page.mouse.click(*at)
            expect(runs).to_have_count(4)
            page.mouse.down(click_count=2)
            page.mouse.up(click_count=2)
            hold = runs.nth(2).get_by_role("button", name="Hold")
            page.mouse.click(*middle(page, hold))
            expect(runs.nth(2).get_by_role("button", name="Release")).to_be_visible()
            page.mouse.down(click_count=2)
            page.mouse.up(click_count=2)
            page.get_by_role("button", name="Rescan").click()
            expect(page.get_by_role("status").filter(has_text="scanned")).to_be_visible()
        assert [run["rid"] for run in place.queue()] == [rids[0], rids[1], rids[3], rids[4]]
        assert [run["held"] is not None for run in place.queue()] == [False, False, True, False]
    finally:
        end(place)


def test_click_on_a_row_that_has_slid_under_the_pointer_is_refused(chromium, quick):
    place, _ = quick
    rids = waiting_runs(place, 3)
    try:
        with opened(chromium, quick) as page:
            # Nobody has seen yet that the list has moved, however long the browser needs.
            page.evaluate(
                "() => { const later = setTimeout; window.setTimeout = (f, ms) => (ms === 400 ? 1 : later(f, ms)); }"
            )
            runs = page.get_by_role("region", name="Queue").get_by_role("listitem")
            expect(runs).to_have_count(5)
            page.mouse.move(*middle(page, runs.nth(2).get_by_role("button", name="Delete")))
            place.terminate(rids[2], force=True)
            expect(runs).to_have_count(4)
            page.mouse.down()
            page.mouse.up()
            expect(page.get_by_role("status").filter(has_text="the list has just moved: click again")).to_be_visible()
            assert [run["rid"] for run in place.queue()] == [rids[0], rids[1], rids[3], rids[4]]
            runs.nth(3).get_by_role("button", name="Delete").click()
            expect(runs).to_have_count(3)
        assert [run["rid"] for run in place.queue()] == [rids[0], rids[1], rids[3]]
    finally:
        end(place)


def test_double_click_on_edit_does_not_delete_the_dataset(chromium, quick):
    place, _ = quick
    place.set_dataset("precious", 1.0, True)
    with opened(chromium, quick) as page:
        panel = data(page)
        panel.get_by_label("Search datasets").fill("precious")
        button = panel.get_by_role("button", name="Edit precious")
        x, y = middle(page, button)
        page.mouse.click(x, y)
        expect(panel.get_by_label("Value of precious")).to_be_visible()
        page.mouse.down(click_count=2)
        page.mouse.up(click_count=2)
        expect(panel.get_by_label("Value of precious")).to_be_visible()
        page.keyboard.press("Escape")
        expect(button).to_be_visible()
    assert place.datasets()["precious"][1] == 1.0
    place.delete_dataset("precious")


def test_text_that_is_typed_while_an_answer_is_awaited_stays(chromium, quick):
    place, _ = quick
    rid = place.run_of("Quick")
    place.ends(rid)
    place.set_dataset("awaited", 1.0)
    place.set_dataset("other", 1.0)
    with opened(chromium, quick) as page:
        page.get_by_role("button", name=str(rid), exact=True).click()
        note = page.get_by_label("Note", exact=True)
        calls = held(page, "Runs/Note")
        note.press_sequentially("first")
        note.press("Enter")
        wait_for(page, lambda: calls)
        note.press_sequentially(" second")
        calls[0].continue_()
        expect(page.get_by_text(": first", exact=False)).to_be_visible()
        expect(note).to_have_value("second")

        page.get_by_role("tab", name="Logbook").click()
        entry = page.get_by_label("New entry")
        calls = held(page, "Logbook/Write")
        entry.fill("first")
        entry.press("Control+Enter")
        entry.press("Control+Enter")
        wait_for(page, lambda: calls)
        entry.press_sequentially(" second")
        calls[0].continue_()
        expect(page.get_by_role("article", name="Entry 1").get_by_text("first", exact=True)).to_be_visible()
        expect(entry).to_have_value("second")
        entry.fill("")

        panel = data(page)
        calls = held(page, "Datasets/Set")
        panel.get_by_role("button", name="Edit awaited").click()
        value = panel.get_by_label("Value of awaited")
        value.fill("2")
        value.press("Enter")
        wait_for(page, lambda: calls)
        panel.get_by_role("button", name="Edit other").click()
        panel.get_by_label("Value of other").fill("3")
        calls[0].continue_()
        expect(value).to_have_count(0)
        expect(panel.get_by_label("Value of other")).to_have_value("3")
        expect(panel.get_by_label("Value of other")).to_be_focused()
    assert [each["text"] for each in place.run(rid)["notes"]] == ["first"]
    assert [each["text"] for each in place.logbook()] == ["first"]
    for name in ("awaited", "other"):
        place.delete_dataset(name)


def test_text_of_a_failed_call_stays_in_its_field(chromium, quick):
    place, _ = quick
    rid = place.run_of("Quick")
    place.ends(rid)
    with opened(chromium, quick, quiet=False) as page:
        page.get_by_role("button", name=str(rid), exact=True).click()
        page.route("**/kairos.lab.v1.Runs/*", lambda route: route.abort())
        for name in ("Note", "Tag"):
            field = page.get_by_label(name, exact=True)
            field.fill("precious")
            field.press("Enter")
            expect(page.get_by_role("status").filter(has_text="Failed to fetch")).to_be_visible()
            expect(field).to_have_value("precious")
            page.get_by_role("button", name="Close", exact=True).click()
        page.unroute_all()
        page.get_by_role("button", name=f"Close run {rid}").click()
        page.get_by_role("button", name=str(rid), exact=True).click()
        page.get_by_label("Note", exact=True).press("Enter")
        expect(page.get_by_text(": precious")).to_be_visible()


def test_dataset_that_is_edited_stays_in_sight_and_is_set_after_it_was_deleted(chromium, quick):
    place, _ = quick
    for number in range(80):
        place.set_dataset(f"row{number}", float(number))
    with opened(chromium, quick) as page:
        panel = data(page)
        panel.get_by_role("button", name="Edit row3", exact=True).click()
        value = panel.get_by_label("Value of row3", exact=True)
        value.fill("3.5")
        place.delete_dataset("row1")
        place.set_dataset("a new first row", 0)
        expect(panel.get_by_role("row", name="a new first row 0")).to_be_visible()
        expect(value).to_be_focused()
        panel.get_by_role("region", name="Names and values").evaluate("each => { each.scrollTop = 2000; }")
        expect(panel.get_by_role("row", name="row70 70")).to_be_visible()
        page.keyboard.type("1")
        expect(value).to_have_value("3.51")
        panel.get_by_label("Search datasets").fill("row7")
        expect(value).to_have_value("3.51")
        place.delete_dataset("row3")
        expect(panel.get_by_text("Somebody has deleted row3")).to_be_visible()
        value.press("Enter")
        expect(panel.get_by_text("Somebody has deleted row3")).to_have_count(0)
    assert place.datasets()["row3"][1] == 3.51
    for name in list(place.datasets()):
        if "row" in name:
            place.delete_dataset(name)


@pytest.mark.parametrize("size", ["desktop", "telephone"])
def test_filled_form_survives_moved_panels_and_other_views(chromium, quick, size):
    with opened(chromium, quick, size=size) as page:
        if size == "telephone":
            page.get_by_label("Views").get_by_role("button", name="Start").click()
        entered = form(page)
        entered.get_by_label("constructor", exact=True).fill("half a tho")
        entered.get_by_text("Scheduling").click()
        entered.get_by_label("Priority", exact=True).fill("3")
        if size == "telephone":
            for view in ("Now", "Start"):
                page.get_by_label("Views").get_by_role("button", name=view).click()
        else:
            page.get_by_role("button", name="Panel Experiments: menu").click()
            page.get_by_role("button", name="To Queue").click()
            expect(page.get_by_role("tab", name="Experiments")).to_be_focused()
            form(page, "Asks")
            form(page)
        expect(entered.get_by_label("constructor", exact=True)).to_have_value("half a tho")
        expect(entered.get_by_label("Priority", exact=True)).to_have_value("3")
