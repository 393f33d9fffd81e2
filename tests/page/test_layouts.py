"""The arrangement of panels: moved, torn off, saved with versions, undone, shared by link."""

import json

from playwright.sync_api import expect

from tests.support import TIMEOUT
from tests.support.browser import new_page, violations

expect.set_options(timeout=TIMEOUT * 1000)


def tabs(page):
    """Return the names of the panels by group."""
    lists = page.get_by_role("tablist")
    expect(lists.first).to_be_visible()
    return [group.get_by_role("tab").all_text_contents() for group in lists.all()]


def menu(page, panel, entry):
    """Choose an entry of the menu of a panel in sight."""
    page.get_by_role("button", name=f"Panel {panel}: menu").click()
    page.get_by_role("region", name=f"Menu of {panel}").get_by_role("button", name=entry, exact=True).click()


STANDARD = [["Experiments"], ["Plots"], ["Queue"], ["Runs", "Data", "Calibrations", "Devices", "Logbook", "Log"]]


def test_panel_is_moved_and_closed_by_its_menu_and_that_is_undone(chromium, hub, place):
    with new_page(chromium, hub.address) as page:
        assert tabs(page) == STANDARD
        page.get_by_role("tab", name="Data").click()
        menu(page, "Data", "Right of the others")
        moved = [*STANDARD[:3], ["Runs", "Calibrations", "Devices", "Logbook", "Log"], ["Data"]]
        assert tabs(page) == moved
        menu(page, "Data", "To Queue")
        assert tabs(page)[2] == ["Queue", "Data"]
        expect(page.get_by_role("region", name="Datasets")).to_be_visible()
        menu(page, "Data", "Close")
        assert "Data" not in sum(tabs(page), [])
        page.get_by_role("button", name="Panel Queue: menu").click()
        assert violations(page) == []
        page.get_by_role("region", name="Menu of Queue").get_by_role("button", name="Data", exact=True).click()
        assert tabs(page)[2] == ["Queue", "Data"]
        page.get_by_role("button", name="Layout", exact=True).click()
        for _ in range(4):
            page.get_by_role("button", name="Undo").click()
        assert tabs(page) == STANDARD
        page.get_by_role("button", name="Redo").click()
        assert tabs(page) == moved
        page.reload()
        assert tabs(page) == moved


def test_tabs_and_borders_obey_the_keyboard_and_the_mouse(chromium, hub, place):
    with new_page(chromium, hub.address) as page:
        page.get_by_role("tab", name="Runs").focus()
        page.keyboard.press("ArrowRight")
        expect(page.get_by_role("region", name="Datasets")).to_be_visible()
        page.keyboard.press("Alt+9")
        expect(page.get_by_role("log", name="Records, newest first")).to_be_visible()
        border = page.get_by_role("separator").first
        before = int(border.get_attribute("aria-valuenow"))
        border.press("ArrowRight")
        assert int(border.get_attribute("aria-valuenow")) == before + 3
        box = border.bounding_box()
        page.mouse.move(box["x"] + 2, box["y"] + 100)
        page.mouse.down()
        page.mouse.move(box["x"] + 202, box["y"] + 100, steps=3)
        page.mouse.up()
        assert int(border.get_attribute("aria-valuenow")) > before + 10
        queue = page.get_by_role("region", name="Queue").bounding_box()
        target = {"x": queue["width"] / 2, "y": queue["height"] - 5}
        page.get_by_role("tab", name="Log", exact=True).drag_to(
            page.get_by_role("tabpanel", name="Queue"), target_position=target
        )
        assert tabs(page)[3] == ["Log"], "it is below the queue"


def test_panel_in_a_window_of_its_own_comes_back(chromium, hub, place):
    with new_page(chromium, hub.address) as page:
        page.get_by_role("tab", name="Data").click()
        with page.context.expect_page() as opened:
            menu(page, "Data", "In a window of its own")
        window = opened.value
        expect(window.get_by_role("region", name="Datasets")).to_be_visible()
        place.set_dataset("seen in the window", 1)
        expect(window.get_by_role("row", name="seen in the window 1")).to_be_visible()
        assert "Data" not in sum(tabs(page), [])
        assert violations(window) == []
        window.close()
        expect(page.get_by_role("tab", name="Data")).to_be_visible()


def test_layout_is_saved_shared_by_link_and_restored(chromium, hub, place):
    with new_page(chromium, hub.address) as page:
        menu(page, "Queue", "Close")
        page.get_by_role("button", name="Layout", exact=True).click()
        page.get_by_label("Name of the layout").fill("<i>night</i>")
        page.get_by_role("button", name="Save as").click()
        expect(page.get_by_role("button", name="Layout: <i>night</i>", exact=True)).to_be_visible()
        assert violations(page) == []
        with new_page(chromium, hub.address, query="?layout=%3Ci%3Enight%3C/i%3E") as other:
            expect(other.get_by_role("button", name="Layout: <i>night</i>", exact=True)).to_be_visible()
            expect(other.get_by_role("tab", name="Queue")).to_have_count(0)
            menu(other, "Plots", "Close")
            other.get_by_role("button", name="Layout: <i>night</i>*").click()
            other.get_by_role("button", name="Save <i>night</i>").click()
            expect(page.get_by_text("somebody has saved <i>night</i> since: version 2")).to_be_visible()
            expect(page.get_by_role("button", name="Save <i>night</i>")).to_be_disabled()
            page.get_by_role("button", name="Version before of layout <i>night</i>").click()
            expect(page.get_by_role("tab", name="Plots")).to_be_visible()
            page.get_by_role("button", name="Save <i>night</i>").click()
            expect(page.get_by_text("version 3")).not_to_have_count(0)
    assert place.layout("<i>night</i>")["version"] == 3


def test_unusable_layouts_are_opened_as_far_as_possible(chromium, hub, place):
    row = {"kind": "split", "across": True, "sizes": [None, -1], "parts": [{"kind": "tabs", "panels": ["Log", "Log"]}]}
    row["parts"] += ["nested", {"kind": "tabs", "panels": ["<b>", 7, "Runs"], "active": "Queue"}, 5, None]
    nested = 300 * '{"kind": "split", "parts": [' + '{"kind": "tabs", "panels": ["Data"]}' + 300 * "]}"
    place.save_layout("odd", json.dumps(row).replace('"nested"', nested), 0)
    with new_page(chromium, hub.address, query="?layout=odd") as page:
        expect(page.get_by_role("button", name="Layout: odd", exact=True)).to_be_visible()
        expect(page.get_by_role("tab")).to_have_count(2)
        assert tabs(page) == [["Log"], ["Runs"]]
        assert violations(page) == []
