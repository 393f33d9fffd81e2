"""The panel of devices, on an emulated device with its real firmware."""

import os
import re
import signal

import pytest
from playwright.sync_api import expect

from tests.support import TIMEOUT
from tests.support.browser import ENTRY, new_page, violations
from tests.support.gateware import built, database
from tests.support.hub import Hub
from tests.support.laboratory import Laboratory
from tests.support.paths import EXAMPLES
from tests.support.processes import keepers
from tests.support.waiting import until

expect.set_options(timeout=TIMEOUT * 1000)

MANY = """
pin = {"type": "local", "module": "artiq.coredevice.ttl", "class": "TTLOut"}
for n in range(5000):
    device_db[f"<i>far</i>{n}"] = {**pin, "arguments": {"channel": (1 << 16) + n}}
broken = {"spi_device": 7}
device_db["broken"] = {"type": "local", "module": "artiq.coredevice.zotino", "class": "Zotino", "arguments": broken}
"""


@pytest.fixture
def trap(tmp_path):
    """A laboratory with the emulated device `demo`, and with 5000 channels on a board that does not answer."""
    built("demo")
    folder = tmp_path / "lab"
    folder.mkdir()
    laboratory = Laboratory(folder, device_db=(EXAMPLES / "device_db.py").read_text() + MANY)
    laboratory.start()
    yield laboratory
    laboratory.close()


HELD = """from artiq.experiment import *


class Held(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("scheduler")

    def run(self):
        while True:
            self.scheduler.pause()
"""


SAMPLED = """from artiq.experiment import *


class Sampled(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("sampler0")

    @kernel
    def run(self):
        self.core.reset()
        self.sampler0.init()
        self.sampler0.sample_mu([0] * 8)
"""


def see_measured_voltages(panel, laboratory):
    panel.get_by_label("Search channels").fill("sampler0:")
    panel.get_by_label("Kind of channel").select_option("measured voltage")
    expect(panel.get_by_role("rowheader")).to_have_text([f"sampler0:{n}" for n in range(8)])
    expect(row(panel, "sampler0:3").locator(".level")).to_have_text("–")
    rid = laboratory.submit({"file": "sampled.py", "class_name": "Sampled", "arguments": {}})
    expect(row(panel, "sampler0:3").locator(".level")).to_have_text("1.5 V")
    expect(row(panel, "sampler0:3").get_by_role("button")).to_have_count(0)
    until(lambda: laboratory.status_of(rid) is None)
    panel.get_by_label("Kind of channel").select_option("all")


def test_voltage_is_measured_and_tone_set_in_the_page_unless_a_run_uses_the_device(chromium, tmp_path):
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "bench.toml").write_text("[sampler.sampler0]\nch3 = 1.5\n")
    laboratory = Laboratory(tmp_path / "lab", device_db=database("lab", tmp_path).read_text()).start()
    (laboratory.folder / "held.py").write_text(HELD)
    (laboratory.folder / "sampled.py").write_text(SAMPLED)
    hub = Hub(tmp_path, {}, entries=ENTRY)
    try:
        with new_page(chromium, hub.address) as page:
            panel = opened(page)
            see_measured_voltages(panel, laboratory)
            panel.get_by_label("Search channels").fill("urukul0_ch1")
            panel.get_by_role("button", name="Set urukul0_ch1").click()
            form = panel.get_by_role("form", name="Set urukul0_ch1")
            page.keyboard.type("700")  # the field has the focus
            page.keyboard.press("Enter")
            expect(form.get_by_role("alert")).to_have_text("frequency is from 0 to 500 MHz")
            form.get_by_label("frequency").fill("125")
            form.get_by_label("amplitude").fill("0.25")
            assert violations(page) == []
            page.keyboard.press("Enter")
            expect(page.get_by_role("status").filter(has_text="urukul0_ch1 is set by run 1")).to_be_visible()
            expect(row(panel, "urukul0_ch1").locator(".level")).to_have_text("125 MHz")
            assert laboratory.run(1)["status"] == "completed"
            rid = laboratory.submit({"file": "held.py", "class_name": "Held", "arguments": {}})
            until(lambda: laboratory.status_of(rid) == "running")
            form.get_by_label("frequency").fill("10")
            page.keyboard.press("Enter")
            expect(form.get_by_role("alert")).to_contain_text(f"run {rid} runs; wait for its end, or pause it")
            page.keyboard.press("Escape")
            expect(panel.get_by_role("button", name="Set urukul0_ch1")).to_be_focused()
    finally:
        hub.close()
        laboratory.close()


@pytest.fixture
def door(trap, tmp_path):
    """The hub of this laboratory."""
    hub = Hub(tmp_path, {}, entries=ENTRY)
    yield hub
    hub.close()


def opened(page, size="desktop"):
    """Open the panel; returns it."""
    if size == "telephone":
        page.get_by_label("Views").get_by_role("button", name="Devices").click()
    else:
        page.get_by_role("tab", name="Devices").click()
    panel = page.get_by_role("region", name="Devices", exact=True)
    expect(panel.get_by_text("connected", exact=True)).to_be_visible()
    return panel


def row(panel, name):
    return panel.get_by_role("row").filter(has=panel.page.get_by_role("rowheader", name=name, exact=True))


@pytest.mark.parametrize("size", ["desktop", "telephone"])
def test_pin_is_overridden_and_released_in_the_page(chromium, trap, door, size):
    with new_page(chromium, door.address, size) as page:
        panel = opened(page, size)
        panel.get_by_label("Search channels").fill("ttl4")
        expect(row(panel, "ttl4").locator(".level")).to_have_text("0")
        panel.get_by_role("button", name="Override ttl4 with 1").click()
        expect(row(panel, "ttl4").locator(".level")).to_have_text("1")
        expect(panel.get_by_role("button", name="Override ttl4 with 1")).to_have_attribute("aria-pressed", "true")
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        panel.get_by_role("button", name="Release ttl4").click()
        expect(row(panel, "ttl4").locator(".level")).to_have_text("0")
        expect(panel.get_by_role("button", name="Release ttl4")).to_have_count(0)
        trap.lock("device", "core", 60, "<b>mine</b>")
        panel.get_by_role("button", name="Override ttl4 with 1").click()
        expect(page.get_by_role("status").filter(has_text="device core is locked")).to_contain_text("<b>mine</b>")
        expect(row(panel, "ttl4").locator(".level")).to_have_text("0")


def test_thousands_of_channels_are_searched_and_scrolled(chromium, trap, door):
    with new_page(chromium, door.address) as page:
        panel = opened(page)
        table = panel.get_by_role("table", name="Channels of core")
        expect(table).to_have_attribute("aria-rowcount", re.compile(r"^50\d\d$"))
        panel.get_by_role("region", name="Channels of core").evaluate("box => box.scrollTop = box.scrollHeight")
        expect(row(panel, "<i>far</i>4999")).to_contain_text("board 1, 4999")
        assert table.get_by_role("row").count() < 100, "rows out of sight do not exist"
        panel.get_by_label("Search channels").fill("far321")
        expect(row(panel, "<i>far</i>321").locator(".level")).to_have_text("0")
        assert violations(page) == []


def test_lost_device_is_shown_and_found_again(chromium, trap, door):
    (keeper,) = keepers(trap.folder)
    with new_page(chromium, door.address) as page:
        panel = opened(page)
        panel.get_by_label("Search channels").fill("ttl4")
        panel.get_by_role("button", name="Override ttl4 with 1").click()
        expect(row(panel, "ttl4").locator(".level")).to_have_text("1")
        panel.get_by_text("Log of core").click()
        expect(panel.get_by_role("log")).to_contain_text("INFO")
        os.kill(keeper, signal.SIGKILL)
        expect(panel.get_by_text("lost", exact=True)).to_be_visible()
        expect(row(panel, "ttl4").locator(".level")).to_have_text("–")
        expect(panel.get_by_text("connected", exact=True)).to_be_visible()
        expect(panel.get_by_text("lost 1 time before")).to_be_visible()
        expect(row(panel, "ttl4").locator(".level")).to_have_text("0")
        expect(panel.get_by_role("button", name="Release ttl4")).to_have_count(0)
        panel.get_by_text("rtio good").click()
        expect(panel.get_by_role("row", name=re.compile("^rtio good"))).to_be_visible()
        assert violations(page) == []
