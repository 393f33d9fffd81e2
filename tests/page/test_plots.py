"""Plots: long curves, a crosshair that sets a parameter, earlier runs behind a curve, scans of ndscan."""

import json
import re

import numpy as np
from playwright.sync_api import expect

from tests.support import TIMEOUT
from tests.support.browser import answered, held, new_page, violations, wait_for
from tests.support.waiting import until

expect.set_options(timeout=TIMEOUT * 1000)

HIGH = """article => {
  const canvas = article.querySelector("canvas");
  const copy = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height });
  const context = copy.getContext("2d", { willReadFrequently: true });
  context.drawImage(canvas, 0, 0);
  const pixels = context.getImageData(70, 0, canvas.width - 70, canvas.height / 3).data;
  let found = 0;
  for (let at = 0; at < pixels.length; at += 4) found += pixels[at + 2] > 180 && pixels[at] < 80;
  return found;
}"""
"""The pixels in the colour of curves in the upper third of a plot."""


def drawn(page, name):
    """Draw a dataset; returns its plot."""
    page.get_by_role("tab", name="Data").click()
    page.get_by_role("button", name=f"Draw {name}").click()
    return page.get_by_role("article", name=name, exact=True)


def test_single_spike_of_a_long_curve_is_drawn(chromium, hub, place):
    long = np.zeros(200_000)
    long[123_456] = 1.0
    long[5], long[7] = np.nan, np.inf
    place.set_dataset("long", long)
    with new_page(chromium, hub.address) as page:
        plot = drawn(page, "long")
        expect(plot.get_by_role("img", name="long: 200000 points")).to_be_visible()
        page.set_default_timeout(TIMEOUT * 1000)
        page.wait_for_function(f"() => ({HIGH})(document.querySelector('article.plot')) > 5")
        chart = plot.get_by_role("img").bounding_box()
        page.mouse.move(chart["x"] + 80, chart["y"] + 30)
        page.mouse.down()
        page.mouse.move(chart["x"] + 180, chart["y"] + 120, steps=4)
        page.mouse.up()
        page.wait_for_function(f"() => ({HIGH})(document.querySelector('article.plot')) === 0")


def test_zoomed_plot_is_moved_by_keys_and_wheel(chromium, hub, place):
    long = np.zeros(200_000)
    long[100_000] = 1.0
    place.set_dataset("long", long)
    sees = f"() => ({HIGH})(document.querySelector('article.plot'))"
    with new_page(chromium, hub.address) as page:
        page.set_default_timeout(TIMEOUT * 1000)
        chart = drawn(page, "long").get_by_role("img", name="long: 200000 points")
        expect(chart).to_be_visible()
        page.wait_for_function(f"{sees} > 5")
        chart.focus()
        for _ in range(4):
            page.keyboard.press("+")  # then 41 % are in sight
        for _ in range(6):
            page.keyboard.press("ArrowRight")
        page.wait_for_function(f"{sees} === 0")
        box = chart.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 60)
        page.keyboard.down("Shift")
        for _ in range(12):
            page.mouse.wheel(0, -100)
        page.wait_for_function(f"{sees} > 5")
        page.mouse.down()
        page.mouse.move(box["x"] + 5, box["y"] + 60, steps=5)
        page.mouse.up()
        page.keyboard.up("Shift")
        page.wait_for_function(f"{sees} === 0")
        long[150_000] = 1.0
        place.set_dataset("long", long)  # what is in sight stays, and is drawn anew
        page.wait_for_function(f"{sees} > 5")
        long[150_000] = 0.0
        place.set_dataset("long", long)
        page.wait_for_function(f"{sees} === 0")
        page.keyboard.press("0")
        page.wait_for_function(f"{sees} > 5")


def test_theory_of_the_twin_is_drawn_with_residuals_in_sigmas(chromium, hub, place):
    x = np.arange(5.0) * 1e-6
    place.set_dataset("t", x, None, {"unit": "us", "scale": 1e-6})
    place.set_dataset("p", [0.0, 0.5, 1.0, 0.5, float("nan")])
    place.set_dataset("p_error", [0.3, 0.3, 0.1, 0.0, 0.1])
    # In another order, with points of its own, and with errors; the last point of the data lies outside.
    place.set_dataset("theory.t", np.array([3.0, 0.0, 1.5]) * 1e-6)
    place.set_dataset("theory.p", [0.5, 0.0, 0.5])
    place.set_dataset("theory.p_error", [0.0, 0.4, 0.0])
    flop = "from artiq.experiment import *\n\n\nclass Asks(EnvExperiment):\n    def build(self):\n"
    flop += '        self.setattr_device("ccb")\n\n    def run(self):\n'
    flop += '        self.ccb.issue("create_applet", "flop", "${artiq_applet}plot_xy p --x t --error p_error")\n'
    (place.folder / "repository" / "flop.py").write_text(flop)
    place.ends(place.submit({"file": "flop.py", "class_name": "Asks", "arguments": {}, "repo_rev": None}))
    with new_page(chromium, hub.address) as page:
        plot = page.get_by_role("article", name="flop", exact=True)
        expect(plot.get_by_role("img", name="p: 5 points against t, with theory")).to_be_visible()
        expect(plot.get_by_role("img", name="residual: 3 points against t")).to_be_visible()
        # 0 / 0.5, (0.5 - 1 / 3) / hypot(0.3, 0.4 / 3), 0.5 / 0.1
        expect(plot.get_by_text("theory: χ² per point 8.42, at most 5 σ away")).to_be_visible()
        assert violations(page) == []
        place.delete_dataset("p_error")
        expect(plot.get_by_text("residuals need error bars")).to_be_visible()


KEEP_TEXTS = """element => {
    window.texts = [];
    const keep = () => window.texts.push(element.textContent);
    new MutationObserver(keep).observe(element, {characterData: true, childList: true, subtree: true});
}"""
WHAT_IF = """from artiq.experiment import *


class Flop(EnvExperiment):
    def build(self):
        self.setattr_device("ccb")

    def run(self):
        self.set_dataset("t", [0.0, 1.0, 2.0], broadcast=True)
        self.set_dataset("p", [0.0, 0.5, 1.0], broadcast=True)
        self.set_dataset("p_error", [0.1, 0.1, 0.1], broadcast=True)
        self.ccb.issue("create_applet", "flop", "${artiq_applet}plot_xy p --x t --error p_error")
"""


def test_sliders_let_the_twin_measure_with_other_numbers_of_the_bench(chromium, hub, place):
    (place.folder / "repository" / "flop.py").write_text(WHAT_IF)
    (place.folder / "bench.toml").write_text("[ion.a]\nphotons = 1e7\n")
    flop = {"file": "flop.py", "class_name": "Flop", "arguments": {}, "repo_rev": None}
    place.ends(place.submit(flop))
    place.set_dataset("theory.p", [0.0, 0.0, 0.0])
    with new_page(chromium, hub.address) as page:
        plot = page.get_by_role("article", name="flop", exact=True)
        # The curve of the twin, which has no places of its own, has those of the data.
        expect(plot.get_by_text("theory: χ² per point 41.7")).to_be_visible()
        plot.get_by_role("button", name="What if … ?").click()
        # The twin measures what the run has measured.
        expect(plot.get_by_text("theory: χ² per point 0,")).to_be_visible()
        plot.get_by_label("Number of the bench for flop").select_option("ion.a.photons")
        slider = plot.get_by_label("ion.a.photons in flop", exact=True)
        assert [slider.get_attribute(name) for name in ("min", "max")] == ["0", "20000000"]
        # It may be too short to be seen: each text is kept.
        status = plot.get_by_role("group", name="What if, flop").get_by_role("status")
        status.evaluate(KEEP_TEXTS)
        slider.fill("15000000")
        expect(plot.get_by_label("Value of ion.a.photons in flop")).to_have_value("15000000")
        until(lambda: page.evaluate("window.texts.at(-1)") == "", lambda: page.evaluate("window.texts"))
        assert "the twin measures run 0 …" in page.evaluate("window.texts")
        assert violations(page) == []
        plot.get_by_role("button", name="As in the run").click()
        expect(plot.get_by_text("theory: χ² per point 41.7")).to_be_visible()
        plot.get_by_role("button", name="What if … ?").click()
        expect(plot.get_by_text("theory: χ² per point 0,")).to_be_visible()
        # Another run: its data have no theory yet, then one of repeated points in any order.
        place.ends(place.submit(flop))
        expect(plot.get_by_role("img", name="p: 3 points against t", exact=True)).to_be_visible()
        place.set_dataset("theory.t", [2.0, 0.0, 1.0, 2.0])
        place.set_dataset("theory.p", [1.2, 0.0, 0.5, 0.6])
        expect(plot.get_by_text("theory: χ² per point 0.333, at most 1 σ away")).to_be_visible()
        expect(plot.get_by_role("button", name="What if … ?")).to_be_visible()


def test_sliders_closed_before_their_run_is_known_start_no_measurement(chromium, hub, place):
    (place.folder / "repository" / "flop.py").write_text(WHAT_IF)
    place.ends(place.submit({"file": "flop.py", "class_name": "Flop", "arguments": {}, "repo_rev": None}))
    place.set_dataset("theory.p", [0.0, 0.0, 0.0])
    # No run has written it.
    place.set_dataset("p", [1.0, 0.0, 0.5])
    sent = []

    def watch(page):
        page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(str(frame))))

    with new_page(chromium, hub.address, prepare=watch) as page:
        plot = page.get_by_role("article", name="flop", exact=True)
        expect(plot.get_by_text("theory: χ² per point")).to_be_visible()
        calls = held(page, "Runs/Find")
        plot.get_by_role("button", name="What if … ?").click()
        wait_for(page, lambda: calls)
        plot.get_by_role("button", name="As in the run").click()
        for call in calls:
            answered(page, call)
        assert sent and not [frame for frame in sent if "Queue/Rehearse" in frame]


def test_crosshair_sets_a_parameter_to_a_place(chromium, hub, place):
    place.set_dataset("counts", [1.0, 5.0, 2.0])
    place.set_dataset("threshold", 2e-3, True, {"unit": "ms", "scale": 1e-3})
    with new_page(chromium, hub.address) as page:
        plot = drawn(page, "counts")
        plot.get_by_role("button", name="Crosshair of counts").click()
        chart = plot.get_by_role("img").bounding_box()
        page.mouse.click(chart["x"] + chart["width"] / 2, chart["y"] + chart["height"] / 2)
        place_in = plot.get_by_label("Place in point")
        assert 0.5 < float(place_in.input_value()) < 1.5
        place_in.fill("0.5")
        place_in.press("Tab")
        plot.get_by_label("Parameter to be set").select_option("threshold")
        expect(plot.get_by_text("was 2, now 500 ms")).to_be_visible()
        assert violations(page) == []
        plot.get_by_role("button", name="Set threshold").click()
        expect(plot.get_by_text("was 500, now 500 ms")).to_be_visible()
    assert place.datasets()["threshold"][1] == 0.5


def test_earlier_runs_are_drawn_behind_a_plot(chromium, hub, place):
    for n in (3, 5):
        place.ends(place.run_of("Quick", n=n))
    with new_page(chromium, hub.address) as page:
        plot = drawn(page, "points")
        plot.get_by_role("button", name="Crosshair of points").click()
        plot.get_by_label("Runs behind points").fill("0, 1")
        plot.get_by_role("button", name="Draw behind").click()
        expect(plot.get_by_role("img", name="points: 5 points, with run 0 and run 1 behind")).to_be_visible()
        for given, problem in (("0 <b>", "'<b>' is not the number of a run"), ("99", "99")):
            plot.get_by_label("Runs behind points").fill(given)
            plot.get_by_role("button", name="Draw behind").click()
            expect(page.get_by_role("status").filter(has_text=problem)).to_be_visible()
        expect(plot.get_by_role("img", name="with run 0 and run 1 behind")).to_be_visible()


AXES = [
    {"param": {"fqn": "x.Y.detuning", "description": "Detuning", "spec": {"unit": "kHz", "scale": 1e3}}, "path": "*"}
]
CHANNELS = {
    "p": {"path": "p", "description": "Excitation <i>", "type": "float", "scale": 1.0, "unit": ""},
    "p_err": {"path": "p_err", "description": "", "display_hints": {"error_bar_for": "p"}},
    "raw": {"path": "raw", "description": "raw", "display_hints": {"priority": -1}},
}
FOUND = [
    {"kind": "location", "coordinates": {"axis_0": {"kind": "analysis_result", "result_key": "centre"}}},
    {"kind": "curve", "coordinates": {"axis_0": {"kind": "fixed", "value": [0, 1e3]}, "channel_p": {"value": 3}}},
    7,
]


def test_scan_of_ndscan_is_drawn_as_it_describes_itself(chromium, hub, place):
    prefix = "ndscan.rid_7."
    texts = {"axes": json.dumps(AXES), "channels": json.dumps(CHANNELS), "annotations": json.dumps(FOUND)}
    for name, value in {**texts, "fragment_fqn": "lab.Rabi", "completed": False, "analysis_result.centre": 5e2}.items():
        place.set_dataset(prefix + name, value)
    for name, values in (
        ("axis_0", [0.0, 500.0, 1000.0]),
        ("channel_p", [0.1, 0.9, 0.2]),
        ("channel_p_err", [0.1] * 3),
    ):
        place.set_dataset(f"{prefix}points.{name}", values)
    place.set_dataset("ndscan.rid_8.axes", "[{")
    place.set_dataset("ndscan.rid_8.channels", 5)
    with new_page(chromium, hub.address) as page:
        plot = page.get_by_role("article", name="Rabi, run 7: Excitation <i>")
        expect(plot.get_by_role("img", name="Excitation <i>: 3 points against Detuning")).to_be_visible()
        expect(page.get_by_role("article")).to_have_count(1)
        plot.get_by_label("Fit of Rabi, run 7").select_option("line")
        expect(plot.get_by_label("Fit line")).to_contain_text("kHz")
        assert violations(page) == []


PIXELS = """() => {
  const { width, height } = document.querySelector(".image canvas");
  const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  context.drawImage(document.querySelector(".image canvas"), 0, 0);
  return [...context.getImageData(0, 0, width, height).data];
}"""
SECOND = {"param": {"fqn": "x.Y.power", "description": "Power", "spec": {"unit": "mW", "scale": 1e-3}}, "path": "*"}


def test_scan_of_two_axes_is_an_image_that_fills(chromium, hub, place):
    prefix = "ndscan.rid_9."
    place.set_dataset(prefix + "axes", json.dumps([*AXES, SECOND]))
    place.set_dataset(prefix + "channels", json.dumps(CHANNELS))
    points = {"axis_0": [0.0, 2e3, 1e3, 0.0], "axis_1": [1e-3, 1e-3, 1e-3, 2e-3], "channel_p": [0.0, 1.0, 0.5, 0.25]}
    for name, values in points.items():
        place.set_dataset(f"{prefix}points.{name}", values)
    with new_page(chromium, hub.address) as page:
        plot = page.get_by_role("article", name="scan, run 9: Excitation <i>")
        expect(
            plot.get_by_role("img", name="Excitation <i>: 2 × 3 elements against Detuning and Power")
        ).to_be_visible()
        expect(plot).to_contain_text("→ Detuning: 0 … 2 kHz, ↑ Power: 1 … 2 mW")
        page.wait_for_function("document.querySelector('.image canvas').width === 3")
        pixels = np.array(page.evaluate(PIXELS)).reshape(2, 3, 4)
        assert pixels[1, 0].tolist() == [68, 1, 84, 255] and pixels[1, 2].tolist() == [253, 231, 37, 255]
        assert pixels[0, :, 3].tolist() == [255, 0, 0], "there are no points yet"
        assert violations(page) == []
        for name, value in (("axis_0", 2e3), ("axis_1", 2e-3), ("channel_p", 0.75)):
            place.set_dataset(f"{prefix}points.{name}", [*points[name], value])
        page.wait_for_function(f"() => ({PIXELS})()[2 * 4 + 3] === 255")


def test_theory_of_two_axes_is_shown_at_the_places_of_the_data(chromium, hub, place):
    prefix = "ndscan.rid_9.points."
    place.set_dataset("ndscan.rid_9.axes", json.dumps([*AXES, SECOND]))
    place.set_dataset("ndscan.rid_9.channels", json.dumps(CHANNELS))
    data = {"axis_0": [0.0, 2e3, 0.0], "axis_1": [1e-3, 1e-3, 2e-3], "channel_p": [0.0, 1.0, 0.25]}
    # In another order, and already complete.
    theory = {"axis_0": [2e3, 0.0, 2e3, 0.0], "axis_1": [2e-3, 2e-3, 1e-3, 1e-3], "channel_p": [0.5, 0.25, 0.0, 0.0]}
    for name, values in {**data, "channel_p_err": [0.5] * 3}.items():
        place.set_dataset(prefix + name, values)
    for name, values in theory.items():
        place.set_dataset(f"theory.{prefix}{name}", values)
    with new_page(chromium, hub.address) as page:
        plot = page.get_by_role("article", name="scan, run 9: Excitation <i>")
        layer = plot.get_by_label("Layer of scan, run 9")
        for shown, low, high, opaque in (
            ("data", "0", "1", 3),
            ("theory", "0", "0.5", 4),
            ("difference", "0", "2 σ", 3),
        ):
            layer.select_option(shown)
            expect(plot.get_by_text(re.compile(rf"^{low}\s+{high}\s*$"))).to_be_visible()
            page.wait_for_function(f"() => ({PIXELS})().filter((each, at) => at % 4 === 3 && each).length === {opaque}")
        # Of three axes the curve over the first one is no section.
        place.set_dataset("ndscan.rid_9.axes", json.dumps([*AXES, SECOND, SECOND]))
        expect(page.get_by_role("img", name="Excitation <i>: 3 points against Detuning", exact=True)).to_be_visible()


CURVES = """article => {
  const canvas = article.querySelector("canvas");
  const copy = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height });
  const context = copy.getContext("2d", { willReadFrequently: true });
  context.drawImage(canvas, 0, 0);
  const { data } = context.getImageData(0, 0, copy.width, copy.height);
  const found = new Set();
  for (let at = 0; at < data.length; at += 4) {
    if (data[at + 2] > 180 && data[at] < 80) found.add((at / 4) % copy.width);
  }
  return [...found].sort((a, b) => a - b);
}"""
"""The columns of pixels with the colour of curves in a plot."""
RECEIVED = """() => {
  window.received = 0;
  const message = Object.getOwnPropertyDescriptor(WebSocket.prototype, "onmessage");
  Object.defineProperty(WebSocket.prototype, "onmessage", {
    set(taken) {
      message.set.call(this, event => { window.received += event.data.byteLength; taken(event); });
    },
  });
}"""
"""Counts the bytes that a page receives over its WebSocket."""


def test_long_curve_comes_as_the_columns_of_the_plot(chromium, hub, place):
    place.set_dataset("long", np.random.default_rng(1).normal(size=1_000_000))
    with new_page(chromium, hub.address) as page:
        page.add_init_script(f"({RECEIVED})()")
        page.reload()
        page.set_default_timeout(TIMEOUT * 1000)
        chart = drawn(page, "long").get_by_role("img", name="long: 1000000 points")
        expect(chart).to_be_visible()
        page.wait_for_function(f"() => ({CURVES})(document.querySelector('article.plot')).length > 300")
        assert page.evaluate("window.received") < 1 << 20, "8 MB are not sent"
        chart.focus()
        for _ in range(12):
            page.keyboard.press("+")
        page.wait_for_function(f"() => ({CURVES})(document.querySelector('article.plot')).length > 300")
        place.set_dataset("long", [0.0, 1.0])
        expect(page.get_by_role("img", name="long: 2 points")).to_be_visible()
        place.set_dataset("long", np.zeros(30_000))
        expect(page.get_by_role("img", name="long: 30000 points")).to_be_visible()


def test_gap_of_a_long_curve_is_not_drawn_over(chromium, hub, place):
    long = np.zeros(100_000)
    long[40_000:60_000] = np.nan
    place.set_dataset("long", long)
    with new_page(chromium, hub.address) as page:
        page.set_default_timeout(TIMEOUT * 1000)
        expect(drawn(page, "long").get_by_role("img", name="long: 100000 points")).to_be_visible()
        page.wait_for_function(f"() => ({CURVES})(document.querySelector('article.plot')).length > 100")
        columns = np.array(page.evaluate(f"() => ({CURVES})(document.querySelector('article.plot'))"))
        gap = np.diff(columns).max() / (columns[-1] - columns[0])
        assert abs(gap - 0.2) < 0.02


def test_data_with_a_fit_stay_visible_when_they_are_many(chromium, hub, place):
    places = np.linspace(0, 1, 1000)
    for name, values in (("x", places), ("y", places % 0.1), ("f", np.zeros(1000))):
        place.set_dataset(name, values)
    flop = "from artiq.experiment import *\n\n\nclass Asks(EnvExperiment):\n    def build(self):\n"
    flop += '        self.setattr_device("ccb")\n\n    def run(self):\n'
    flop += '        self.ccb.issue("create_applet", "many", "${artiq_applet}plot_xy y --x x --fit f")\n'
    (place.folder / "repository" / "flop.py").write_text(flop)
    place.ends(place.submit({"file": "flop.py", "class_name": "Asks", "arguments": {}, "repo_rev": None}))
    with new_page(chromium, hub.address) as page:
        page.set_default_timeout(TIMEOUT * 1000)
        expect(page.get_by_role("img", name="y: 1000 points against x")).to_be_visible()
        page.wait_for_function(f"() => ({HIGH})(document.querySelector('article.plot')) > 50")
