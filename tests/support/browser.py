"""Chromium for tests of the hub's page: desktop and telephone, whose console must stay empty."""

from contextlib import contextmanager

import pytest

from kairos.scope.tests.chromium import browser

from .hub import Hub
from .laboratory import Laboratory
from .paths import BUILD
from .waiting import until

__all__ = [
    "ENTRY",
    "SIZES",
    "answered",
    "awaited",
    "browser",
    "held",
    "laboratory_and_hub",
    "new_page",
    "violations",
    "wait_for",
]

ENTRY = f"page = '{BUILD / 'page'}'\n[laboratory]\nfolder = 'lab'\n"
"""Entry of hub.toml for the laboratory in the folder `lab`, with the page as it was built last."""
SIZES = {"desktop": (1440, 900), "telephone": (390, 844)}
RESPONDED = "() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))"
"""Waits until the page has done what an answer has caused."""
AXE = BUILD / "page-work" / "node_modules" / "axe-core" / "axe.min.js"


@contextmanager
def laboratory_and_hub(folder, files=None):
    """Start a laboratory without devices in a folder, and the hub of its page. `files`: texts of experiments beside
    those that it has anyway, by the name of the file."""
    (folder / "lab").mkdir()
    laboratory = Laboratory(folder / "lab")
    for name, text in (files or {}).items():
        (folder / "lab" / "repository" / name).write_text(text)
    laboratory.start()
    hub = Hub(folder, {}, entries=ENTRY)
    yield laboratory, hub
    hub.close()
    laboratory.close()


@contextmanager
def new_page(running, address, size="desktop", scheme="light", quiet=True, query="", zone=None, prepare=None):
    """Open the page of a hub in a session of its own. `query`: what follows its address; `zone`: its time zone;
    `prepare`: called with the page before it is opened. At the end its console must be empty, if `quiet`."""
    width, height = SIZES[size]
    telephone = size == "telephone"
    context = running.new_context(
        viewport={"width": width, "height": height},
        is_mobile=telephone,
        has_touch=telephone,
        color_scheme=scheme,
        timezone_id=zone,
    )
    page, said = context.new_page(), []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    if prepare is not None:
        prepare(page)
    try:
        page.goto(f"http://{address}/{query}")
        yield page
    finally:
        # The page of a test that has failed would look for its hub while others are tested.
        context.close()
    assert not quiet or said == [], said


def violations(page) -> list:
    """Return what axe-core objects to in a page: the rule, and the elements."""
    if not AXE.exists():
        pytest.skip("axe-core is not installed: 'make page' does it")
    # As a function of the browser's debugger, which the page's policy does not concern.
    page.evaluate(AXE.read_text())
    found = page.evaluate("async () => (await axe.run()).violations")
    return [(each["id"], [node["html"] for node in each["nodes"]]) for each in found]


def held(page, method, words=""):
    """Hold the calls of a method with these words; returns those that are held, each to be continued."""
    calls = []

    def hold(route):
        if words.encode() in (route.request.post_data_buffer or b""):
            calls.append(route)
        else:
            route.continue_()

    page.route(f"**/kairos.lab.v1.{method}", hold)
    return calls


def wait_for(page, condition):
    """Wait until something holds, while the browser goes on."""
    until(condition, pause=lambda: page.wait_for_timeout(10))


@contextmanager
def awaited(page, call):
    """Wait until the page has the answer to a call that goes on in this block."""
    with page.expect_response(lambda response: response.request == call.request) as response:
        yield
    response.value.finished()
    page.evaluate(RESPONDED)


def answered(page, call):
    """Let a call go on, and wait until the page has its answer."""
    with awaited(page, call):
        call.continue_()
