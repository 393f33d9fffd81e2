"""The page in a browser: its display, its response to mouse and keys, and its speed."""

import random

import pytest

from kairos.errors import UsageError
from kairos.scope.lanes import CLOCKING, FLOATING, Levels, Marks, Steps, Words
from kairos.scope.page import write_page
from kairos.waveform import Wave

WAVE = Wave(pad=0, time_ns=3000, half=1 << 31, accumulator=12345, word=0x12345678, changes=400)


LANES = [
    Levels("led", ("pins",), initial=0, times=[0, 1000, 2000], levels=[1, 0, FLOATING]),
    Levels("clock", ("pins",), times=[WAVE.time_of(0), WAVE.time_of(399)], levels=[CLOCKING, 0], clocks=[WAVE[1:]]),
    Steps("frequency", ("dds",), "Hz", [0, 500, 1500], [80e6, 80.25e6, float("nan")]),
    Marks("state", ("log",), [100, 900, 900], ["ready", "go </script>", "gone"]),
    Words("bus", ("pins", "spi"), [200, 600], [400, 800], ["CFR1: 1", "FTW: 2"]),
    Levels("clk", ("pins", "spi", "pads"), times=[200], levels=[1]),
]


PLACE = (
    "([time, name]) => { const row = scope.rows.find(({lane}) => lane?.name === name), "
    "box = scope.canvas.getBoundingClientRect(); return [box.x + scope.view.x(time), box.y + 22 + row.top + 10]; }"
)
"""Maps a time and the name of a lane to the position on the page."""


def values(page, time):
    return page.evaluate(
        "time => Object.fromEntries(scope.lanes.map((lane) => [lane.name, valueAt(lane, time)]))", time
    )


def test_lane_shows_value_at_time(show):
    page = show(LANES, 60000)
    assert values(page, 700) == {
        "led": "1",
        "clock": "0",
        "frequency": "80.25 MHz",
        "state": None,
        "bus": "FTW: 2",
        "clk": "1",
    }
    assert values(page, 2500) | {"clk": 0} == {
        "led": "not driven",
        "clock": "0",
        "frequency": None,
        "state": None,
        "bus": None,
        "clk": 0,
    }


def test_clock_lane_has_accumulator_edges(show):
    page = show(LANES, 60000)
    edges = [time for time, _ in WAVE.edges()]
    found = page.evaluate("Array.from({length: 400}, (_, number) => scope.lanes[1].clocks[0].timeOf(number))")
    assert found == edges
    step = "([time, forwards]) => changeFrom(scope.lanes[1], time, forwards)"
    assert page.evaluate(step, [edges[7], True]) == edges[8]
    assert page.evaluate(step, [edges[7], False]) == edges[6]
    assert page.evaluate(step, [edges[0], False]) is None


def test_search_steps_through_all_matches(show):
    page = show(LANES, 60000)
    page.fill("#search", "GO")
    found = []
    for _ in range(3):
        page.press("#search", "Enter")
        found.append(page.text_content("#found"))
    assert found == ["state at 900 ns", "no GO behind it", "no GO behind it"]
    page.fill("#search", "led")
    page.press("#search", "Shift+Enter")
    assert page.text_content("#found") == "led at 0 ns"


def test_clicked_cursors_snap_to_edges(show):
    page = show(LANES, 60000)
    page.keyboard.press("f")
    page.evaluate("scope.view.start = -500; scope.view.span = 4000; scope.redraw()")
    page.mouse.click(*page.evaluate(PLACE, [12, "led"]))
    page.keyboard.down("Shift")
    page.mouse.click(*page.evaluate(PLACE, [990, "led"]))
    page.keyboard.up("Shift")
    assert page.text_content("#cursors") == "A 0 ns   B 1 µs   B − A 1 µs   1 MHz"
    page.keyboard.press("Escape")
    assert page.text_content("#cursors") == ""


def test_lanes_show_cursor_values_and_difference(show):
    page = show(LANES, 60000)

    def readings(a, b):
        page.evaluate("(cursors) => { scope.cursors = cursors; scope.showCursors(); }", {"a": a, "b": b})
        return page.evaluate("Object.fromEntries(scope.lanes.map((lane) => [lane.name, scope.readings(lane)]))")

    found = readings(100, 700)
    assert found["frequency"] == [["a", "80 MHz"], ["b", "80.25 MHz"], ["faint", "Δ 250 kHz"]]
    assert found["led"] == [["a", "1"], ["b", "1"]] and found["bus"] == found["state"] == []
    assert readings(100, None)["frequency"] == [["a", "80 MHz"]]
    assert readings(100, 1600)["frequency"] == [["a", "80 MHz"], ["b", "–"]], "no tone any more"


def test_view_zooms_to_both_cursors(show):
    page = show(LANES, 60000)
    page.keyboard.press("z")
    assert page.evaluate("scope.view.span") > 60000, "there are none"
    page.evaluate("scope.cursors = {a: 2000, b: 1000}; scope.showCursors()")
    page.keyboard.press("z")
    assert page.evaluate("[scope.view.start, scope.view.span]") == [950, 1100]


def test_pins_and_buses_show_source_lines(show):
    lines = [
        Marks("7: led.on()", ("source", "scan.py"), [0, 990, 991], ["led ← run.py:3", "led", "led2"]),
        Marks("9: bus.write(x)", ("source", "scan.py"), [190, 900], ["spi", "led2 ← run.py:3"]),
    ]
    page = show([*LANES, *lines], 60000)
    ask = "([name, time]) => sourceAt(scope.lanes, scope.lanes.find((lane) => lane.name === name), time)"
    found = [page.evaluate(ask, [name, time]) for name, time in [("led", 500), ("led", 995), ("bus", 300), ("led", -1)]]
    assert found == ["scan.py:7: led.on()", "scan.py:7: led.on()", "scan.py:9: bus.write(x)", None]
    assert page.evaluate(ask, ["frequency", 500]) is None
    page.evaluate("scope.view.start = -500; scope.view.span = 4000; scope.redraw()")
    page.mouse.move(*page.evaluate(PLACE, [500, "led"]))
    assert page.inner_text("#tip").splitlines() == ["led: 1", "500 ns", "scan.py:7: led.on()"]


def test_dma_event_shows_recording_and_playback_lines(show):
    scan = ("source", "scan.py")
    lines = [
        Marks("4: led.pulse(1 * us)", scan, [100, 990], ["led ← run.py:3, played at scan.py:8", "led"]),
        Marks("8: dma.playback(it)", scan, [100], ["led ← run.py:3, recorded at scan.py:4"]),
    ]
    page = show([*LANES, *lines], 60000)
    ask = "time => sourceAt(scope.lanes, scope.lanes.find((lane) => lane.name === 'led'), time)"
    assert page.evaluate(ask, 500) == "recorded at scan.py:4: led.pulse(1 * us)\nplayed at scan.py:8: dma.playback(it)"
    assert page.evaluate(ask, 995) == "scan.py:4: led.pulse(1 * us)"


@pytest.fixture
def telephone(show):
    """The page on a telephone, and a function that puts fingers on it, moves them in steps and lifts them: the
    way of each as a list of places on the page."""
    page = show(LANES, 4000, size=(400, 700), has_touch=True, is_mobile=True)
    session = page.context.new_cdp_session(page)

    def touch(*ways):
        for number, step in enumerate(zip(*ways, strict=True)):
            points = [{"x": x, "y": y, "id": finger} for finger, (x, y) in enumerate(step)]
            kind = "touchMove" if number else "touchStart"
            session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        page.wait_for_function("!scope.asked")

    return page, touch


def test_dragging_finger_moves_the_view(telephone):
    page, touch = telephone
    page.evaluate("scope.view.start = 0; scope.view.span = 1000; scope.redraw()")
    width = page.evaluate("scope.view.right - scope.view.left")
    touch([(300 - 10 * step, 300) for step in range(11)])
    start, span, scroll = page.evaluate("[scope.view.start, scope.view.span, scope.scroll]")
    # What the finger moves before it is known not to be a tap counts no more than that.
    assert 80 / width * 1000 <= start <= 100 / width * 1000 + 1e-6 and span == 1000 and scroll == 0
    assert page.evaluate("scope.cursors") == {"a": None, "b": None}


def test_pinch_zooms_around_the_fingers(telephone):
    page, touch = telephone
    page.evaluate("scope.view.start = 0; scope.view.span = 1000; scope.redraw()")
    middle = page.evaluate("scope.view.time(270)")
    touch([(250 - 4 * step, 300) for step in range(11)], [(290 + 4 * step, 300) for step in range(11)])
    span, now = page.evaluate("[scope.view.span, scope.view.time(270)]")
    assert 1000 * 40 / 120 <= span < 1000 * 60 / 120 and abs(now - middle) < 0.02 * span
    # Apart vertically it is a pinch, too, and back it shows as much as before.
    touch([(270, 200 + 4 * step) for step in range(11)], [(270, 320 - 4 * step) for step in range(11)])
    assert 0.8 * 1000 < page.evaluate("scope.view.span") < 1.6 * 1000
    assert page.evaluate("scope.cursors") == {"a": None, "b": None}
    assert page.evaluate("visualViewport.scale") == 1, "the page itself does not zoom"


def test_taps_set_both_cursors(telephone):
    """With the button, or at once with two fingers; an edge near the finger is met."""
    page, touch = telephone
    led, second = (page.evaluate(PLACE, [time, "led"]) for time in (1000, 2000))
    touch([[led[0] + 4, led[1]]])
    assert page.evaluate("scope.cursors") == {"a": 1000, "b": None}
    assert page.inner_text("#tip").splitlines()[0] == "led: 0" and page.is_visible("#tip")
    page.tap("#which")
    touch([second])
    assert page.evaluate("scope.cursors") == {"a": 1000, "b": 2000} and page.inner_text("#which") == "B"
    page.tap("#which")
    touch([led])
    assert page.evaluate("scope.cursors") == {"a": 1000, "b": 2000}
    page.evaluate("scope.cursors = {a: null, b: null}; scope.showCursors()")
    touch([second], [led])
    assert page.evaluate("scope.cursors") == {"a": 1000, "b": 2000}
    assert "B − A 1 µs" in page.inner_text("#cursors")


def test_bar_scrolls_lanes_that_do_not_fit(show):
    assert show(LANES, 60000).evaluate("scope.bar()") is None, "all can be seen"
    lanes = [Levels(f"pin{number}", ("pins",), initial=0, times=[number], levels=[1]) for number in range(100)]
    page = show(lanes, 1000)
    bar, size, height = page.evaluate("[scope.bar(), scope.size, scope.height]")
    box = page.locator("canvas").bounding_box()
    place = box["x"] + size["width"] - 5, box["y"] + bar["top"] + bar["length"] / 2
    page.mouse.move(*place)
    page.mouse.down()
    page.mouse.move(place[0], place[1] + 40)
    page.mouse.up()
    page.wait_for_function("!scope.asked")
    assert page.evaluate("scope.scroll") == pytest.approx(40 * bar["rate"])
    assert page.evaluate("scope.bar().top") == pytest.approx(bar["top"] + 40)
    page.mouse.click(place[0], box["y"] + size["height"] - 60)
    page.wait_for_function("!scope.asked")
    room = page.evaluate("scope.rows.at(-1).top + scope.rows.at(-1).height - scope.scroll")
    assert room <= size["height"] and page.evaluate("scope.scroll") > 0.7 * (height - size["height"])
    assert page.evaluate("scope.cursors") == {"a": None, "b": None}, "no click into a lane"


def test_help_of_the_page_names_the_gestures(telephone):
    page, touch = telephone
    page.tap("#help")
    assert all(word in page.inner_text("#keys") for word in ("pinch", "drag", "two fingers"))
    box = page.locator("#keys").bounding_box()
    assert 0 <= box["x"] and box["x"] + box["width"] <= 400
    page.tap("#keys button")


def test_finger_in_the_overview_moves_the_view_there(telephone):
    page, touch = telephone
    page.evaluate("scope.view.start = 0; scope.view.span = 400; scope.redraw()")
    place = "time => [scope.whole.x(time), scope.canvas.getBoundingClientRect().bottom - 10]"
    for times in ([3000], [3000, 2500, 2000]):
        touch([page.evaluate(place, time) for time in times])
        assert abs(page.evaluate("scope.view.start + scope.view.span / 2") - times[-1]) < 20


def test_many_marks_with_few_texts_are_stored_once(show, tmp_path):
    """Each of them shows its text, also in two lanes with the same times."""
    times, which = list(range(0, 200_000, 2)), [n % 3 for n in range(100_000)]
    texts = [["led", "led ← run.py:3", "led2"][n] for n in which]
    sizes = []
    for lanes in (
        [Marks("a", (), times, texts)],
        [Marks("a", (), times, ["led", "led ← run.py:3", "led2"], which)],
        [Marks(name, (), times, ["led", "led ← run.py:3", "led2"], which) for name in "ab"],
    ):
        page = show(lanes, 200_000)
        ask = "n => scope.lanes[0].texts[scope.lanes[0].v[n]]"
        assert [page.evaluate(ask, n) for n in (0, 1, 2, 99_999)] == ["led", "led ← run.py:3", "led2", "led"]
        sizes.append((tmp_path / "page.html").stat().st_size)
    assert sizes[0] == sizes[1] and sizes[2] < sizes[1] + 200, sizes


def test_failed_write_keeps_previous_page(tmp_path, monkeypatch):
    path = tmp_path / "a.html"
    write_page(path, "before", [], 1)
    before = path.read_text()

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_text", full)
    with pytest.raises(UsageError, match="No space left on device"):
        write_page(path, "after", [], 1)
    monkeypatch.undo()
    assert path.read_text() == before and list(tmp_path.iterdir()) == [path]


def test_long_name_is_truncated_and_shown_in_tooltip(show):
    name = "44: self.channel.set_dds(PROFILE, FREQUENCY, -self.setpoint)"
    page = show([Marks(name, (), [100], ["led"])], 60000)
    fits = f"fitted(scope.canvas.getContext('2d'), '{name}', 180)"
    shown = page.evaluate(fits)
    assert shown.startswith("44: ") and "…" in shown and shown.endswith("setpoint)")
    assert page.evaluate(f"scope.canvas.getContext('2d').measureText({fits}).width") <= 180
    box = page.evaluate("scope.canvas.getBoundingClientRect().toJSON()")
    page.mouse.move(box["x"] + 50, box["y"] + 30)
    assert page.inner_text("#tip") == name


def test_click_on_a_group_opens_its_lanes(show):
    page = show(LANES, 60000)
    names = "scope.rows.map((row) => row.lane?.name ?? row.name)"
    assert "clk" not in page.evaluate(names) and "pads" in page.evaluate(names)
    box = page.evaluate("scope.canvas.getBoundingClientRect().toJSON()")
    top = page.evaluate("scope.rows.find(({group}) => group === 'pins/spi/pads').top")
    page.mouse.click(box["x"] + 20, box["y"] + 22 + top + 8)
    assert "clk" in page.evaluate(names)


def test_title_and_texts_are_escaped(show):
    page = show(LANES, 60000)
    assert page.title() == "a <b>title</b> & more"
    assert page.evaluate("scope.lanes[3].texts[scope.lanes[3].v[1]]") == "go </script>"


@pytest.mark.parametrize("lanes", [[], [Levels("quiet", ("pins",))], [Steps("none", (), "V"), Marks("m"), Words("w")]])
def test_page_of_an_empty_record_opens(show, lanes):
    page = show(lanes, 0)
    page.keyboard.press("+")
    assert page.evaluate("scope.lanes.length") == len(lanes)


def test_page_extends_to_last_change_of_any_lane(show):
    """Outputs without pins, such as the waveforms of a DAC card, go on after the last pin change."""
    lanes = [Levels("pin", ("pins",), times=[0], levels=[1]), Steps("ch0", ("dac",), "V", [50, 700], [0.0, 1.0])]
    page = show([*lanes, Marks("line", ("source",), [900], [""])], 100)
    assert page.evaluate("scope.view.end") == 900


def test_extents_of_any_range_cover_its_values(show):
    random.seed(3)
    numbers = [random.uniform(-5, 5) if random.random() < 0.9 else float("nan") for _ in range(5000)]
    page = show([Steps("noise", (), "V", list(range(5000)), numbers)], 5000)
    for _ in range(50):
        first, last = sorted(random.sample(range(5001), 2))
        part = [value for value in numbers[first:last] if value == value]
        found = page.evaluate("([first, last]) => scope.lanes[0].extents.of(first, last)", [first, last])
        assert not part or found == [min(part), max(part)]
