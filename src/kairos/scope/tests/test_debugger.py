"""The debugger of a page in a browser: source, functions and variables at the steps of kernels."""

import pytest

from kairos.compiler.steps import Function, Step
from kairos.scope.lanes import Levels, Words
from kairos.scope.steps import Steps

USER, DRIVER = "/home/me/scan.py", "/opt/kairos/ttl.py"
SOURCE = (
    "class Scan:\n    def run(self):\n        for i in range(3):\n            self.led.pulse(i)\n        self.end()\n"
)


def step(time_ns, line, **variables):
    """A step in a driver that the user's line has called."""
    values = tuple((name, str(value)) for name, value in variables.items())
    return Step(time_ns, (Function(DRIVER, 7, "m.TTL.pulse", (("o", "True"),)), Function(USER, line, "m.run", values)))


STEPS = Steps(
    [
        *(step(1000 + 100 * number, 4, i=number // 2, **{"self.total": number // 4}) for number in range(6)),
        Step(1700, (Function(USER, 5, "m.run", ()),)),
    ],
    1000,
    {"scan.py": SOURCE},
)
LANES = [
    Levels("led", ("master",), times=[150, 450], levels=[1, 0]),
    Words("urukul0_ch0", ("master", "spi"), [100, 300], [200, 400], ["CFR1: 1", "FTW: 2"]),
]


@pytest.fixture
def page(show, monkeypatch):
    monkeypatch.setattr("kairos.scope.steps.is_own", lambda file: file == USER)
    return show(LANES, 1000, steps=STEPS)


def shown(page):
    """What the panel says: number of the step, chosen line, variables, those that have changed."""
    return page.evaluate(
        """() => {
          const panel = document.getElementById("debugger"), part = (name) => scope.debugger.part(name);
          const rows = (name) => [...part(name).querySelectorAll("tr")]
            .map((row) => [...row.children].map((cell) => cell.textContent));
          const line = part("source").querySelector(".chosen");
          return {
            step: scope.debugger.step, a: scope.cursors.a, line: line && Number(line.dataset.line),
            text: line && line.textContent, variables: Object.fromEntries(rows("variables")),
            changed: [...part("variables").querySelectorAll(".changed td:first-child")].map((cell) => cell.textContent),
            values: Object.fromEntries(rows("values").filter((row) => row.length === 2)),
            calls: [...part("calls").children].map((call) => call.textContent),
          };
        }"""
    )


def test_page_without_steps_has_no_debugger(show):
    page = show(LANES, 1000)
    assert page.locator("#debugger").is_hidden()
    page.keyboard.press(".")


def test_steps_go_forwards_and_backwards(page):
    found = shown(page)
    assert (found["step"], found["a"], found["line"]) == (0, 0, 4)
    assert found["text"] == "            self.led.pulse(i)" and found["variables"] == {"i": "0", "self.total": "0"}
    assert found["calls"] == ["pulse · ttl.py:7", "run · scan.py:4"]
    page.keyboard.press(".")
    page.keyboard.press(".")
    found = shown(page)
    assert (found["step"], found["a"], found["variables"]["i"], found["changed"]) == (2, 200, "1", ["i"])
    page.keyboard.press(",")
    assert shown(page)["step"] == 1 and shown(page)["changed"] == []
    page.keyboard.press("Shift+>")
    assert (shown(page)["step"], shown(page)["line"]) == (6, 5)
    page.keyboard.press(".")
    assert shown(page)["step"] == 6, "there is none behind the last one"
    page.keyboard.press("Shift+<")
    assert (shown(page)["step"], shown(page)["line"]) == (5, 4)


def test_cursor_shows_kernel_and_chips_at_its_time(page):
    page.evaluate("scope.cursors.a = 420; scope.showCursors()")
    found = shown(page)
    assert (found["step"], found["variables"]["i"]) == (4, "2")
    assert found["values"] == {"led": "1", "urukul0_ch0": "FTW: 2"}
    page.evaluate("scope.cursors.a = -5; scope.showCursors()")
    found = shown(page)
    assert (found["line"], found["variables"], found["values"]) == (None, {}, {"led": "0"})
    page.keyboard.press("Escape")
    assert shown(page)["values"] == {}


def test_click_on_a_line_goes_to_the_next_time_there(page):
    page.locator('[data-line="5"]').click()
    assert shown(page)["step"] == 6
    page.locator('[data-line="4"]').click(modifiers=["Shift"])
    assert shown(page)["step"] == 5
    page.locator('[data-line="2"]').click()
    assert shown(page)["step"] == 5, "no kernel is there"


def test_click_on_a_function_shows_its_variables(page):
    page.locator("[data-call]").first.click()
    found = shown(page)
    assert found["variables"] == {"o": "True"} and found["line"] is None, "the driver's text is not there"


def on(board, time_ns, line, **variables):
    one = step(time_ns, line, **variables)
    return Step(one.time_ns, one.functions, board)


def test_steps_of_a_chosen_board_are_shown_alone(show, monkeypatch):
    monkeypatch.setattr("kairos.scope.steps.is_own", lambda file: file == USER)
    order = [on("master", 1000, 4, i=0), on("far", 1100, 3, n=1), on("master", 1200, 4, i=1), on("far", 1300, 3, n=2)]
    page = show(LANES, 1000, steps=Steps(order, 1000, {"scan.py": SOURCE}))
    assert page.locator('[data-part="board"]').is_visible()
    page.keyboard.press(".")
    page.keyboard.press(".")
    found = shown(page)
    assert (found["step"], found["variables"], found["changed"]) == (2, {"i": "1"}, ["i"]), "as before on this board"
    assert page.locator('[data-part="place"]').text_content().startswith("call 3 of 4 on master at ")
    page.locator('[data-part="board"]').select_option(label="far")
    assert (shown(page)["step"], shown(page)["variables"]) == (1, {"n": "1"})
    page.keyboard.press(".")
    assert (shown(page)["step"], shown(page)["changed"]) == (3, ["n"])
    page.keyboard.press(",")
    assert shown(page)["step"] == 1
    page.locator('[data-part="first"]').click()
    assert shown(page)["step"] == 1
    page.locator('[data-part="last"]').click()
    assert shown(page)["step"] == 3


def test_single_board_has_no_choice(page):
    assert page.locator('[data-part="board"]').is_hidden()
