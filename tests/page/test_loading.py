"""Panels that do not know yet: they say so, and nothing else; what has failed can be tried again."""

from playwright.sync_api import expect

from tests.support import TIMEOUT
from tests.support.browser import new_page, violations

expect.set_options(timeout=TIMEOUT * 1000)

EMPTY = {
    "Experiments": "Quick scan",
    "Queue": "Nothing runs, nothing waits.",
    "Plots": "An experiment's plot appears here",
    "Data": "No dataset yet.",
    "Calibrations": "No dataset is kept yet.",
    "Devices": "The device database has no core device.",
    "Logbook": "Nothing was written yet.",
    "Log": "Nothing has been logged yet.",
}
"""What is said of a laboratory in which nothing has happened."""


class Held:
    """The streams of a page, whose messages are held until `release`."""

    def __init__(self, page):
        self._waiting, self._free = [], False
        page.route_web_socket("**/live", self._opened)

    def _opened(self, page_side):
        server = page_side.connect_to_server()

        def arrived(message):
            if self._free:
                page_side.send(message)
            else:
                self._waiting.append((page_side, message))

        server.on_message(arrived)

    def release(self):
        """Let everything through, now and from now on."""
        self._free = True
        for side, message in self._waiting:
            side.send(message)


def test_panels_load_until_their_emptiness_is_known(chromium, hub, place):
    held = []
    with new_page(chromium, hub.address, prepare=lambda page: held.append(Held(page))) as page:
        for name in EMPTY:
            page.get_by_role("tab", name=name, exact=True).click()
            panel = page.get_by_role("tabpanel", name=name, exact=True)
            expect(panel.get_by_text("Loading …").filter(visible=True)).to_be_visible()
            expect(panel.get_by_text(EMPTY[name])).to_have_count(0)
        assert violations(page) == []
        held[0].release()
        for name, said in EMPTY.items():
            page.get_by_role("tab", name=name, exact=True).click()
            panel = page.get_by_role("tabpanel", name=name, exact=True)
            expect(panel.get_by_text(said).filter(visible=True).first).to_be_visible()
            expect(panel.get_by_text("Loading …").filter(visible=True)).to_have_count(0)


BREAKS = """{
  const own = Object.hasOwn;
  Object.hasOwn = (...given) => {
    if (window.broken) throw new Error("planted");
    return own(...given);
  };
}"""
"""An error in whatever shows units, as long as somebody wants it."""


def test_panel_that_fails_is_opened_again_while_others_go_on(chromium, hub, place):
    with new_page(chromium, hub.address, quiet=False, prepare=lambda page: page.add_init_script(BREAKS)) as page:
        page.get_by_role("tab", name="Data", exact=True).click()
        place.set_dataset("power", 1.0, True, {"unit": "mW", "scale": 1e-3})
        expect(page.get_by_role("row", name="power kept 1000 mW")).to_be_visible()
        page.evaluate("window.broken = true")
        place.set_dataset("power", 2.0)
        failed = page.get_by_role("alert").filter(has_text="This panel has failed: planted.")
        expect(failed).to_be_visible()
        page.evaluate("window.broken = false")
        place.run_of("Patient")
        expect(page.get_by_role("region", name="Queue").get_by_text("running", exact=True)).to_be_visible()
        failed.get_by_role("button", name="Try again").click()
        expect(page.get_by_role("row", name="power kept 2000 mW")).to_be_visible()


def test_failed_call_of_a_panel_is_shown_and_retried(chromium, hub, place):
    rid = place.run_of("Quick", n=3)
    place.ends(rid)
    with new_page(chromium, hub.address, quiet=False) as page:
        page.get_by_role("button", name=str(rid), exact=True).wait_for()
        for method, cause in (("Find", None), ("Show", str(rid))):
            page.route(f"**/kairos.lab.v1.Runs/{method}", lambda route: route.abort())
            if cause is None:
                page.get_by_label("Search runs").fill("Quick")
            else:
                page.get_by_role("button", name=cause, exact=True).click()
            again = page.get_by_role("region", name="Runs", exact=True).get_by_role("button", name="Try again")
            expect(again.first).to_be_visible()
            page.unroute(f"**/kairos.lab.v1.Runs/{method}")
            again.first.click()
            expect(again).to_have_count(0)
        expect(page.get_by_role("row", name="n 3")).to_be_visible()
