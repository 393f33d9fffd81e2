"""The page of the hub in Chromium: its size, and how long a user waits for what."""

import os
import statistics
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from tests.support import TIMEOUT
from tests.support.browser import ENTRY, browser, new_page
from tests.support.gateware import built
from tests.support.hub import Hub
from tests.support.laboratory import Laboratory
from tests.support.paths import BUILD, EXAMPLES
from tests.support.waiting import until

__all__ = ["PREFIXES", "page_figures"]

PREFIXES = ("page.",)
VIEWERS = 4
LONG = 1_000_000
CHANNELS = 1000
SECONDS = 10.0
"""For which processor time is measured."""
BATCH, HALF, HOURS = 30, 4 * 60, 8 * 60
"""Runs of a minute that are submitted together, and in four and eight hours: after four, what is bounded is full."""
EXPERIMENTS = f"""
import time
import numpy
from artiq.experiment import *


class Growing(EnvExperiment):
    '''Appends 100,000 points, ten times a second'''

    def run(self):
        self.set_dataset("growing", [], broadcast=True)
        begun = time.monotonic()
        for number in range(100):
            for point in range(1000):
                self.append_to_dataset("growing", float(number * point % 977))
            time.sleep(max(0, begun + 0.1 * number - time.monotonic()))


class Long(EnvExperiment):
    '''A long dataset'''

    def run(self):
        self.set_dataset("long", numpy.sin(numpy.arange({LONG}) / 1e4), broadcast=True)


class Minutes(EnvExperiment):
    '''What a minute's run tells its viewers, without its waiting'''

    def build(self):
        self.setattr_device("ccb")

    def run(self):
        self.set_dataset("points", [], broadcast=True)
        self.set_dataset("image", numpy.random.random((64, 64)), broadcast=True)
        self.ccb.issue("create_applet", "points", "${{artiq_applet}}plot_xy points")
        for number in range(600):
            self.append_to_dataset("points", float(number % 17))
            if number % 100 == 0:
                print("point", number)
        self.mutate_dataset("points", 3, 0.5)


class Talks(EnvExperiment):
    '''More than a page keeps of the log'''

    def run(self):
        for number in range(2500):
            print("line", number)

"""
DRAW = """async key => {
    const named = (tag, text) => [...document.querySelectorAll(tag)].find(each => each.textContent.trim() === text);
    let select;
    const found = () => (select = document.querySelector("select[aria-label='Dataset to be drawn']"));
    while (!found()) await new Promise(requestAnimationFrame);
    while (![...select.options].some(each => each.value === key)) await new Promise(requestAnimationFrame);
    select.value = key;
    select.dispatchEvent(new Event("change", { bubbles: true }));
    await new Promise(requestAnimationFrame);
    const begun = performance.now();
    named("button", "Add").click();
    while (!document.querySelector(`.chart[aria-label^="${key}: "]`)) await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    return performance.now() - begun;
}"""
"""Draws a dataset; returns the time until it is drawn."""
WORST_FRAME = """() => {
    window.worst = 0;
    let last = performance.now();
    const frame = now => {
        window.worst = Math.max(window.worst, now - last);
        last = now;
        requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
}"""
FRAMES_OF_PAN = """async seconds => {
    const over = document.querySelector(".plot .u-over");
    const box = over.getBoundingClientRect();
    const wheel = more => over.dispatchEvent(new WheelEvent("wheel", { bubbles: true, cancelable: true, ...more }));
    const [clientX, clientY] = [box.left + box.width / 2, box.top + 20];
    for (let step = 0; step < 8; step++) wheel({ clientX, clientY, deltaY: -1, ctrlKey: true });
    const begun = performance.now();
    let frames = 0;
    while (performance.now() - begun < 1000 * seconds) {
        wheel({ clientX, clientY, deltaX: Math.floor(frames / 20) % 2 ? -1 : 1 });
        await new Promise(requestAnimationFrame);
        frames++;
    }
    return (1000 * frames) / (performance.now() - begun);
}"""
"""Moves a zoomed plot to and fro in each frame; returns the frames per second."""
DELAYS = """() => {
    window.delays = [];
    const look = () => {
        const text = document.querySelector(".big")?.textContent ?? "";
        if (text !== window.seen) {
            window.seen = text;
            window.delays.push(((Date.now() % 1e5) - parseFloat(text) + 1e5) % 1e5);
        }
        requestAnimationFrame(look);
    };
    look();
}"""
"""Notes for each new number how old it is, once per frame."""


def page_figures(figures):
    """A laboratory without devices, its hub, and Chromium."""
    files = (BUILD / "page").rglob("*.gz")
    size = sum(path.stat().st_size for path in files) / 1024
    figures.add("page.bundle_kib", size, "KiB", target=300, source="all files of the page, as they are sent")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / "lab").mkdir()
        lab = Laboratory(folder / "lab")
        (lab.folder / "repository" / "lab.py").write_text(EXPERIMENTS)
        lab.start()
        stack.callback(lab.close)
        until(lambda: len(lab.experiments()["experiments"]) == 4)
        hub = Hub(folder, {}, entries=ENTRY)
        stack.callback(hub.close)
        running = stack.enter_context(browser())
        _first_paint(figures, running, hub)
        _first_draw(figures, running, hub, lab)
        _growing(figures, running, hub, lab)
        _memory(figures, running, hub, lab)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        _device(figures, stack, folder)


def _first_paint(figures, running, hub):
    times = []
    for _ in range(5):
        with new_page(running, hub.address) as page:
            page.get_by_role("heading", name="Queue").wait_for()
            times.append(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
    source = "from the request to the first contents, with an empty cache, on this machine"
    figures.add("page.first_paint_ms", statistics.median(times), "ms", target=500, source=source)


def _first_draw(figures, running, hub, lab):
    lab.ends(lab.submit({"file": "lab.py", "class_name": "Long", "repo_rev": None, "log_level": 30}))
    times = []
    for _ in range(3):
        with new_page(running, hub.address) as page:
            times.append(page.evaluate(DRAW, "long"))
    source = "from the click to the frame in which a dataset of a million numbers is drawn"
    figures.add("page.first_draw_1e6_ms", statistics.median(times), "ms", target=300, source=source)
    with new_page(running, hub.address) as page:
        page.evaluate(DRAW, "long")
        rate = page.evaluate(FRAMES_OF_PAN, 4)
    source = "frames per second while a sixth of a million points is moved in each; the screen gives 60"
    figures.add("page.pan_fps", round(rate), "1/s", target=60, at_least=True, source=source)
    lab.delete_dataset("long")


def _latency(figures, running, hub, lab):
    with new_page(running, hub.address) as page:
        page.evaluate(DELAYS)
        lab.ends(lab.submit({"file": "lab.py", "class_name": "Clock", "repo_rev": None, "log_level": 30}))
        # The first are those of an empty text and of the initial value.
        delays = [delay for delay in page.evaluate("window.delays") if delay == delay][3:]
    source = "from mutate_dataset in a kernel, which asks for the time just before, to the frame that shows it"
    figures.add("page.update_latency_ms", statistics.median(delays), "ms", target=150, source=source)


def _growing(figures, running, hub, lab):
    with ExitStack() as stack:
        pages = [stack.enter_context(new_page(running, hub.address)) for _ in range(VIEWERS)]
        lab.set_dataset("growing", [0.0])
        for page in pages:
            page.evaluate(DRAW, "growing")
            page.evaluate(WORST_FRAME)
        lab.ends(lab.submit({"file": "lab.py", "class_name": "Growing", "repo_rev": None, "log_level": 30}))
        chart = pages[0].locator(".chart[aria-label^='growing: 100000 points']")
        chart.wait_for()
        worst = max(page.evaluate("window.worst") for page in pages)
    source = "longest time between two frames of any viewer while a dataset grows to 100,000 points at 10 Hz"
    figures.add("page.append_1e5_10hz_worst_frame_ms", worst, "ms", target=50, source=source, viewers=VIEWERS)


def _memory(figures, running, hub, lab):
    """The memory of a page after what eight hours of runs tell it, without the time between."""

    def minutes(count):
        for _ in range(count // BATCH):
            expid = {"file": "lab.py", "class_name": "Minutes", "repo_rev": None, "log_level": 30}
            lab.ends([lab.submit(expid) for _ in range(BATCH)][-1])

    with new_page(running, hub.address) as page:
        debugger = page.context.new_cdp_session(page)
        debugger.send("Performance.enable")

        def used() -> float:
            debugger.send("HeapProfiler.collectGarbage")
            metrics = debugger.send("Performance.getMetrics")["metrics"]
            return next(each["value"] for each in metrics if each["name"] == "JSHeapUsedSize") / 2**20

        lab.ends(lab.submit({"file": "lab.py", "class_name": "Talks", "repo_rev": None, "log_level": 30}))
        minutes(HALF)
        first = used()
        minutes(HOURS - HALF)
        last = used()
    source = f"used by JavaScript after {HOURS} runs of 600 points, against {first:.1f} MiB after {HALF}"
    figures.add("page.memory_mib_after_8h", last, "MiB", target=round(first + 1, 1), source=source)


MANY = """
for n in range(1000 - sum("channel" in each.get("arguments", {}) for each in device_db.values())):
    device_db[f"zpin{n}"] = {"type": "local", "module": "artiq.coredevice.ttl", "class": "TTLOut"}
    device_db[f"zpin{n}"]["arguments"] = {"channel": (1 << 16) + n}
"""
ON_DEVICE = """
import time
from artiq.experiment import *


class Toggle(EnvExperiment):
    def build(self):
        for name in ("core", "ttl4", "ttl5", "ttl6", "ttl7"):
            self.setattr_device(name)
        self.setattr_device("scheduler")

    @kernel
    def run(self):
        self.core.reset()
        while not self.scheduler.check_termination():
            self.core.break_realtime()
            for pin in (self.ttl4, self.ttl5, self.ttl6, self.ttl7):
                pin.pulse(10 * ms)
            self.core.wait_until_mu(now_mu())


class Clock(EnvExperiment):
    '''The time, in milliseconds of a hundred seconds'''

    def build(self):
        self.setattr_device("core")
        self.setattr_device("ccb")

    def prepare(self):
        self.set_dataset("clock", [0.0], broadcast=True)
        self.ccb.issue("create_applet", "clock", "${artiq_applet}big_number clock")

    def now_ms(self) -> TFloat:
        return 1e3 * (time.time() % 100)

    def pause(self):
        time.sleep(0.2)

    @kernel
    def run(self):
        self.core.reset()
        for _ in range(60):
            self.mutate_dataset("clock", 0, self.now_ms())
            self.pause()
"""


def _device(figures, stack, folder):
    """A laboratory with a device of 1,000 channels."""
    built("demo")
    (folder / "lab").mkdir()
    lab = Laboratory(folder / "lab", device_db=(EXAMPLES / "device_db.py").read_text() + MANY)
    (lab.folder / "repository" / "lab.py").write_text(ON_DEVICE)
    lab.start()
    stack.callback(lab.close)
    until(lambda: len(lab.experiments()["experiments"]) == 2)
    hub = Hub(folder, {}, entries=ENTRY)
    stack.callback(hub.close)
    running = stack.enter_context(browser())
    _latency(figures, running, hub, lab)
    _channels(figures, running, hub, lab)


def _channels(figures, running, hub, lab):
    """The device in the panel of devices, while four of its pins change."""
    with new_page(running, hub.address) as page:
        page.get_by_role("tab", name="Devices").click()
        page.set_default_timeout(1000 * TIMEOUT)
        page.get_by_text("ttl4", exact=True).wait_for()
        rid = lab.submit({"file": "lab.py", "class_name": "Toggle", "repo_rev": None, "log_level": 30})
        until(lambda: lab.status_of(rid) == "running")
        page.wait_for_timeout(1000)
        pids = [lab.process.pid, hub.process.pid, *_browsers()]
        before, begun = _processor_time(pids), time.perf_counter()
        page.wait_for_timeout(1000 * SECONDS)
        share = (_processor_time(pids) - before) / (time.perf_counter() - begun)
        lab.terminate(rid)
        lab.ends(rid)
    source = (
        f"processor time of laboratory, hub and Chromium per second with {CHANNELS} channels in the panel Devices, "
    )
    source += "of which those in sight are watched, while pins change"
    figures.add("page.channels_1000_cpu_share", share, "1", target=0.2, source=source)


def _browsers() -> list[int]:
    """Return the processes of Chromium that have come from this one."""
    parents, names = {}, {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            name, _, rest = (entry / "stat").read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        parents[int(entry.name)], names[int(entry.name)] = int(rest.split()[1]), name

    def is_ours(pid) -> bool:
        while pid in parents and pid != os.getpid():
            pid = parents[pid]
        return pid == os.getpid()

    return [pid for pid, name in names.items() if "chrom" in name and is_ours(pid)]


def _processor_time(pids) -> float:
    """Return the processor time of processes in seconds."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")
