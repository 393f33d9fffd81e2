"""The hub demonstration of `make demo`: calibrations of 1,000 steps while examples/blink.py plays
on the same emulated device, the time per step, and a check that the pins behave exactly as without
them.
"""

import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from calibrate import SETTINGS, STEPS, calibrate, one_by_one

from kairos.devices import DeviceDB
from kairos.emulator import MANAGEMENT_PORT, SESSION_PORT, Emulator, Options, build_directory
from kairos.hub import connect

FOLDER = Path(__file__).parent
BLINK = FOLDER.parent / "blink.py"
DATABASE = FOLDER.parent / "device_db.py"
PULSES = 100
"""Number of blink's pulses: 10 ms on the device, while calibrations arrive as the host sends
them."""
ATTEMPTS = 5


@contextmanager
def hub(folder: Path, address: str):
    """Runs a hub for the device `demo`; yields its address."""
    settings = folder / "hub.toml"
    settings.write_text(f'listen = "127.0.0.1:0"\n[[device]]\nname = "demo"\naddress = "{address}"\n')
    with (folder / "hub.log").open("w") as log:
        command = [build_directory() / "hub" / "kairos-hub", settings]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        # The first line: "listening on ADDRESS".
        yield process.stdout.readline().split()[-1]
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


class Blink:
    """Plays blink on a running device."""

    def __init__(self, folder: Path, device: Emulator):
        self.device, self.database = device, folder / "device_db.py"
        host = f'"127.0.0.1:{device.port(SESSION_PORT)}"'
        self.database.write_text(DATABASE.read_text().replace('"emulator://demo"', host))

    def play(self, meanwhile=lambda: time.sleep(0.01)):
        """Returns the recording of the pins; `meanwhile` is called repeatedly during it."""
        self.device.mark_start()
        command = [sys.executable, "-m", "kairos", "run", BLINK, "--device-db", self.database, "--quiet"]
        process = subprocess.Popen([*command, f"pulses={PULSES}"])
        while process.poll() is None:
            meanwhile()
        if process.returncode:
            raise SystemExit(process.returncode)
        self.device.wait_idle()
        return self.device.recording(DeviceDB.load(self.database).channel_names())


class Calibrations:
    """Calibrates, and records the device time and the duration in seconds of each calibration."""

    def __init__(self, lab, device: Emulator):
        self.lab, self.device, self.done = lab, device, []

    def __call__(self):
        before, started = self.device.control.status()["time_ns"], time.perf_counter()
        calibrate(self.lab["demo"])
        took = time.perf_counter() - started
        self.done.append((before, self.device.control.status()["time_ns"], took))

    def within(self, recording) -> list[float]:
        """Durations in seconds of the calibrations that ran while the pins of a recording were
        active."""
        start = recording.origin_ns
        end = start + max(channel.last_ns for channel in recording.channels)
        return [took for before, after, took in self.done if before < end and after > start]


def beside(blink: Blink, calibrations: Calibrations):
    """Returns the recording of the pins during calibrations, and the durations of those. The
    emulated device's time is not the host's: blink may finish before a request arrives, and is then
    repeated."""
    for _ in range(ATTEMPTS):
        recording = blink.play(calibrations)
        if within := calibrations.within(recording):
            return recording, within
    raise SystemExit(f"no calibration has come while blink played, {ATTEMPTS} times")


def show(alone, together, within: list[float], calibrations: Calibrations):
    """Prints both results. Fails if the pins behaved differently."""
    pulses = [list(channel.pulses()) for channel in alone.channels]
    same = "the same" if [list(channel.pulses()) for channel in together.channels] == pulses else "NOT THE SAME"
    started = time.perf_counter()
    one_by_one(calibrations.lab["demo"], SETTINGS // 10)
    apart = 10 * (time.perf_counter() - started)
    count, batch = sum(map(len, pulses)), 1e6 * min(within) / STEPS
    print(f"blink: {count} pulses, to the nanosecond {same} with and without a calibration beside them")
    print(f"calibration: {STEPS:,} steps as one batch, {batch:.1f} us each while blink played")
    print(f"the same steps with a call for each: {1e6 * apart / STEPS:.1f} us each")
    if same != "the same":
        raise SystemExit(1)


def main():
    """Plays blink alone, then alongside calibrations, and compares."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        device = Emulator("demo", Options(forward={MANAGEMENT_PORT: 0, SESSION_PORT: 0}))
        try:
            blink = Blink(folder, device)
            alone = blink.play()
            with hub(folder, f"127.0.0.1:{device.port(MANAGEMENT_PORT)}") as address, connect(address) as lab:
                while not lab.devices()[0].connected:
                    time.sleep(0.01)
                calibrations = Calibrations(lab, device)
                show(alone, *beside(blink, calibrations), calibrations)
        finally:
            device.stop()


if __name__ == "__main__":
    main()
