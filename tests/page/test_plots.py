"""Plots: long curves, a crosshair that sets a parameter, earlier runs behind a curve, scans of ndscan."""

import json

import numpy as np
from playwright.sync_api import expect

from tests.support import PATIENCE
from tests.support.browser import new_page, violations

expect.set_options(timeout=PATIENCE * 1000)

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
        page.set_default_timeout(PATIENCE * 1000)
        page.wait_for_function(f"() => ({HIGH})(document.querySelector('article.plot')) > 5")
        chart = plot.get_by_role("img").bounding_box()
        page.mouse.move(chart["x"] + 80, chart["y"] + 30)
        page.mouse.down()
        page.mouse.move(chart["x"] + 180, chart["y"] + 120, steps=4)
        page.mouse.up()
        page.wait_for_function(f"() => ({HIGH})(document.querySelector('article.plot')) === 0")


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
