"""The laboratory of `make demo`: it starts a laboratory on an emulated device with an ion, and the hub, submits
examples/ion/rabi_flop.py, and takes a picture of the page in Chromium while the points come.

The folder of the laboratory stays, so that it can be started again and used. The picture needs Playwright:
pip install 'kairos[test]'.
"""

import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from kairos.emulator import build_directory
from kairos.errors import UsageError
from kairos.hub import PORT
from kairos.labclient import connect

ION = Path(__file__).parents[1] / "ion"
BROWSERS = "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"
PORTS = "[ports]\nnotify = 0\ncontrol = 0\nlogging = 0\nbroadcast = 0\ncontrollers = 0\n"
"""Ports that are free, as another laboratory may have the usual ones."""
SIZE = {"width": 1440, "height": 900}
POINTS, SHOTS = 60, 100
SHOWN, MOST = 32, 52
"""Points that are there in the picture, and at most, if the fit takes long."""
TIMEOUT = 60.0
"""Seconds to wait for each step."""


def wait(condition, what: str):
    """Wait until a condition holds; returns its value."""
    deadline = time.monotonic() + TIMEOUT
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise SystemExit(f"{what}: not within {TIMEOUT:g} s")
        time.sleep(0.02)
    return found


def create(folder: Path):
    """Write the folder of the laboratory, unless it is there."""
    if not (folder / "lab.toml").exists():
        command = [sys.executable, "-m", "kairos", "new", "--lab", folder]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with (folder / "lab.toml").open("a") as settings:
            settings.write(PORTS)
    for file in ("rabi_flop.py", "trap.py"):
        shutil.copy(ION / file, folder / "repository" / file)
    for file in ("device_db.py", "bench.toml"):
        shutil.copy(ION / file, folder / file)


def client(folder: Path):
    """Return a client of the laboratory, None if it does not run."""
    with suppress(UsageError):
        return connect(folder)
    return None


@contextmanager
def laboratory(folder: Path):
    """Yield a client of the laboratory, which ends with it; one that runs already is used, and goes on."""
    if (running := client(folder)) is not None:
        yield running
        return
    with (folder / "lab.log").open("w") as log:
        process = subprocess.Popen([sys.executable, "-m", "kairos", "lab"], cwd=folder, stdout=log, stderr=log)
    try:
        yield wait(lambda: client(folder), "the laboratory starts")
    finally:
        process.terminate()
        process.wait()
        # The emulated device waits some seconds for another laboratory.
        wait(lambda: not list((folder / ".kairos").glob("device-*.sock")), "the device ends")


@contextmanager
def served(folder: Path):
    """Run the hub of the laboratory; yields the address of the page."""
    command = [build_directory() / "hub" / "kairos-hub", folder / "hub.toml", "--listen", "127.0.0.1:0"]
    with (folder / "hub.log").open("w") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        # The first line: "listening on ADDRESS".
        yield f"http://{process.stdout.readline().split()[-1]}"
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def measured(lab) -> int:
    """Return how many points of the flop are there."""
    values = lab.datasets().get("rabi.excitation", (False, [], {}))[1]
    return int(np.isfinite(values).sum())


def take(browser: str, address: str, lab, picture: Path):
    """Submit the Rabi flop, and take the picture while it is measured."""
    from playwright.sync_api import sync_playwright

    options = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium has none for root
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=browser, args=options)
        page = running.new_page(viewport=SIZE)
        page.goto(address)
        page.get_by_role("button", name="Rabi flop").click()
        for name, value in (("points", POINTS), ("shots", SHOTS)):
            page.get_by_label(name, exact=True).fill(str(value))
        page.get_by_label("points", exact=True).press("Control+Enter")
        # Those of an earlier run are gone when it has begun.
        wait(lambda: any(run["status"] == "running" for run in lab.queue()), "the Rabi flop begins")
        page.get_by_role("article", name="Rabi flop").get_by_role("img").wait_for()
        page.get_by_label("Fit of Rabi flop").select_option("rabi_flop")
        fit = page.get_by_label("Fit rabi_flop").get_by_text("t_pi")
        wait(lambda: measured(lab) >= (SHOWN if fit.count() else MOST), f"{SHOWN} points are measured")
        page.screenshot(path=picture)
        running.close()


def main(folder: Path, picture: Path):
    """Take the picture, and say how to use the page."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    create(folder)
    if browser is None:
        print(f"no picture of the page: Chromium is not installed ({', '.join(BROWSERS)})")
    else:
        with laboratory(folder) as lab, served(folder) as address:
            wait(lambda: lab.experiments()["experiments"], "the repository is scanned")
            take(browser, address, lab, picture)
            for run in lab.queue():
                lab.terminate(run["rid"], True)
            wait(lambda: not lab.queue(), "the Rabi flop ends")
        print(f"wrote {picture}: the page during a Rabi flop")
    kairos = os.path.relpath(Path(sys.executable).with_name("kairos"), folder)
    print(f"the page: cd {folder} && {kairos} lab, and there in another terminal: {kairos} hub")
    print(f"then open http://127.0.0.1:{PORT} in a browser")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
