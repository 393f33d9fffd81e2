"""The demonstration from the user's side: reproducible pulses, as specified by the experiment."""

import re

import pytest

from tests.support.paths import EXAMPLES
from tests.support.waveforms import expected_blink, pulses_of_vcd


def blink(kairos, name, *arguments):
    done = kairos("run", EXAMPLES / "blink.py", "--vcd", name, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return (kairos.directory / name).read_bytes(), done.stdout


def test_pulses_in_the_file_match_the_experiment(kairos):
    vcd, output = blink(kairos, "a.vcd", "--log", "device.log")
    assert "INFO" in (kairos.directory / "device.log").read_text()
    pulses = pulses_of_vcd(vcd.decode())
    assert (pulses["ttl4"], pulses["ttl5"]) == expected_blink()
    assert all(not found for name, found in pulses.items() if name not in ("ttl4", "ttl5"))
    assert output.splitlines()[0] == "blinked 5 times"
    assert re.search(r"kernel compiled in \d+ ms, device booted in \d+ ms, 20 pin events, \d+ RPCs", output)
    assert re.search(r"^ttl4 +0 +2,000 +0 ns +2 us$", output, re.MULTILINE)


def test_repeated_run_writes_same_file(kairos):
    first, _ = blink(kairos, "a.vcd")
    second, _ = blink(kairos, "b.vcd")
    assert first == second


def test_run_without_skip_writes_same_file(kairos):
    first, _ = blink(kairos, "a.vcd")
    second, _ = blink(kairos, "b.vcd", "--no-skip")
    assert first == second


def test_arguments_reach_the_kernel(kairos):
    vcd, output = blink(kairos, "a.vcd", "pulses=2")
    assert pulses_of_vcd(vcd.decode())["ttl4"] == expected_blink(2)[0]
    assert "blinked 2 times" in output


def test_plot_option_writes_a_picture(kairos):
    done = kairos("run", EXAMPLES / "blink.py", "--plot", "blink.png")
    assert done.returncode == 0, done.stderr
    assert (kairos.directory / "blink.png").read_bytes().startswith(b"\x89PNG")


def test_waiting_time_of_a_second_is_exact(kairos):
    done = kairos("run", EXAMPLES / "wait_one_second.py", "--vcd", "a.vcd")
    assert done.returncode == 0, done.stderr
    first, second = pulses_of_vcd((kairos.directory / "a.vcd").read_text())["ttl4"]
    assert first == (0, 10_000) and second == (1_000_010_000, 1_000_020_000)


def test_attributes_and_results_return_to_host(kairos):
    done = kairos.run(
        """
    def run(self):
        self.n = 1
        self.values = [1, 2, 3]
        print("returned", self.kernel(20))
        print("n is", self.n, "values", self.values)

    @kernel
    def kernel(self, x):
        self.n = self.n + x
        for i in range(len(self.values)):
            self.values[i] = self.values[i] * 2
        self.set_dataset("result", 1.5 * x)
        return x * 2
"""
    )
    assert done.returncode == 0, done.stderr
    assert "returned 40\nn is 21 values [2, 4, 6]" in done.stdout
    assert "result: 30.0" in done.stdout


@pytest.mark.parametrize("stage", ["ast", "types", "ir", "llvm", "asm"])
def test_output_of_each_compiler_stage_is_printed(kairos, stage):
    done = kairos("compile", EXAMPLES / "blink.py", "--emit", stage)
    assert done.returncode == 0, done.stderr
    assert "pulse" in done.stdout


def test_compile_command_writes_the_library(kairos):
    done = kairos("compile", EXAMPLES / "underflow.py", "-o", "kernel.elf")
    assert done.returncode == 0, done.stderr
    assert (kairos.directory / "kernel.elf").read_bytes().startswith(b"\x7fELF")
