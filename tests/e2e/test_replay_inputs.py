"""`kairos replay` of runs whose inputs were recorded by the device's analyzer: the twin gets them again, at whatever
time its kernels run."""

import json
import shutil

import h5py
import pytest

from kairos.contracts import analyzer, session
from kairos.contracts.spi import SpiFlag
from kairos.devices import DeviceDB
from kairos.emulator import Emulator, Options
from kairos.network.analyzer import Dump, InputMessage, OutputMessage
from kairos.twin.inputs import Inputs, _edges, _levels
from kairos.twin.replay import replayed
from kairos.twin.serial_words import bits_of
from tests.support.command import heed_signals, run_kairos
from tests.support.gateware import built
from tests.support.laboratory import Laboratory
from tests.support.paths import EXAMPLES
from tests.support.ports import free_port
from tests.support.waiting import until

ION = EXAMPLES / "ion"
BRANCHES = """
from artiq.experiment import *
from trap import Trap


class Branches(Trap, EnvExperiment):
    def build(self):
        self.build_trap()
        self.edges = self.get_device("ttl0")
        self.marker = self.get_device("ttl5")

    def prepare(self):
        self.set_dataset("counts", [])

    def chosen(self, count) -> TInt32:
        self.append_to_dataset("counts", count)
        return count % 3

    @kernel
    def run(self):
        self.setup()
        for i in range(4):
            self.core.break_realtime()
            self.cool()
            self.qubit.sw.pulse(5 * us)
            delay(2 * us)
            count = self.detect()
            self.core.break_realtime()
            for j in range(count % 5):
                self.marker.pulse(1 * us)
                delay(1 * us)
            for j in range(self.chosen(count)):
                self.core.break_realtime()
                self.marker.pulse(2 * us)
                delay(1 * us)
            self.core.break_realtime()
            self.cooling.sw.on()
            end = self.edges.gate_rising(50 * us)
            self.cooling.sw.off()
            seen = self.edges.count(end)
            self.chosen(seen)
            self.core.break_realtime()
            for j in range(seen % 4):
                self.marker.pulse(3 * us)
                delay(1 * us)
"""
"""What it does depends on counts, which depend on the bench's random numbers: of a counter, and of edges."""


def written(folder, host):
    """Write the experiment and its laboratory, with the core device at `host`."""
    built("ion")
    (folder / "trap.py").write_text((ION / "trap.py").read_text())
    (folder / "branches.py").write_text(BRANCHES)
    # Other noise than that of the twin's own bench.
    (folder / "bench.toml").write_text((ION / "bench.toml").read_text().replace("seed = 2718", "seed = 4711"))
    (folder / "device_db.py").write_text((ION / "device_db.py").read_text().replace("emulator://ion", host))


@pytest.fixture
def hardware(tmp_path):
    """A folder with the experiment, and a device that is reached by its address only."""
    # That of the analyzer is as far behind it as on a device.
    port = free_port(analyzer.PORT - session.PORT)
    written(tmp_path, f"127.0.0.1:{port}")
    options = Options(
        forward={session.PORT: port, analyzer.PORT: port + analyzer.PORT - session.PORT},
        bench=str(tmp_path / "bench.toml"),
        entries=DeviceDB.load(ION / "device_db.py").entries,
    )
    device = Emulator("ion", options)
    device.wait_ready()
    yield tmp_path
    device.stop()


def replay(folder, *words, code=0):
    done = run_kairos("replay", *words, cwd=folder)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def compared_by_records(folder):
    """Compare runs without waveforms by what the device's analyzer has recorded."""

    def diff(*words):
        return run_kairos("runs", "diff", *words, cwd=folder)

    same = diff("run.h5", "run.h5")
    assert same.returncode == 0 and same.stdout.startswith("the waveforms are the same: "), same.stdout + same.stderr
    assert "the records of the devices' analyzers" in same.stderr
    other = diff("before.h5", "run.h5")
    assert other.returncode == 1 and "\nttl5: " in f"\n{other.stdout}", other.stdout
    shutil.copy(folder / "run.h5", folder / "without.h5")
    with h5py.File(folder / "without.h5", "r+") as file:
        del file["replay/inputs"]
    without = diff("run.h5", "without.h5")
    assert without.returncode == 1 and len(without.stderr.splitlines()) == 1 and "has no waveform" in without.stderr


def test_run_on_other_hardware_is_repeated_with_its_inputs(hardware):
    # A second run, so that the device has events of another one.
    for name in ("before.h5", "run.h5"):
        done = run_kairos("run", "branches.py", "-o", name, "--record-inputs", cwd=hardware)
        assert done.returncode == 0, done.stderr
    with h5py.File(hardware / "run.h5") as file, h5py.File(hardware / "before.h5") as before:
        assert list(file["datasets/counts"]) != list(before["datasets/counts"])
        assert len(set(file["datasets/counts"])) > 2
    compared_by_records(hardware)
    failed = replay(hardware, "run.h5", code=1)
    assert "--twin emulator://VARIANT" in failed.stderr
    done = replay(hardware, "run.h5", "--twin", "emulator://ion", "--json")
    found = json.loads(done.stdout)
    assert found["same"] and found["differences"] == [] and found["missing"] == 0 and found["outputs"] > 100
    # With the inputs of another run, it takes other branches.
    with h5py.File(hardware / "run.h5", "r+") as file, h5py.File(hardware / "before.h5") as before:
        del file["replay/inputs"]
        file["replay/inputs"] = before["replay/inputs"][()]
    done = replay(hardware, "run.h5", "--twin", "emulator://ion", code=1)
    assert "outputs instead of" in done.stdout


ARMED = """        if len(self.get_dataset("counts")) == 8:
            import os, signal, threading

            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        return count % 3"""


def test_endless_kernel_on_hardware_is_repeated_up_to_its_interruption(hardware):
    endless = BRANCHES.replace("for i in range(4):", "while True:").replace("        return count % 3", ARMED)
    (hardware / "branches.py").write_text(endless)
    words = ("run", "branches.py", "-o", "run.h5", "--record-inputs")
    done = run_kairos(*words, cwd=hardware, preexec_fn=heed_signals)
    assert "interrupted" in done.stderr and (hardware / "run.h5").exists(), done.stderr
    found = replayed(hardware / "run.h5", "emulator://ion", debugged=True)
    assert found.differences == [] and found.complete and found.outputs > 100
    last = found.recording.duration_ns
    assert found.at(last)["next"] is None and found.at(last // 2)["next"] and found.at(0)["output"]
    assert found.steps and all(step.time_ns <= found.end_ns for step in found.steps)


def test_run_of_a_laboratory_is_repeated_by_its_number(tmp_path):
    lab = Laboratory(tmp_path, "[rehearsal]\ninputs = true\n", device_db=(ION / "device_db.py").read_text())
    written(lab.folder, "emulator://ion")
    for name in ("trap.py", "branches.py"):
        (lab.folder / name).replace(lab.folder / "repository" / name)
    lab.start()
    try:
        until(lambda: "branches" in str(lab.experiments()["experiments"]))
        expid = {"file": "branches.py", "class_name": "Branches", "repo_rev": None, "log_level": 30}
        for _ in range(2):
            rid = lab.submit(expid)
            lab.ends(rid)
        done = replay(lab.folder, str(rid), "--json")
    finally:
        lab.close()
    found = json.loads(done.stdout)
    assert found["same"] and found["outputs"] > 100 and found["missing"] == 0


def test_inputs_recorded_for_emulated_device_are_refused(tmp_path):
    written(tmp_path, "emulator://ion")
    done = run_kairos("run", "branches.py", "-o", "run.h5", "--record-inputs", cwd=tmp_path)
    assert done.returncode == 2 and "come from the bench" in done.stderr


def test_edges_of_one_kind_become_pulses():
    assert _edges(3, [(100, 1), (108, 1), (500, 1)]) == [
        (100, 3, 1),
        (104, 3, 0),
        (108, 3, 1),
        (128, 3, 0),
        (500, 3, 1),
        (520, 3, 0),
    ]
    assert _edges(3, [(100, 1), (500, 0), (900, 1)]) == [(100, 3, 1), (500, 3, 0), (900, 3, 1), (920, 3, 0)]
    assert _edges(3, [(100, 0), (500, 0)]) == [(80, 3, 1), (100, 3, 0), (480, 3, 1), (500, 3, 0)]
    assert _edges(3, [(100, 0)]) == [(80, 3, 1), (100, 3, 0)]
    assert _edges(3, [(100, 1), (108, 0)]) == [(100, 3, 1), (108, 3, 0)]


def test_count_becomes_pulses_within_its_gate():
    entries = {
        "ttl0": {"type": "local", "module": "m", "class": "TTLInOut", "arguments": {"channel": 0}},
        "ttl0_counter": {"type": "local", "module": "m", "class": "EdgeCounter", "arguments": {"channel": 8}},
    }
    gate = [OutputMessage(8, 1000, 500, 0, 0b1001), OutputMessage(8, 2000, 600, 0, 0b0100)]
    drivers = {0: "TTLInOut", 8: "EdgeCounter"}

    def levels(count, first=gate):
        dump = Dump(9, False, [*first, InputMessage(8, 2000, 2100, count)])
        return _levels(dump, drivers, DeviceDB(entries), 1.0)

    found, missing = levels(3)
    assert missing == 0 and [one.level for one in found] == [1, 0] * 3
    assert all(1000 <= one.at_ns < 2000 and one.channel == 0 for one in found)
    assert levels(0) == ([], 0)
    assert levels(500) == ([], 1)  # closer than pins of every kind can tell apart
    assert levels(3, gate[1:]) == ([], 1)  # its gate was opened before


def test_inputs_are_written_with_the_pins_that_they_follow(tmp_path):
    marker, edges, clock, data = (1, None), (2, None), (12, "clk"), (12, "miso")
    changes = [(marker, 1, 40, edges, 1), (marker, 3, 0, edges, 0), (clock, 0, 1, data, 1)]
    Inputs({}, changes, 0).write(tmp_path)
    found = json.loads((tmp_path / "inputs.json").read_text())
    assert found["anchors"] == [[1, None], [12, "clk"]] and found["inputs"] == [[2, None], [12, "miso"]]
    assert found["changes"] == [[0, 1, 40, 0, True], [0, 3, 0, 0, False], [1, 0, 1, 1, True]]


READS = """
from artiq.coredevice.spi2 import SPI_CLK_PHASE, SPI_CS_POLARITY, SPI_END, SPI_INPUT
from artiq.experiment import *


class Reads(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl5")
        self.bus = self.get_device("spi_urukul0")

    def prepare(self):
        self.set_dataset("read", [])

    def note(self, word) -> TInt32:
        self.append_to_dataset("read", word)
        return word

    @kernel
    def run(self):
        self.core.reset()
        self.core.break_realtime()
        self.bus.set_config_mu(SPI_INPUT | SPI_END | SPI_CS_POLARITY, 24, 32, 1)
        self.bus.write(0)
        status = self.bus.read()
        self.note(status)
        self.core.break_realtime()
        # What it does depends on the word.
        for i in range(1 + ((status >> 18) & 3)):
            self.ttl5.pulse(1 * us)
            delay(1 * us)
        self.core.break_realtime()
        self.bus.set_config_mu(SPI_INPUT | SPI_END | SPI_CS_POLARITY | SPI_CLK_PHASE, 16, 4, 1)
        self.bus.write(0)
        again = self.bus.read()
        self.note(again)
        self.core.break_realtime()
        for i in range(again & 15):
            self.ttl5.pulse(1 * us)
            delay(1 * us)
"""


def test_words_that_came_over_a_bus_are_repeated(tmp_path):
    written(tmp_path, f"127.0.0.1:{(port := free_port(analyzer.PORT - session.PORT))}")
    (tmp_path / "reads.py").write_text(READS)
    # Its card has another revision than the model of the twin.
    (tmp_path / "bench.toml").write_text("[urukul.urukul0]\nproto_rev = 8\n")
    options = Options(
        forward={session.PORT: port, analyzer.PORT: port + analyzer.PORT - session.PORT},
        bench=str(tmp_path / "bench.toml"),
        entries=DeviceDB.load(ION / "device_db.py").entries,
    )
    device = Emulator("ion", options)
    try:
        device.wait_ready()
        done = run_kairos("run", "reads.py", "-o", "run.h5", "--record-inputs", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    finally:
        device.stop()
    with h5py.File(tmp_path / "run.h5") as file:
        status, again = file["datasets/read"][...].tolist()
    assert status >> 16 & 0x7F == 8 and again > 0, again
    (tmp_path / "bench.toml").unlink()
    found = json.loads(replay(tmp_path, "run.h5", "--twin", "emulator://ion", "--json").stdout)
    assert found["same"] and found["missing"] == 0 and found["outputs"] == 10, found


def test_bits_of_words_come_with_the_clock():
    config = SpiFlag.INPUT | (4 - 1) << 8
    sent = [
        OutputMessage(3, 100, 0, 1, config),
        OutputMessage(3, 200, 0, 0, 0),
        OutputMessage(3, 300, 0, 1, config | SpiFlag.CLK_POLARITY | SpiFlag.LSB_FIRST),
        OutputMessage(3, 400, 0, 0, 0),
    ]
    received = [InputMessage(3, 250, 260, 0b0110), InputMessage(3, 450, 460, 0b0011 << 28)]
    bits, missing = bits_of(sent, received)
    # Before the second pulse, before the fourth; the polarity is one change more.
    first = [(2, "miso", 1), (6, "miso", 0)]
    assert missing == 0 and [tuple(bit) for bit in bits] == [*first, (9, "miso", 1), (13, "miso", 0)]
    assert bits_of(sent, [InputMessage(3, 50, 60, 1)]) == ([], 1)
    assert bits_of([], received) == ([], 2)
