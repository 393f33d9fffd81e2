"""Datasets as a tree: branches, keyboard, editing of values and units, new ones and deleted ones."""

import re

from playwright.sync_api import expect

from tests.support import TIMEOUT
from tests.support.browser import new_page, violations

expect.set_options(timeout=TIMEOUT * 1000)


def data(page):
    page.set_default_timeout(1000 * TIMEOUT)
    page.get_by_role("tab", name="Data").click()
    return page.get_by_role("region", name="Datasets", exact=True)


def test_tree_is_searched_opened_and_walked_by_keyboard(chromium, hub, place):
    for name in ("ion.rabi/t10", "ion.rabi/t9", "ion.carrier", "ion", ".hidden..x", "<b>.y"):
        place.set_dataset(name, 1.5, True)
    with new_page(chromium, hub.address) as page:
        panel = data(page)
        tree = panel.get_by_role("treegrid", name="Names and values")
        expect(panel.get_by_role("row", name="ion. 3 datasets")).to_have_attribute("aria-expanded", "true")
        names = tree.get_by_role("rowheader").all_inner_texts()
        assert [name.removesuffix("kept") for name in names] == [
            *("<b>.y", "▾ ion.", "▾ rabi/", "t9", "t10", "carrier", ".hidden..x", "ion"),
        ]
        assert violations(page) == []
        panel.get_by_label("Search datasets").fill("RABI t1")
        expect(tree.get_by_role("rowheader", name="ion.rabi/t10 kept")).to_have_text("ion.rabi/t10kept")
        expect(tree.get_by_role("rowheader")).to_have_count(1)
        panel.get_by_label("Search datasets").fill("")
        tree.focus()
        for key in ("Home", "ArrowDown", "ArrowLeft"):
            page.keyboard.press(key)
        expect(panel.get_by_role("row", name="ion. 3 datasets")).to_have_attribute("aria-expanded", "false")
        expect(panel.get_by_role("row", name="ion. 3 datasets")).to_have_attribute("aria-selected", "true")
        assert violations(page) == []
        page.reload()
        panel = data(page)
        expect(panel.get_by_role("row", name="ion. 3 datasets")).to_have_attribute("aria-expanded", "false")
        tree.focus()
        for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight", "Enter"):
            page.keyboard.press(key)
        page.get_by_label("Value of ion.rabi/t9").fill("2.5")
        page.keyboard.press("Enter")
        expect(panel.get_by_role("row", name=re.compile("^ion.rabi.t9 kept 2.5"))).to_be_visible()
        expect(tree).to_be_focused()
        page.keyboard.press("ArrowDown")
        expect(panel.get_by_role("row", name=re.compile("^ion.rabi.t10"))).to_have_attribute("aria-selected", "true")
    assert place.datasets()["ion.rabi/t9"][1] == 2.5


def test_unit_is_edited_and_datasets_are_made_and_deleted(chromium, hub, place):
    place.set_dataset("t_pi", 2e-6, True, {"unit": "us", "scale": 1e-6, "precision": 2})
    with new_page(chromium, hub.address) as page:
        panel = data(page)
        expect(panel.get_by_role("row", name=re.compile("^t_pi kept 2.00 µs"))).to_be_visible()
        page.get_by_role("button", name="Edit t_pi").click()
        assert violations(page) == []
        place.set_dataset("t_pi", 3e-6)  # by somebody else
        expect(panel.get_by_text("now 3.00")).to_be_visible()
        page.get_by_label("Unit of t_pi").fill("ns")
        page.get_by_label("Value of t_pi").fill("4")
        page.get_by_role("button", name="Set", exact=True).click()
        expect(panel.get_by_role("row", name=re.compile("^t_pi kept 4.00 ns"))).to_be_visible()
        panel.get_by_role("button", name="New …").click()
        page.get_by_label("Name of the new dataset").fill("t_pi")
        page.get_by_label("Value of the new dataset").fill("[1, 2")
        expect(panel.get_by_role("button", name="Add", exact=True)).to_be_disabled()
        page.get_by_label("Name of the new dataset").fill("list.of <b>")
        assert violations(page) == []
        panel.get_by_role("button", name="Add", exact=True).click()
        expect(page.get_by_role("status").filter(has_text="not a PYON value: [1, 2")).to_be_visible()
        page.get_by_label("Value of the new dataset").fill("[1, 2]")
        panel.get_by_role("button", name="Add", exact=True).click()
        expect(panel.get_by_role("row", name=re.compile("^list.of <b> kept"))).to_be_visible()
        page.get_by_role("button", name="Edit list.of <b>").click()
        page.get_by_role("button", name="Delete list.of <b>").click()
        expect(panel.get_by_role("row", name=re.compile("^list.of"))).to_have_count(0)
    found = place.datasets()
    assert "list.of <b>" not in found
    assert round(found["t_pi"][1] * 1e12) == 4000 and found["t_pi"][2]["unit"] == "ns"
