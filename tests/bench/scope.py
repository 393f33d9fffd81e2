"""The page of `--scope` with a million events in a headless browser, and a record of the analyzer
to VCD."""

import io
import random
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from kairos.contracts.analyzer import MESSAGE
from kairos.contracts.session import LITTLE_ENDIAN
from kairos.network import analyzer
from kairos.scope.lanes import Levels, Marks, Steps, Words
from kairos.scope.page import write_page
from kairos.waveform.analysis import write_dump
from tests.support.browser import browser

from .timing import ROOT

__all__ = ["PREFIXES", "scope_figures"]

PREFIXES = ("scope.", "analyze.")

EVENTS = 1_000_000
SPAN_NS = 1e10
MESSAGES = 200_000
CHANNELS = 16
FRAMES = 120
PAN = """async (frames) => {
  const times = [];
  for (let frame = 0; frame < frames; frame++) {
    scope.view.span = 1e10 / 2 ** (frame % 12);
    scope.view.start = frame / frames * 0.9e10;
    await new Promise(requestAnimationFrame);
    const start = performance.now();
    scope.draw();
    times.push(performance.now() - start);
  }
  return times.reduce((one, other) => one + other) / frames;
}"""
"""Draws the page at many positions and magnifications; returns milliseconds for each."""


def _lanes() -> list:
    """Build eight source lines, sixteen pins, eight tones, log and bus: a million events."""
    numbers = np.random.default_rng(5)
    share = EVENTS // 40

    def times(count):
        return np.sort(numbers.integers(0, int(SPAN_NS), count))

    called = [f"ttl{n} ← scan.py:{n}" for n in range(16)]
    lines = [
        Marks(f"{n}: self.ttl{n}.pulse(t)", ("source", "scan.py"), times(share), [called[i % 16] for i in range(share)])
        for n in range(8)
    ]
    pins = [Levels(f"ttl{n}", ("pins",), times=times(share), levels=np.arange(share) % 2) for n in range(16)]
    steps = [Steps("frequency", (f"dds{n}",), "Hz", times(share), numbers.normal(80e6, 1e6, share)) for n in range(8)]
    log = Marks("state", ("log",), times(4 * share), [f"state {n % 100}" for n in range(4 * share)])
    starts = times(4 * share)
    bus = Words("bus", ("pins", "spi"), starts, starts, [f"{n % 1000:#x}" for n in range(4 * share)])
    return [*lines, *pins, *steps, log, bus]


def _browser(path: Path) -> tuple[float, float]:
    """Return the milliseconds until a page is drawn, and for one frame of it."""
    with browser() as running:
        page = running.new_page(viewport={"width": 1600, "height": 900})
        page.goto("about:blank")
        start = time.perf_counter()
        page.goto(path.as_uri())
        page.wait_for_function("window.scope && scope.frames > 0")
        opened = 1e3 * (time.perf_counter() - start)
        drawn = page.evaluate(PAN, FRAMES)
    return opened, drawn


def _record() -> bytes:
    """Build a dump of outputs of pins."""
    random.seed(1)
    message = struct.Struct(">QIQQI")
    body = b"".join(
        message.pack(n & 1, 0, 100 * n, 100 * n + 5000, random.randrange(CHANNELS) << 2) for n in range(MESSAGES)
    )
    assert len(body) == MESSAGE * MESSAGES
    return struct.pack("<BIQ?BB", LITTLE_ENDIAN, len(body), len(body), False, CHANNELS, 0) + body


def analyzed() -> float:
    """Return the events per second of processor time, from the bytes of a record to the text of a
    VCD file."""
    record = _record()
    devices = {"core": {"type": "local", "class": "Core", "arguments": {}}}
    for channel in range(CHANNELS):
        devices[f"ttl{channel}"] = {"type": "local", "class": "TTLOut", "arguments": {"channel": channel}}
    times = []
    for _ in range(3):
        start = time.process_time()
        write_dump(io.StringIO(), analyzer.decode(record), devices)
        times.append(time.process_time() - start)
    return MESSAGES / min(times)


def scope_figures(figures):
    """Pages for a browser, and records as files."""
    source = f"{MESSAGES} outputs of {CHANNELS} pins, from a record's bytes to a VCD file's text, processor time"
    # In a separate process, as with `kairos analyze`: other objects in this one would slow down
    # garbage collection.
    code = "from tests.bench.scope import analyzed; print(analyzed())"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    figures.add("analyze.events_per_s", float(done.stdout), "events/s", target=300_000, at_least=True, source=source)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "page.html"
        write_page(path, "a million events", _lanes(), SPAN_NS)
        figures.add("scope.page_mib", path.stat().st_size / 2**20, "MiB", source="a page of 1e6 events")
        opened, drawn = _browser(path)
    figures.add("scope.page_open_ms", opened, "ms", target=2000, source="1e6 events, headless Chromium, until drawn")
    source = f"1e6 events, 1600 by 900 pixels, {FRAMES} places and magnifications, as fast as it draws"
    figures.add("scope.pan_fps", 1e3 / drawn, "frames/s", target=30, at_least=True, source=source)
