"""Commands with ARTIQ's names and flags."""

import sys

import pytest

from kairos.cli import main
from kairos.compat import commands
from tests.support.analyzer_record import DUMP
from tests.support.paths import EXAMPLES, ROOT

DATABASE = ("--device-db", str(EXAMPLES / "device_db.py"))
EXPERIMENT = """from artiq.experiment import *


class Exp(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")
        self.setattr_argument("n", NumberValue(1, precision=0, step=1, type="int"))

    @kernel
    def run(self):
        self.core.reset()
        for i in range(self.n):
            self.ttl4.pulse(1*us)
            delay(1*us)
        self.core.wait_until_mu(now_mu())
        self.set_dataset("pulses", self.n)
"""


@pytest.fixture
def typed(monkeypatch, tmp_path, capsys):
    """Runs a command line in its own folder; returns the exit code and the output."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "exp.py").write_text(EXPERIMENT)
    (tmp_path / "dump").write_bytes(DUMP)

    def run(command, *words):
        monkeypatch.setattr(sys, "argv", [command.__name__, *words])
        try:
            code = command()
        except SystemExit as end:
            code = end.code
        return code, capsys.readouterr()

    return run


def test_artiq_run_executes_the_experiment(typed, tmp_path):
    code, printed = typed(commands.run, *DATABASE, "-c", "Exp", "exp.py", "n=3")
    assert code == 0 and printed.out.splitlines()[-1] == "pulses: 3" and "ttl4" not in printed.out
    assert typed(commands.run, *DATABASE, "-q", "-o", "out.h5", "exp.py")[0] == 0 and (tmp_path / "out.h5").exists()


def test_artiq_compile_writes_the_library(typed, tmp_path):
    (tmp_path / "alone.py").write_text(EXPERIMENT.replace('        self.set_dataset("pulses", self.n)\n', ""))
    assert typed(commands.compile_experiment, *DATABASE, "-o", "out.elf", "alone.py")[0] == 0
    assert (tmp_path / "out.elf").read_bytes().startswith(b"\x7fELF")
    code, printed = typed(commands.compile_experiment, *DATABASE, "exp.py")
    assert code == 1 and "kairos: " in printed.err


def test_artiq_coreanalyzer_prints_and_converts_dump(typed, tmp_path):
    code, printed = typed(commands.analyzer, *DATABASE, "-r", "dump", "-p")
    assert code == 0 and "ttl4" in printed.out
    code, printed = typed(commands.analyzer, *DATABASE, "-r", "dump", "-w", "out.vcd")
    assert code == 0 and "ttl4" not in printed.out and (tmp_path / "out.vcd").exists()
    assert typed(commands.analyzer, *DATABASE, "-r", "dump")[0] == 1
    assert typed(commands.analyzer, *DATABASE, "-r", "dump", "-p", "-u")[0] == 2


def test_artiq_device_commands_parse_and_report_errors(typed):
    assert typed(commands.names, *DATABASE, "map")[0] == 0
    assert "ttl4" in typed(commands.names, "--show", "map")[1].out
    for command in (commands.management, commands.flash):
        words = ("log",) if command is commands.management else ("dump",)
        code, printed = typed(command, "-D", "127.0.0.1:1", *words)
        assert code == 1 and "kairos: " in printed.err
    code, printed = typed(commands.management, "-D", "127.0.0.1:1", "-s", "1", "log")
    assert code == 1 and "port 1, destination 1" in printed.err


def devices() -> int:
    return main(["devices", *sys.argv[1:]])


def test_artiq_ddb_template_writes_device_database(typed, tmp_path):
    """It equals the database built with the gateware, and `kairos devices` reads it."""
    description = ROOT / "src/gateware/kairos_gateware/description/lab.json"
    code, said = typed(commands.device_database, str(description), "-o", "made.py")
    assert (code, said.out) == (0, "wrote made.py\n"), said
    code, said = typed(devices, "--device-db", "made.py")
    assert code == 0 and "urukul0_ch0" in said.out and "sampler0" in said.out
    assert typed(commands.device_database, str(description), "-s", "1", "x.json")[0] == 2
    (tmp_path / "bad.json").write_text('{"target": "kasli_soc"}')
    code, said = typed(commands.device_database, "bad.json")
    assert code == 1 and said.err.startswith("kairos: bad.json: top level: ") and said.err.count("\n") == 1
    assert "cannot be read" in typed(commands.device_database, "absent.json")[1].err
