"""The command's messages for mistakes that are detected without a device."""

import os
import subprocess
import sys
import time

import pytest

from kairos.cli import main
from tests.support.host_experiments import DEVICES, HEAD, Runner, experiment


@pytest.fixture
def kairos(tmp_path):
    return Runner(tmp_path)


def one_line(done, text, code=1):
    assert done.returncode == code, done.stderr
    assert done.stderr.startswith("kairos: ") and len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert text in done.stderr


def test_experiment_without_kernel_runs_on_host(kairos):
    done = kairos(experiment('self.set_dataset("x", 3); print("ran")'), "-o", "out.h5")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "ran"


def test_neighbour_written_again_in_the_same_second_is_imported_as_it_is(kairos):
    """Compiled modules know a source by its second and size. The time of this one stays that of something new."""
    neighbour, written = kairos.directory / "counts.py", time.time() + 3600
    for value in (3, 5):
        neighbour.write_text(f"COUNT = {value}\n")
        os.utime(neighbour, (written, written))
        done = kairos("from counts import COUNT\n" + experiment("print(COUNT)"))
        assert done.returncode == 0 and done.stdout.splitlines()[0] == str(value), done.stdout + done.stderr


def test_datasets_are_printed_in_order_of_keys(kairos):
    done = kairos(experiment('self.set_dataset("b", 3); self.set_dataset("a", [1])'))
    assert done.stdout.splitlines()[-2:] == ["a: [1]", "b: 3"]


@pytest.mark.parametrize(
    ("source", "arguments", "text"),
    [
        ("", [], "no experiments in"),
        (experiment("pass") + "class Other(Exp): pass\n", [], "choose with -c Exp|Other"),
        (experiment("pass"), ["-c", "Nope"], "has no experiment 'Nope'; it has Exp"),
        (experiment("pass"), ["n=1"], "Exp has no argument n; it takes none"),
        (experiment("pass"), ["n"], "argument 'n' is not KEY=VALUE"),
        (experiment("pass"), ["n=1", "n=2"], "argument 'n' is given twice"),
        (
            experiment("pass", 'self.setattr_argument("n")'),
            ["n=abc"],
            "= abc: it is not a PYON value; text needs",
        ),
        (experiment("pass", 'self.setattr_argument("n", NumberValue())'), ["n=abc"], "'n' = abc: it is not a number"),
        (experiment("pass", 'self.setattr_argument("n", NumberValue())'), [], "give it as n=VALUE"),
        (experiment("pass", 'self.setattr_device("tll0")'), [], "the device 'tll0' is not in the device database"),
        (experiment("pass"), ["--vcd", "x.vcd"], "require an emulated device, but 'core' is not emulated"),
        (experiment("pass"), ["--table", "many"], "give a number of pulses, or 'all'"),
        (experiment("pass"), ["--device-db", "none.py"], "there is no device database none.py"),
    ],
)
def test_wrong_arguments_are_reported_in_one_line(kairos, source, arguments, text):
    of_files = ("no experiments in", "not in the device database", "there is no device database")
    one_line(kairos(source, *arguments), text, code=1 if text.startswith(of_files) or of_files[1] in text else 2)


ARGUMENTS = experiment(
    "pass",
    'self.setattr_argument("length", NumberValue(20*us, unit="us", min=1*us, max=1*ms), "pulse", "its duration")\n'
    '        self.setattr_argument("mode", EnumerationValue(["fast", "slow"], default="slow"))\n'
    '        self.setattr_argument("shots", NumberValue(type="int", precision=0, step=1))\n'
    '        self.setattr_argument("scan", Scannable(RangeScan(0, 1, 3), unit="kHz"))\n'
    '        self.setattr_argument("cool", BooleanValue(True))',
)


@pytest.mark.parametrize("words", [["--help"], ["-h"]])
def test_help_with_file_lists_arguments_of_experiment(kairos, words):
    done = kairos(ARGUMENTS, *words)
    assert done.returncode == 0, done.stderr
    rows = {line.split()[0]: line for line in done.stdout.splitlines()[2:] if line.startswith("  ")}
    assert (
        "20us" in rows["length"]
        and "in us, 1us to 1000us" in rows["length"]
        and "pulse: its duration" in rows["length"]
    )
    assert "slow" in rows["mode"] and "fast | slow" in rows["mode"]
    assert "(required)" in rows["shots"] and "integer" in rows["shots"]
    assert "scan in kHz" in rows["scan"] and "true or false" in rows["cool"]
    assert "takes no arguments" in kairos(experiment("pass"), "--help").stdout


def test_unknown_argument_is_reported_with_nearest_name(kairos):
    one_line(kairos(ARGUMENTS, "lenght=3us", "shots=1"), "Exp has no argument lenght: did you mean length?", code=2)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["rnu"], "there is no 'rnu': did you mean run?"),
        (["device", "lgo"], "there is no 'lgo': did you mean log?"),
        (["run", "x.py", "--vdc", "a"], "unrecognized arguments: --vdc: did you mean --vcd?"),
        (["compile", "x.py", "--emit", "llvn"], "there is no 'llvn': did you mean llvm?"),
        (["analyze", "--host", "x"], "unrecognized arguments: --host: did you mean --device?"),
    ],
)
def test_misspelt_command_line_suggests_similar_word(words, text):
    done = subprocess.run([sys.executable, "-m", "kairos", *words], capture_output=True, text=True)
    assert done.returncode == 2 and text in done.stderr, done.stderr


def test_output_that_would_replace_an_input_is_refused(tmp_path, capsys):
    (tmp_path / "lab.json").write_text("{}")
    (tmp_path / "link").symlink_to("lab.json")
    for words in (
        ["devices", "--from", "lab.json", "-o", "link"],
        ["compile", "lab.json", "-o", "lab.json"],
        ["analyze", "lab.json", "--scope", "link"],
    ):
        words = [str(tmp_path / word) if (tmp_path / word).exists() else word for word in words]
        assert main(words) == 2
        assert "would replace a file that this command reads: give the output another name" in capsys.readouterr().err
    assert (tmp_path / "lab.json").read_text() == "{}"


def test_device_database_of_the_user_is_not_replaced_by_a_generated_one(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lab.json").write_text("{}")
    (tmp_path / "device_db.py").write_text("device_db = {}")
    assert main(["devices", "--from", "lab.json", "-o", "device_db.py"]) == 2
    assert "device_db.py is there already, and may have been edited: remove it first" in capsys.readouterr().err
    assert main(["devices", "--from", "lab.json", "--host", "not a host"]) == 2
    assert "--host 'not a host' is no address: HOST, HOST:PORT or emulator://VARIANT" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--from", "x"], "--from x: give a time with its unit"),
        (["--from", "2us", "--to", "1us"], "--to 1us is not after --from 2us"),
        (["--last", "many"], "--last many: give a time with its unit"),
        (["--set", "a"], "--set a is not NAME=VALUE"),
        (["--forward", "1:65536"], "--forward 1:65536 is not HOST_PORT:DEVICE_PORT, each at most 65535"),
        (["--forward", "²:1"], "--forward ²:1 is not HOST_PORT:DEVICE_PORT"),
    ],
)
def test_wrong_options_are_one_line(kairos, words, text):
    one_line(kairos(experiment("pass"), *words), text, code=2)


def test_device_database_may_import_artiq(kairos):
    devices = f"from artiq.language.units import MHz\n{DEVICES}device_db['core']['sysclk'] = 1000 * MHz\n"
    done = kairos(experiment('print(self.get_device_db()["core"]["sysclk"])'), devices=devices)
    assert done.stdout.startswith("1000000000.0"), done.stderr


def test_missing_experiment_file_is_rejected(kairos, tmp_path):
    line = [sys.executable, "-m", "kairos", "run", "nowhere.py", "--device-db", "device_db.py"]
    (tmp_path / "device_db.py").write_text(DEVICES)
    one_line(subprocess.run(line, cwd=tmp_path, capture_output=True, text=True), "there is no file nowhere.py")


def test_syntax_error_is_shown_with_its_line(kairos):
    done = kairos(HEAD + "def f(:\n    pass\n")
    assert done.returncode == 1
    assert done.stderr.startswith("kairos: the experiment is not valid Python")
    assert 'exp.py", line 2' in done.stderr and "def f(:" in done.stderr and "Traceback" not in done.stderr


def test_exception_of_the_experiment_shows_its_own_lines_only(kairos):
    done = kairos(experiment("self.helper()\n    def helper(self):\n        raise ValueError('no light')"))
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("ValueError: no light")
    assert done.stderr.count("  File ") == 2 and "kairos/" not in done.stderr


def test_exit_code_of_experiment_is_kept(kairos):
    assert kairos("import sys\n" + experiment("sys.exit(3)")).returncode == 3
    done = kairos("import sys\n" + experiment("sys.exit('done for today')"))
    assert done.returncode == 1 and done.stderr.strip() == "done for today"


def test_missing_emulator_or_variant_is_rejected(kairos, tmp_path, monkeypatch):
    monkeypatch.setenv("KAIROS_BUILD", str(tmp_path / "nothing"))
    done = kairos(experiment("pass"), devices=DEVICES.replace("None", "'emulator://demo'"))
    one_line(done, "build with 'make emulator firmware gateware'")
    monkeypatch.undo()
    one_line(kairos(experiment("pass"), devices=DEVICES.replace("None", "'emulator://'")), "use emulator://VARIANT")


def test_unknown_subcommand_is_rejected_without_traceback():
    done = subprocess.run([sys.executable, "-m", "kairos", "fly"], capture_output=True, text=True)
    assert done.returncode == 2 and "invalid choice: 'fly'" in done.stderr and "Traceback" not in done.stderr


def test_arguments_after_options_are_accepted(kairos):
    source = experiment("print(self.n)", 'self.setattr_argument("n", NumberValue(precision=0, step=1))')
    done = kairos(source, "-c", "Exp", "n=4", "-q")
    assert done.returncode == 0 and done.stdout == "4\n", done.stderr


def test_version_command_prints_the_version():
    done = subprocess.run([sys.executable, "-m", "kairos", "version"], capture_output=True, text=True)
    assert done.stdout.startswith("kairos ")
