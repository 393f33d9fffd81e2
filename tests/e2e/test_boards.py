"""Several boards in one emulator, as a description says: lengths of fibre, wrong bits, processors of a satellite."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from kairos_gateware import build
from kairos_gateware.sim.verilate import building_alone
from kairos_gateware.variants import VARIANTS

from kairos.emulator import Emulator
from kairos.errors import EmulatorError
from tests.support.gateware import built
from tests.support.paths import BUILD, EXAMPLES
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
    """Runs an experiment on two boards and a link with these properties; returns the waveform as text."""

    def run(*options, firmware="", **link):
        system = tmp_path / "system.toml"
        text = SYSTEM.format(firmware=firmware) + "".join(f"{name} = {value}\n" for name, value in link.items())
        system.write_text(text)
        database = tmp_path / "device_db.py"
        original = EXAMPLES / "two_boards_device_db.py"
        database.write_text(
            original.read_text().replace("__file__", repr(str(original)))
            + f"\ndevice_db['core']['arguments']['host'] = 'emulator://{system}'\n"
        )
        done = kairos("run", EXPERIMENTS / "satellite_pins.py", "--vcd", "a.vcd", *options, device_db=database)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.startswith("the satellite's edge is stamped 0 ns after its event\n")
        return (kairos.directory / "a.vcd").read_text()

    return run


@pytest.mark.parametrize("delay_ns", [0, 8, 100_000])
@pytest.mark.parametrize("firmware", ["", SATMAN])
def test_pins_agree_over_any_length_of_fibre(run, delay_ns, firmware):
    pulses = pulses_of_vcd(run(delay_ns=delay_ns, firmware=firmware))
    lengths = [1000 * n for n in range(1, 6)]
    assert [end - start for start, end in pulses["ttl4"]] == lengths
    assert pulses["sat_ttl4"] == [(start, end + 1) for start, end in pulses["ttl4"]]


@pytest.mark.long
def test_a_star_of_three_boards(kairos, tmp_path):
    """Over links of different lengths, at each instant in the master's time."""
    star = replace(VARIANTS["pair"], name="star", satellites=VARIANTS["pair"].satellites * 2)
    with building_alone(BUILD / "gateware" / "star") as folder:
        build.build_sim(star, folder)
    system = tmp_path / "star.toml"
    second = '[[board]]\nname = "second"\nvariant = "satellite"\n\n[[link]]'
    text = SYSTEM.format(firmware=SATMAN).replace('"pair"', '"star"').replace("[[link]]", second)
    system.write_text(text + 'delay_ns = 0\n[[link]]\nfrom = "master"\nto = "second"\ndelay_ns = 5000\n')
    database = tmp_path / "device_db.py"
    database.write_text(f"""
import copy, runpy
device_db = runpy.run_path({str(EXAMPLES / "two_boards_device_db.py")!r})["device_db"]
device_db["core"]["arguments"]["host"] = "emulator://{system}"
for channel in (0, 4):
    device_db[f"second_ttl{{channel}}"] = copy.deepcopy(device_db[f"ttl{{channel}}"])
    device_db[f"second_ttl{{channel}}"]["arguments"]["channel"] = 2 << 16 | channel
""")
    done = kairos("run", EXPERIMENTS / "star.py", "--vcd", "a.vcd", device_db=database)
    assert done.stdout.startswith("0\n0\n"), done.stdout + done.stderr
    waveform = (kairos.directory / "a.vcd").read_text()
    assert [f"scope module {board}" in waveform for board in ("master", "satellite1", "satellite2")] == [True] * 3
    pulses = pulses_of_vcd(waveform)
    assert [end - start for start, end in pulses["ttl4"]] == [1003, 2003, 3003]
    assert pulses["ttl4"] == pulses["sat_ttl4"] == pulses["second_ttl4"]


@pytest.mark.parametrize("line", [{"bit_errors": 1e-5}, {"bit_errors": 2e-3, "losses": 0.01}], ids=["1e-5", "2e-3"])
def test_the_waveform_is_the_same_on_a_bad_line(run, line):
    """Of the worse one each tenth word has a wrong bit, and one in fifty is sent again."""
    assert run(delay_ns=1000, seed=3, **line) == run(delay_ns=1000)


def test_wrong_bits_and_lost_words_are_the_same_each_time(tmp_path):
    """The boards' times agree in spite of them: what is lost is asked for anew."""
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


def test_what_is_wrong_with_a_description_is_said(tmp_path):
    system = tmp_path / "system.toml"
    system.write_text(SYSTEM.format(firmware="").replace('to = "satellite"', 'to = "elsewhere"'))
    with pytest.raises(EmulatorError, match="satellite needs one link to it"):
        Emulator(str(system)).wait_ready()
    with pytest.raises(EmulatorError, match="no description of boards"):
        Emulator(str(tmp_path / "missing.toml"))


def test_the_satellites_processors_run():
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
