"""The declarations of the subcommands: complete, documented, and light."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kairos import cli, compiler
from kairos.cli import commands, reference
from kairos.cli.commands.compile import STAGES
from tests.support import PATIENCE

MANUAL = Path(__file__).parents[2] / "docs" / "commands.md"


def every(name):
    """The subcommand and its tools, by their names on the command line."""

    def walk(path, command):
        yield path, command
        for tool, nested in command.tools.items():
            yield from walk(f"{path} {tool}", nested)

    return list(walk(name, commands.load(name)))


@pytest.mark.parametrize("name", commands.names())
def test_a_subcommand_runs_something_or_has_tools(name):
    for path, command in every(name):
        assert bool(command.runs) != bool(command.tools), path
        if command.runs:
            assert callable(command.function()) and command.function().__doc__, path
        assert command.help and all(option.settings["help"] for option in command.options), path


def test_the_manual_has_every_subcommand():
    assert reference.page() == MANUAL.read_text(), (
        "docs/commands.md is stale: renew it with 'build/venv/bin/python -m kairos.cli.reference > docs/commands.md'"
    )


@pytest.mark.parametrize("name", commands.names())
def test_the_help_has_examples_that_are_understood(name, capsys):
    command = commands.load(name)
    assert command.examples
    for line in command.examples:
        words = shlex.split(line.partition(" > ")[0])
        assert words[:2] == ["kairos", name]
        cli._parse(words[1:])
    with pytest.raises(SystemExit):
        cli._parse([name, "--help"])
    shown = capsys.readouterr().out
    assert all(f"  {line}\n" in shown for line in command.examples)


def test_what_compile_shows_is_what_the_compiler_has():
    assert STAGES == compiler.STAGES


def test_the_command_line_is_read_without_what_the_subcommands_need():
    code = "import sys, kairos.cli; kairos.cli.parser(kairos.cli.commands.names()); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    heavy = {"numpy", "subprocess", "socket", "h5py", "llvmlite", "matplotlib", "kairos._native", "kairos.devices"}
    assert not heavy & set(done.stdout.split())


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_subcommands_options_and_files(tmp_path):
    script = subprocess.run([sys.executable, "-m", "kairos", "completion", "bash"], capture_output=True, text=True)
    assert script.returncode == 0, script.stderr
    (tmp_path / "script").write_text(script.stdout)
    (tmp_path / "my_blink.py").touch()
    for words, expected in [
        ("kairos mon", "moninj"),
        ("kairos device con", "config"),
        ("kairos run --no-s", "--no-skip"),
        ("kairos run my_", "my_blink.py"),
    ]:
        *_, last = parts = words.split()
        typed = " ".join(f"'{part}'" for part in parts)
        ask = (
            f"source ./script; COMP_WORDS=({typed}); COMP_CWORD={len(parts) - 1}; "
            f"_shtab_kairos kairos {last} {parts[-2]}; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        )
        found = subprocess.run(["bash", "-c", ask], cwd=tmp_path, capture_output=True, text=True).stdout.split()
        assert expected in found, (words, found)
