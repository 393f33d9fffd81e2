"""Pictures of the page for the manual: `python -m tests.support.page_pictures` writes `docs/page/NAME.png`, of a
laboratory with an ion that works through an evening. Each picture keeps the words that are always in its panel, by
which a test notices that it is out of date."""

import io
import json
import re
import shutil
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path

import h5py
from PIL import Image, PngImagePlugin

from tests.support import TIMEOUT
from tests.support.browser import ENTRY, browser, new_page
from tests.support.gateware import built
from tests.support.hub import Hub
from tests.support.laboratory import Laboratory
from tests.support.paths import EXAMPLES, ROOT
from tests.support.waiting import until

__all__ = ["FOLDER", "PANELS", "evening", "kept_words", "words"]

FOLDER = ROOT / "docs" / "page"
PANELS = ["Plots", "Runs", "Calibrations", "Devices", "Logbook", "Telephone", "Waveform"]
COLOURS = 64
SIZE = {"width": 1000, "height": 440}
LABELS = "labels"
"""Field of a PNG file: the words of its panel."""

CALIBRATIONS = """from artiq.experiment import *


class Detuning(EnvExperiment):
    \'\'\'Detuning of the 729 nm laser\'\'\'

    def build(self):
        self.calibrates("detuning", validity=3600)

    def run(self):
        self.set_dataset("detuning", 5e3, unit="kHz", scale=1e3, broadcast=True, persist=True)


class Rabi(EnvExperiment):
    \'\'\'Rabi frequency\'\'\'

    def build(self):
        self.calibrates("rabi_frequency", by_hand=True)
        self.set_calibration(needs=["detuning"])

    def run(self):
        self.set_dataset("rabi_frequency", 50e3, unit="kHz", scale=1e3, broadcast=True, persist=True)
"""


@contextmanager
def evening():
    """Yield a browser and the hub of a laboratory in which some runs have ended."""
    built("ion")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / "lab").mkdir()
        settings = 'name = "trap"\n[rehearsal]\nwaveforms = true\n'
        lab = Laboratory(folder / "lab", settings, (EXAMPLES / "ion" / "device_db.py").read_text())
        repository = lab.folder / "repository"
        (repository / "lab.py").unlink()
        (repository / "calibrations.py").write_text(CALIBRATIONS)
        for file in ("rabi_flop.py", "trap.py"):
            shutil.copy(EXAMPLES / "ion" / file, repository)
        shutil.copy(EXAMPLES / "ion" / "bench.toml", lab.folder)
        lab.start()
        stack.callback(lab.close)
        until(lambda: len(lab.experiments()["experiments"]) == 3)
        for points, shots in ((15, 10), (25, 20)):
            arguments = {"points": points, "shots": shots, "longest": 40e-6}
            expid = {"file": "rabi_flop.py", "class_name": "RabiFlop", "arguments": arguments, "repo_rev": None}
            lab.ends(lab.submit(expid))
        lab.tag(1, "good")
        lab.write_entry("Loaded one ion after three attempts; the 729 is locked.", 0)
        lab.write_entry("Rabi frequency 50 kHz, as yesterday.", 1)
        lab.calibrate([])
        until(lab.proposals)
        until(lambda: _has_waveform(lab.file_of(1)))
        hub = Hub(folder, {}, entries=ENTRY)
        stack.callback(hub.close)
        yield stack.enter_context(browser()), hub


def _has_waveform(path) -> bool:
    with h5py.File(path) as file:
        return "waveform" in file


def shown(running, hub, name, take):
    """Show a panel alone and return what `take(page, panel)` does with it."""
    with new_page(running, hub.address, "telephone" if name == "Telephone" else "desktop") as page:
        page.set_default_timeout(1000 * TIMEOUT)
        if name != "Telephone":
            page.set_viewport_size(SIZE)
            page.goto(f"http://{hub.address}/?panel={'Runs' if name == 'Waveform' else name}")
        waits = {
            "Plots": "rabi.excitation: 25 points",
            "Telephone": "rabi.excitation: 25 points",
        }
        if name in waits:
            page.get_by_role("img", name=re.compile(waits[name])).wait_for()
            page.get_by_label("Fit of Rabi flop").select_option("rabi_flop")
            page.get_by_label("Fit rabi_flop").get_by_text("t_pi").wait_for()
        if name == "Waveform":
            page.get_by_role("button", name="1", exact=True).click()
            page.get_by_role("button", name="Waveform").click()
            page.get_by_role("application", name=re.compile(r"^[1-9]\d* lanes")).scroll_into_view_if_needed()
        texts = {"Runs": "completed", "Calibrations": "Accept", "Devices": "rtio good", "Logbook": "three"}
        if name in texts:
            page.get_by_text(texts[name]).first.wait_for()
        if name == "Runs":
            page.get_by_role("img", name=re.compile("^rabi.excitation")).nth(1).wait_for()
        return take(page)


def words(page) -> list[str]:
    """Return the words of a panel that do not depend on its data: headings, names of columns and fields."""
    read = """() => [...document.querySelectorAll("h2, h3, thead th, nav button, form label, [placeholder]")].map(
        each => each.getAttribute("placeholder") ?? each.textContent.trim())"""
    # A run is named with the time at which it began.
    found = {re.sub(r"\d\d:\d\d:\d\d", "…", text) for text in page.evaluate(read)}
    return sorted(found - {""})


def kept_words(path) -> list[str]:
    """Return the words of the panel when its picture was taken."""
    with Image.open(path) as picture:
        return json.loads(picture.text[LABELS])


def save(page, path):
    """Write a small picture of a page."""
    information = PngImagePlugin.PngInfo()
    information.add_text(LABELS, json.dumps(words(page)))
    with Image.open(io.BytesIO(page.screenshot())) as whole:
        small = whole.convert("RGB").quantize(COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    small.save(path, optimize=True, pnginfo=information)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    with evening() as (running, hub):
        for name in PANELS:
            path = FOLDER / f"{name.lower()}.png"
            shown(running, hub, name, lambda page, path=path: save(page, path))
            print(path)
