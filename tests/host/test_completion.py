"""Completion of names: what is proposed for a line, how a word is put back, and the scripts in their shells."""

import os
import shutil
import stat
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as some

from kairos.cli import candidates, main, outline
from kairos.cli.line import words_of
from kairos.experiment.store import DatasetStore
from tests.support import TIMEOUT

EXPERIMENTS = """
from artiq.experiment import *

raise SystemExit("completion executes no experiment")


class Base(EnvExperiment):
    def build(self):
        self.setattr_argument("detuning", NumberValue(0.0, unit="kHz"))


class Scan(Base):
    def build(self):
        super().build()
        self.setattr_argument("order", EnumerationValue(["forwards", "back wards"]))
        self.shuffled = self.get_argument("shuffled", BooleanValue(False))
        self.setattr_argument(f"made{1}", StringValue())


class Helper:
    pass
"""
DEVICES = """
print("noise")
from artiq.language.units import MHz
device_db = {}
for number in range(3):
    device_db[f"ttl{number}"] = {"type": "local"}
device_db["core"] = {"f": 1*MHz}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with an experiment, a device database, and datasets."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scan.py").write_text(EXPERIMENTS)
    (tmp_path / "helper.py").write_text("x = 1\n")
    (tmp_path / "my folder").mkdir()
    (tmp_path / "my folder" / "two.py").write_text(EXPERIMENTS)
    (tmp_path / "device_db.py").write_text(DEVICES)
    store = DatasetStore(tmp_path / "dataset_db.mdb")
    store.set("rabi.frequency", 1.0, persist=True)
    store.set("ramsey", 2.0, persist=True)
    store.set("forged\x1b[2J\nname", 2.0, persist=True)
    store.close_db()
    return tmp_path


def proposed(line):
    return candidates.candidates(words_of(line))


@pytest.mark.parametrize(
    "line, expected",
    [
        ("kairos ru", ["run", "runs"]),
        ("kairos run ", ["my folder/", "scan.py"]),
        ("kairos run my\\ folder/", ["my folder/two.py"]),
        ("kairos run 'my folder/t", ["my folder/two.py"]),
        ("kairos run scan.py ", ["detuning=", "order=", "shuffled="]),
        ("kairos run scan.py -v detuning=5 ", ["order=", "shuffled="]),
        ("kairos run scan.py order=", ["order=back wards", "order=forwards"]),
        ("kairos run scan.py order=f", ["order=forwards"]),
        ("kairos run scan.py detuning=", []),
        ("kairos run scan.py -c ", ["Base", "Scan"]),
        ("kairos run scan.py --class-name=S", ["--class-name=Scan"]),
        ("kairos run -c Base scan.py ", ["detuning="]),
        ("kairos run scan.py --no-s", ["--no-skip"]),
        ("kairos run scan.py --channels core,ttl", ["core,ttl0", "core,ttl1", "core,ttl2"]),
        ("kairos moninj watch ttl1 tt", ["ttl0", "ttl1", "ttl2"]),
        ("kairos moninj --device-db device_db.py set 1 c", ["core"]),
        ("kairos moninj --device-db none.py set 1 c", []),
        ("kairos datasets get ra", ["rabi.frequency", "ramsey"]),
        ("kairos datasets --dataset-db dataset_db.mdb delete ram", ["ramsey"]),
        ("kairos datasets --dataset-db none.mdb delete ram", []),
        ("kairos datasets ", ["delete", "get", "list", "set"]),
        ("kairos locks take device tt", ["ttl0", "ttl1", "ttl2"]),
        ("kairos compile scan.py d", ["detuning="]),
        ("kairos nonsense ", None),
        ("ls && /usr/bin/kairos ru", ["run", "runs"]),
    ],
)
def test_line_is_completed_by_names_that_fit(folder, line, expected):
    if expected is None:
        with pytest.raises(ImportError):
            proposed(line)
    else:
        assert proposed(line) == expected


def test_name_with_control_characters_is_not_proposed(folder, capsys):
    assert any("forged" in name for name in proposed("kairos datasets get "))
    assert candidates.main("kairos datasets get ", "zsh") == 0
    assert capsys.readouterr().out == "rabi.frequency\nramsey\n"


@pytest.mark.parametrize("line", ["", "kairos nonsense ", "kairos run \0", "ka 'x", "kairos run none/x", "kairos -x "])
def test_line_without_completion_prints_no_text(folder, line, capsys):
    assert candidates.main(line, "bash") == 0
    assert capsys.readouterr().err == ""


def test_damaged_store_and_endless_device_database_are_passed_over(folder, monkeypatch):
    data = (folder / "dataset_db.mdb").read_bytes()
    (folder / "dataset_db.mdb").write_bytes(data[:8192])
    assert proposed("kairos datasets get ") == []
    (folder / "device_db.py").write_text("while True: pass\n")
    monkeypatch.setattr(candidates, "READ_TIMEOUT", 0.1)
    assert proposed("kairos moninj watch ") == []
    (folder / "device_db.py").write_text("import time\ntime.sleep(1000)\n")
    assert proposed("kairos moninj watch ") == []


@pytest.mark.parametrize(
    "used, delayed, state, passed, over",
    [
        (0.1, 30.0, "S", 30.5, False),  # a busy machine
        (0.1, 0.0, "R", 30.5, False),  # whose turn has not come at all
        (0.1, 0.2, "S", 1.3, True),  # it waits for something else
        (1.0, 30.0, "R", 31.0, True),  # it has had its time
        (0.0, 90.0, "R", 90.0, True),  # nobody waits for longer
        (0.0, 0.0, "", 1.1, True),  # the system does not say
    ],
)
def test_time_of_other_processes_is_not_counted(monkeypatch, used, delayed, state, passed, over):
    clock, seen = iter([100.0, 100.0 + passed]), iter([(2.0, 3.0, "R"), (2.0 + used, 3.0 + delayed, state)])
    monkeypatch.setattr(candidates._Time, "_seen", lambda _: next(seen))
    monkeypatch.setattr(candidates.time, "monotonic", lambda: next(clock))
    its_time = candidates._Time(1)
    monkeypatch.setattr(candidates.time, "monotonic", lambda: 100.0 + passed)
    assert its_time.is_over(1.0) is over


@given(some.text(max_size=30))
def test_any_line_has_words_that_end_with_the_last(line):
    words = words_of(f"kairos run {line}")
    assert words and isinstance(words[-1].text, str)


@given(some.text(some.characters(exclude_categories=["C", "Z"]) | some.just(" "), min_size=1, max_size=20))
def test_inserted_candidate_is_read_as_the_same_word(text):
    for typed in ("", "'"):
        if "'" in text and typed:
            continue
        (word,) = words_of(f"kairos {typed}")[1:]
        assert words_of(f"kairos {typed}{word.inserted(text, 'bash')}")[1].text == text


@pytest.mark.parametrize(
    "typed, inserted",
    [
        ("order=", "back\\ wards"),
        ("order=b", "back\\ wards"),
        ("'order=b", "order=back wards"),
        ("order='b", "back wards"),
    ],
)
def test_bash_replaces_only_text_behind_equals_sign(typed, inserted):
    assert words_of(f"kairos run f {typed}")[-1].inserted("order=back wards", "bash") == inserted


@given(some.binary(max_size=300))
def test_outline_of_any_file_is_found_or_empty(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "any.py"
    path.write_bytes(content)
    assert isinstance(outline.experiments(path), dict)


def test_completion_imports_no_slow_module(folder):
    code = (
        "import sys; from kairos.cli import main; main(['kairos run scan.py ']); "
        "main(['kairos queue hold ']); print(*sys.modules, file=sys.stderr)"
    )
    environment = {**os.environ, candidates.SHELL_NAMED: "bash"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.split() == ["detuning=", "order=", "shuffled="]
    heavy = {"numpy", "asyncio", "subprocess", "h5py", "llvmlite", "kairos.compat", "kairos.devices", "shtab"}
    assert not heavy & set(done.stderr.split())


# In their shells


def shell_of(name):
    """The shell; skips the test if it is not installed."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def prepared(folder, shell) -> dict:
    """Write the script of a shell and a `kairos` command; returns the environment."""
    done = subprocess.run([sys.executable, "-m", "kairos", "completion", shell], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (folder / "script").write_text(done.stdout)
    (folder / "bin").mkdir()
    command = folder / "bin" / "kairos"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m kairos "$@"\n')
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    return {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}


def asked(folder, command, environment):
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=TIMEOUT, stdin=subprocess.DEVNULL
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_bash_completes_names_that_only_the_folder_has(folder):
    environment = prepared(folder, "bash")
    for words, expected in [
        (["kairos", "run", "sc"], ["scan.py"]),
        (["kairos", "run", "my"], ["my\\ folder/"]),
        (["kairos", "run", "scan.py", "det"], ["detuning="]),
        (["kairos", "run", "scan.py", "order", "=", "b"], ["back\\ wards"]),
        (["kairos", "datasets", "get", "ram"], ["ramsey"]),
        (["kairos", "moninj", "watch", "tt"], ["ttl0", "ttl1", "ttl2"]),
        (["kairos", "queue", "hold", ""], []),
        (["kairos", "ver"], ["version"]),
    ]:
        line = " ".join(words).replace(" = ", "=")
        typed = " ".join(f"'{word}'" for word in words)
        ask = (
            f"source ./script; COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; COMP_LINE='{line}'; "
            f"COMP_POINT={len(line)}; _kairos; [ ${{#COMPREPLY[@]}} = 0 ] || printf '%s\\n' \"${{COMPREPLY[@]}}\""
        )
        assert asked(folder, [shell_of("bash"), "-c", ask], environment) == expected, line


def test_fish_completes_names_that_only_the_folder_has(folder):
    fish = shell_of("fish")
    environment = {**prepared(folder, "fish"), "HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    for line, expected in [
        ("kairos run sc", ["scan.py"]),
        ("kairos run scan.py det", ["detuning="]),
        ("kairos run scan.py order=f", ["order=forwards"]),
        ("kairos datasets get ram", ["ramsey"]),
    ]:
        ask = f"source ./script; complete -C {line!r}"
        found = [text.partition("\t")[0] for text in asked(folder, [fish, "-c", ask], environment)]
        assert set(expected) <= set(found), (line, found)


ZSH = """
import os, pty, sys, select
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], [sys.argv[1], "-f", "-i"])
def read(until, patience=20):
    seen = b""
    while until not in seen and select.select([terminal], [], [], patience)[0]:
        seen += os.read(terminal, 65536)
    return seen
setup = "unsetopt zle_bracketed_paste; autoload -U compinit; compinit -u -D; source ./script; "
setup += "compdef _shtab_kairos kairos; RPROMPT=; PROMPT=re''ady"  # the prompt comes when keys are read
os.write(terminal, setup.encode() + b"\\n")
read(b"ready")
os.write(terminal, sys.argv[2].encode() + b"\\t")
os.write(terminal, b" #END\\n")
print(read(b"#END").decode(errors="replace"))
os.close(terminal)
"""


def test_zsh_completes_names_that_only_the_folder_has(folder):
    zsh = shell_of("zsh")
    environment = {**prepared(folder, "zsh"), "TERM": "dumb", "ZDOTDIR": str(folder)}
    for line, expected in [
        ("kairos run sc", "kairos run scan.py "),
        ("kairos run scan.py det", "kairos run scan.py detuning= "),
        ("kairos datasets get ram", "kairos datasets get ramsey "),
    ]:
        shown = "".join(asked(folder, [sys.executable, "-c", ZSH, zsh, line], environment))
        assert expected in shown, (line, shown)


def test_completion_of_a_command_prints_no_errors(folder, monkeypatch, capsys):
    monkeypatch.setenv(candidates.SHELL_NAMED, "fish")
    monkeypatch.setenv("KAIROS_LAB", str(folder / "none"))
    assert main(["kairos runs show "]) == 0
    assert capsys.readouterr() == ("", "")
