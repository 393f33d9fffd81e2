"""A Rabi flop of the emulated device's ion, followed in the page on a desktop and on a telephone."""

import re
import shutil

import pytest
from playwright.sync_api import expect

from tests.support import TIMEOUT
from tests.support.browser import ENTRY, new_page, violations
from tests.support.hub import Hub
from tests.support.laboratory import Laboratory
from tests.support.paths import EXAMPLES
from tests.support.telephone import SMALLEST, good, view

expect.set_options(timeout=TIMEOUT * 1000)


@pytest.fixture
def trap(tmp_path):
    """The laboratory of `examples/ion`."""
    folder = tmp_path / "lab"
    folder.mkdir()
    device_db = (EXAMPLES / "ion" / "device_db.py").read_text()
    laboratory = Laboratory(folder, device_db=device_db)
    (folder / "repository" / "lab.py").unlink()
    for name in ("rabi_flop.py", "trap.py"):
        shutil.copy(EXAMPLES / "ion" / name, folder / "repository")
    for path in (EXAMPLES / "ion").glob("*.toml"):
        shutil.copy(path, folder)
    laboratory.start()
    yield laboratory
    laboratory.close()


def switched_in_the_page(page):
    """Switch a DDS on by its pin, and release it."""
    page.get_by_role("tab", name="Devices").click()
    panel = page.get_by_role("region", name="Devices", exact=True)
    panel.get_by_label("Search channels").fill("urukul0_ch1")
    on = panel.get_by_role("button", name="Switch urukul0_ch1 on")
    expect(on).to_have_attribute("title", re.compile("overrides pins only, .*ttl_urukul0_sw1 switches it"))
    on.click()
    expect(on).to_have_attribute("aria-pressed", "true")
    assert violations(page) == []
    panel.get_by_role("button", name="Release urukul0_ch1").click()
    expect(on).to_have_attribute("aria-pressed", "false")


def test_rabi_flop_is_followed_point_by_point(chromium, trap, tmp_path):
    hub = Hub(tmp_path, {}, entries=ENTRY)
    try:
        with new_page(chromium, hub.address) as page, new_page(chromium, hub.address, "telephone") as telephone:
            page.get_by_role("button", name="Rabi flop").click()
            page.get_by_label("points").fill("12")
            page.get_by_label("shots").fill("20")
            assert page.get_by_label("longest").input_value() == "60"  # in microseconds, as it is declared
            page.get_by_role("button", name=re.compile("^Submit")).click()
            for each in (page, telephone):
                plot = each.get_by_role("article", name="Rabi flop")
                expect(plot.get_by_role("img")).to_have_attribute(
                    "aria-label", "rabi.excitation: 12 points against rabi.length_s"
                )
            expect(page.get_by_role("row", name=re.compile("^0 RabiFlop completed"))).to_be_visible()
            expect(page.get_by_role("img", name="rabi.excitation against rabi.length_s", exact=True)).to_be_visible()
            page.get_by_role("button", name="0", exact=True).click()
            expect(page.get_by_text("60 µs")).to_be_visible()
            expect(page.get_by_text("Rabi frequency")).to_be_visible()
            expect(telephone.get_by_text("Nothing runs")).to_be_visible()
            assert violations(page) == [] and violations(telephone) == []
            page.screenshot(path=tmp_path / "desktop.png")
            telephone.screenshot(path=tmp_path / "telephone.png")
            switched_in_the_page(page)
    finally:
        hub.close()
    assert trap.run(0)["status"] == "completed"


@pytest.mark.long
def test_run_on_a_telephone_is_submitted_fitted_and_stopped_and_an_output_overridden(chromium, trap, tmp_path):
    hub = Hub(tmp_path, {}, entries=ENTRY)
    try:
        with new_page(chromium, hub.address, "telephone", "dark") as page:
            page.set_default_timeout(1000 * TIMEOUT)
            page.set_viewport_size(SMALLEST)
            view(page, "Start")
            page.get_by_role("button", name="Rabi flop").tap()
            page.get_by_label("points").fill("500")
            page.get_by_label("shots").fill("20")
            good(page)
            page.get_by_role("button", name=re.compile("^Submit")).tap()
            plot = page.get_by_role("article", name="Rabi flop")
            expect(plot.get_by_role("img", name=re.compile("rabi.excitation: [1-9]"))).to_be_visible()
            plot.get_by_label("Fit of Rabi flop").select_option("rabi_flop")
            expect(plot.get_by_label("Fit rabi_flop")).to_be_visible()
            good(page)
            page.get_by_role("button", name="Force").tap()
            expect(page.get_by_text("Nothing runs")).to_be_visible()
            view(page, "Devices")
            page.get_by_label("Search channels").fill("ttl_urukul0_sw1")
            page.get_by_role("button", name="Override ttl_urukul0_sw1 with 1").tap()
            page.get_by_role("button", name="Release ttl_urukul0_sw1").wait_for()
            good(page)
            page.get_by_role("button", name="Release ttl_urukul0_sw1").tap()
            view(page, "Runs")
            page.get_by_role("button", name="0", exact=True).tap()
            page.get_by_role("button", name="Waveform").tap()
            expect(page.get_by_text("overrides included")).to_be_visible()
            good(page)
    finally:
        hub.close()
    assert trap.run(0)["status"] == "deleted"
