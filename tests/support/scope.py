"""Pages of `kairos run --scope`: their content, and their display in a browser without errors."""

import base64
import json
import re
import zlib

import numpy as np

from kairos.scope.tests.chromium import BROWSER, browser

__all__ = ["lanes", "opened"]

KINDS = {"levels": np.uint8, "steps": np.float64, "marks": np.uint32, "words": np.uint32}


def lanes(path) -> dict:
    """Return the lanes of a page by group and name, each (times in ns, values), with decoded
    arrays."""
    parts = dict(re.findall(r'<script type="application/octet-stream" id="(\w+)">(.*?)</script>', path.read_text()))
    content, arrays = (zlib.decompress(base64.b64decode(parts[name])) for name in ("lanes", "arrays"))
    content, found = json.loads(content), {}
    for lane in content["lanes"]:
        times = np.frombuffer(arrays, "<f8", lane["t"][1], lane["t"][0])
        values = np.frombuffer(arrays, KINDS[lane["kind"]], lane["v"][1], lane["v"][0])
        if lane["kind"] in ("marks", "words"):
            values = [content["texts"][number] for number in values]
        found["/".join([*lane["group"], lane["name"]])] = (list(times), list(values))
    return found


def opened(path, picture=None):
    """Open a page in Chromium, if available, and show all of it and a part; its console must stay
    empty. picture: file for a screenshot."""
    if BROWSER is None:
        return
    said = []
    with browser() as running:
        page = running.new_page(viewport={"width": 1200, "height": 900})
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(path.as_uri())
        page.wait_for_function("window.scope && scope.frames > 0 && !scope.asked")
        if picture is not None:
            page.screenshot(path=picture)
        page.mouse.move(600, 300)
        for key in "f+++nnp":
            page.keyboard.press(key)
        page.wait_for_function("!scope.asked")
    assert said == []
