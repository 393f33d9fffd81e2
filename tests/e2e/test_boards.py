"""Several boards in one emulator, from a description: fibre lengths, bit errors, processors of a
satellite."""

import json
import subprocess
from pathlib import Path

import pytest

from kairos.emulator import Emulator, process
from kairos.errors import EmulatorError
from tests.support.databases import two_boards
from tests.support.gateware import built, database
from tests.support.paths import BUILD
from tests.support.waveforms import pulses_of_vcd

SYSTEM = """
[[board]]
name = "master"
variant = "pair"
firmware = "runtime.elf"

[[board]]
name = "satellite"
variant = "satellite"
{firmware}

[[link]]
from = "master"
to = "satellite"
"""
EXPERIMENTS = Path(__file__).with_name("experiments")
SATMAN = 'firmware = "satman.elf"'


@pytest.fixture(scope="module", autouse=True)
def gateware():
    built("pair", "satellite")


@pytest.fixture
def run(kairos, tmp_path):
    """Run an experiment on two boards and a link with these properties; returns the waveform as
    text."""

    def run(*options, firmware="", **link):
        system = tmp_path / "system.toml"
        text = SYSTEM.format(firmware=firmware) + "".join(f"{name} = {value}\n" for name, value in link.items())
        system.write_text(text)
        database = tmp_path / "device_db.py"
        database.write_text(two_boards(f"emulator://{system}"))
        done = kairos("run", EXPERIMENTS / "satellite_pins.py", "--vcd", "a.vcd", *options, device_db=database)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.startswith("the satellite's edge is stamped 0 ns after its event\n")
        return (kairos.directory / "a.vcd").read_text()

    return run


@pytest.mark.parametrize(
    "delay_ns", [100_000, *(pytest.param(delay, marks=pytest.mark.long) for delay in (0, 8, 1005))]
)
@pytest.mark.parametrize("firmware", ["", SATMAN])
def test_pins_agree_for_any_fibre_length(run, delay_ns, firmware):
    pulses = pulses_of_vcd(run(delay_ns=delay_ns, firmware=firmware))
    lengths = [1000 * n for n in range(1, 6)]
    assert [end - start for start, end in pulses["ttl4"]] == lengths
    assert pulses["sat_ttl4"] == [(start, end + 1) for start, end in pulses["ttl4"]]


@pytest.mark.long
def test_star_of_three_satellites_is_synchronous(kairos, tmp_path):
    """Three satellites over links of different lengths, with pulses at each instant of the master's
    time."""
    built("satellite")
    done = kairos("run", EXPERIMENTS / "star.py", "--vcd", "a.vcd", device_db=database("star", tmp_path))
    assert done.stdout.startswith("0\n0\n0\n"), done.stdout + done.stderr
    waveform = (kairos.directory / "a.vcd").read_text()
    boards = ("master", "satellite1", "satellite2", "satellite3")
    assert [f"scope module {board}" in waveform for board in boards] == [True] * 4
    pulses = pulses_of_vcd(waveform)
    assert [end - start for start, end in pulses["ttl4"]] == [1003, 2003, 3003]
    assert {name: pulses[f"{name}_ttl4"] for name in ("sat1", "sat2", "sat3")} == dict.fromkeys(
        ("sat1", "sat2", "sat3"), pulses["ttl4"]
    )


@pytest.mark.parametrize("line", [{"bit_errors": 1e-5}, {"bit_errors": 2e-3, "losses": 0.01}], ids=["1e-5", "2e-3"])
def test_waveform_is_unchanged_by_bit_errors(run, line):
    """On the worse line every tenth word has a bit error, and one in fifty is retransmitted."""
    assert run(delay_ns=1000, seed=3, **line) == run(delay_ns=1000)


def test_line_errors_with_a_seed_are_reproducible(tmp_path):
    """The boards' times agree despite errors: lost words are retransmitted."""
    system = tmp_path / "system.toml"
    system.write_text(SYSTEM.format(firmware="") + "delay_ns = 400\nbit_errors = 0.001\nlosses = 0.02\nseed = 5\n")
    links = []
    for _ in range(2):
        emulator = Emulator(str(system))
        try:
            emulator.wait_ready()
            links += emulator.control.request("links")["links"]
            text = emulator.control.uart()
        finally:
            emulator.stop()
        assert "satellite 1 can be reached: 63 cycles each way" in text
    assert links[0] == links[1]
    assert (links[0]["from"], links[0]["to"], links[0]["delay_ns"]) == ("master", "satellite", 400)
    total = {name: links[0]["down"][name] + links[0]["up"][name] for name in ("sent", "wrong", "lost")}
    assert 0 < total["wrong"] + total["lost"] < total["sent"]


def test_invalid_description_is_rejected_with_reason(tmp_path):
    system = tmp_path / "system.toml"
    system.write_text(SYSTEM.format(firmware="").replace('to = "satellite"', 'to = "elsewhere"'))
    with pytest.raises(EmulatorError, match="system.toml:14: there is no board 'elsewhere'; there is master, "):
        Emulator(str(system)).wait_ready()
    with pytest.raises(EmulatorError, match="no description of boards"):
        Emulator(str(tmp_path / "missing.toml"))


UNPLUGGED = """from artiq.experiment import *
from numpy import int64


class Unplugged(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("sat_ttl4")

    @kernel
    def run(self):
        self.core.reset()
        while not self.core.get_rtio_destination_status(1):
            pass
        first, last, end = int64(-1), int64(-1), self.core.get_rtio_counter_mu() + 1000000000
        while self.core.get_rtio_counter_mu() < end:
            now = self.core.get_rtio_counter_mu()
            self.core.wait_until_mu(now + 1000000)
            if not self.core.get_rtio_destination_status(1):
                if first < 0:
                    first = now
                last = now
        print(first // 1000000, (last - first) // 10000000)
"""


def test_link_is_unplugged_while_a_kernel_runs(kairos, tmp_path):
    """The device, idle before the run, waits for the host and not for the times of the description."""
    system = tmp_path / "system.toml"
    system.write_text(SYSTEM.format(firmware=SATMAN) + "unplugged_ns = [[600_000_000, 800_000_000]]\n")
    (database := tmp_path / "device_db.py").write_text(two_boards(f"emulator://{system}"))
    done = kairos("run", kairos.write("", head=UNPLUGGED), device_db=database)
    assert done.returncode == 0, done.stdout + done.stderr
    first_ms, tens_of_ms = map(int, done.stdout.splitlines()[0].split())
    assert 550 < first_ms < 650 and 19 <= tens_of_ms <= 25, done.stdout


def test_hopeless_line_is_named_as_the_reason(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "READY_TIMEOUT", 4.0)
    system = tmp_path / "system.toml"
    system.write_text(SYSTEM.format(firmware=SATMAN) + "bit_errors = 0.3\n")
    emulator = Emulator(str(system))
    try:
        with pytest.raises(EmulatorError, match="of [0-9]+ words from .* lower bit_errors or losses of this link"):
            emulator.wait_ready()
    finally:
        emulator.stop()


def test_firmware_of_a_satellite_on_the_master_is_reported(tmp_path):
    system = tmp_path / "system.toml"
    system.write_text(SYSTEM.format(firmware=SATMAN).replace("runtime.elf", "satman.elf"))
    emulator = Emulator(str(system))
    try:
        with pytest.raises(EmulatorError, match=r"without a network .*must be a master's \(runtime.elf\)"):
            emulator.wait_ready()
    finally:
        emulator.stop()


def test_satellite_processors_run_with_their_own_console():
    """Its firmware prints on its own UART, and its second core waits for kernels."""
    program = BUILD / "emulator" / "kairos-emulator"
    command = [program, "--system", "pair", "--build", BUILD, "--uart", "-"]
    lines = []
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        for line in process.stdout:
            lines.append(line.strip())
            if line.startswith("{"):
                break
    finally:
        process.kill()
        process.wait()
    assert json.loads(lines[-1])["event"] == "ready"
    for board, first in [("master", "Kairos runtime"), ("satellite", "Kairos satellite")]:
        own = [line for line in lines if line.startswith(f"{board}: ")]
        assert first in own[0]
        assert any("kernel core ready" in line for line in own)
