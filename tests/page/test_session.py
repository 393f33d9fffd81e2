"""Who uses the page, and what it stands on, change while it is open: log out elsewhere, another role, a hub that does
not answer, clocks that are wrong. Nothing that was entered is lost."""

import re
import signal
import time

import pytest
from playwright.sync_api import expect

from tests.support import TIMEOUT
from tests.support.browser import ENTRY, new_page, violations
from tests.support.hub import Hub, certificate, token_entry

expect.set_options(timeout=TIMEOUT * 1000)


@pytest.fixture
def guarded(place, tmp_path):
    """A hub with tokens."""
    hub = Hub(tmp_path, {}, entries=ENTRY + token_entry("mine", "operate") + token_entry("theirs", "view"))
    yield hub
    hub.close()


def log_in(page, token="mine"):
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("button", name="Log out")).to_be_visible()


def half_typed(page):
    """Leave what is half typed in the page; returns a function that asserts that it is there."""
    page.get_by_role("button", name="Quick scan").click()
    number = page.get_by_role("spinbutton", name="n", exact=True)
    number.fill("17")
    page.get_by_role("tab", name="Logbook").click()
    entry = page.get_by_label("New entry")
    entry.fill("half a tho")

    def is_kept():
        expect(number).to_have_value("17")
        expect(entry).to_have_value("half a tho")
        expect(page.get_by_role("tab", name="Logbook")).to_have_attribute("aria-selected", "true")

    return is_kept


def again(hub, folder, entries):
    """Start a hub once more at the same address."""
    hub.close()
    hub.process = Hub(folder, {}, listen=hub.address, entries=entries).process


def test_log_out_in_another_window_asks_for_the_token_and_keeps_typed_text(chromium, guarded, place):
    with new_page(chromium, guarded.address) as page:
        log_in(page)
        is_kept = half_typed(page)
        other = page.context.new_page()
        other.goto(f"http://{guarded.address}/")
        other.get_by_role("button", name="Log out").click()
        expect(page.get_by_label("Token")).to_be_visible()
        expect(page.get_by_role("button", name="Quick scan")).to_have_count(0)
        assert violations(page) == []
        log_in(page)
        is_kept()
        expect(other.get_by_role("button", name="Quick scan")).to_be_visible()
        place.ends(place.run_of("Quick"))
        page.get_by_role("tab", name="Runs").click()
        expect(page.get_by_role("row", name=re.compile("^0 Quick completed"))).to_be_visible()


def test_login_of_another_person_discards_typed_text(chromium, guarded, place):
    with new_page(chromium, guarded.address) as page:
        log_in(page)
        page.get_by_role("button", name="Quick scan").click()
        page.get_by_role("spinbutton", name="n", exact=True).fill("17")
        page.context.request.post(f"http://{guarded.address}/logout")
        expect(page.get_by_label("Token")).to_be_visible()
        log_in(page, "theirs")
        expect(page.get_by_text("one who may view")).to_be_visible()
        page.get_by_role("button", name="Quick scan").click()
        expect(page.get_by_role("spinbutton", name="n", exact=True)).to_have_value("3")
        expect(page.get_by_role("button", name="Submit", exact=True)).to_be_disabled()


def test_page_over_tls_is_followed_with_a_cookie_for_tls_only(chromium, place, tmp_path):
    hub = Hub(tmp_path, {}, entries=ENTRY + certificate(tmp_path) + token_entry("mine", "operate"))
    context = chromium.new_context(ignore_https_errors=True)
    try:
        page = context.new_page()
        page.goto(f"https://{hub.address}/")
        log_in(page)
        place.ends(place.run_of("Quick"))
        expect(page.get_by_role("row", name=re.compile("^0 Quick completed"))).to_be_visible()
        assert page.evaluate("performance.getEntriesByType('navigation')[0].nextHopProtocol") == "h2"
        (cookie,) = context.cookies()
        assert cookie["secure"] and cookie["httpOnly"] and cookie["sameSite"] == "Strict"
    finally:
        context.close()
        hub.close()


def test_removed_token_and_lower_role_are_detected_after_a_restart_of_the_hub(chromium, guarded, place, tmp_path):
    place.run_of("Patient")
    with new_page(chromium, guarded.address, quiet=False) as page:
        log_in(page)
        is_kept = half_typed(page)
        terminate = page.get_by_role("region", name="Queue").get_by_role("button", name="Terminate")
        expect(terminate).to_be_enabled()
        entry = token_entry("mine", "view").replace("who may view", "who may operate")
        again(guarded, tmp_path, ENTRY + entry)
        expect(page.get_by_text("your token may only view").first).to_be_visible()
        expect(terminate).to_be_disabled()
        is_kept()
        again(guarded, tmp_path, ENTRY + token_entry("another", "view"))
        expect(page.get_by_label("Token")).to_be_visible()
        again(guarded, tmp_path, ENTRY + token_entry("mine", "operate"))
        log_in(page)
        expect(terminate).to_be_enabled()
        is_kept()


def test_restart_of_the_laboratory_keeps_typed_text_and_scroll_position(chromium, hub, place):
    for number in range(80):
        place.set_dataset(f"row{number}", float(number), True)
    with new_page(chromium, hub.address, quiet=False) as page:
        is_kept = half_typed(page)
        page.get_by_role("tab", name="Data").click()
        panel = page.get_by_role("region", name="Datasets", exact=True)
        panel.get_by_role("button", name="Edit row3", exact=True).click()
        panel.get_by_label("Value of row3").fill("3.5")
        table = panel.get_by_role("region", name="Names and values")
        table.evaluate("each => { each.scrollTop = 1500; }")
        expect(panel.get_by_role("row", name="row50 kept 50")).to_be_visible()
        place.end()
        expect(page.get_by_role("status").filter(has_text="laboratory")).to_be_visible()
        place.start()
        expect(page.get_by_role("status").filter(has_text="idle")).to_be_visible()
        place.set_dataset("row50", 51.0)
        expect(panel.get_by_role("row", name="row50 kept 51")).to_be_visible()
        assert table.evaluate("each => each.scrollTop") == 1500
        expect(panel.get_by_label("Value of row3")).to_have_value("3.5")
        page.get_by_role("tab", name="Logbook").click()
        is_kept()


@pytest.mark.parametrize(
    "who, said", [("hub", "hub lost, reconnecting"), ("laboratory", "the laboratory does not answer: it is stopped")]
)
def test_hub_or_laboratory_that_hangs_is_shown_as_lost_and_found_again(chromium, hub, place, who, said):
    process = hub.process if who == "hub" else place.process
    with new_page(chromium, hub.address, quiet=False) as page:
        is_kept = half_typed(page)
        expect(page.get_by_role("status").filter(has_text="idle")).to_be_visible()
        process.send_signal(signal.SIGSTOP)
        try:
            expect(page.get_by_role("status").filter(has_text=said)).to_be_visible()
            expect(page.locator("main.stale")).to_have_count(1)
            expect(page.get_by_role("button", name="Submit", exact=True)).to_be_disabled()
        finally:
            process.send_signal(signal.SIGCONT)
        expect(page.get_by_role("status").filter(has_text="idle")).to_be_visible()
        is_kept()
        place.set_dataset("after", 1.0)
        page.get_by_role("tab", name="Data").click()
        expect(page.get_by_role("row", name="after 1")).to_be_visible()


def zone_at(hour):
    """Return a time zone in which it is about this hour now, whatever the hour is here."""
    ahead = (hour - time.gmtime().tm_hour + 11) % 24 - 11
    return f"Etc/GMT{-ahead:+d}"  # its sign is that of POSIX


@pytest.mark.parametrize("hour", [6, 18])
def test_times_are_in_the_time_zone_of_the_browser_with_another_day_named(chromium, hub, place, hour):
    place.set_dataset("kept", 1.0, True)
    due = time.time() + 86400
    place.submit(place.expid("Quick"), due_date=due)
    with new_page(chromium, hub.address, zone=zone_at(hour)) as page:
        page.get_by_role("tab", name="Data").click()
        page.get_by_role("button", name="History of kept").click()
        expect(page.get_by_role("row", name=re.compile(r"^1 \d\d:\d\d:\d\d "))).to_be_visible()
        shown = page.evaluate("at => new Date(at * 1000).toTimeString().slice(0, 8)", due)
        expect(page.get_by_text(re.compile(rf"it is due at (\d{{4}}-)?\d\d-\d\d {shown}"))).to_be_visible()


@pytest.mark.parametrize("hours", [-30, pytest.param(30, marks=pytest.mark.long)])
def test_clock_of_the_browser_that_is_wrong_changes_no_age(chromium, hub, place, hours):
    place.set_dataset("kept", 1.0, True)
    place.set_dataset("kept", 2.0, True)
    with new_page(chromium, hub.address, zone=zone_at(12)) as page:
        page.add_init_script(f"{{ const now = Date.now; Date.now = () => now() + {hours} * 3600e3; }}")
        page.reload()
        wrong = f"this computer's clock is 30 h {'ahead of' if hours > 0 else 'behind'} the laboratory's"
        expect(page.get_by_role("status").filter(has_text=wrong)).to_be_visible()
        page.get_by_role("tab", name="Calibrations").click()
        expect(page.get_by_role("row", name=re.compile(r"^kept 2 \d+ s "))).to_be_visible()
        page.get_by_role("tab", name="Data").click()
        page.get_by_role("button", name="History of kept").click()
        written = page.get_by_role("row", name=re.compile(r"^2 \d\d:\d\d:\d\d "))
        expect(written).to_be_visible()  # without a day, as it is today's
        chart = page.get_by_role("img", name="kept: 2 points against hours from now")
        chart.hover()
        shown = page.locator("section:has(#data) .cursor")
        expect(shown).to_have_text(re.compile(r"^−?0?\.?\d*(e-\d)? *: [12]"))
        assert violations(page) == []
