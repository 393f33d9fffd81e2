"""An experiment as the idle kernel: compiled, written to the device, run by it."""

import re

from tests.support import sd_card
from tests.support.command import run_kairos
from tests.support.kernels import edges
from tests.support.waiting import until

EXPERIMENT = """from artiq.experiment import *


class Alone(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")

    @kernel
    def run(self):
        self.core.reset()
        for i in range(3):
            self.ttl4.pulse(1 * us)
            delay(9 * us)
        delay(1 * ms)
        self.core.wait_until_mu(now_mu())
"""


PRINTS = """from artiq.experiment import *


class Prints(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.lines = 0

    @kernel
    def run(self):
        self.lines += 1
        print("hello from", self.lines, int64(1) << 40, True, None, 100 % 7)
        print(1.0, 100000.0, 1234567.0, -0.25, "100%")
        core_log((1, "x", True, None), ("x",), [["a"]])
        values = [i * 0.5 for i in range(3)]
        print(values, [0][0:0], range(2, 9, 3), [[1, 2], [3]], [(1, False)])
        try:
            raise ValueError("no", 1, 2, int64(3))
        except ValueError as e:
            print("caught", e)
        print()
        print("last")
"""


def device(address, *arguments):
    """Run `kairos device`."""
    return run_kairos("device", "-D", address, *arguments)


def install(kairos, emulated, source, library):
    """Compile an experiment and make it the idle kernel; returns the address of the management
    service."""
    path = kairos.write(source, head="", name="alone.py")
    done = kairos("compile", path, "--emit", "elf", "--output", library)
    assert done.returncode == 0, done.stderr
    address = f"{emulated.host}:{emulated.ports[1380]}"
    done = device(address, "config", "write", "-f", "idle_kernel", library)
    assert done.returncode == 0, done.stderr
    return address


def test_compiled_experiment_runs_as_idle_kernel(kairos, start_device, tmp_path):
    emulated = start_device(tmp_path, sd=sd_card.make(tmp_path / "card", []))
    try:
        address = install(kairos, emulated, EXPERIMENT, tmp_path / "alone.elf")

        def found():
            return [when for when, level in edges(emulated) if level == 1]

        until(lambda: len(found()) >= 6, emulated.uart)
        rises = found()
        assert [rise - rises[0] for rise in rises[:3]] == [0, 10_000, 20_000]
        assert rises[3] - rises[2] > 1_000_000
        done = device(address, "log")
        assert "idle kernel: running" in done.stdout and "idle kernel: it" not in done.stdout, done.stdout
    finally:
        emulated.close()


def test_print_of_standalone_kernel_goes_to_log(kairos, start_device, tmp_path):
    """Formats as documented by the reference. Nothing stops the kernel: it runs repeatedly."""
    emulated = start_device(tmp_path, sd=sd_card.make(tmp_path / "card", []))
    try:
        address = install(kairos, emulated, PRINTS, tmp_path / "prints.elf")

        log = ""

        def printed_twice():
            nonlocal log
            log = device(address, "log").stdout
            return log.count("kernel): last") >= 2

        until(printed_twice, lambda: log)  # from one reading: the log grows, and drops its beginning
        lines = [line.partition(" INFO(kernel): ")[2] for line in log.splitlines() if "(kernel)" in line]
        first = lines[: lines.index("last") + 1]
        assert re.fullmatch(r"caught \d+\(1, 2, 3\)", first.pop(4))
        assert first == [
            "hello from 1 1099511627776 True None 2",
            "1 100000 1.23457e+06 -0.25 100%",
            '(1, "x", True, None) ("x",) [["a"]]',
            "[0, 0.5, 1] [] range(2, 9, 3) [[1, 2], [3]] [(1, False)]",
            "last",
        ]
        assert "idle kernel: it" not in log, log
    finally:
        emulated.close()


def test_core_log_of_host_kernel_goes_to_log(kairos):
    """`print` is the host's, with all its features; `core_log` still goes to the log of the device."""
    body = "core_log('on the device', 1)\n        print('on the', 'host', sep='-')"
    done = kairos("run", kairos.write(PRINTS[: PRINTS.index("self.lines += 1")] + body + "\n", head="", name="both.py"))
    assert done.returncode == 0, done.stderr
    assert "on the-host" in done.stdout and "on the device" not in done.stdout


def test_kernel_prints_arrive_in_order(kairos):
    """Between blocking calls, whatever its length, and before the exception that ends the kernel."""
    body = """
    def build(self):
        self.setattr_device("core")
        self.long = list(range(100_000))

    def say(self, number):
        print("host", number)

    @kernel
    def run(self):
        for i in range(3):
            print("kernel", i, end="!\\n")
            self.say(i)
        print(self.long)
        print(f"{2.5:.2f}")
        raise ValueError("the end")
"""
    done = kairos.run(body, head="from artiq.experiment import *\n\n\nclass Exp(EnvExperiment):")
    said = [line for n in range(3) for line in (f"kernel {n}!", f"host {n}")]
    assert done.stdout.splitlines()[:8] == [*said, str(list(range(100_000))), "2.50"]
    assert done.returncode == 1 and "ValueError: the end" in done.stderr


def test_unsupported_standalone_print_is_rejected(kairos, tmp_path):
    body = "print('a', sep='-')"
    path = kairos.write(PRINTS[: PRINTS.index("self.lines += 1")] + body + "\n", head="", name="no_keywords.py")
    done = kairos("compile", path, "--emit", "elf", "--output", tmp_path / "no_keywords.elf")
    assert done.returncode == 1
    assert "'print' takes no keyword arguments" in done.stderr and "writes to the log of the device" in done.stderr


def test_standalone_kernel_with_rpc_is_rejected(kairos, tmp_path):
    """With the place of the call; other stages show their output."""
    body = "self.count(1)\n\n    def count(self, n):\n        self.lines += n\n"
    path = kairos.write(PRINTS[: PRINTS.index("self.lines += 1")] + body, head="", name="needs_host.py")
    done = kairos("compile", path, "--output", tmp_path / "needs_host.elf")
    assert done.returncode == 1 and not (tmp_path / "needs_host.elf").exists()
    assert "'count' runs on the host, but startup and idle kernels have none" in done.stderr
    assert "needs_host.py:11" in done.stderr and "self.count(1)" in done.stderr
    done = kairos("compile", path, "--emit", "llvm")
    assert done.returncode == 0 and "@rpc_send" in done.stdout
